"""How a product is cut into tiles: by rows, form of the weight, and chip. Knows no op."""

from __future__ import annotations

from typing import NamedTuple

from kernels.launch import Gpu
from kernels.weight import Weight


class Tiles(NamedTuple):
    """Tile sizes of a product and how a program runs it."""

    n: int  # weight rows
    r: int  # activation rows
    k: int  # columns a turn of the loop
    warps: int
    stages: int  # turns in flight

    def up(self, size: int, tile: int) -> int:
        return -(-size // tile)


def power(size: int) -> int:
    """The next power of two."""
    return 1 << max(size - 1, 0).bit_length()


def tiles(gpu: Gpu, weight: Weight, rows: int, n: int) -> Tiles:
    """Tiles for a product of `rows` activation rows with tiles of `n` weight rows.

    Not measured on a GPU yet; chosen so that nothing spills and shared memory fits on any target (`python -m kernels.ahead`). Narrow
    weights take longer turns, since a turn's bytes hide the memory's latency.
    """
    r = min(max(power(rows), 16), 64)
    if weight.kind == "int4":
        k = 2 * weight.half
    else:
        k = 64 if weight.kind == "plain" or weight.into % 128 else 128
    small = gpu.capability in (86, 89, 120)  # 99 KiB of shared memory
    # On sm_100 taking int4 apart spills with four warps where 128 weight rows meet 16 others, and does not where they meet 32.
    many = n * r > 64 * 64 or (weight.kind == "int4" and n >= 128 and r == 16 and gpu.capability == 100)
    return Tiles(n, r, k, 8 if many else 4, 3 if small else 4)
