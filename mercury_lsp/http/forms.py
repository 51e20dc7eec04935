"""Prompts of next-edit models: read as the rewriting they ask for, and its result put into the form their clients read. Text only.

Known are Zeta 2 and 2.1, Sweep's next edit, and Mercury's tags. Each form says how a new text of the region is answered, and no change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from engine.api import PastEdit, Related, RewriteRequest
from engine.edits import past_edits


class Form(NamedTuple):
    """What is asked for, and how it is answered: `said` makes the answer of the region's new text."""

    request: RewriteRequest
    said: Callable[[str], str]


def form(prompt: str) -> Form | None:
    """The rewriting that a prompt asks for; None where it is of no known form."""
    for read in (_zeta, _sweep, mercury):
        found = read(prompt)
        if found is not None:
            return found
    return None


# ------------------------------------------------------------------------------------------------ Zeta 2 and 2.1

_ZETA_CURSOR, _ZETA_END = "<|user_cursor|>", "<[end▁of▁sentence]>"
_MARKER = re.compile(r"<\|marker_(\d+)\|>\n?")
_CURRENT = re.compile(r"<{7} CURRENT\n(.*?)\n?={7}\n", re.DOTALL)


def _zeta(prompt: str) -> Form | None:
    """`<[fim-suffix]>` suffix `<[fim-prefix]>` files, each behind `<filename>`, the last one with the region, `<[fim-middle]>`."""
    before, found, rest = prompt.partition("<[fim-suffix]>")
    suffix, middle, rest = rest.partition("<[fim-prefix]>")
    if before.strip() or not (found and middle):
        return None
    files = [part.partition("\n") for part in rest.partition("<[fim-middle]>")[0].split("<filename>")[1:]]
    if not files:
        return None
    path, _, text = files[-1]
    history = tuple(edit for name, _, diffs in files if name == "edit_history" for edit in unified(diffs))
    related = tuple(Related(name, body.strip("\n")) for name, _, body in files[:-1] if name not in ("edit_history", "diagnostics"))
    current = _CURRENT.search(text)
    numbers = [int(number) for number in _MARKER.findall(text)]
    if current is not None:
        return _zeta_2(path, text, current, suffix, history, related)
    return _zeta_2_1(path, text, numbers, suffix, history, related) if len(numbers) >= 2 else None


def _zeta_2(path: str, text: str, current: re.Match[str], suffix: str, history: tuple[PastEdit, ...], related: tuple[Related, ...]) -> Form:
    region, cursor = _without_cursor(current[1], _ZETA_CURSOR)
    request = RewriteRequest(
        prefix=text[: current.start()],
        region=region,
        suffix="\n" + suffix.removeprefix("\n"),
        path=path,
        cursor=cursor,
        history=history,
        related=related,
    )
    return Form(request, lambda new: ("NO_EDITS\n" if new == region else f"{new}\n") + ">>>>>>> UPDATED\n")


def _zeta_2_1(path: str, text: str, numbers: list[int], suffix: str, history: tuple[PastEdit, ...], related: tuple[Related, ...]) -> Form:
    """The region is all that stands between the first marker and the last one."""
    pieces = _MARKER.split(text)  # text, number, text, number, …, text
    inside, cursor = _without_cursor("".join(pieces[2:-1:2]), _ZETA_CURSOR)
    region = inside.removesuffix("\n")
    request = RewriteRequest(
        prefix=pieces[0],
        region=region,
        suffix="\n" + (pieces[-1] + suffix).removeprefix("\n"),
        path=path,
        cursor=None if cursor is None else min(cursor, len(region)),
        history=history,
        related=related,
    )
    ends = "\n" if inside.endswith("\n") else ""

    def said(new: str) -> str:
        if new == region:
            return f"NO_EDITS{_ZETA_END}"
        return f"<|marker_{numbers[0]}|>\n{new}{ends or chr(10)}<|marker_{numbers[-1]}|>\n{_ZETA_END}"

    return Form(request, said)


# ------------------------------------------------------------------------------------------------ Sweep

_SEPARATOR = "<|file_sep|>"


