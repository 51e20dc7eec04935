"""Text to ids and back, for byte-level BPE. Knows no prompt layout."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Tokenizer, models, pre_tokenizers

from engine.api import CheckpointInvalid
from engine.config import TokenizerTables

# By the name GGUF files declare. `smollm`: every digit on its own, then the byte-level split of GPT-2.
_PRE_TOKENIZERS = {
    "smollm": lambda: pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    ),
}


class TextTokenizer:
    """A byte-level BPE that never produces special ids from text and turns ids into bytes without guessing.

    `special_ids` are the ids that stand for no text.
    """

    def __init__(self, tables: TokenizerTables) -> None:
        """Raises `CheckpointInvalid` when the pre-tokenizer is not one we have."""
        if tables.pre not in _PRE_TOKENIZERS:
            raise CheckpointInvalid(f"pre-tokenizer {tables.pre!r} is not supported (supported: {', '.join(_PRE_TOKENIZERS)})")
        special = frozenset(tables.special_ids)
        vocabulary = {token: index for index, token in enumerate(tables.tokens)}
        merges = [(left, right) for left, _, right in (merge.partition(" ") for merge in tables.merges)]
        self._bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
        self._bpe.pre_tokenizer = _PRE_TOKENIZERS[tables.pre]()
        self._bytes = tuple(b"" if index in special else _to_bytes(token) for index, token in enumerate(tables.tokens))
        self._newline = tuple(b"\n" in piece for piece in self._bytes)
        self.special_ids = tuple(sorted(special))

    def __len__(self) -> int:
        return len(self._bytes)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`. A text that looks like a special token is ordinary text."""
        return self._bpe.encode(text, add_special_tokens=False).ids

    def to_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes the ids stand for; special ids stand for none."""
        return b"".join(self._bytes[index] for index in ids)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, up to the first byte that is not valid UTF-8 (an unfinished character at the end is left out)."""
        raw = self.to_bytes(ids)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            return raw[: error.start].decode()

    def has_newline(self, index: int) -> bool:
        """Whether the id's text contains a line break."""
        return self._newline[index]


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-ins: bytes that print stand for themselves, the rest are numbered from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(byte): byte for byte in printable}
    rest = [byte for byte in range(256) if byte not in set(printable)]
    return alphabet | {chr(0x100 + place): byte for place, byte in enumerate(rest)}


_ALPHABET = _byte_alphabet()


def _to_bytes(token: str) -> bytes:
    return bytes(_ALPHABET[character] for character in token)
