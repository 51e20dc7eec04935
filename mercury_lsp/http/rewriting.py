"""A region's new text, whatever its size and whatever the model can: cut to what can be rewritten at once, or filled at the cursor.

Knows no form and no protocol.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from engine.api import RequestInvalid, RewriteRequest
from engine.serving.requests import Facts, Hole, Work
from mercury_lsp.http.answers import Answer

Ask = Callable[[Work], Awaitable[Answer]]

# How often a region is cut in half before it is left as it is.
_TRIES = 4


async def rewritten(request: RewriteRequest, facts: Facts, work: Work, ask: Ask) -> tuple[str, Answer | None]:
    """The whole region's new text, and the answer it came from; the region as it is, and None, where no part of it could be rewritten.

    `work` says all but the task. The model sees and writes lines that end in `\\n`; the region keeps its own.
    """
    seen = _in_lf(request)
    text, answer = await _rewritten(seen, facts, work, ask)
    if text == seen.region:
        return request.region, answer
    return (text.replace("\n", "\r\n") if "\r\n" in request.region else text), answer


def lf(text: str) -> str:
    """The text with `\\n` for every `\\r\\n`."""
    return text.replace("\r\n", "\n")


def _in_lf(request: RewriteRequest) -> RewriteRequest:
    cursor = request.cursor
    return msgspec.structs.replace(
        request,
        prefix=lf(request.prefix),
        region=lf(request.region),
        suffix=lf(request.suffix),
        cursor=None if cursor is None else len(lf(request.region[:cursor])),
    )


async def _rewritten(request: RewriteRequest, facts: Facts, work: Work, ask: Ask) -> tuple[str, Answer | None]:
    if not facts.rewrites:
        return await _filled(request, work, ask)
    chars = facts.rewrite_chars
    for _ in range(_TRIES):
        head, part, tail = around_cursor(request.region, request.cursor or 0, chars)
        try:
            answer = await ask(_with(work, _narrowed(request, head, part, tail)))
        except RequestInvalid:  # more tokens than its characters let expect
            chars //= 2
            continue
        if answer.ended != "end":  # half a rewriting would delete what it did not come to
            return request.region, answer
        return head + answer.text + tail, answer
    return request.region, None


async def _filled(request: RewriteRequest, work: Work, ask: Ask) -> tuple[str, Answer | None]:
    cursor = request.cursor if request.cursor is not None else len(request.region)
    before, after = request.region[:cursor], request.region[cursor:]
    hole = Hole(prefix=request.prefix + before, suffix=after + request.suffix, path=request.path, related=request.related)
    answer = await ask(_with(work, hole))
    return before + answer.text + after, answer


def around_cursor(region: str, cursor: int, chars: int) -> tuple[str, str, str]:
    """Whole lines around the cursor of so many characters at most, its own at least, and what stands before and after them."""
    lines = region.split("\n")
    row = region.count("\n", 0, cursor)
    first, last = row, row + 1
    size = len(lines[row])
    while True:
        below = last < len(lines) and size + len(lines[last]) + 1 <= chars
        if below:
            size, last = size + len(lines[last]) + 1, last + 1
        above = first > 0 and size + len(lines[first - 1]) + 1 <= chars
        if above:
            first, size = first - 1, size + len(lines[first - 1]) + 1
        if not (above or below):
            return _joined(lines, first, last)


def _joined(lines: Sequence[str], first: int, last: int) -> tuple[str, str, str]:
    head = "".join(f"{line}\n" for line in lines[:first])
    tail = "".join(f"\n{line}" for line in lines[last:])
    return head, "\n".join(lines[first:last]), tail


def _narrowed(request: RewriteRequest, head: str, part: str, tail: str) -> RewriteRequest:
    return RewriteRequest(
        prefix=request.prefix + head,
        region=part,
        suffix=tail + request.suffix,
        path=request.path,
        cursor=None if request.cursor is None else request.cursor - len(head),
        history=request.history,
        instruction=request.instruction,
        related=request.related,
        deadline=request.deadline,
    )


def _with(work: Work, task: Hole | RewriteRequest) -> Work:
    return Work(
        task=task,
        max_tokens=work.max_tokens if isinstance(task, Hole) else None,  # a rewriting that is cut off is none
        stop=work.stop if isinstance(task, Hole) else (),
        sampling=work.sampling,
        interactive=work.interactive,
        deadline=work.deadline,
    )
