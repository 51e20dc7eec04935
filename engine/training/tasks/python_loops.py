"""Ways to write Python's comprehensions and loops in more words than they take. Knows no task."""

from __future__ import annotations

import tree_sitter

from engine.training.syntax import Source
from engine.training.tasks.nodes import Edit, alone, field, line_indent, one_line, only, replaced
from engine.training.tasks.roundabout import detour


@detour("python", "assignment return_statement", 3)
def loop_for_comprehension(source: Source, node: tree_sitter.Node) -> Edit | None:
    kinds = ("list_comprehension", "set_comprehension", "dictionary_comprehension")
    made = only(node, *kinds) if node.type == "return_statement" else field(node, "right", *kinds)
    name = "result" if node.type == "return_statement" else source.of(node.child_by_field_name("left") or node)
    parts = made.named_children if made is not None else []
    clauses = [part for part in parts if part.type in ("for_in_clause", "if_clause")]
    if made is None or not parts or not clauses or len(clauses) != len(parts) - 1 or len(clauses) > 2 or not alone(source, node):
        return None
    if [clause.type for clause in clauses] not in (["for_in_clause"], ["for_in_clause", "if_clause"]) or not name.isidentifier():
        return None
    indent, lines = line_indent(source, node), []
    for depth, clause in enumerate(clauses):
        lines.append(indent + "    " * depth + " ".join(source.of(clause).split()) + ":")
    start, add = _collector(source, made.type, name, parts[0])
    lines.append(indent + "    " * len(clauses) + add)
    lines += [f"{indent}return {name}"] if node.type == "return_statement" else []
    return replaced(source, node, "\n".join([start, *lines])) if one_line(parts[0], *clauses) else None


def _collector(source: Source, kind: str, name: str, element: tree_sitter.Node) -> tuple[str, str]:
    """How an empty collection is made and an element put in."""
    if kind == "dictionary_comprehension":
        key, value = (source.of(child) for child in element.named_children[:2])
        return f"{name} = {{}}", f"{name}[{key}] = {value}"
    text = source.of(element)
    return (f"{name} = []", f"{name}.append({text})") if kind == "list_comprehension" else (f"{name} = set()", f"{name}.add({text})")


@detour("python", "for_statement", 1.5)
def counted_loop(source: Source, node: tree_sitter.Node) -> Edit | None:
    targets, values, body = field(node, "left", "pattern_list"), field(node, "right", "call"), field(node, "body", "block")
    if targets is None or values is None or body is None or targets.named_child_count != 2 or body.start_point.row == node.start_point.row:
        return None
    first, second = (source.of(child) for child in targets.named_children)
    called, arguments = (source.of(child) for child in values.named_children[:2])
    inner, end = arguments[1:-1], source.span(values)[1]
    if called == "enumerate" and inner.replace(".", "_").isidentifier():
        head, value = f"{first} in range(len({inner}))", f"{second} = {inner}[{first}]"
    elif called.endswith(".items") and called[:-6].replace(".", "_").isidentifier() and not inner:
        head, value = f"{first} in {called[:-6]}", f"{second} = {called[:-6]}[{first}]"
    else:
        return None
    if source.text[end : source.span(body)[0]].strip() != ":":
        return None
    return source.span(targets)[0], source.span(body)[0], f"{head}:\n{line_indent(source, body)}{value}\n{line_indent(source, body)}"


@detour("python", "return_statement", 3)
def loop_for_any(source: Source, node: tree_sitter.Node) -> Edit | None:
    call, indent = only(node, "call"), line_indent(source, node)
    inner = field(call, "arguments", "generator_expression") if call is not None else None
    called = source.of(call.named_children[0]) if call is not None else ""
    if inner is None or called not in ("any", "all") or inner.named_child_count != 2 or not alone(source, node):
        return None
    test, loop = (" ".join(source.of(child).split()) for child in inner.named_children)
    test, found = (test, True) if called == "any" else (f"not ({test})", False)
    return replaced(source, node, f"{loop}:\n{indent}    if {test}:\n{indent}        return {found}\n{indent}return {not found}")


DETOURS = (
    loop_for_comprehension,
    counted_loop,
    loop_for_any,
)
