"""The types of Go's variables and expressions, as far as the document says them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.names import Binding, Names

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = {
    "int_literal": "int",
    "float_literal": "float64",
    "interpreted_string_literal": "string",
    "raw_string_literal": "string",
    "rune_literal": "rune",
    "true": "bool",
    "false": "bool",
}
_BASIC = frozenset(
    "bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64 complex64 complex128".split()
)
_BUILT_IN = {"len": "int", "cap": "int", "copy": "int"}
_BOOLEAN = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"})
_LIBRARY = {
    "string": "fmt.Sprintf fmt.Sprint fmt.Sprintln strings.Join strings.ToUpper strings.ToLower strings.TrimSpace strings.Trim"
    " strings.TrimPrefix strings.TrimSuffix strings.Replace strings.ReplaceAll strings.Repeat strconv.Itoa filepath.Join path.Join",
    "bool": "strings.Contains strings.HasPrefix strings.HasSuffix errors.Is errors.As",
    "int": "strings.Index strings.Count",
    "error": "errors.New fmt.Errorf",
    "[]string": "strings.Split strings.Fields",
    "time.Time": "time.Now",
}
_RETURNS = {name: type_ for type_, names in _LIBRARY.items() for name in names.split()}
_DEEPEST = 8


def type_of(names: Names, binding: Binding, depth: int = 0) -> str | None:
    declared, above = binding.declared, binding.at.parent
    if depth > _DEEPEST or above is None:
        return None
    if declared.type is not None:
        text = names.tree.text_of(declared.type)
        return f"[]{text}" if above.type == "variadic_parameter_declaration" else text
    holder = above.parent
    if holder is not None and holder.type == "range_clause":
        return _ranged(names, holder, above, binding.at, depth)
    value = declared.value
    if value is None:
        return None
    if value.type == "expression_list" and value.named_child_count == 1 and above.named_child_count > 1:
        return _of_several(names, value.named_children[0], above, binding, depth)
    return expression_type(names, value.named_children[0] if value.type == "expression_list" else value, depth + 1)


def expression_type(names: Names, node: Node, depth: int = 0) -> str | None:
    kind, text = node.type, names.tree.text_of
    if depth > _DEEPEST:
        return None
    if kind in _LITERALS:
        return _LITERALS[kind]
    if kind == "parenthesized_expression":
        return expression_type(names, node.named_children[0], depth + 1)
    if kind == "composite_literal" or kind == "type_conversion_expression":
        type_ = node.child_by_field_name("type")
        return text(type_) if type_ is not None and type_.type != "implicit_length_array_type" else None
    if kind == "identifier":
        binding = _binding(names, node)
        return type_of(names, binding, depth + 1) if binding is not None and not binding.is_type else None
    if kind == "unary_expression":
        return _unary(names, node, depth)
    if kind == "binary_expression":
        return _binary(names, node, depth)
    if kind == "call_expression":
        results = _results(names, node, depth)
        return results[0] if results is not None and len(results) == 1 else None
    if kind == "selector_expression":
        return _field(names, node, depth)
    if kind == "index_expression":
        operand = node.child_by_field_name("operand")
        whole = expression_type(names, operand, depth + 1) if operand is not None else None
        return _element(whole)
    if kind == "slice_expression":
        operand = node.child_by_field_name("operand")
        return expression_type(names, operand, depth + 1) if operand is not None else None
    return None


def _unary(names: Names, node: Node, depth: int) -> str | None:
    operator, operand = node.child_by_field_name("operator"), node.child_by_field_name("operand")
    type_ = expression_type(names, operand, depth + 1) if operand is not None else None
    if operator is None or type_ is None:
        return None
    if operator.type == "&":
        return f"*{type_}"
    if operator.type == "*":
        return type_.removeprefix("*") if type_.startswith("*") else None
    return type_ if operator.type in ("-", "+", "^", "!") else None


def _binary(names: Names, node: Node, depth: int) -> str | None:
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if operator is None or left is None or right is None:
        return None
    if operator.type in _BOOLEAN:
        return "bool"
    if operator.type in ("<<", ">>"):
        return expression_type(names, left, depth + 1)
    untyped = left.type in ("int_literal", "float_literal")
    found = expression_type(names, right if untyped else left, depth + 1)
    return found if found in _BASIC else None


def _results(names: Names, call: Node, depth: int) -> list[str] | None:
    """The types of what a call returns."""
    function, text = call.child_by_field_name("function"), names.tree.text_of
    if function is None:
        return None
    name = text(function)
    if name in _BASIC:
        return [name]
    if name in _BUILT_IN and _binding(names, function) is None:
        return [_BUILT_IN[name]]
    arguments = call.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if name == "make" and first is not None:
        return [text(first)]
    if name == "new" and first is not None:
        return [f"*{text(first)}"]
    if name == "append" and first is not None:
        type_ = expression_type(names, first, depth + 1)
        return [type_] if type_ is not None else None
    if name in _RETURNS:
        return [_RETURNS[name]]
    if name == "strconv.Atoi":
        return ["int", "error"]
    return _declared_results(names, function)


def _declared_results(names: Names, function: Node) -> list[str] | None:
    """Of a function of the document, or of a method whose name only one type has."""
    text = names.tree.text_of
    if function.type == "identifier":
        binding = _binding(names, function)
        owner = binding.at.parent if binding is not None else None
        found = [owner] if owner is not None and owner.type == "function_declaration" else []
    elif function.type == "selector_expression":
        field = function.child_by_field_name("field")
        wanted = text(field) if field is not None else ""
        methods = (node for node in names.tree.root.named_children if node.type == "method_declaration")
        found = [node for node in methods if text(node.child_by_field_name("name") or node) == wanted]
        operand = function.child_by_field_name("operand")
        if operand is not None and operand.type == "identifier" and _binding(names, operand) is None:
            return None  # a package
    else:
        return None
    if len(found) != 1 or found[0].child_by_field_name("type_parameters") is not None:
        return None
    return result_types(names, found[0])


_COMMA_OK = frozenset({"index_expression", "type_assertion_expression", "unary_expression"})


def gives_one(names: Names, node: Node) -> bool:
    """Whether an expression surely has one value: a call may have several, where something takes them all; a lookup two."""
    above = node.parent
    if node.type in _COMMA_OK and above is not None and above.type == "expression_list" and above.named_child_count == 1:
        left = above.parent.child_by_field_name("left") if above.parent is not None else None
        return left is None or left.named_child_count == 1
    if node.type != "call_expression" or above is None or above.type not in ("argument_list", "expression_list"):
        return True
    results = _results(names, node, 0)
    return above.named_child_count > 1 or (results is not None and len(results) == 1)


def result_types(names: Names, function: Node) -> list[str]:
    result, text = function.child_by_field_name("result"), names.tree.text_of
    if result is None:
        return []
    if result.type != "parameter_list":
        return [text(result)]
    types: list[str] = []
    for child in result.named_children:
        type_ = child.child_by_field_name("type")
        if type_ is not None:
            types += [text(type_)] * max(1, len(child.children_by_field_name("name")))
    return types


def _of_several(names: Names, value: Node, left: Node, binding: Binding, depth: int) -> str | None:
    """One of several variables that one call, lookup or assertion gives."""
    place = next((index for index, each in enumerate(left.named_children) if each.id == binding.at.id), None)
    if place is None:
        return None
    if value.type == "call_expression":
        results = _results(names, value, depth)
        if results is not None and len(results) > place:
            return results[place]
        # By convention that holds without an exception worth a word: what a call gives last under this name is an error.
        return "error" if binding.name == "err" and place == len(left.named_children) - 1 else None
    if place == 1 and value.type in ("index_expression", "type_assertion_expression", "unary_expression"):
        return "bool"
    if place == 0 and value.type == "type_assertion_expression" and (type_ := value.child_by_field_name("type")) is not None:
        return names.tree.text_of(type_)
    return expression_type(names, value, depth + 1) if place == 0 else None


def _ranged(names: Names, clause: Node, left: Node, name: Node, depth: int) -> str | None:
    over = clause.child_by_field_name("right")
    whole = expression_type(names, over, depth + 1) if over is not None else None
    first = bool(left.named_children) and left.named_children[0].id == name.id
    if whole is None:
        return None
    if whole == "string":
        return "int" if first else "rune"
    if whole.startswith("map["):
        return _key(whole) if first else _element(whole)
    if whole.startswith("["):
        return "int" if first else _element(whole)
    return whole if first and whole in _BASIC else None


def _key(type_: str) -> str | None:
    inside = type_.removeprefix("map[")
    return inside[: inside.index("]")] if "[" not in inside[: inside.find("]")] else None


def _element(type_: str | None) -> str | None:
    if type_ is None or not (type_.startswith("map[") or type_.startswith("[")):
        return "byte" if type_ == "string" else None
    return type_[type_.index("]") + 1 :] if "[" not in type_[4 : type_.index("]")] else None


def _field(names: Names, node: Node, depth: int) -> str | None:
    """Of a struct that the document declares."""
    operand, field, text = node.child_by_field_name("operand"), node.child_by_field_name("field"), names.tree.text_of
    owner = expression_type(names, operand, depth + 1) if operand is not None else None
    if owner is None or field is None:
        return None
    for spec in inner(names.tree.root):
        if spec.type == "type_spec" and text(spec.child_by_field_name("name") or spec) == owner.lstrip("*"):
            for member in inner(spec):
                if member.type == "field_declaration" and text(field) in [text(name) for name in member.children_by_field_name("name")]:
                    type_ = member.child_by_field_name("type")
                    return text(type_) if type_ is not None else None
    return None


def _binding(names: Names, node: Node) -> Binding | None:
    return next((use.binding for use in names.within(node.start_byte, node.end_byte) if use.node.id == node.id), None)
