"""The dense transformer of the Llama and Qwen families on the ops of `kernels`: on a GPU their Triton kernels. Knows no schedule, no file.

Keys and values lie where the model is, a memory for each cache slot that was ever used; the slot itself knows ids only.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows
from engine.config import SPARE, DenseConfig
from engine.models.dense import LayerWeights
from engine.writer import ROWS, Writer
from kernels.graphs import Call, repeatable
from kernels.ops import TWINS, ops_for
from kernels.qkv import Qkv, Turns, folded
from kernels.rotary import rotary_table
from kernels.stack import Layer, Stack, forward
from kernels.streams import Cached, seen_bits
from kernels.weight import Kind, narrowed, product

log = logging.getLogger(__name__)

# Rows of the forwards that read a prompt, by which graphs are captured.
CHUNKS = (8, 32, 128)
# Bytes of weights below which a forward is so short that two are launched at once.
_SHORT = 1 << 30


class _Reader(NamedTuple):
    """A causal reading of so many ids, as one launch."""

    ids: Tensor  # [1, rows] int32
    launch: Call


class _Memory:
    """One slot's keys and values, and what was captured over them."""

    def __init__(self, config: DenseConfig, capacity: int, device: torch.device, dtype: torch.dtype) -> None:
        shape = (config.layers, 1, config.kv_heads, capacity, config.head_dim)
        self.capacity = capacity
        self.held = torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device)
        self.lengths = torch.zeros(1, dtype=torch.int32, device=device)
        self.caches = [Cached(keys, values, self.lengths) for keys, values in zip(*self.held, strict=True)]
        self.readers: dict[int, _Reader] = {}
        self.writer: Writer | None = None


