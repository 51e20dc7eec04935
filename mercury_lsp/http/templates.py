"""Prompts that are holes in one of the marker languages of fill-in-the-middle models. Text only: knows no token.

The markers of one model are plain text to another: a prompt that has them in the right order is read as the hole it means.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.api import Related
from engine.serving.requests import Hole


class _Template(NamedTuple):
    """The markers in the order in which they stand."""

    first: str
    second: str
    third: str
    suffix_first: bool = False


_TEMPLATES = (
    _Template("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen, CodeGemma
    _Template("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder
    _Template("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM
    _Template("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek
    _Template("<PRE> ", " <SUF>", " <MID>"),  # Code Llama
    _Template("[SUFFIX]", "[PREFIX]", "", suffix_first=True),  # Codestral
)
# Other files before the hole, as Qwen's templates have them.
_FILE = re.compile(r"<\|(?:file_sep|file_separator)\|>([^\n]*)\n")
_REPOSITORY = re.compile(r"^<\|repo_name\|>[^\n]*\n?")
# What ends a hole's text in these languages, should a client repeat it as an empty suffix.
END_OF_TEXT = "<|endoftext|>"


def hole(prompt: str) -> Hole | None:
    """The hole that a prompt means; None for one without markers."""
    for template in _TEMPLATES:
        head, found, rest = prompt.partition(template.first)
        left, middle, rest = rest.partition(template.second)
        if not (found and middle):
            continue
        right, last, after = rest.partition(template.third) if template.third else (rest, "yes", "")
        if not last or after.strip():
            continue
        prefix, suffix = (right, left) if template.suffix_first else (left, right)
        return _with_files(head, prefix, "" if suffix == END_OF_TEXT else suffix)
    return None


def _with_files(head: str, prefix: str, suffix: str) -> Hole:
    """`head` has files, each a line with its path and its text; the last one without text is the path of the hole's own file."""
    pieces = _FILE.split(_REPOSITORY.sub("", head))
    files = [Related(path.strip(), text.removesuffix("\n")) for path, text in zip(pieces[1::2], pieces[2::2], strict=True)]
    path = files.pop().path if files and not files[-1].text.strip() else ""
    return Hole(prefix=prefix, suffix=suffix, path=path, related=tuple(files))
