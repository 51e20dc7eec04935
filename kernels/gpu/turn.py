"""When a kernel may begin: after the one before it, and only while there is something to do. Knows no op."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def wait_turn(DEPENDENT: tl.constexpr) -> None:
    """The first thing in every kernel, in all its programs: a kernel that ends without it would let the next one overtake the one before.

    With dependent launch a kernel is set up while the one before it runs. Here it waits until that one has ended and all that it wrote
    is to be seen, and lets the next one be set up in its turn. Source: programmatic dependent launch, CUDA programming guide.
    """
    if DEPENDENT:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def idle(live: tl.tensor) -> tl.tensor:
    """Whether there is nothing to do: `live` holds 0. With None there always is."""
    if live is None:
        nothing = False
    else:
        nothing = tl.load(live) == 0
    return nothing
