"""What statements do, as a value that is the same for two texts only if both do the same. Knows no text around them and no command.

It is what is tested and called, in which order, what is set, and how it ends, for each way that the tests may come out:

    if a == 1:        tests        outcome
        return True   a == 1       return True
    return False      not a == 1   return False         the same as   return a == 1

What is not understood counts as its words. Two texts that do the same may still differ here; those that do not never agree, as long as an
operator means what it looks like.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_TESTS = 8  # 256 ways that they come out
_SAID_SO = {"True": True, "true": True, "False": False, "false": False, "None": False, "null": False, "nil": False, "undefined": False}
_BLOCKS = frozenset("block statement_block compound_statement statement_list else_clause constructor_body".split())
_IFS = frozenset({"if_statement", "if_expression", "elif_clause"})
_LOOPS = frozenset(
    "for_statement while_statement for_in_statement enhanced_for_statement for_expression while_expression loop_expression do_statement"
    " for_range_loop".split()
)
_RETURNS = frozenset({"return_statement", "return_expression"})
_ENDS = {
    "raise_statement": "raise", "throw_statement": "raise", "break_statement": "break", "continue_statement": "continue",
    "break_expression": "break", "continue_expression": "continue",
}  # fmt: skip
_NOTHING = frozenset({"pass_statement", "empty_statement", "comment", "line_comment", "block_comment", ";"})
_ASSIGNMENTS = frozenset({"assignment", "assignment_expression", "assignment_statement", "short_var_declaration"})
_AUGMENTED = frozenset({"augmented_assignment", "augmented_assignment_expression", "compound_assignment_expr"})
_DECLARATIONS = frozenset({"lexical_declaration", "variable_declaration", "local_variable_declaration", "var_declaration"})
_DECLARATORS = frozenset({"variable_declarator", "var_spec", "let_declaration", "init_declarator"})
_TERNARIES = frozenset({"conditional_expression", "ternary_expression"})
_BINARY = frozenset({"binary_expression", "boolean_operator", "binary_operator"})
_CALLS = frozenset(
    "call call_expression new_expression method_invocation object_creation_expression macro_invocation await await_expression yield"
    " yield_expression update_expression inc_statement dec_statement named_expression delete_statement receive_expression try_expression"
    " delete_expression".split()
)
_MEMBERS = {
    "attribute": ("object", "attribute"), "member_expression": ("object", "property"), "field_access": ("object", "field"),
    "selector_expression": ("operand", "field"), "field_expression": ("value", "field"),
}  # fmt: skip
_ITEMS = frozenset({"subscript", "subscript_expression", "index_expression", "array_access", "slice_expression", "pointer_expression"})
# They bind names of their own, or hold words that are no code: as they are written.
_AS_WRITTEN = re.compile(
    r"string|char_|character|regex|template|lambda|closure|comprehension|generator_expression|function|class|arrow|jsx|match|switch|try_"
    r"|block|if_expression|body|method_reference"
)
_TRUTH = frozenset({"bool", "Boolean"})
_TURNED = {"!=": "==", "!==": "===", "is not": "is", "not in": "in", "<>": "=="}
_MIRRORED = {">": "<", ">=": "<="}
_COMPARED = frozenset({"==", "===", "<", "<=", "is", "in", *_TURNED, *_MIRRORED})
_LITERAL = re.compile(r"-?\d[\w.]*\Z|([\"'])[^\"'\\{}]*\1\Z")
TYPED = frozenset({"go", "rust", "java", "c", "cpp", "csharp"})

Meaning = tuple[object, ...]


class TooMuch(Exception):
    """There are more tests than can be followed."""


class _Untold(Exception):
    """It depends on a test whose outcome is not given."""

    def __init__(self, test: str) -> None:
        super().__init__(test)
        self.test = test


class Surroundings(NamedTuple):
    """What is to be known of where statements stand."""

    live: frozenset[str]  # names whose values are looked at afterwards
    local: frozenset[str]  # names that no call can change
    ends_function: bool  # a last expression of Rust is what the function returns, and to return nothing is to go on
    is_boolean: bool  # what is returned can only be true or false


def meaning(tree: Tree, nodes: Sequence[Node], how: Surroundings) -> Meaning:
    """Of statements next to each other, or of one expression. Raises `TooMuch`."""
    return _table(lambda told: _Way(tree, told, how).outcome(nodes))


def _table(outcome: Callable[[dict[str, bool]], Meaning]) -> Meaning:
    """The outcomes for every way that the tests may come out, without tests on which nothing depends."""
    tests: set[str] = set()
    waiting: list[dict[str, bool]] = [{}]
    found: list[tuple[dict[str, bool], Meaning]] = []
    while waiting:
        told = waiting.pop()
        try:
            found.append((told, outcome(told)))
        except _Untold as untold:
            tests.add(untold.test)
            if len(tests) > _MOST_TESTS:
                raise TooMuch from None
            waiting += [told | {untold.test: True}, told | {untold.test: False}]
    return _decided(sorted(tests), found)


def _decided(tests: Sequence[str], found: Sequence[tuple[dict[str, bool], Meaning]]) -> Meaning:
    if not tests:
        return found[0][1]
    yes, no = (_decided(tests[1:], [each for each in found if each[0].get(tests[0], come_out) == come_out]) for come_out in (True, False))
    return yes if yes == no else ("if", tests[0], yes, no)


class _Way:
    """One way through, the tests coming out as `told`."""

    def __init__(self, tree: Tree, told: dict[str, bool], how: Surroundings, known: dict[str, str] | None = None, within: str = "") -> None:
        """`within` tells the round of a loop from what is around it."""
        self._tree, self._told, self._how, self._within = tree, told, how, within
        self._known = dict(known or {})  # values of variables, in terms of those at the start
        self._done: list[object] = []  # what can be seen from outside, in order

    def outcome(self, nodes: Sequence[Node]) -> Meaning:
        ends = self._how.ends_function
        ending = self._run(nodes, last=ends) or ("on",)
        if ends and ending == ("return", ""):
            ending = ("on",)
        values = tuple((name, self._known[name]) for name in sorted(self._how.live) if name in self._known and not ends)
        return (*self._done, ending, values)

    # -------------------------------------------------------------------------------------------- statements

    def _run(self, nodes: Sequence[Node], *, last: bool = False) -> Meaning | None:
        """How the statements end, None where they are run through. `last`: whether the function's value is that of the last one."""
        kept = [node for node in nodes if node.type not in _NOTHING]
        for place, node in enumerate(kept):
            ending = self._statement(node, last=last and place == len(kept) - 1)
            if ending is not None:
                return ending
        return None

    def _statement(self, node: Node, *, last: bool) -> Meaning | None:
        kind = node.type
        if kind in _BLOCKS:
            return self._run(node.named_children, last=last)
        if kind in _IFS and node.child_by_field_name("initializer") is None and not _binds(node):
            return self._if(node, last=last)
        if kind in _RETURNS:
            return ("return", " , ".join(self._returned(child) for child in node.named_children))
        if kind in _ENDS:
            return (_ENDS[kind], " ".join(self._value(child) for child in node.named_children))
        if kind == "expression_statement" and node.named_child_count == 1:
            ended = self._tree.text_of(node).rstrip().endswith(";")
            return self._statement(node.named_children[0], last=last and not ended)
        if kind in _DECLARATIONS:
            for child in node.named_children:
                if child.type in _DECLARATORS:
                    self._declare(child, node)
            return None
        if kind in _DECLARATORS:
            self._declare(node, node)
        elif kind in _ASSIGNMENTS or kind in _AUGMENTED:
            self._value(node)
        elif kind in _LOOPS:
            self._loop(node)
        elif kind.endswith(("_statement", "_declaration", "_definition", "_item")) and kind not in _CALLS:
            self._opaque(node)
        elif last and (self._tree.language == "rust" or not _is_statement(node)):
            return ("return", self._returned(node))
        elif kind != "string":  # of Python: documentation
            value = self._value(node)
            if kind not in _CALLS:
                self._done.append(("value", value))
        return None

    def _returned(self, node: Node) -> str:
        value = self._value(node)
        return str(self._is_true(value)) if self._how.is_boolean else value

    def _if(self, node: Node, *, last: bool) -> Meaning | None:
        condition = node.child_by_field_name("condition")
        then = node.child_by_field_name("consequence")
        assert condition is not None and then is not None
        if self._truth(condition):
            return self._statement(then, last=last)
        for other in node.children_by_field_name("alternative"):
            if other.type != "elif_clause":
                return self._statement(other, last=last)
            found = other.child_by_field_name("condition")
            body = other.child_by_field_name("consequence")
            if found is not None and body is not None and self._truth(found):
                return self._statement(body, last=last)
        return None

    def _loop(self, node: Node) -> None:
        """What it begins with and runs over, and what one round does, starting with whatever the rounds before left."""
        body = node.child_by_field_name("body")
        before = self._named_in(node)
        assigned = self._forget(node, "round")
        head = tuple(self._words(child) for child in node.children if body is None or child.id != body.id)
        rounds: Meaning = ()
        if body is not None:
            how = self._how._replace(live=frozenset(assigned), ends_function=False)
            tree, known, within = self._tree, dict(self._known), f"{self._within}{len(self._done)}."
            rounds = _table(lambda told: _Way(tree, told, how, known, within).outcome([body]))
        self._done.append(("loop", before, head, rounds))
        self._forget(node)

    def _opaque(self, node: Node) -> None:
        self._done.append(("words", self._words(node)))
        self._forget(node)

    def _forget(self, node: Node, mark: str = "") -> set[str]:
        """The variables that are set somewhere in `node`: from here on nobody knows what they are."""
        found = set(_set_in(self._tree, node))
        for name in found:
            self._known[name] = f"{name}@{self._within}{len(self._done)}{mark}"
        return found

    def _declare(self, node: Node, whole: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("pattern") or node.child_by_field_name("declarator")
        value, type_ = node.child_by_field_name("value"), node.child_by_field_name("type") or whole.child_by_field_name("type")
        if name is None or name.type != "identifier" or (value is None and type_ is None):
            self._opaque(node)
            return
        came = self._value(value) if value is not None else "nothing"
        is_typed = type_ is not None and self._tree.language in TYPED
        self._known[self._tree.text_of(name)] = f"{came} as {self._words(type_)}" if is_typed and type_ is not None else came

    # -------------------------------------------------------------------------------------------- expressions

    def _truth(self, node: Node) -> bool:
        return self._is_true(self._value(node))

    def _is_true(self, value: str) -> bool:
        if value in _SAID_SO:
            return _SAID_SO[value]
        if value not in self._told:
            raise _Untold(value)
        return self._told[value]

    def _value(self, node: Node) -> str:
        kind = node.type
        if kind in ("parenthesized_expression", "expression_list") and node.named_child_count == 1:
            return self._value(node.named_children[0])
        if node.child_count == 0 or kind == "boolean_literal":
            return self._leaf(node)
        if _AS_WRITTEN.search(kind):
            return self._as_written(node)
        if kind in _ASSIGNMENTS or kind in _AUGMENTED:
            return self._assigned(node)
        if kind in _TERNARIES:
            return self._chosen(node)
        if kind == "comparison_operator":
            return self._compared(node)
        if kind == "not_operator" or (kind == "unary_expression" and node.children[0].type == "!"):
            return str(not self._truth(node.named_children[-1]))
        if kind in _BINARY and (operator := node.child_by_field_name("operator")) is not None:
            return self._combined(node, self._tree.text_of(operator))
        if kind in _CALLS:
            return self._called(node)
        if kind in _MEMBERS or kind in _ITEMS:
            return f"{self._parts(node)}{self._moment()}"
        return self._parts(node)

    def _leaf(self, node: Node) -> str:
        text = self._tree.text_of(node)
        if node.type in ("true", "false", "none", "null", "nil", "boolean_literal"):
            return text.capitalize() if text in ("true", "false") else text
        if node.type not in ("identifier", "shorthand_property_identifier"):
            return text
        value = self._known.get(text, text if text in self._how.local else f"{text}{self._moment()}")
        return value if node.type == "identifier" else f"{text}: {value}"

    def _moment(self) -> str:
        """What is read now may be another thing after something was done."""
        return f"@{self._within}{len(self._done)}" if self._done or self._within else ""

    def _parts(self, node: Node) -> str:
        field = _MEMBERS.get(node.type, ("", ""))[1] or ("name" if node.type in ("keyword_argument", "method_invocation") else "")
        own = node.child_by_field_name(field) if field else None
        return f"({' '.join(self._tree.text_of(child) if child == own else self._value(child) for child in _said(node))})"

    def _words(self, node: Node) -> str:
        """As it is written, whatever the spaces, and what the variables in it are."""
        leaves = [each for each in inner(node) if not each.child_count or _AS_WRITTEN.search(each.type) and "string" in each.type]
        written = " ".join(self._tree.text_of(each) for each in leaves if "comment" not in each.type)
        return f"{written} {self._named_in(node)}"

    def _as_written(self, node: Node) -> str:
        if "string" in node.type and _LITERAL.match(text := self._tree.text_of(node)):
            return f'"{text[1:-1]}"'
        value = f"{self._tree.text_of(node)} {self._named_in(node)}{self._moment()}"
        if any(each.type in _CALLS or each.type in _ASSIGNMENTS or each.type in _AUGMENTED for each in inner(node)):
            self._opaque(node)
        return value

    def _named_in(self, node: Node) -> list[tuple[str, str]]:
        words = {self._tree.text_of(each) for each in inner(node) if not each.child_count}
        return sorted((name, value) for name, value in self._known.items() if name in words)

    def _chosen(self, node: Node) -> str:
        parts = node.named_children
        condition = node.child_by_field_name("condition")
        if condition is None and len(parts) == 3:  # of Python: the condition stands in the middle
            return self._value(parts[0] if self._truth(parts[1]) else parts[2])
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if condition is None or then is None or other is None:
            return self._parts(node)
        return self._value(then if self._truth(condition) else other)

    def _combined(self, node: Node, operator: str) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self._parts(node)
        if operator in ("and", "&&", "or", "||"):
            first = self._value(left)
            return self._value(right) if self._is_true(first) == (operator in ("and", "&&")) else first
        if operator in _COMPARED:
            return self._test(self._value(left), operator, self._value(right))
        return f"({self._value(left)} {operator} {self._value(right)})"

    def _compared(self, node: Node) -> str:
        """Of Python, where several may follow each other."""
        operands = node.named_children
        signs = [child for child in node.children if not child.is_named]
        operators = [" ".join(self._tree.text_of(each).split()) for each in signs]
        if len(operators) != len(operands) - 1:
            operators = [self._between(left, right) for left, right in itertools.pairwise(operands)]
        value = self._value(operands[0])
        for operator, operand in zip(operators, operands[1:], strict=True):
            other = self._value(operand)
            if operator not in _COMPARED:
                return self._parts(node)
            if self._test(value, operator, other) == "False":
                return "False"
            value = other
        return "True"

    def _between(self, left: Node, right: Node) -> str:
        return " ".join(self._tree.cut(left.end_byte, right.start_byte).split())

    def _test(self, left: str, operator: str, right: str) -> str:
        if self._tree.language in TYPED and operator in ("==", "!=") and right in ("True", "False"):
            return str(self._is_true(left) == (right == "True") == (operator == "=="))
        turned = operator in _TURNED
        operator = _TURNED.get(operator, operator)
        if operator in _MIRRORED:
            left, operator, right = right, _MIRRORED[operator], left
        return str(self._is_true(f"({left} {operator} {right})") != turned)

    def _assigned(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            self._opaque(node)
            return ""
        if left.type == "expression_list" and left.named_child_count == 1:
            left = left.named_children[0]
        operator = node.child_by_field_name("operator")
        value = self._value(right)
        if node.type in _AUGMENTED or (operator is not None and self._tree.text_of(operator) not in ("=", ":=")):
            sign = self._tree.text_of(operator)[:-1] if operator is not None else "?"
            before = self._value(left)
            # In Python a list is added to where it stands, and whoever else has it sees that.
            in_place = self._tree.language == "python" and not re.match(r"-?\d", value)
            if in_place:
                self._done.append(("in place", before, sign, value))
            value = f"({before} {sign}{'=' if in_place else ''} {value})"
        type_ = node.child_by_field_name("type")
        if left.type == "identifier" and type_ is None:
            self._known[self._tree.text_of(left)] = value
        else:
            self._done.append(
                ("set", self._words(left) if type_ is not None else self._parts(left), value, self._words(type_) if type_ else "")
            )
            self._forget(node)
        return value

    def _called(self, node: Node) -> str:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is not None and arguments is not None and self._tree.text_of(function) in _TRUTH and arguments.named_child_count == 1:
            return str(self._truth(arguments.named_children[0]))
        text = self._parts(node)
        self._done.append(("call", node.type, text))
        self._forget(node)
        return f"{text}@{self._within}{len(self._done)}"


def _is_statement(node: Node) -> bool:
    return node.parent is not None and node.parent.type != "arrow_function"


def _said(node: Node) -> Iterator[Node]:
    return (child for child in node.children if child.type not in _NOTHING)


def _binds(node: Node) -> bool:
    """Whether a condition brings a name of its own."""
    condition = node.child_by_field_name("condition")
    return condition is None or any(each.type in ("let_condition", "let_chain", "instanceof_expression") for each in inner(condition))


def _set_in(tree: Tree, node: Node) -> Iterator[str]:
    """The names that are given values in a node; of what is not known rather one too many."""
    for each in inner(node):
        kind = each.type
        if (
            kind in _ASSIGNMENTS
            or kind in _AUGMENTED
            or kind in _LOOPS
            or kind in _DECLARATORS
            or kind in ("named_expression", "with_item")
        ):
            left = next(
                (found for field in ("left", "name", "pattern", "declarator") if (found := each.child_by_field_name(field)) is not None),
                each,
            )
        elif kind in ("update_expression", "inc_statement", "dec_statement", "as_pattern", "range_clause", "catch_clause", "for_clause"):
            left = each
        else:
            continue
        yield from (tree.text_of(leaf) for leaf in inner(left) if leaf.type in ("identifier", "shorthand_property_identifier_pattern"))
