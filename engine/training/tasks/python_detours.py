"""Ways to write Python in more words than it takes. Knows no task."""

from __future__ import annotations

import tree_sitter

from engine.training.syntax import Source
from engine.training.tasks.nodes import Edit, alone, deeper, field, line_indent, negated, one_line, only, replaced
from engine.training.tasks.roundabout import detour

_PLAIN = ("identifier", "attribute", "call")
_LEAVES = ("return_statement", "raise_statement", "continue_statement", "break_statement")
_ATOMS = (*_PLAIN, "integer", "float", "string", "subscript", "true", "false", "none")


@detour("python", "if_statement while_statement", 1.5)
def compared_with_true(source: Source, node: tree_sitter.Node) -> Edit | None:
    condition = field(node, "condition", *_PLAIN, "not_operator")
    if condition is None or not one_line(condition):
        return None
    if condition.type != "not_operator":
        return replaced(source, condition, f"{source.of(condition)} == True")
    argument = field(condition, "argument", *_PLAIN)
    return replaced(source, condition, f"{source.of(argument)} == False") if argument is not None else None


@detour("python", "comparison_operator")
def negated_twice(source: Source, node: tree_sitter.Node) -> Edit | None:
    opposite = negated(source, node) if node.parent is not None and node.parent.type in ("if_statement", "return_statement") else None
    return replaced(source, node, f"not ({opposite})") if opposite else None


@detour("python", "comparison_operator", 0.6)
def not_in_apart(source: Source, node: tree_sitter.Node) -> Edit | None:
    left, sign, right = (*node.children, None, None)[:3]
    if left is None or sign is None or right is None or node.child_count != 3 or not one_line(node):
        return None
    plain = {"not in": "in", "is not": "is"}.get(sign.type)
    return replaced(source, node, f"not ({source.of(left)} {plain} {source.of(right)})") if plain else None


@detour("python", "if_statement", 2.5)
def else_after_leaving(source: Source, node: tree_sitter.Node) -> Edit | None:
    body, after = field(node, "consequence", "block"), node.next_named_sibling
    if body is None or node.child_by_field_name("alternative") or after is None or node.parent is None or node.parent.type != "block":
        return None
    last = node.parent.named_children[-1]
    if body.named_children[-1].type not in _LEAVES or not alone(source, node) or not alone(source, last):
        return None
    first, end = after.start_point.row, last.end_point.row + 1
    rest = deeper(source, first, end, "    ") if end - first <= 8 else None
    indent = line_indent(source, node)
    return None if rest is None else (source.span(node)[1], source.span(last)[1], f"\n{indent}else:\n{rest}")


@detour("python", "return_statement", 1.2)
def named_before_returned(source: Source, node: tree_sitter.Node) -> Edit | None:
    value = only(node, "call", "binary_operator", "subscript", "string", "dictionary", "list", "list_comprehension")
    if value is None or not alone(source, node) or "result" in source.of(value):
        return None
    return replaced(source, node, f"result = {source.of(value)}\n{line_indent(source, node)}return result")


@detour("python", "return_statement", 2)
def branches_for_truth(source: Source, node: tree_sitter.Node) -> Edit | None:
    value, indent = only(node, "comparison_operator", "not_operator"), line_indent(source, node)
    if value is None or not alone(source, node) or not one_line(value):
        return None
    otherwise = f"\n{indent}else:\n{indent}    return False" if node.start_byte % 2 else f"\n{indent}return False"
    return replaced(source, node, f"if {source.of(value)}:\n{indent}    return True{otherwise}")


@detour("python", "assignment return_statement", 1.2)
def branches_for_choice(source: Source, node: tree_sitter.Node) -> Edit | None:
    returned = node.type == "return_statement"
    choice = only(node, "conditional_expression") if returned else field(node, "right", "conditional_expression")
    if (
        choice is None
        or choice.named_child_count != 3
        or not alone(source, node)
        or not one_line(choice)
        or (not returned and node.child_by_field_name("type"))
    ):
        return None
    yes, condition, no = (source.of(child) for child in choice.named_children)
    head = "return" if returned else f"{source.of(node.child_by_field_name('left') or node)} ="
    indent = line_indent(source, node)
    return replaced(source, node, f"if {condition}:\n{indent}    {head} {yes}\n{indent}else:\n{indent}    {head} {no}")


