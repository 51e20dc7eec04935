"""Next edits of one client: told what happens to its documents, asked for the next edit, told what became of that. Knows no message.

Lives on the event loop. Nothing of an ignored file, or of one whose language is switched off, gets in here.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from engine.api import Draft, Related, RewriteRequest
from mercury_lsp.context import shown_path
from mercury_lsp.definitions import Definition
from mercury_lsp.languages import language_of
from mercury_lsp.nextedit.ask import Diagnostic
from mercury_lsp.nextedit.complaints import Complaints
from mercury_lsp.nextedit.history import History
from mercury_lsp.nextedit.moment import Intention, Moment, Proposal, Text
from mercury_lsp.nextedit.predict import predictions
from mercury_lsp.nextedit.quiet import Quiet
from mercury_lsp.nextedit.rewriting import Region, is_worth_asking, lines_around, proposal, region, rewrite_request
from mercury_lsp.nextedit.typing import is_mid_word
from mercury_lsp.privacy import Privacy
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.settings import Settings
from mercury_lsp.syntax import Tree
from mercury_lsp.trees import Trees

_SEEN = 2  # places that were looked at, which the model gets to see
_MOST_OFFERS = 50  # that may still be answered
_PAUSE = 0.5  # seconds without a key after which a word that the cursor is in counts as whole
_SECONDS = 1.5  # for the model; who reads on meanwhile is not waiting for it

Rewrite = Callable[[str, RewriteRequest], Awaitable[Draft | None]]


class Offer(msgspec.Struct, frozen=True):
    """A proposal that a client was given, and the text that it is about."""

    id: str
    proposal: Proposal
    text: Text


class NextEdits:
    """`settings`, `roots` and `defined` tell what they are at the moment; `pause` is in seconds."""

    def __init__(
        self,
        session: Session,
        settings: Callable[[], Settings],
        roots: Callable[[], Sequence[str]],
        defined: Callable[[str], Sequence[Definition]],
        pause: float | None = None,
    ) -> None:
        self.history = History()
        self.rewrite: Rewrite | None = None  # how the model is asked; by document, so that a key can stop it
        self._session = session
        self._settings, self._roots, self._defined = settings, roots, defined
        self.privacy = Privacy()
        self._trees = Trees()
        self._quiet = Quiet()
        self._complaints = Complaints()
        self._offers: OrderedDict[str, Offer] = OrderedDict()
        self._ids = itertools.count(1)
        self._pause = _PAUSE if pause is None else pause
        self._asked = 0  # questions
        self._region: Region | None = None  # that the model was asked about last

    # ------------------------------------------------------------------------------------------ what happens

    def opened(self, uri: str) -> None:
        if (text := self._readable(uri)) is not None:
            self.history.open(text)

    def changed(self, uri: str) -> None:
        if (text := self._readable(uri)) is not None:
            self.history.change(text)

    def closed(self, document: str) -> None:
        self.history.close(document)
        self._complaints.forget(document)
        self._trees.forget(document)

    def viewed(self, snapshot: Snapshot) -> None:
        """The cursor is there."""
        self.history.view(snapshot.document, snapshot.line)

    # ------------------------------------------------------------------------------------------ what is asked

    async def next(self, snapshot: Snapshot, diagnostics: Sequence[Diagnostic] = (), *, anywhere: bool) -> Offer | None:
        """The next edit, in this document or `anywhere`: what the trees tell, else what the model would write; None where none is sure."""
        moment = self.moment(snapshot, diagnostics)
        if moment is None or not moment.intentions or not await self._is_whole(moment, snapshot):
            return None
        return self._structural(moment, anywhere=anywhere) or await self._rewritten(moment, snapshot)

    async def _is_whole(self, moment: Moment, snapshot: Snapshot) -> bool:
        """False where the word that is being typed was typed on, or something newer was asked, before it could count as whole."""
        self._asked += 1
        asked, left = self._asked, moment.intentions[-1].at + self._pause - time.monotonic()
        if left <= 0 or not is_mid_word(moment):
            return True
        await asyncio.sleep(left)
        return self._asked == asked and self._session.is_current(snapshot)

    def _structural(self, moment: Moment, *, anywhere: bool) -> Offer | None:
        least = self._settings().min_confidence  # what is as likely wrong as right is not worth a look
        for found in predictions(moment):
            text = moment.text(found.edit.document)
            if text is None or found.confidence <= least or not (anywhere or text is moment.here):
                continue
            if self._quiet.may(text, found):
                return self._offer(text, found, moment.intentions)
        return None

    async def _rewritten(self, moment: Moment, snapshot: Snapshot) -> Offer | None:
        """The model's edit of the lines around what was done last. Gives way to suggestions at the cursor, and to every key."""
        if self.rewrite is None or not is_worth_asking(moment):
            return None
        self._region = asked = region(moment, self._region)
        history = self.history.past_edits(lambda path: shown_path(path, moment.roots))
        request = rewrite_request(moment, asked, history, self._seen(moment), time.monotonic() + _SECONDS)
        draft = await self.rewrite(snapshot.document, request)
        if draft is None or not self._session.is_current(snapshot):
            return None
        found = proposal(moment, asked, draft)
        may = found is not None and self._quiet.may(moment.here, found)
        return self._offer(moment.here, found, moment.intentions) if found is not None and may else None

    def _seen(self, moment: Moment) -> list[Related]:
        """The lines that were looked at last in other documents, the latest last."""
        views = [(text, line) for document, line in self.history.views if (text := _other(moment, document)) is not None]
        return [Related(shown_path(text.path, moment.roots), lines_around(text, line)) for text, line in views[-_SEEN:]]

    def moment(self, snapshot: Snapshot, diagnostics: Sequence[Diagnostic] = ()) -> Moment | None:
        """Everything at hand. None where the document must not be read, or was not opened."""
        if not self._may_read(snapshot):
            return None
        texts = {text.document: text for text in self.history.texts}
        here = texts.pop(snapshot.document, None)
        if here is None or here.text != snapshot.text:
            return None
        return Moment(
            here=here,
            cursor=snapshot.offset,
            intentions=self.history.intentions(),
            others=[text for text in texts.values() if not self.privacy.hides(text.path)],
            tree=self._tree,
            defined=self._defined,
            roots=self._roots(),
            faults=self._complaints.of(snapshot, diagnostics, self.history.intentions()),
        )

    def _offer(self, text: Text, proposal: Proposal, intentions: Sequence[Intention]) -> Offer:
        """Give out an edit. From now on it is the one that may be visible."""
        last = intentions[-1] if intentions else None
        self._quiet.offer(text, proposal, (last.number, last.new.count("\n")) if last is not None else (0, 0))
        offer = Offer(f"next-{next(self._ids)}", proposal, text)
        self._offers[offer.id] = offer
        while len(self._offers) > _MOST_OFFERS:
            self._offers.popitem(last=False)
        return offer

    # ------------------------------------------------------------------------------------------ what became of it

    def accepted(self, offer: str | None) -> None:
        self._offers.pop(offer or "", None)

    def rejected(self, offer: str | None) -> None:
        found = self._offers.pop(offer or "", None)
        if found is not None:
            self._quiet.refuse(found.text, found.proposal)

    def _tree(self, text: Text) -> Tree | None:
        return self._trees.tree(text.document, text.text, text.language)

    def _may_read(self, snapshot: Snapshot) -> bool:
        language = language_of(snapshot.language, snapshot.path)
        return self._settings().enabled(snapshot.language, language) and not self.privacy.hides(snapshot.path)

    def _readable(self, uri: str) -> Text | None:
        """The document as it is now; None where it may not be read or is not open. What was known of it then goes."""
        snapshot = self._session.snapshot(uri, 0, 0)
        if snapshot is None:
            return None
        if not self._may_read(snapshot):
            self.closed(snapshot.document)
            return None
        language = language_of(snapshot.language, snapshot.path)
        return Text(snapshot.document, snapshot.uri, snapshot.path, language, snapshot.text, snapshot.version, snapshot.bom)


def _other(moment: Moment, document: str) -> Text | None:
    return next((text for text in moment.others if text.document == document), None)
