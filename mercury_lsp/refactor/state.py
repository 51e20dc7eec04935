"""What refactorings keep between two requests: the trees of open documents, and conversations."""

from __future__ import annotations

from mercury_lsp.refactor.conversation import Conversations
from mercury_lsp.trees import Trees


class State:
    """One client's."""

    def __init__(self) -> None:
        self.trees = Trees()
        self.conversations = Conversations()

    def forget(self, document: str) -> None:
        """The document was closed."""
        self.trees.forget(document)
