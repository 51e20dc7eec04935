"""Tasks that rename a local name in a function. Knows no token."""

from __future__ import annotations

import builtins
import random
import re
from collections import Counter

import tree_sitter

from engine.training.syntax import Source, inside
from engine.training.tasks.functions import Definition, functions
from engine.training.tasks.task import LONGEST, Task, try_each

_NAME = re.compile(r"[A-Za-z_]\w*")
_IN_STRING = re.compile(r"(?<![$#])\{(\w+)[:}]")
# Where an identifier of a plain kind is not the local name: `a.name`, `f(name=…)`, a path, a key, a label.
_ELSEWHERE = {
    "attribute",
    "field_expression",
    "member_expression",
    "field_access",
    "selector_expression",
    "scoped_identifier",
    "dot_index_expression",
}
_KEYS = {
    "keyword_argument",
    "pair",
    "field_initializer",
    "method_invocation",
    "labeled_statement",
    "named_argument",
    "variable_name",
    "field",
}
_SHORT = {
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "shorthand_field_initializer",
    "shorthand_field_identifier",
}
_LOCAL = frozenset(
    "parameters formal_parameters parameter_list assignment variable_declarator let_declaration short_var_declaration init_declarator"
    " for_statement typed_parameter default_parameter required_parameter parameter formal_parameter parameter_declaration"
    " enhanced_for_statement expression_list local_variable_declaration".split()
)
_KEPT = {"self", "cls", "this", "_", "err", "ctx"}


def rename(source: Source, rng: random.Random) -> Task | None:
    """A local name of a function to another that is free there; rarely one that does not occur, where nothing is to change."""
    short = [function for function in functions(source) if function.end - function.first <= LONGEST]
    return try_each(short, lambda function: _rename(source, function, rng), rng)


def _rename(source: Source, function: Definition, rng: random.Random) -> Task | None:
    nodes = list(inside(function.node))
    taken = set(_NAME.findall(source.rows(function.top, function.end)))
    declared = {source.of(node) for node in nodes if node.type == "identifier" and _declares(node)}
    fields = {source.of(node) for node in nodes if node.type in _SHORT}  # these name a field as well
    formatted = set(_IN_STRING.findall(source.rows(function.first, function.end)))  # a string may name a variable
    candidates = sorted(name for name in declared - _KEPT - {function.name} - fields - formatted if _NAME.fullmatch(name))
    new = _new_name(source, candidates, taken, rng)
    if not candidates or new is None:
        return None
    old = rng.choice(candidates)
    region = source.rows(function.first, function.end)
    if rng.random() < 0.08:
        return Task(
            name="rename", first=function.first, end=function.end, region=region, answer=region, values={"old": new, "new": old + "s"}
        )
    edits = [(*source.span(node), new) for node in nodes if node.type == "identifier" and source.of(node) == old and _is_local(node)]
    answer = _documented(old).sub(rf"\g<1>{new}\g<2>", source.with_edits(edits, function.first, function.end))
    return Task(name="rename", first=function.first, end=function.end, region=region, answer=answer, values={"old": old, "new": new})


def _documented(old: str) -> re.Pattern[str]:
    """Where documentation names a parameter."""
    return re.compile(rf"(:param (?:[\w.\[\]]+ )?|@param (?:\{{\S+\}} )?|`)\b{re.escape(old)}\b(`|:| )")


def _declares(node: tree_sitter.Node) -> bool:
    """Whether the identifier stands where a local name or parameter is introduced."""
    parent = node.parent
    if parent is None or parent.type not in _LOCAL:
        return False
    if parent.type == "expression_list":
        return parent.parent is not None and parent.parent.type == "short_var_declaration"
    target = next((parent.child_by_field_name(field) for field in ("left", "name", "pattern", "declarator", "type")
                   if parent.child_by_field_name(field) is not None), None)  # fmt: skip
    return target is None or target == node or parent.type.endswith(("parameter", "parameters", "parameter_list"))


def _is_local(node: tree_sitter.Node) -> bool:
    parent = node.parent
    if parent is None:
        return True
    if parent.type in _ELSEWHERE:
        return parent.children[0] == node
    if parent.type == "token_tree":  # inside a macro of Rust nothing is told apart
        return node.prev_sibling is None or node.prev_sibling.type != "."
    if parent.type == "literal_element" and parent.parent is not None and parent.parent.type == "keyed_element":
        return parent.parent.children[0] != parent
    return parent.type not in _KEYS or node not in (parent.child_by_field_name("name"), parent.child_by_field_name("key"))


def _new_name(source: Source, candidates: list[str], taken: set[str], rng: random.Random) -> str | None:
    """A name that occurs elsewhere in the file in the same manner of writing, or a change of an old one."""
    if not candidates:
        return None
    style = "_" in "".join(candidates)
    counts = Counter(name for name in _NAME.findall(source.code) if 3 <= len(name) <= 20 and name[0].islower() and "__" not in name)
    others = sorted(
        name for name, count in counts.items() if count >= 2 and name not in taken and name not in _UNFIT and (style or "_" not in name)
    )
    return rng.choice(others) if others else None


KEYWORDS = frozenset(
    "and as assert async await auto bool boolean break byte case catch char class const continue debugger def default defer del"
    " delete do double elif else elseif end enum except export extends extern false final finally float for foreach from func"
    " function global goto if impl implements import in inline instanceof int interface is lambda let local long loop map match"
    " module mut namespace new nil none not null nullptr number object or override package pass private protected pub public raise"
    " range readonly register ref require return self short signed sizeof static string struct super switch template then this"
    " throw throws trait true try type typedef typeof undefined union unless unsafe unsigned until unset use using var virtual void"
    " volatile when where while with yield crate dyn move sealed internal partial record out base event fixed checked operator"
    " implicit explicit chan select typealias fallthrough".split()
)
_UNFIT = KEYWORDS | frozenset(dir(builtins))
