"""Random normals and powers of 2 for Numba's kernels on GPUs, one path a thread.

The words are those of `rng`, and so are the uniform numbers. In float64 `rng` makes the normals, too, so they are those
of a CPU to the last digits. In float32 the special function unit of the device does, as in `normals.cuh`: by `fastmath`
logarithm, root, sine, cosine and power are an instruction each, right to 2^-20 of a standard deviation.
"""

from __future__ import annotations

import math
from typing import Any

from numba import cuda, float32, int32, uint32, uint64

from simsuite.rng import words

_LN2 = math.log(2.0)


@cuda.jit(device=True, fastmath=True)
def _pair(first: Any, second: Any) -> Any:
    """Two standard normals by Box-Muller from two words: the radius from the first, the angle from the second."""
    u = float32(uint32(first)) * float32(2.0**-32) + float32(2.0**-33)
    radius = math.sqrt(float32(-2.0) * math.log(u))
    angle = float32(int32(uint32(second))) * float32(math.pi * 2.0**-31)
    return radius * math.cos(angle), radius * math.sin(angle)


@cuda.jit(device=True)
def fill_normals32(z: Any, row: Any, block: Any, stream: Any, path: Any, seed: Any) -> None:
    """z[row, :4] = the float32 normals of this block, see `rng.fill_normals32`. z: a local array."""
    w0, w1, w2, w3 = words(block, stream, path, uint64(seed))
    z[row, 0], z[row, 1] = _pair(w0, w1)
    z[row, 2], z[row, 3] = _pair(w2, w3)


@cuda.jit(device=True, fastmath=True)
def power32(v: Any) -> Any:
    """2^v."""
    return math.exp2(v)


@cuda.jit(device=True)
def power64(v: Any) -> Any:
    """2^v."""
    return math.exp(_LN2 * v)
