"""Ways to write languages with braces in more words than it takes. Knows no task."""

from __future__ import annotations

import re

import tree_sitter

from engine.training.syntax import Source
from engine.training.tasks.nodes import Edit, alone, deeper, line_indent, negated, own_step, replaced
from engine.training.tasks.roundabout import detour

_PLAIN = (
    "identifier",
    "member_expression",
    "call_expression",
    "method_invocation",
    "selector_expression",
    "field_expression",
    "field_access",
)
_TRUE = {"javascript": "=== true", "typescript": "=== true"}
_FALSE = {"javascript": "=== false", "typescript": "=== false"}
_BLOCKS = ("statement_block", "block", "compound_statement", "statement_list")
_LEAVES = ("return_statement", "throw_statement", "continue_statement", "break_statement", "return_expression", "break_expression")
_NAMED = {"javascript": "const", "typescript": "const", "java": "var", "c++": "const auto", "c#": "var"}
_ADDED = re.compile(r"([\w.\[\]>-]+) ([-+*/|&]|\|\||&&)= ([\w.]+)")


def _inner(node: tree_sitter.Node) -> tree_sitter.Node:
    """What stands between the parentheses of a condition, if there are any."""
    return node.named_children[0] if node.type in ("parenthesized_expression", "condition_clause") and node.named_child_count == 1 else node


def _step(source: Source, node: tree_sitter.Node) -> str:
    """What a block of this file is indented by: the difference between a line and the next deeper one."""
    body = next((child for child in node.children if child.type in _BLOCKS), None)
    inner = body.named_children[0] if body is not None and body.named_children else None
    outer = line_indent(source, node)
    deep = line_indent(source, inner) if inner is not None else ""
    return deep[len(outer) :] if len(deep) > len(outer) else "    "


@detour("javascript typescript java go rust c#", "if_statement if_expression while_statement", 1.5)
def compared_with_true(source: Source, node: tree_sitter.Node) -> Edit | None:
    condition = node.child_by_field_name("condition")
    test = _inner(condition) if condition is not None else None
    if test is None or test.start_point.row != test.end_point.row:
        return None
    if test.type in _PLAIN:
        return replaced(source, test, f"{source.of(test)} {_TRUE.get(source.language, '== true')}")
    operand = test.named_children[0] if test.type.startswith(("unary", "prefix_unary")) and test.named_child_count == 1 else None
    if operand is None or operand.type not in _PLAIN or not source.of(test).startswith("!"):
        return None
    return replaced(source, test, f"{source.of(operand)} {_FALSE.get(source.language, '== false')}")


@detour("javascript typescript java go rust c c++ c# php", "binary_expression", 1)
def negated_twice(source: Source, node: tree_sitter.Node) -> Edit | None:
    holder = node.parent
    if holder is None or holder.type not in (
        "parenthesized_expression",
        "condition_clause",
        "return_statement",
        "if_statement",
        "if_expression",
    ):
        return None
    opposite = negated(source, node)
    return replaced(source, node, f"!({opposite})") if opposite else None


@detour("javascript typescript java go c c++ c# php", "if_statement", 3)
def else_after_leaving(source: Source, node: tree_sitter.Node) -> Edit | None:
    body, after, parent = node.child_by_field_name("consequence"), node.next_named_sibling, node.parent
    if body is None or after is None or parent is None or parent.type not in _BLOCKS or node.child_by_field_name("alternative"):
        return None
    inner = body.named_children[-1] if body.named_children else body
    inner = inner.named_children[-1] if inner.type == "statement_list" and inner.named_children else inner
    last = parent.named_children[-1]
    if inner.type not in _LEAVES or not source.of(body).endswith("}") or not alone(source, node) or not alone(source, last):
        return None
    first, end = after.start_point.row, last.end_point.row + 1
    rest = deeper(source, first, end, _step(source, node)) if end - first <= 8 else None
    return None if rest is None else (source.span(node)[1], source.span(last)[1], f" else {{\n{rest}\n{line_indent(source, node)}}}")


@detour("javascript typescript java c++ c# go", "return_statement", 1.2)
def named_before_returned(source: Source, node: tree_sitter.Node) -> Edit | None:
    value = node.named_children[0] if node.named_child_count == 1 else None
    value = value.named_children[0] if value is not None and value.type == "expression_list" and value.named_child_count == 1 else value
    if value is None or value.type not in (
        "call_expression",
        "method_invocation",
        "binary_expression",
        "object",
        "array",
        "invocation_expression",
    ):
        return None
    if not alone(source, node) or "result" in source.of(value) or not (parent := node.parent) or parent.type not in _BLOCKS:
        return None
    head = "result :=" if source.language == "go" else f"{_NAMED[source.language]} result ="
    stop = ";" if source.of(node).endswith(";") else ""
    return replaced(source, node, f"{head} {source.of(value)}{stop}\n{line_indent(source, node)}return result{stop}")


