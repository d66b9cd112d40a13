"""Increments of paths from Sobol points on the CPU: the innermost loops run along paths, vectorised.

z[component, row, path]: rows 0 .. b - 1 are the b steps of a block: what standard Brownian motions gain in each. Row b
is what they gain in what is to be split next, and rows from b + 1 on are the stack of what they gain later. A `split`
is (bridge, replicate, point, n, room), for n paths from a point of a replicate on:

- bridge: (opened, weights, directions, shift, offset, stack), with opened: int32[block]; weights: normal[visit, 2];
  directions: uint32[replicate, visit, component, 32]; shift, offset: [replicate, visit, component]; stack: its depth.
- room: (a row of normals, rows of words, SPAN words).

at: int64[2], the next visit and the depth of the stack. single: see `normals_cpu.py`.
"""

from __future__ import annotations

import numpy as np
from numba import uint32, uint64

from simsuite.elementary_functions import fma
from simsuite.parallel_for import procedure
from simsuite.sobol.normal import inverse_normals32, inverse_normals64

SPAN = 512  # number of points whose low bits are tabulated
_NOWHERE = -1  # stands for a row that nobody reads
_invert32, _invert64 = procedure(inverse_normals32.py_func), procedure(inverse_normals64.py_func)


@procedure
def start(z, at, begin, split, single):
    """Prepares to go on from block `begin`: makes the splits from the root down to that block."""
    bridge = split[0]
    blocks = bridge[0].shape[0]
    per_block = bridge[1].shape[0] // blocks
    for a in range(z.shape[0]):
        for p in range(z.shape[2]):
            z[a, per_block, p] = 0
        visit, depth, l, r, m = 0, 0, 0, 2 * blocks, blocks  # the root counts as the left half of an endless path
        while True:
            left = begin < m
            if left:
                kept, later = per_block, per_block + 1 + depth
                depth, r = depth + (visit > 0), m
            else:
                kept, later = _NOWHERE, per_block
            _split(z, a, per_block, kept, later, visit, split, single)
            if left:
                visit += 1
            else:
                visit, l = visit + (m - l) * per_block, m
            if l >= begin or r - l <= 1:
                break
            fours = ((r - l) * per_block + 3) // 4  # the lines below are `bridge.middle`, in blocks
            m = l + (fours + 1) // 2 * 4 // per_block if fours > 1 else l + 1
        at[0], at[1] = visit, depth


@procedure
def follow(z, at, block, per_block, split, single):
    """Makes the increments of a block, after `start` or the block before it.

    The bits for a point and a step do not depend on the first point, n or the first block.
    """
    (opened, _, _, _, _, _), _, _, n, _ = split
    before, visit, depth = opened[block], at[0], at[1]
    splits = before + per_block - 1
    for a in range(z.shape[0]):
        for i in range(splits):
            inside = i - before
            parent, left, right = per_block, per_block, per_block + 1 + depth + min(i, before - 1)
            if inside == 0:
                left, right = 0, per_block // 2
            elif inside > 0:
                parent, left, right = 2 * inside - 2, 2 * inside - 2, 2 * inside - 1
            _split(z, a, parent, left, right, visit + i, split, single)
        if depth + before > 0:  # unless this is the last block
            for p in range(n):
                z[a, per_block, p] = z[a, per_block + depth + before, p]
    at[0], at[1] = visit + splits, max(depth + before - 1, 0)


@procedure
def _split(z, a, parent, left, right, visit, split, single):
    """Rows left, right = gains of the two halves of what the row `parent` gains; either row may be the parent's."""
    (_, weights, directions, shift, offset, _), replicate, point, n, (own, bits, low) = split
    _coordinates(bits, low, point, n, directions, shift[replicate, visit, a], replicate, visit, a)
    if single is None:
        _invert64(own, bits, offset[replicate, visit, a], n)
    else:
        _invert32(own, bits, n)
    c, s = weights[visit, 0], weights[visit, 1]
    for p in range(n):  # loops of their own: those in which rows may be the same are not vectorised
        own[p] = fma(c, z[a, parent, p], s * own[p])
    for p in range(n):
        z[a, right, p] = z[a, parent, p] - own[p]
    if left != _NOWHERE:
        for p in range(n):
            z[a, left, p] = own[p]


@procedure
def _coordinates(bits, low, first_point, n, directions, shift, replicate, visit, a):
    """bits[:n] = the 32 bits of a coordinate of each point from first_point on. low: work space of SPAN words."""
    low[0] = shift
    for b in range(9):
        own, half = directions[replicate, visit, a, b], 1 << b
        for p in range(half):
            low[half + p] = low[p] ^ own
    done = 0
    while done < n:
        point = uint64(first_point + done)
        common = uint32(0)
        for b in range(9, 32):
            if point >> uint64(b) & uint64(1):
                common ^= directions[replicate, visit, a, b]
        at = np.int64(point & uint64(SPAN - 1))
        count = min(n - done, SPAN - at)
        for p in range(count):
            bits[done + p] = low[at + p] ^ common
        done += count