@detour("python", "augmented_assignment", 0.8)
def added_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    left, right, sign = (
        field(node, "left", "identifier", "attribute", "subscript"),
        field(node, "right", *_ATOMS),
        field(node, "operator"),
    )
    if left is None or right is None or sign is None:
        return None
    return replaced(source, node, f"{source.of(left)} = {source.of(left)} {source.of(sign)[:-1]} {source.of(right)}")


@detour("python", "if_statement", 1.2)
def nested_conditions(source: Source, node: tree_sitter.Node) -> Edit | None:
    condition, body = field(node, "condition", "boolean_operator"), field(node, "consequence", "block")
    if condition is None or body is None or node.child_by_field_name("alternative") or not one_line(condition) or not alone(source, node):
        return None
    left, right, sign = (
        condition.child_by_field_name("left"),
        condition.child_by_field_name("right"),
        condition.child_by_field_name("operator"),
    )
    first, end = body.start_point.row, body.end_point.row + 1
    inner = deeper(source, first, end, "    ") if end - first <= 6 and first > node.start_point.row else None
    if left is None or right is None or sign is None or sign.type != "and" or inner is None:
        return None
    head = f"if {source.of(left)}:\n{line_indent(source, node)}    if {source.of(right)}:\n"
    return source.span(node)[0], source.span(body)[1], head + inner


@detour("python", "string", 0.8)
def format_call(source: Source, node: tree_sitter.Node) -> Edit | None:
    text, parts = source.of(node), [child for child in node.children if child.type == "interpolation"]
    if (
        not text.startswith(('f"', "f'"))
        or text.startswith(('f"""', "f'''"))
        or not parts
        or "{{" in text
        or (node.parent and "concat" in node.parent.type)
    ):
        return None
    if any(part.named_child_count != 1 or part.child_count != 3 for part in parts):
        return None  # a format of its own
    pieces, at = [], source.span(node)[0] + 1
    for part in parts:
        start, end = source.span(part)
        pieces += [source.text[at:start], "{}"]
        at = end
    values = ", ".join(source.of(part.named_children[0]) for part in parts)
    return replaced(source, node, "".join(pieces) + source.text[at : source.span(node)[1]] + f".format({values})")


@detour("python", "dictionary list", 0.4)
def called_for_empty(source: Source, node: tree_sitter.Node) -> Edit | None:
    assigned = node.parent is not None and node.parent.type == "assignment" and node.named_child_count == 0
    return (
        replaced(source, node, "dict()" if node.type == "dictionary" else "list()")
        if assigned and source.of(node) in ("{}", "[]")
        else None
    )


@detour("python", "call", 0.5)
def super_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    around: tree_sitter.Node | None = node
    while around is not None and around.type != "class_definition":
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return replaced(source, node, f"super({source.of(name)}, self)") if name is not None and source.of(node) == "super()" else None


@detour("python", "call", 0.8)
def isinstance_twice(source: Source, node: tree_sitter.Node) -> Edit | None:
    called, arguments = node.child_by_field_name("function"), field(node, "arguments", "argument_list")
    if called is None or arguments is None or source.of(called) != "isinstance" or arguments.named_child_count != 2:
        return None
    value, kinds = arguments.named_children
    if kinds.type != "tuple" or value.type not in ("identifier", "attribute") or not 2 <= kinds.named_child_count <= 3:
        return None
    if node.parent is None or node.parent.type not in ("if_statement", "return_statement", "elif_clause"):
        return None
    return replaced(source, node, " or ".join(f"isinstance({source.of(value)}, {source.of(kind)})" for kind in kinds.named_children))


DETOURS = (
    compared_with_true,
    negated_twice,
    not_in_apart,
    else_after_leaving,
    named_before_returned,
    branches_for_truth,
    branches_for_choice,
    added_in_full,
    nested_conditions,
    format_call,
    called_for_empty,
    super_in_full,
    isinstance_twice,
)
