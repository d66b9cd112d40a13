"""Independent scrambles of Sobol points: a random linear scramble of the digits and a digital shift.

J. Matousek, "On the L2-discrepancy for anchored boxes", J. Complexity 14 (1998): the 32 binary digits of a coordinate,
most significant first, are multiplied by a random lower triangular matrix with ones on its diagonal, over GF(2), and a
random number is added, without carries. A (t, m, s)-net stays one, every point is uniformly distributed, and so the
mean over the points has no bias; replicates are independent. As the map is linear, the matrix goes into the direction
numbers: a coordinate is the exclusive or of those and the shift.

The shift has 52 bits, of which the lowest 20 are the `offset`, the same for all points of a replicate: a coordinate is
u = (x + offset) / 2^32. So in float64 u is uniform on the grid (k + 1/2) / 2^52, never 0 or 1, with no bias from the
32 bits of x and nothing to generate below them (in float32 the offset is 1/2). Nor do they limit the error: up to 2^32
points differ in them, and with 2^m points what the integrand does within the outermost 2^-m of an axis is known far
less well than what 2^-32 of it can matter.

Everything is a function of (seed, replicate, dimension), by Philox: see `rng`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, uint32, uint64

from simsuite.rng import words
from simsuite.sobol.directions import directions

MOST_POINTS = 1 << 32  # the most points of a replicate: further ones would repeat its 32 bits
_BITS = 32
_STREAM = 0x536F626F  # no source of randomness of a solver has so high a number


@dataclass(frozen=True)
class Scramble:
    """directions: uint32[replicate, dimension, bit of the index]; shift: uint32[replicate, dimension]; offset:
    float64[replicate, dimension], in (0, 1)."""

    directions: np.ndarray
    shift: np.ndarray
    offset: np.ndarray


def scramble(seed: int, replicates: int, dimensions: int) -> Scramble:
    """Points in so many dimensions, scrambled so many times. ValueError for more than `directions.MOST_DIMENSIONS`."""
    made = np.empty((replicates, dimensions, _BITS), np.uint32)
    shift = np.empty((replicates, dimensions), np.uint32)
    offset = np.empty((replicates, dimensions))
    _fill(np.uint64(seed), directions(dimensions), made, shift, offset)
    return Scramble(made, shift, offset)


@njit(error_model="numpy")  # not cached: Numba's cache would not notice that `words` has changed
def _fill(seed: Any, plain: Any, made: Any, shift: Any, offset: Any) -> None:
    random = np.empty(_BITS + 4, np.uint32)
    for r in range(made.shape[0]):
        for d in range(made.shape[1]):
            path = uint64(r) << uint64(32) | uint64(d)
            for k in range(0, len(random), 4):
                random[k], random[k + 1], random[k + 2], random[k + 3] = words(k // 4, _STREAM, path, seed)
            shift[r, d] = random[_BITS]
            offset[r, d] = (float(random[_BITS + 1] >> uint32(12)) + 0.5) * 2.0**-20
            for b in range(_BITS):
                x = uint32(0)
                for digit in range(_BITS):
                    one = uint32(0x80000000) >> uint32(digit)
                    if plain[d, b] & one:
                        x ^= one | (random[digit] & (one - uint32(1)))  # a column of the matrix
                made[r, d, b] = x
