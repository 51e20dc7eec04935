"""Puts a variable's value in the place of the variable, where that computes the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import go_types, java_types, rust_types
from mercury_lsp.refactor.extract.go_copies import changes_part
from mercury_lsp.refactor.extract.rust_guards import check_let_go
from mercury_lsp.refactor.extract.semicolons import opening
from mercury_lsp.refactor.grammars.grammar import around, field_of, inner
from mercury_lsp.refactor.names import Binding, Names, Use
from mercury_lsp.refactor.order import check_first, has_effects, is_constant, is_plain, statement_of
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_ALIASES = frozenset("python javascript typescript tsx java".split())  # a second name for a thing, not a copy of it
_SCRIPT = frozenset("javascript typescript tsx".split())
_PURE = frozenset({"go", "java"})  # their operators take plain values and give plain values
_STATEMENTS = frozenset(
    "expression_statement lexical_declaration variable_declaration short_var_declaration var_declaration local_variable_declaration"
    " let_declaration".split()
)
_ATOMS = frozenset(
    "identifier integer float string true false none null nil number call call_expression attribute subscript member_expression"
    " subscript_expression selector_expression index_expression field_access array_access field_expression method_invocation"
    " parenthesized_expression list tuple dictionary set array list_comprehension int_literal float_literal interpreted_string_literal"
    " raw_string_literal rune_literal decimal_integer_literal decimal_floating_point_literal string_literal character_literal null_literal"
    " integer_literal boolean_literal char_literal template_string this self macro_invocation object_creation_expression".split()
)
_SAFE = frozenset(
    "argument_list arguments parenthesized_expression assignment assignment_expression variable_declarator return_statement list tuple"
    " array pair keyword_argument expression_list let_declaration return_expression if_statement while_statement subscript".split()
)
# These want brackets wherever they go; a number only before a dot.
_BARE = frozenset({"yield", "named_expression", "yield_expression", "sequence_expression", "generator_expression", "expression_list"})
_NUMBERS = frozenset({"integer", "number"})
_MEMBERS = frozenset({"member_expression", "subscript_expression"})
_PRIMITIVE = frozenset("byte short int long float double boolean char".split())


def inline_variable(names: Names, start: int, end: int) -> tuple[list[Replace], str]:
    """The changes, and the variable's name. `start`…`end` (bytes) is one of its places. Raises `Refused`."""
    binding = _binding(names, start, end)
    value, statement = _declaration(names, binding)
    reads = [use for use in names.by_binding[binding] if not use.declares]
    _check(names, binding, value, statement, reads)
    replaces = [_replaced(names, use, value, statement) for use in reads]
    return [_removed(names, statement), *replaces], binding.name


def _binding(names: Names, start: int, end: int) -> Binding:
    touching = [use for use in names.uses if use.node.start_byte <= start and end <= use.node.end_byte and use.binding is not None]
    if not touching or touching[-1].binding is None:
        raise Refused("select a variable")
    binding = touching[-1].binding
    if not binding.is_local or binding.is_type:
        raise Refused(f"`{binding.name}` is no variable of a function: others may use it")
    return binding


def _declaration(names: Names, binding: Binding) -> tuple[Node, Node]:
    """What the variable is set to, once and for all, and the statement that does it."""
    writes = [use for use in names.by_binding[binding] if use.writes or use.declares]
    if len(writes) > 1:
        raise Refused(f"`{binding.name}` gets a value more than once")
    value = binding.declared.value
    statement = statement_of(binding.at, names.grammar)
    if value is not None and value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    if value is None or statement is None or statement.type not in _STATEMENTS or not writes:
        raise Refused(f"`{binding.name}` is not set by a statement of its own")
    declarators = [child for child in statement.named_children if child.type in ("variable_declarator", "var_spec")]
    left = binding.at.parent
    if len(declarators) > 1 or (left is not None and left.type in ("expression_list", "var_spec") and _names_in(left) > 1):
        raise Refused(f"`{binding.name}` is declared along with other variables")
    if statement.type == "expression_statement" and statement.named_children[0].type != "assignment":
        raise Refused(f"`{binding.name}` is not set by a statement of its own")
    if value.type == "assignment":
        raise Refused(f"`{binding.name}` is not set by a statement of its own")
    return value, statement


def _names_in(left: Node) -> int:
    return len(left.children_by_field_name("name")) if left.type == "var_spec" else left.named_child_count


def _check(names: Names, binding: Binding, value: Node, statement: Node, reads: list[Use]) -> None:
    if not reads and has_effects(value):
        raise Refused(f"`{binding.name}` is not used, and its value does something")
    block = statement.parent
    if names.tree.language == "rust":
        for part in (value, binding.declared.type):
            if part is not None:
                check_let_go(names, part, f"`{binding.name}`")
    if names.tree.language == "go" and any(changes_part(names, use) for use in reads):
        raise Refused(f"something of `{binding.name}` is changed")
    for use in reads:
        inside = block is not None and use.start >= statement.end_byte and use.node.end_byte <= block.end_byte
        if not inside or use.node.type == "string_literal":
            raise Refused(f"`{binding.name}` is used where its value cannot go")
        if value.type in _MEMBERS and _is_called(use.node):
            raise Refused(f"`{binding.name}` is called, and its value alone would be a method that is called on something")
        _check_types(names, binding, value, use)
    if any(each.type in names.grammar.functions for each in inner(value)) and len(reads) > 1:
        raise Refused(f"`{binding.name}` is a function that is used more than once")
    if is_constant(value):
        return
    if value.type in names.grammar.identifiers and names.tree.language in _ALIASES:
        _check_unchanged(names, value, statement, None)
        return
    if len(reads) > 1 and not (is_plain(value, names) and names.tree.language in _PURE):
        raise Refused(f"the value of `{binding.name}` is computed once and used {len(reads)} times")
    for use in reads:
        _check_moved(names, value, statement, use)