class DeviceTransformer:
    """A model's weights and its forward pass over new rows against a cache slot."""

    paged = False

    def __init__(
        self, config: DenseConfig, embedding: Tensor, final_norm: Tensor, head: Tensor | None = None, *, kind: Kind = "plain"
    ) -> None:
        """embedding [vocab, width] and final_norm [width], where the model is to be; `head` None ties it to the embedding.

        `kind`: how layers and head are stored. Layers are added by `add_layer`, from wherever they are.
        """
        self.config = config
        self.dtype = embedding.dtype
        self.embedding = embedding
        self.device = embedding.device
        self._kind = kind
        self.ops = ops_for(self.device)
        if self.ops is not TWINS and config.head_dim & (config.head_dim - 1):
            log.warning("heads of %d elements: the kernels take powers of two, it runs plain torch", config.head_dim)
            self.ops = TWINS
        # The twins ask the host for lengths, which no graph can.
        self._graphs = self.device.type == "cuda" and self.ops is not TWINS
        cos, sin = rotary_table(config.max_positions + SPARE, config.head_dim, config.rope_theta)
        turns = Turns(cos.to(self.device), sin.to(self.device))
        self._stack = Stack(embedding, [], final_norm, narrowed(embedding if head is None else head, kind), turns, config.norm_eps)
        self._memories: weakref.WeakKeyDictionary[CacheSlot, _Memory] = weakref.WeakKeyDictionary()

    def add_layer(self, weights: LayerWeights) -> None:
        """Append a layer, its norms' gains in the columns of the maps behind them."""
        w = LayerWeights(*(None if part is None else part.to(self.device, self.dtype) for part in weights))  # type: ignore[arg-type]
        norms = None if w.q_norm is None or w.k_norm is None else torch.stack((w.q_norm, w.k_norm))
        qkv = narrowed(folded(w.qkv, w.attention_norm), self._kind)
        self._stack.layers.append(
            Layer(
                Qkv(qkv, self.config.heads, self.config.norm_eps, w.qkv_bias, norms),
                narrowed(w.o, self._kind),
                narrowed(folded(w.gate_up, w.mlp_norm), self._kind),
                narrowed(w.down, self._kind),
            )
        )

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor:
        """As `DenseTransformer.forward`, on the model's device."""
        memory = self._memory(slot)
        memory.lengths.fill_(len(slot.ids))
        ids, positions = (part.to(self.device, torch.int32)[None] for part in (rows.ids, rows.positions))
        seen = seen_bits(rows.seen.to(self.device))
        return forward(self._stack, self.ops, memory.caches, ids, positions, seen)[: rows.laid]

    def forward_many(self, batch: Sequence[tuple[Rows, CacheSlot]]) -> list[Tensor]:
        """One after the other: on a device slots do not share a forward yet."""
        return [self.forward(rows, slot) for rows, slot in batch]

    def head(self, hidden: Tensor) -> Tensor:
        return product(hidden, self._stack.head)

    def read(self, slot: CacheSlot, ids: Sequence[int]) -> None:
        """Read the first of `ids` causally into the slot, as many as a chunk takes, and commit them."""
        rows = next((size for size in CHUNKS if size >= len(ids)), CHUNKS[-1])
        chunk = list(ids[:rows])
        memory = self._memory(slot)
        if rows not in memory.readers:
            memory.readers[rows] = self._reader(memory, rows)
        reader = memory.readers[rows]
        # Whatever fills up stands behind the ids, which do not see it, and beyond what is committed.
        reader.ids.copy_(torch.tensor([chunk + chunk[-1:] * (rows - len(chunk))], dtype=torch.int32))
        memory.lengths.fill_(len(slot.ids))
        reader.launch()
        slot.commit(chunk)

    def writer(self, slot: CacheSlot, banned: Tensor, mask_id: int, room: int) -> Writer:
        """What writes behind the slot's ids: the same one each time, as long as the slot's capacity and `room` stay."""
        memory = self._memory(slot)
        if memory.writer is None or memory.writer.text.room != room:
            # Without graphs nothing is gained by launching more than one at once.
            times = 2 if self._graphs and self._bytes() < _SHORT else 1
            memory.writer = Writer(self._stack, self.ops, memory.caches, banned, mask_id, room=room, times=times, graphs=self._graphs)
        return memory.writer

    @torch.inference_mode()
    def try_out(self, mask_id: int) -> None:
        """Run every kernel once, which compiles them: seconds to minutes the first time on a machine. Raises whatever goes wrong there."""
        slot = CacheSlot(self.config, 2 * sum(CHUNKS), self.dtype)
        for rows in CHUNKS:
            self.read(slot, [mask_id] * rows)
        writer = self.writer(slot, torch.zeros(0, dtype=torch.int64), mask_id, room=1)
        writer.start(mask_id, [], len(slot.ids), 1, torch.zeros(len(self.embedding), dtype=torch.int8))
        writer.launches.launch()
        writer.launches.landed()

    def _bytes(self) -> int:
        weights = [self._stack.head, *(part for layer in self._stack.layers for part in (layer.qkv.weight, *layer[1:]))]
        return sum(weight.data.numel() * weight.data.element_size() for weight in weights)

    def _reader(self, memory: _Memory, rows: int) -> _Reader:
        ids = torch.zeros((1, rows), dtype=torch.int32, device=self.device)
        offsets = torch.arange(rows, dtype=torch.int32, device=self.device)
        causal = seen_bits(torch.ones(rows, rows, dtype=torch.bool, device=self.device).tril())

        def read() -> None:
            forward(self._stack, self.ops, memory.caches, ids, (memory.lengths + offsets)[None], causal)

        return _Reader(ids, repeatable(read, self.device, graphs=self._graphs))

    def _memory(self, slot: CacheSlot) -> _Memory:
        """The slot's memory; a larger one, with what is committed in it, where the slot was made larger."""
        capacity = slot.capacity + SPARE
        memory = self._memories.get(slot)
        if memory is None or memory.capacity < capacity:
            before, memory = memory, _Memory(self.config, capacity, self.device, self.dtype)
            if before is not None:
                for own, held in zip(memory.held, before.held, strict=True):
                    own[..., : before.capacity, :] = held
            self._memories[slot] = memory
        return memory


assert max(ROWS, *CHUNKS) <= SPARE
