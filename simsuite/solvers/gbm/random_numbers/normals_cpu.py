"""Random normals for chunks of paths on the CPU: the innermost loops run along paths, vectorised.

single: True where normals are float32, None where they are float64. Numba drops what stands under `is None` before it
compiles, so only the functions of one precision are compiled.
"""

from __future__ import annotations

import math

import numpy as np

from simsuite.parallel_for import procedure
from simsuite.rng import direction32, direction64, radius32, radius64, words

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_SINGLE = np.float32(_ROOT_HALF)


@procedure
def fill_words(bits, w, first_path, block, stream, seed):
    """bits[:, :w] = the random words of this block for w paths from `first_path` on."""
    for p in range(w):
        bits[0, p], bits[1, p], bits[2, p], bits[3, p] = words(block, stream, first_path + p, seed)


@procedure
def normals(z, a, bits, w, first_path, block, stream, seed, single):
    """z[a, :, :w] = the normals of a block, for an asset and w paths."""
    fill_words(bits, w, first_path, block, stream, seed)
    if single is None:
        for p in range(w):
            r = radius64(bits[0, p], bits[1, p])
            c, s = direction64(bits[2, p], bits[3, p])
            z[a, 0, p] = r * c
            z[a, 1, p] = r * s
    else:
        for h in range(0, 4, 2):
            for p in range(w):
                r = radius32(bits[h, p])
                c, s = direction32(bits[h + 1, p])
                z[a, h, p] = r * c
                z[a, h + 1, p] = r * s


@procedure
def draw(z, a, room, bits, w, first_path, block, seed, antithetic, summed, single):
    """z[a, :, :w] = the normals of this block and asset for w paths from `first_path` on. If `summed` is 2, each step
    of the paths has the sum of two normals that are drawn, over sqrt(2). Antithetic paths have the normals of their
    pair, the second path with the opposite sign. room: work space of two rows of z."""
    m, number, drawn, row = w, first_path, z, a
    if antithetic:
        m, number, drawn, row = w // 2, first_path // 2, room, 0
    target, own = drawn, row
    if summed == 2:
        target, own = room, 1
    for h in range(summed):
        normals(target, own, bits, m, number, summed * block + h, a, seed, single)
        if summed == 2:
            _add_pairs(drawn, row, h * (z.shape[1] // 2), room, m, single)
    if antithetic:
        for j in range(z.shape[1]):
            for p in range(m):
                z[a, j, 2 * p] = room[0, j, p]
                z[a, j, 2 * p + 1] = -room[0, j, p]


@procedure
def _add_pairs(z, a, first, room, w, single):
    """z[a, first + j, :w] = (room[1, 2 j] + room[1, 2 j + 1]) / sqrt(2): the normals of steps that are twice as long as
    those of room[1]."""
    for j in range(z.shape[1] // 2):
        if single is None:
            for p in range(w):
                z[a, first + j, p] = _ROOT_HALF * (room[1, 2 * j, p] + room[1, 2 * j + 1, p])
        else:
            for p in range(w):
                z[a, first + j, p] = _ROOT_HALF_SINGLE * (room[1, 2 * j, p] + room[1, 2 * j + 1, p])
