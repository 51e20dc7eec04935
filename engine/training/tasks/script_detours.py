"""Ways to write JavaScript and TypeScript in more words than they take. Knows no task."""

from __future__ import annotations

import re

import tree_sitter

from engine.training.syntax import Source
from engine.training.tasks.nodes import Edit, alone, line_indent, own_step, replaced
from engine.training.tasks.roundabout import detour

_SCRIPT = "javascript typescript"


@detour(_SCRIPT, "arrow_function", 1.2)
def returned_from_block(source: Source, node: tree_sitter.Node) -> Edit | None:
    body = node.child_by_field_name("body")
    if body is None or body.type in ("statement_block", "object", "parenthesized_expression") or body.start_point.row != body.end_point.row:
        return None
    stop = ";" if ";\n" in source.text else ""
    return replaced(source, body, f"{{\n{line_indent(source, node)}  return {source.of(body)}{stop}\n{line_indent(source, node)}}}")


@detour(_SCRIPT, "template_string", 1)
def joined_strings(source: Source, node: tree_sitter.Node) -> Edit | None:
    text, parts = source.of(node), [child for child in node.children if child.type == "template_substitution"]
    if (
        not 1 <= len(parts) <= 3
        or "\n" in text
        or "'" in text
        or "\\" in text
        or (node.parent is not None and node.parent.type == "call_expression")
    ):
        return None
    pieces, at = [], source.span(node)[0] + 1
    for part in parts:
        start, end = source.span(part)
        value = source.text[start + 2 : end - 1]
        pieces += [f"'{source.text[at:start]}'" if at < start else "", value if re.fullmatch(r"[\w.()]+", value) else f"({value})"]
        at = end
    rest = source.text[at : source.span(node)[1] - 1]
    pieces = [piece for piece in [*pieces, f"'{rest}'" if rest else ""] if piece]
    return replaced(source, node, " + ".join(pieces)) if len(pieces) > 1 else None


@detour(_SCRIPT, "shorthand_property_identifier", 0.4)
def property_in_full(source: Source, node: tree_sitter.Node) -> Edit | None:
    return replaced(source, node, f"{source.of(node)}: {source.of(node)}")


@detour(_SCRIPT, "member_expression", 0.8)
def guarded_by_and(source: Source, node: tree_sitter.Node) -> Edit | None:
    match = re.fullmatch(r"([\w.]+)\?\.(\w+)", source.of(node))
    held = node.parent is not None and node.parent.type in ("parenthesized_expression", "return_statement", "variable_declarator")
    return replaced(source, node, f"{match[1]} && {match[1]}.{match[2]}") if match and held else None


@detour(_SCRIPT, "for_in_statement", 1.5)
def counted_loop(source: Source, node: tree_sitter.Node) -> Edit | None:
    match = re.match(r"for \((const|let) (\w+) of ([\w.]+)\) \{\n([ \t]*)", source.of(node))
    if match is None or re.search(r"\bi\b", source.of(node)):
        return None
    _, name, values, indent = match.groups()
    stop, start = ";" if ";\n" in source.text else "", source.span(node)[0]
    head = f"for (let i = 0; i < {values}.length; i++) {{\n{indent}const {name} = {values}[i]{stop}\n{indent}"
    return start, start + match.end(), head


@detour(_SCRIPT, "lexical_declaration return_statement", 1.5)
def branches_for_choice(source: Source, node: tree_sitter.Node) -> Edit | None:
    match = re.fullmatch(r"(?:(?:const|let) (\w+) =|return) ([^?\n]+) \? ([^?:\n{]+) : ([^?:\n{]+?)(;?)", source.of(node))
    if match is None or not alone(source, node) or (node.parent is not None and node.parent.type == "export_statement"):
        return None
    name, test, yes, no, stop = match.groups()
    indent, step = line_indent(source, node), own_step(source, node)
    head, before = (f"{name} =", f"let {name}{stop}\n{indent}") if name else ("return", "")
    return replaced(
        source,
        node,
        f"{before}if ({test}) {{\n{indent}{step}{head} {yes}{stop}\n{indent}}} else {{\n{indent}{step}{head} {no}{stop}\n{indent}}}",
    )


DETOURS = (
    returned_from_block,
    joined_strings,
    property_in_full,
    guarded_by_and,
    counted_loop,
    branches_for_choice,
)