def _check_moved(names: Names, value: Node, statement: Node, use: Use) -> None:
    """Whether the value is the same in the place of the use as in that of the declaration."""
    after = statement_of(use.node, names.grammar)
    between, following = [], statement.next_named_sibling
    while following is not None and (after is None or following.id != after.id):
        between.append(following)
        following = following.next_named_sibling
    if after is None or following is None:
        if not is_plain(value, names):
            raise Refused(f"`{use.name}` is used deeper inside, where its value may be another one or be computed again")
        _check_unchanged(names, value, statement, None)
        return
    code = [each for each in between if "comment" not in each.type]
    if is_plain(value, names) and names.tree.language in _PURE:
        _check_unchanged(names, value, statement, use)
        return
    if any(has_effects(each) or _changes_inside(each) for each in code):
        raise Refused("what stands between might change its value")
    if has_effects(value) and code:
        raise Refused("its value does something, and would do it later")
    _check_unchanged(names, value, statement, use)
    check_first(use.node, after, names, value)


def _check_unchanged(names: Names, value: Node, statement: Node, use: Use | None) -> None:
    """Whether the variables that the value is made of stay as they are: up to the use, or for good."""
    for read in names.within(value.start_byte, value.end_byte):
        for other in names.by_binding.get(read.binding, ()) if read.binding is not None else ():
            late = other.writes and other.start >= statement.end_byte and (use is None or other.start < use.start)
            named_once = other.declares and read.binding is not None and read.binding.declared.constant  # an import, a function
            nested = other.writes and not named_once and other.scope.function is not read.scope.function
            if late or nested:
                raise Refused(f"`{other.name}` changes before it is used")
        if read.binding is None and read.node.type == "identifier" and use is None:
            raise Refused(f"`{read.name}` is not declared in this file and may change")


def _changes_inside(node: Node) -> bool:
    """Whether something of an object is set."""
    for each in inner(node):
        left = each.child_by_field_name("left") if "assignment" in each.type else None
        if left is not None and left.type != "identifier":
            return True
    return False


def _check_types(names: Names, binding: Binding, value: Node, use: Use) -> None:
    """A written type may make another number of the same digits."""
    language, declared = names.tree.language, binding.declared.type
    above = use.node.parent
    computed = (
        above is not None and above.type == "binary_expression" and any(child.type.endswith("_literal") for child in above.named_children)
    )
    if language == "go" and value.type.endswith("_literal") and computed:
        raise Refused(f"the type of `{binding.name}` matters where it is used")
    if declared is None:
        return
    text = names.tree.text_of(declared)
    found = {"java": java_types.expression_type, "go": go_types.expression_type, "rust": rust_types.expression_type}.get(language)
    if found is None or text == "var":
        return
    alone = found(names, value)
    if language == "java" and not _PRIMITIVE & {text, alone}:
        return
    if alone != text:
        raise Refused(f"the type of `{binding.name}` is written, and its value alone may have another one")


def _replaced(names: Names, use: Use, value: Node, statement: Node) -> Replace:
    tree = names.tree
    text = tree.text_of(value)
    above = use.node.parent
    if any(each.type == "interpolation" for each in around(use.node)) and any(mark in text for mark in "\"'\\\n"):
        raise Refused(f"`{use.name}` is used inside of a string, where its value cannot go")
    safe = above is not None and above.type in _SAFE and (above.type != "subscript" or field_of(use.node) == "subscript")
    lines = "\n" in text and tree.language == "python" and not (text[0] in "([{" and text[-1] in ")]}")
    if (value.type not in _ATOMS and not safe) or lines or value.type in _BARE or _is_cut_off(value, use.node):
        text = f"({text})"
    if use.node.type == "shorthand_property_identifier":
        text = f"{use.name}: {text}"
    if tree.language in _SCRIPT and text.startswith(("(", "[", "`", "/", "+", "-")):
        text = _separated(names, use, statement) + text
    return Replace(tree.char(use.node.start_byte), tree.char(use.node.end_byte), text)


def _separated(names: Names, use: Use, statement: Node) -> str:
    """What must go before a value that begins its statement, so that the line above does not go on with it."""
    after = statement_of(use.node, names.grammar)
    if after is None or after.start_byte != use.node.start_byte:
        return ""
    before = after.prev_named_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_named_sibling
    return opening(names.tree, statement if before is not None and before.id == statement.id else after)


def _is_called(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "call_expression" and field_of(node) == "function"


def _is_cut_off(value: Node, node: Node) -> bool:
    """Whether what is read of the variable in the place of `node` would belong to a part of the value only: `3.real`, `a?.b.c`."""
    read = field_of(node) == "object" or _is_called(node)
    return read and (value.type in _NUMBERS or any(each.type == "optional_chain" for each in inner(value)))


def _removed(names: Names, statement: Node) -> Replace:
    """The statement with its line, of which a comment stays."""
    text = names.tree.text
    start, end = names.tree.char(statement.start_byte), names.tree.char(statement.end_byte)
    if text[end : end + 1] == ";":
        end += 1
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = line_end if line_end >= 0 else len(text)
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return Replace(line_start, min(line_end + 1, len(text)), "")
    return Replace(start, end + len(text[end:line_end]) - len(text[end:line_end].lstrip()), "")
