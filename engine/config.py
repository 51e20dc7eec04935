"""What a checkpoint says of itself: the backbone's numbers, the tokenizer's tables, the infill layout. Frozen values, no tensors."""

from __future__ import annotations

import msgspec

# Positions that drafts and blocks at the end of a context may take beyond it: a long draft, a block, and what rounds rows up. Nothing that
# is committed stands there.
SPARE = 256


class DenseConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A dense transformer: RMSNorm, rotary, grouped-query attention, SwiGLU."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    vocab: int
    rope_theta: float
    norm_eps: float
    max_positions: int
    qkv_bias: bool = False  # Qwen2
    qk_norm: bool = False  # Qwen3


def reaching(config: DenseConfig, positions: int) -> DenseConfig:
    """`config` for a context of so many positions.

    Fewer than the model's own are a bound, no more. For more of them the rotary base is raised, so that the slowest angles turn no
    further over all positions than they did in training, and the fastest ones hardly change ("NTK-aware" scaling, bloc97, 2023).
    """
    more = positions / config.max_positions
    theta = config.rope_theta * max(1.0, more) ** (config.head_dim / (config.head_dim - 2))
    return msgspec.structs.replace(config, max_positions=positions, rope_theta=theta)


class TokenizerTables(msgspec.Struct, frozen=True, kw_only=True):
    """A byte-level BPE as its file stores it."""

    pre: str  # the pre-tokenizer's name
    tokens: tuple[str, ...]  # by id
    merges: tuple[str, ...]  # in order of rank, "left right"
    special_ids: tuple[int, ...]


class EditIds(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that open the parts of a rewriting."""

    history: int
    region: int
    cursor: int  # inside the region
    instruction: int
    rewrite: int


class ChatIds(msgspec.Struct, frozen=True, kw_only=True):
    """The ids around a turn of a conversation."""

    turn: int
    close: int


class InfillLayout(msgspec.Struct, frozen=True, kw_only=True):
    """How a prompt is laid out for an adapter: it is sent exactly as it was trained.

    `path_id` path · (`related_id` path newline text)* · `suffix_id` suffix · `prefix_id` prefix · middle · `end_id`, with `mask_id`
    on masked positions. An adapter that never saw related text has no `related_id` and is sent none; likewise `edit` and `chat`.
    """

    path_id: int
    suffix_id: int
    prefix_id: int
    end_id: int
    mask_id: int
    context: int  # tokens of prompt and middle the adapter was trained on
    block: int  # slots of a block, the anchor included
    related_id: int | None = None
    edit: EditIds | None = None  # `engine.layout.rewrite_ids`
    chat: ChatIds | None = None  # `engine.layout.chat_ids`
