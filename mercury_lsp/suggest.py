"""From a snapshot to items: may it be read, what does the last draft or the engine say, what of it is shown. Knows no message.

Item ids count up; a client gives one back when its suggestion was accepted.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import msgspec

from engine.api import Draft, InfillRequest, Related, foreseen
from mercury_lsp import indent, popup, present
from mercury_lsp.account import Account
from mercury_lsp.ahead import Ahead
from mercury_lsp.ask import InlineCompletionAsk
from mercury_lsp.context import Trigger, infill_request
from mercury_lsp.languages import language_of
from mercury_lsp.lines import Known
from mercury_lsp.params import Position
from mercury_lsp.portion import Portion, portions
from mercury_lsp.privacy import Privacy
from mercury_lsp.reuse import Rest, Reuse
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.settings import EXPLICIT_SECONDS, Settings
from mercury_lsp.syntax import has_grammar
from mercury_lsp.trees import Trees
from mercury_lsp.worker import Worker

ACCEPTED = "mercury.didAcceptCompletionItem"
# Parts of a draft that are put into the document to see whether they can stand there; the longest nearly always can.
_TRIES = 3
# Who asked with a key gets so many to choose from, those after the first if they come within so many seconds.
_MOST_ITEMS = 4
# A line that the project has is taken without asking the engine from this confidence on.
_SURE = 0.6
_OTHERS_SECONDS = 1.0
_PROJECT = "project"  # whose draft it is, if it is no engine's


class Suggestion(msgspec.Struct, frozen=True):
    """What to show at a cursor."""

    item: present.Item
    confidence: float | None  # None: it was shown before, and this is what is left of it


class _Foreseen(msgspec.Struct, frozen=True):
    """What was drafted before anybody asked."""

    before: str  # the text around the cursor
    after: str
    multiline: bool
    draft: Draft

    def answers(self, request: InfillRequest, before: str, after: str) -> bool:
        same = (self.before, self.after, self.multiline) == (before, after, request.multiline)
        return same and self.draft.text.startswith(request.begins)


class Suggester:
    """`settings`, `roots` (the workspace's folders) and `related` (what else bears on a cursor) are the server's to set."""

    def __init__(self, session: Session, worker: Worker) -> None:
        self.worker = worker
        self.settings = Settings()
        self.roots: list[str] = []
        self.related: Callable[[Snapshot, Settings], Sequence[Related]] = lambda snapshot, settings: ()
        self.recall: Callable[[Snapshot], Known | None] = lambda snapshot: None  # how the project's own lines go on
        self._session = session
        self.privacy = Privacy()
        self._reuse = Reuse()
        self._trees = Trees()
        self._foreseen: dict[str, _Foreseen] = {}
        self._ids = itertools.count(1)
        self.account = Account()
        self.ahead = Ahead(self._foresee)

    async def items(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> list[dict[str, Any]]:
        """`InlineCompletionItem`s for the cursor of `snapshot`; none where nothing may or can be shown. Raises what the engine raises."""
        asked = self.account.asked()
        if not ask.explicit:
            self.ahead.asked(snapshot.document)
        try:
            suggestion = await self.suggestion(ask, snapshot)
        except asyncio.CancelledError:
            self.account.cancelled()
            raise
        if suggestion is None and not self._session.is_current(snapshot):
            self.account.cancelled()
            return []
        self.account.answered(asked)
        if suggestion is None:
            return []
        items = [self._to_protocol(suggestion, snapshot)]
        if ask.explicit:
            async for other in self._others(ask, snapshot, suggestion.item):
                items.append(self._item_of(other, snapshot))
                self.account.offered(snapshot.document, _number(items[-1]))
        return items

    async def suggestion(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> Suggestion | None:
        """The same, before it is an answer."""
        if not self.may_read(snapshot) or not _is_at(snapshot, ask):
            return None
        rest = await self._rest(ask, snapshot)
        if rest is None or not rest.text or not self._session.is_current(snapshot):
            return None
        found = self._kept(snapshot, rest.text) if rest.shown else self._presented(ask, snapshot, rest)
        selected = _selected(ask, snapshot)
        if found is None or (selected is not None and not popup.extends(found.item, selected, snapshot.column)):
            return None
        return found

    async def _others(self, ask: InlineCompletionAsk, snapshot: Snapshot, first: present.Item) -> AsyncIterator[present.Item]:
        """What else could stand there, for somebody to choose from; as much as comes soon."""
        request = self._request(ask, snapshot)
        known, end = [first.completion], time.monotonic() + _OTHERS_SECONDS
        while len(known) < _MOST_ITEMS and (left := end - time.monotonic()) > 0:
            draft = await self.worker.infill(snapshot.document, msgspec.structs.replace(request, unlike=tuple(known)), patience=left)
            if draft is None or draft.ended in ("deadline", "stopped") or not self._session.is_current(snapshot):
                return
            item = self._item(ask, snapshot, draft.text)
            if item is None or item.completion in known or not item.completion:
                return
            known.append(item.completion)
            yield item

    def forget(self, document: str) -> None:
        """The document was closed."""
        self._reuse.forget(document)
        self._foreseen.pop(document, None)
        self.ahead.forget(document)
        self._trees.forget(document)
        self.worker.stop(document)

    def may_read(self, snapshot: Snapshot) -> bool:
        """Whether the model may see the document."""
        language = language_of(snapshot.language, snapshot.path)
        return self.settings.enabled(snapshot.language, language) and not self.privacy.hides(snapshot.path)

    async def _rest(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> Rest | None:
        """What is left of the last suggestion, or else a new draft."""
        request = self._request(ask, snapshot)
        document, before, after = snapshot.document, snapshot.before, snapshot.after
        known = self._reuse.match(document, before, after, complete=ask.explicit, multiline=request.multiline)
        if known is not None and known.text.startswith(request.begins):
            self.worker.stop(document)
            self.account.reused()
            return known
        self.account.left(document, before)
        known_line = None if self.settings.scripted else self.recall(snapshot)
        if known_line is not None and known_line.confidence >= self._sure and known_line.text.startswith(request.begins):
            self.worker.stop(document)
            draft = _of_the_project(known_line)
            self._reuse.remember(document, before, after, request.multiline, draft)
            return Rest(draft.text, draft, 0, shown=False)
        foreseen = self._foreseen.pop(document, None)
        if foreseen is not None and foreseen.answers(request, before, after) and not ask.explicit:
            return self._new(snapshot, request, foreseen.draft)
        return await self._drafted(ask, snapshot, request)

    async def _foresee(self, uri: str, place: Position) -> None:
        """Draft what will be asked for at `place`, unless the answer is known."""
        snapshot = self._session.snapshot(uri, place.line, place.character)
        if snapshot is None or not self.may_read(snapshot):
            return
        document, before, after = snapshot.document, snapshot.before, snapshot.after
        if self._reuse.knows(document, before, after):
            return
        request = msgspec.structs.replace(self._asked_at(snapshot, "automatic"), deadline=None)
        # A key of its own: a next edit for the document must not drop this, nor this that.
        draft = await self.worker.aside(f"{document} ahead", lambda engine, stop: foreseen(engine, request, stop))
        if draft is not None and draft.ended != "stopped" and self._session.is_current(snapshot):
            self._foreseen[document] = _Foreseen(before, after, request.multiline, draft)

    @property
    def _sure(self) -> float:
        """From what confidence on a line of the project's is taken without asking the engine."""
        return max(_SURE, self.settings.min_confidence)

    async def _drafted(self, ask: InlineCompletionAsk, snapshot: Snapshot, request: InfillRequest) -> Rest | None:
        document, before, after = snapshot.document, snapshot.before, snapshot.after
        draft: Draft | None = None

        def late(whole: Draft) -> None:
            if draft is not None and draft.text:
                self._reuse.finish(document, draft, whole)
            else:
                self._reuse.remember(document, before, after, request.multiline, whole)

        draft = await self.worker.infill(document, request, patience=EXPLICIT_SECONDS if ask.explicit else None, late=late)
        return None if draft is None else self._new(snapshot, request, draft)

    def _new(self, snapshot: Snapshot, request: InfillRequest, draft: Draft) -> Rest:
        self.account.drafted(draft)
        self._reuse.remember(snapshot.document, snapshot.before, snapshot.after, request.multiline, draft)
        return Rest(draft.text, draft, 0, shown=False)

    def _asked_at(self, snapshot: Snapshot, trigger: Trigger) -> InfillRequest:
        return infill_request(snapshot, self.settings, trigger, self.roots, self.related(snapshot, self.settings))

    def _request(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> InfillRequest:
        request = self._asked_at(snapshot, "explicit" if ask.explicit else "automatic")
        selected = _selected(ask, snapshot)
        if selected is None:
            return request
        return msgspec.structs.replace(request, begins=popup.forced(selected, snapshot.line_text, snapshot.column))

    def _kept(self, snapshot: Snapshot, completion: str) -> Suggestion:
        """The rest of what is shown already, as it is: to judge it again would make it flicker."""
        line, column = snapshot.line_text, snapshot.column
        return Suggestion(present.inserted(snapshot.line, line[:column], completion, line[column:]), None)

    def _presented(self, ask: InlineCompletionAsk, snapshot: Snapshot, rest: Rest) -> Suggestion | None:
        """The longest part of a draft that is likely enough and can stand in the document."""
        for part in itertools.islice(self._parts(ask, snapshot, rest), _TRIES):
            item = self._item(ask, snapshot, part.text, exact=rest.draft.model == _PROJECT)
            if item is not None:
                self._reuse.show(snapshot.document, snapshot.before, snapshot.after, item.completion, _end(rest, part, item))
                return Suggestion(item, part.confidence)
        return None

    def _parts(self, ask: InlineCompletionAsk, snapshot: Snapshot, rest: Rest) -> Iterator[Portion]:
        if ask.explicit:  # who asks with a key sees the best there is
            return iter([Portion(rest.text, rest.draft.confidence)])
        line = snapshot.line_text[: snapshot.column]
        return portions(rest.draft, rest.start, rest.start + len(rest.text), self.settings.min_confidence, line)

    def _item(self, ask: InlineCompletionAsk, snapshot: Snapshot, text: str, *, exact: bool = False) -> present.Item | None:
        language = language_of(snapshot.language, snapshot.path)
        tree = self._trees.tree(snapshot.document, snapshot.text, language)
        if tree is None and has_grammar(language):
            language = ""  # else it would be parsed once more, and given up once more
        return present.item(
            snapshot.text, snapshot.line, snapshot.column, text, language=language, tree=tree, style=_style(ask), exact=exact
        )

    def _to_protocol(self, suggestion: Suggestion, snapshot: Snapshot) -> dict[str, Any]:
        item = self._item_of(suggestion.item, snapshot)
        same = suggestion.confidence is None
        self.account.shown(snapshot.document, _number(item), snapshot.before, suggestion.item.completion, same=same)
        return item

    def _item_of(self, item: present.Item, snapshot: Snapshot) -> dict[str, Any]:
        start, end = ({"line": item.line, "character": character} for character in (0, snapshot.character_of(item.end)))
        return {
            "insertText": snapshot.mark + item.insert_text,
            "range": {"start": start, "end": end},
            "command": {"title": "Accept suggestion", "command": ACCEPTED, "arguments": [str(next(self._ids))]},
        }


def _of_the_project(line: Known) -> Draft:
    return Draft(
        text=line.text,
        confidence=line.confidence,
        tokens=0,
        denoise_steps=0,
        forwards=0,
        prefill_tokens=0,
        latency_ms=0.0,
        ended="line",
        model=_PROJECT,
    )


def _number(item: dict[str, Any]) -> str:
    """Its id, which comes back when it is accepted."""
    (number,) = item["command"]["arguments"]
    assert isinstance(number, str)
    return number


def _end(rest: Rest, part: Portion, item: present.Item) -> int | None:
    """Where in the draft's text `item` ends, None where it is no longer the draft's own text, or where that may not go on here."""
    goes_on = rest.start + len(rest.text) == len(rest.draft.text)
    return rest.start + len(part.text) if goes_on and item.completion == part.text else None


def _is_at(snapshot: Snapshot, ask: InlineCompletionAsk) -> bool:
    """Whether the text has such a place: one beyond its lines it has not, nor one before its byte order mark."""
    return snapshot.line == ask.position.line and snapshot.character_of(snapshot.column) <= ask.position.character


def _selected(ask: InlineCompletionAsk, snapshot: Snapshot) -> popup.Selected | None:
    entry = ask.context.selected_completion_info
    if entry is None:
        return None
    start, end = (snapshot.column_of(position.character) for position in (entry.range.start, entry.range.end))
    return popup.Selected(start=start, end=end, text=entry.text)


def _style(ask: InlineCompletionAsk) -> indent.Style | None:
    formatting = ask.formatting_options
    return None if formatting is None else indent.Style(tabs=not formatting.insert_spaces, width=max(1, formatting.tab_size))
