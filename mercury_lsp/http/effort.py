"""How much an answer is worked on before it is given: written once, in sight of a first draft, or remasked where it was least sure.

A remask pass keeps an answer up to its least sure token, puts the next likely one in the place of that, and has the rest denoised again;
the likelier of the two answers stays. Knows no endpoint's shape.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import msgspec

from engine.api import Turn
from engine.serving.requests import Conversation, Service, Task, TokenLog, Work
from mercury_lsp.http.answers import Answer, written
from mercury_lsp.http.bodies import Effort as Name

# The tokens of a first draft, and what is said to it.
_LONGEST_DRAFT = 256
_AGAIN = "Check this answer and write it again, better where it can be."
# Of each token so many likely ones are told: the second is what a pass tries.
_TOLD = 3


class Effort(NamedTuple):
    passes: int  # of remasking, at most
    draft: bool  # whether a first answer is written and revised


_EFFORTS: dict[Name, Effort] = {"low": Effort(1, False), "medium": Effort(3, False), "high": Effort(3, True)}
ONCE = Effort(0, False)


class Worked(NamedTuple):
    """The best answer so far, and the tokens that were written and are none of it."""

    answer: Answer
    hidden: int


def effort(name: Name | None) -> Effort:
    return ONCE if name is None else _EFFORTS.get(name, ONCE)


async def improved(service: Service, work: Work, how: Effort) -> AsyncIterator[Worked]:
    """The answer as it is first written, and after each pass. The last one is the result."""
    asked = work
    spent = 0
    if how.draft:
        [draft] = await written(service, [Work(task=work.task, max_tokens=_LONGEST_DRAFT)])
        spent = draft.usage.completion_tokens
        asked = msgspec.structs.replace(work, task=_after(work.task, draft.text))
    asked = msgspec.structs.replace(asked, logprobs=max(_TOLD, asked.logprobs or 0), canvas=False)
    [best] = await written(service, [asked])
    spent += best.usage.completion_tokens
    yield Worked(_as_asked(best, work), spent - best.usage.completion_tokens)
    tried: set[tuple[bytes, ...]] = set()
    for _ in range(how.passes):
        begun = _remasked(best, tried)
        if begun is None or (asked.max_tokens is not None and len(begun) >= asked.max_tokens):
            return
        rest = None if asked.max_tokens is None else asked.max_tokens - len(begun)
        [more] = await written(service, [msgspec.structs.replace(asked, max_tokens=rest, begins=tuple(each.text for each in begun))])
        spent += more.usage.completion_tokens
        other = _joined(begun, more)
        best = max(best, other, key=_likelihood)
        yield Worked(_as_asked(best, work), spent - best.usage.completion_tokens)


def _after(task: Task, draft: str) -> Task:
    assert isinstance(task, Conversation)
    return Conversation((*task.turns, Turn("assistant", draft), Turn("user", _AGAIN)))


def _remasked(answer: Answer, tried: set[tuple[bytes, ...]]) -> tuple[TokenLog, ...] | None:
    """The answer's beginning with another token in the place of its least sure one that was not tried yet."""
    places = sorted(range(_shown(answer)), key=lambda place: answer.tokens[place].logprob)
    for place in places:
        token = answer.tokens[place]
        other = next((each for each in token.top if each.text not in (token.text, b"")), None)
        if other is None or token.logprob == 0:  # a grammar leaves no choice there
            continue
        begun = (*answer.tokens[:place], TokenLog(other.text, other.logprob, token.top))
        texts = tuple(each.text for each in begun)
        if texts not in tried:
            tried.add(texts)
            return begun
    return None


def _shown(answer: Answer) -> int:
    """Tokens of the answer before a stop string cut it."""
    ends = itertools.accumulate(len(token.text) for token in answer.tokens)
    return sum(end <= len(answer.text.encode()) for end in ends)


def _joined(begun: Sequence[TokenLog], more: Answer) -> Answer:
    text = b"".join(token.text for token in begun).decode(errors="replace")
    usage = msgspec.structs.replace(
        more.usage,
        prompt_tokens=more.usage.prompt_tokens - len(begun),
        completion_tokens=more.usage.completion_tokens + len(begun),
    )
    return msgspec.structs.replace(more, text=text + more.text, tokens=(*begun, *more.tokens), usage=usage)


def _likelihood(answer: Answer) -> float:
    """The mean of its tokens' log probabilities, the end's among them. One that ended is better than one that was cut off."""
    logs = [token.logprob for token in answer.tokens] + ([] if answer.end_logprob is None else [answer.end_logprob])
    return (0.0 if answer.ended in ("end", "stop") else -1e6) + (sum(logs) / len(logs) if logs else -1e6)


def _as_asked(answer: Answer, work: Work) -> Answer:
    """With as many alternatives as were wanted."""
    if work.logprobs is None:
        return msgspec.structs.replace(answer, tokens=(), end_logprob=None)
    tokens = tuple(TokenLog(token.text, token.logprob, token.top[: work.logprobs]) for token in answer.tokens)
    return msgspec.structs.replace(answer, tokens=tokens)