@detour("javascript typescript java c c++ c# go php", "return_statement", 2.5)
def branches_for_truth(source: Source, node: tree_sitter.Node) -> Edit | None:
    value = node.named_children[0] if node.named_child_count == 1 else None
    value = value.named_children[0] if value is not None and value.type == "expression_list" and value.named_child_count == 1 else value
    if value is None or value.type != "binary_expression" or not alone(source, node) or value.start_point.row != value.end_point.row:
        return None
    code = source.code[slice(*source.span(value))]
    if (
        not re.search(r" (===?|!==?|>=?|<=?) ", code)
        or re.search(r" (\|\||\?\?) ", code)
        or not (parent := node.parent)
        or parent.type not in _BLOCKS
    ):
        return None
    indent, step, stop = line_indent(source, node), own_step(source, node), ";" if source.of(node).endswith(";") else ""
    test = source.of(value) if source.language == "go" else f"({source.of(value)})"
    yes = f"if {test} {{\n{indent}{step}return true{stop}\n{indent}}}"
    no = f" else {{\n{indent}{step}return false{stop}\n{indent}}}" if node.start_byte % 2 else f"\n{indent}return false{stop}"
    return replaced(source, node, yes + no)


@detour(
    "javascript typescript java go rust c c++ c# php",
    "assignment_expression augmented_assignment_expression assignment_statement compound_assignment_expr",
    0.8,
)
def added_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    match = _ADDED.fullmatch(source.of(node))
    return replaced(source, node, f"{match[1]} = {match[1]} {match[2]} {match[3]}") if match else None


@detour("javascript typescript java c++ c#", "update_expression", 0.6)
def counted_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    name = source.of(node).removesuffix("++")
    alone_there = node.parent is not None and node.parent.type == "expression_statement"
    return replaced(source, node, f"{name} = {name} + 1") if alone_there and re.fullmatch(r"[\w.]+", name) else None


@detour("rust", "block", 2)
def returned_at_the_end(source: Source, node: tree_sitter.Node) -> Edit | None:
    last = node.named_children[-1] if node.named_children else None
    if last is None or node.parent is None or node.parent.type != "function_item" or not alone(source, last):
        return None
    if last.type not in ("call_expression", "identifier", "binary_expression", "struct_expression", "macro_invocation", "field_expression"):
        return None
    if last.start_byte % 2:
        return replaced(source, last, f"return {source.of(last)};")
    return (
        replaced(source, last, f"let result = {source.of(last)};\n{line_indent(source, last)}result") if last.type != "identifier" else None
    )


@detour("rust java", "call_expression method_invocation", 0.8)
def length_for_empty(source: Source, node: tree_sitter.Node) -> Edit | None:
    text, empty, count = source.of(node), *({"rust": (".is_empty()", ".len()"), "java": (".isEmpty()", ".size()")}[source.language])
    if not text.endswith(empty) or "\n" in text or not re.fullmatch(r"[\w.]+", text.removesuffix(empty)):
        return None
    length, negation = text.removesuffix(empty) + count, node.parent
    if negation is not None and negation.type == "unary_expression":
        return replaced(source, negation, f"{length} > 0")
    return replaced(source, node, f"{length} == 0")


@detour("rust", "shorthand_field_initializer", 0.5)
def field_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    return replaced(source, node, f"{source.of(node)}: {source.of(node)}")


@detour("go", "short_var_declaration", 0.4)
def declared_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    match = re.fullmatch(r"(\w+) := (.+)", source.of(node))
    return replaced(source, node, f"var {match[1]} = {match[2]}") if match and alone(source, node) else None


@detour("java", "local_variable_declaration field_declaration", 1)
def types_twice(source: Source, node: tree_sitter.Node) -> Edit | None:
    text = source.of(node)
    match = re.search(r"<([\w, ]+)> \w+ = new \w+(<>)\(", text)
    start = source.span(node)[0]
    return (start + match.start(2), start + match.end(2), f"<{match[1]}>") if match else None


DETOURS = (
    compared_with_true,
    negated_twice,
    else_after_leaving,
    named_before_returned,
    branches_for_truth,
    added_in_full,
    counted_in_full,
    returned_at_the_end,
    length_for_empty,
    field_in_full,
    declared_in_full,
    types_twice,
)
