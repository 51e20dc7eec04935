"""From a snapshot to items: may it be read, what does the last draft or the engine say, what of it is shown. Knows no message.

Item ids count up; a client gives one back when its suggestion was accepted.
"""

from __future__ import annotations

import itertools
from typing import Any

from engine.api import Draft
from mercury_lsp import indent, present
from mercury_lsp.ask import InlineCompletionAsk
from mercury_lsp.context import infill_request
from mercury_lsp.languages import language_of
from mercury_lsp.privacy import Privacy
from mercury_lsp.reuse import Reuse
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.settings import EXPLICIT_SECONDS, Settings
from mercury_lsp.syntax import has_grammar
from mercury_lsp.trees import Trees
from mercury_lsp.worker import Worker

ACCEPTED = "mercury.didAcceptCompletionItem"


class Suggester:
    """`settings` and `roots`, the workspace's folders, are the server's to set."""

    def __init__(self, session: Session, worker: Worker) -> None:
        self.worker = worker
        self.settings = Settings()
        self.roots: list[str] = []
        self._session = session
        self._privacy = Privacy()
        self._reuse = Reuse()
        self._trees = Trees()
        self._ids = itertools.count(1)

    async def items(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> list[dict[str, Any]]:
        """`InlineCompletionItem`s for the cursor of `snapshot`; none where nothing may or can be shown. Raises what the engine raises."""
        if not self._may_read(snapshot) or snapshot.line != ask.position.line:
            return []
        draft = await self._draft(ask, snapshot)
        if draft is None or draft.confidence < self.settings.min_confidence or not self._session.is_current(snapshot):
            return []
        item = self._present(ask, snapshot, draft)
        return [] if item is None else [self._to_protocol(item, snapshot)]

    def forget(self, document: str) -> None:
        """The document was closed."""
        self._reuse.forget(document)
        self._trees.forget(document)
        self.worker.stop(document)

    def _may_read(self, snapshot: Snapshot) -> bool:
        language = language_of(snapshot.language, snapshot.path)
        return self.settings.enabled(snapshot.language, language) and not (snapshot.on_disk and self._privacy.hides(snapshot.path))

    async def _draft(self, ask: InlineCompletionAsk, snapshot: Snapshot) -> Draft | None:
        request = infill_request(snapshot, self.settings, "explicit" if ask.explicit else "automatic", self.roots)
        document, before, after = snapshot.uri, snapshot.before, snapshot.after
        popup = _popup_rest(ask, snapshot)
        known = self._reuse.match(document, before, after, complete=ask.explicit, multiline=request.multiline, popup=popup)
        if known is not None:
            self.worker.stop(document)
            return known
        draft = await self.worker.infill(document, request, patience=EXPLICIT_SECONDS if ask.explicit else None)
        if draft is not None:
            self._reuse.remember(document, before, after, request.multiline, draft)
        return draft

    def _present(self, ask: InlineCompletionAsk, snapshot: Snapshot, draft: Draft) -> present.Item | None:
        language = language_of(snapshot.language, snapshot.path)
        tree = self._trees.tree(snapshot.uri, snapshot.text, language)
        if tree is None and has_grammar(language):
            language = ""  # else it would be parsed once more, and given up once more
        return present.item(
            snapshot.text,
            snapshot.line,
            snapshot.column,
            draft.text,
            language=language,
            selected=_selected(ask, snapshot),
            tree=tree,
            style=_style(ask),
        )

    def _to_protocol(self, item: present.Item, snapshot: Snapshot) -> dict[str, Any]:
        start, end = ({"line": item.line, "character": snapshot.character_of(column)} for column in (item.start, item.end))
        return {
            "insertText": item.insert_text,
            "range": {"start": start, "end": end},
            "command": {"title": "Accept suggestion", "command": ACCEPTED, "arguments": [str(next(self._ids))]},
        }


def _popup_rest(ask: InlineCompletionAsk, snapshot: Snapshot) -> str:
    """What the selected popup entry would put at the cursor, "" without one."""
    popup = ask.context.selected_completion_info
    if popup is None:
        return ""
    typed = snapshot.line_text[snapshot.column_of(popup.range.start.character) : snapshot.column]
    return popup.text.removeprefix(typed)


def _selected(ask: InlineCompletionAsk, snapshot: Snapshot) -> present.Selected | None:
    popup = ask.context.selected_completion_info
    if popup is None:
        return None
    start, end = (snapshot.column_of(position.character) for position in (popup.range.start, popup.range.end))
    return present.Selected(start=start, end=end, text=popup.text)


def _style(ask: InlineCompletionAsk) -> indent.Style | None:
    formatting = ask.formatting_options
    return None if formatting is None else indent.Style(tabs=not formatting.insert_spaces, width=max(1, formatting.tab_size))