def _sweep(prompt: str) -> Form | None:
    """Files behind `<|file_sep|>`: related ones, `X.diff`, `original/X`, `current/X`, and `updated/X`, which is to be written."""
    sections = [part.partition("\n") for part in prompt.split(_SEPARATOR)[1:]]
    if len(sections) < 2 or not sections[-1][0].startswith("updated/"):
        return None
    path = sections[-1][0].removeprefix("updated/")
    current = next((body for name, _, body in sections if name == f"current/{path}"), None)
    if current is None:
        return None
    shown, cursor = _without_cursor(current, "<|cursor|>")
    region = shown.strip("\n")
    lead = len(shown) - len(shown.lstrip("\n"))
    original = next((body.strip("\n") for name, _, body in sections if name == f"original/{path}"), region)
    history = tuple(edit for name, _, body in sections if name.endswith(".diff") for edit in _sweep_diff(name, body))
    if original != region and not history:
        history = past_edits(path, original, region)
    special = ("current/", "original/", "updated/")
    related = tuple(
        Related(name, body.strip("\n"))
        for name, _, body in sections
        if body.strip() and not name.startswith(special) and not name.endswith(".diff")
    )
    request = RewriteRequest(
        prefix="",
        region=region,
        suffix="\n",
        path=path.partition(":")[0],
        cursor=None if cursor is None else min(max(0, cursor - lead), len(region)),
        history=history,
        related=related,
    )
    return Form(request, lambda new: f"{new}\n")


def _sweep_diff(name: str, body: str) -> tuple[PastEdit, ...]:
    before, found, after = body.partition("updated:\n")
    original = before.removeprefix("original:\n")
    return past_edits(name.removesuffix(".diff"), original.rstrip("\n"), after.rstrip("\n")) if found else ()


# ------------------------------------------------------------------------------------------------ Mercury

_TAG = r"<\|{0}\|>\n?(.*?)\n?<\|/{0}\|>"


def mercury(prompt: str) -> Form | None:
    """The tags of Mercury's edit endpoint. Its clients take the text as it is, in a fence or not, and `None` for no change."""
    file = _tagged("current_file_content", prompt)
    if file is None:
        return None
    path, text = _headed("current_file_path", file)
    inside = re.search(_TAG.format("code_to_edit"), text, re.DOTALL)
    if inside is None:
        return None
    region, cursor = _without_cursor(inside[1], "<|cursor|>")
    snippets = re.findall(_TAG.format("recently_viewed_code_snippet"), prompt, re.DOTALL)
    related = tuple(Related(*_headed("code_snippet_file_path", snippet)) for snippet in snippets)
    request = RewriteRequest(
        prefix=text[: inside.start()],
        region=region,
        suffix="\n" + text[inside.end() :].removeprefix("\n"),
        path=path,
        cursor=cursor,
        history=unified(_tagged("edit_diff_history", prompt) or ""),
        related=related,
    )
    return Form(request, lambda new: "None" if new == region else f"```\n{new}\n```")


def _tagged(name: str, text: str) -> str | None:
    found = re.search(_TAG.format(name), text, re.DOTALL)
    return None if found is None else found[1]


def _headed(name: str, text: str) -> tuple[str, str]:
    """A path in a line of its own, and what follows it."""
    first, _, rest = text.partition("\n")
    head, found, path = first.partition(f"{name}:")
    return (path.strip(), rest) if found and not head.strip() else ("", text)


# ------------------------------------------------------------------------------------------------ all


def _without_cursor(text: str, cursor: str) -> tuple[str, int | None]:
    before, found, after = text.partition(cursor)
    return (before + after, len(before)) if found else (text, None)


def unified(diffs: str) -> tuple[PastEdit, ...]:
    """The hunks of unified diffs, oldest first."""
    edits: list[PastEdit] = []
    path, lines = "", list[str]()
    for line in [*diffs.split("\n"), "@@"]:
        if line.startswith(("@@", "--- ", "+++ ", "diff ")):
            if any(kept[0] in "+-" for kept in lines):
                edits.append(PastEdit(path, "\n".join(lines)))
            lines = []
            path = line[4:].strip().removeprefix("a/").removeprefix("b/") if line.startswith(("--- ", "+++ ")) else path
        elif line[:1] in ("+", "-", " ") and line:
            lines.append(line)
    return tuple(edits)
