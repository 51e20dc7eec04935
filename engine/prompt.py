"""A request's prompt as its engine gets it, part by part and as text, for people who want to see it. Loads no weights."""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.api import EngineConfig, InfillRequest

Name = Literal["path", "related", "suffix", "prefix"]


class Part(msgspec.Struct, frozen=True):
    """`tokens` include the id that opens the part; None where the engine counts none."""

    name: Name
    text: str
    tokens: int | None = None


def prompt_parts(config: EngineConfig, request: InfillRequest) -> tuple[Part, ...]:
    """The parts in the order in which the engine reads them. Raises what loading the engine raises."""
    if config.url is not None or config.model.startswith("scripted:"):
        return _whole(request)
    from engine.checkpoints.adapter import Adapter
    from engine.checkpoints.catalog import find
    from engine.checkpoints.gguf import GGUFFile
    from engine.layout import infill_ids
    from engine.tokenizer import TextTokenizer

    files = find(config.model)
    tokenizer, layout = TextTokenizer(GGUFFile(files.gguf).tokenizer_tables), Adapter(files.adapter).layout
    ids = infill_ids(
        tokenizer, layout, path=request.path, prefix=request.prefix, suffix=request.suffix, related=request.related, on_top=True
    )
    names: dict[int | None, Name] = {
        layout.path_id: "path",
        layout.related_id: "related",
        layout.suffix_id: "suffix",
        layout.prefix_id: "prefix",
    }
    starts = [place for place, index in enumerate(ids) if index in names]
    return tuple(
        Part(names[ids[start]], tokenizer.to_bytes(ids[start:end]).decode(errors="replace"), end - start)
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True)
    )


def _whole(request: InfillRequest) -> tuple[Part, ...]:
    """Of an engine that cuts the request to its own measure, if at all."""
    related = [Part("related", f"{piece.path}\n{piece.text}") for piece in request.related]
    return (Part("path", request.path), *related, Part("suffix", request.suffix), Part("prefix", request.prefix))
