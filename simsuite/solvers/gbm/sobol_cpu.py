"""Increments of paths from Sobol points on the CPU: the innermost loops run along paths, vectorised."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32, uint64

from simsuite.elementary import fma
from simsuite.sobol.normal import fill_normals

_SPAN = 512  # points whose low bits are tabulated


@njit(error_model="numpy")
def coordinates(bits, low, first_point, n, directions, shift):
    """bits[:n] = 32 bits of a coordinate of the points from first_point on. low: room for 512 of them."""
    low[0] = shift
    for b in range(9):
        own, half = directions[b], 1 << b
        for p in range(half):
            low[half + p] = low[p] ^ own
    done = 0
    while done < n:
        point = uint64(first_point + done)
        common = uint32(0)
        for b in range(9, 32):
            if point >> uint64(b) & uint64(1):
                common ^= directions[b]
        at = np.int64(point & uint64(_SPAN - 1))
        count = min(n - done, _SPAN - at)
        for p in range(count):
            bits[done + p] = low[at + p] ^ common
        done += count


@njit(cache=True, error_model="numpy")
def increments(dw, first_point, n, begin, end, opened, weights, directions, shift, offset):
    """dw[step, :n] = W(step + 1) - W(step) in blocks begin .. end - 1 for the points from first_point on.

    dw: normal[(end - begin) * steps per block, at least n]. opened: int32[block]; weights: normal[visit, 2], times the
    standard deviation of a step if that is wanted. directions: uint32[visit, 32]; shift, offset: [visit]. See `bridge`.
    Any other first_point, n, begin and end give the same bits for the same point and step.
    """
    blocks = opened.shape[0]
    per_block = weights.shape[0] // blocks
    whole, z = np.empty(n, dw.dtype), np.empty(n, dw.dtype)
    waiting = np.empty((32, n), dw.dtype)
    bits, low = np.empty(n, np.uint32), np.empty(_SPAN, np.uint32)
    with_these = (weights, directions, shift, offset, first_point, z, bits, low)
    whole[:] = 0
    _split(0, whole, whole, waiting[0], with_these)
    visit, depth, l, r = 1, 0, 0, blocks
    while l < begin and r - l > 1:  # down to where the traversal begins
        m = _middle(l, r, per_block)
        if begin < m:
            _split(visit, whole, whole, waiting[depth], with_these)
            visit, depth, r = visit + 1, depth + 1, m
        else:
            _split(visit, whole, z, whole, with_these)
            visit, l = visit + (m - l) * per_block, m
    for block in range(begin, end):
        for _ in range(opened[block]):
            _split(visit, whole, whole, waiting[depth], with_these)
            visit, depth = visit + 1, depth + 1
        k = (block - begin) * per_block
        if per_block == 2:
            _split(visit, whole, dw[k], dw[k + 1], with_these)
        else:
            _split(visit, whole, dw[k], dw[k + 2], with_these)
            _split(visit + 1, dw[k], dw[k], dw[k + 1], with_these)
            _split(visit + 2, dw[k + 2], dw[k + 2], dw[k + 3], with_these)
        visit += per_block - 1
        if block < end - 1:
            depth -= 1
            whole[:] = waiting[depth]


@njit(error_model="numpy")
def _split(visit, parent, left, right, with_these):
    """left, right = what the halves gain of what their parent gains; may be the parent."""
    weights, directions, shift, offset, first_point, z, bits, low = with_these
    n = z.shape[0]
    coordinates(bits, low, first_point, n, directions[visit], shift[visit])
    fill_normals(z, bits, offset[visit], n)
    a, s = weights[visit, 0], weights[visit, 1]
    for p in range(n):  # loops of their own, since those in which arrays may be the same are not vectorised
        z[p] = fma(a, parent[p], s * z[p])
    for p in range(n):
        right[p] = parent[p] - z[p]
    for p in range(n):
        left[p] = z[p]


@njit(error_model="numpy")
def _middle(l, r, per_block):
    """`bridge.middle`, in blocks."""
    fours = ((r - l) * per_block + 3) // 4
    return l + (fours + 1) // 2 * 4 // per_block if fours > 1 else l + 1
