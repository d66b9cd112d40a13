"""Increments of paths from Sobol points on the CPU: the innermost loops run along paths, vectorised."""

from __future__ import annotations

import numpy as np
from numba import njit, uint32, uint64

from simsuite.elementary import fma
from simsuite.sobol.normal import fill_normals

SPAN = 512  # points whose low bits are tabulated


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
        at = np.int64(point & uint64(SPAN - 1))
        count = min(n - done, SPAN - at)
        for p in range(count):
            bits[done + p] = low[at + p] ^ common
        done += count


@njit(cache=True, error_model="numpy")
def start(bridge, replicate, point, n, begin):
    """What n paths from a point of a replicate on need to go on from block `begin`: see `follow`. Of no paths: room.

    bridge: (opened, weights, directions, shift, offset, stack), with opened: int32[block]; weights: normal[visit, 2];
    directions: uint32[replicate, visit, component, 32]; shift, offset: [replicate, visit, component]; stack: its depth.
    """
    weights, components, stack = bridge[1], bridge[2].shape[2], bridge[5]
    whole = np.empty((components, n), weights.dtype)
    waiting = np.empty((components, stack, n), weights.dtype)
    room = np.empty(n, weights.dtype), np.empty(n, np.uint32), np.empty(SPAN, np.uint32)
    at = np.zeros(2, np.int64)
    walk = whole, waiting, room, at, replicate, point
    for a in range(components if n > 0 else 0):
        at[0], at[1] = _descend(whole[a], waiting[a], begin, _numbers(bridge, walk, a))
    return walk


@njit(cache=True, error_model="numpy")
def follow(bridge, walk, block, dw):
    """dw[component, step, :n] = W(step + 1) - W(step) in a block, of standard Brownian motions, after `start` or the
    block before it.

    Any other first point, n and first block give the same bits for the same point and step.
    """
    whole, waiting, _, at, _, _ = walk
    opened, (visit, depth) = bridge[0][block], at
    n, per_block = whole.shape[1], dw.shape[1]
    splits = opened + per_block - 1
    for a in range(whole.shape[0]):
        gains, numbers = whole[a], _numbers(bridge, walk, a)
        for i in range(splits):
            inside = i - opened
            parent, left, right = gains, gains, waiting[a, depth + min(i, opened - 1)]
            if inside == 0:
                left, right = dw[a, 0, :n], dw[a, per_block // 2, :n]
            elif inside > 0:
                parent, right = dw[a, 2 * inside - 2, :n], dw[a, 2 * inside - 1, :n]
                left = parent
            _split(visit + i, parent, left, right, numbers)
        if depth + opened > 0:  # unless it was the last block
            for p in range(n):
                gains[p] = waiting[a, depth + opened - 1, p]
    at[0], at[1] = visit + splits, max(depth + opened - 1, 0)


@njit(error_model="numpy")
def _numbers(bridge, walk, a):
    """What `_split` reads."""
    opened, weights, directions, shift, offset, _ = bridge
    _, _, room, _, r, point = walk
    return opened, weights, directions[r, :, a], shift[r, :, a], offset[r, :, a], point, room


@njit(error_model="numpy")
def _descend(whole, waiting, begin, numbers):
    """Down to where block `begin` splits off: whole = what the paths gain in what is then to be split, waiting[depth]
    what they gain later. Returns (visit, depth)."""
    blocks = numbers[0].shape[0]
    per_block = numbers[1].shape[0] // blocks
    whole[:] = 0
    visit, depth, l, r, m = 0, 0, 0, 2 * blocks, blocks  # the root as the left half of an endless path
    while True:
        if begin < m:
            _split(visit, whole, whole, waiting[depth], numbers)
            visit, depth, r = visit + 1, depth + (visit > 0), m
        else:
            _split(visit, whole, numbers[6][0], whole, numbers)
            visit, l = visit + (m - l) * per_block, m
        if l >= begin or r - l <= 1:
            return visit, depth
        m = _middle(l, r, per_block)


@njit(error_model="numpy")
def _split(visit, parent, left, right, numbers):
    """left, right = what the halves gain of what their parent gains; may be the parent."""
    _, weights, directions, shift, offset, first_point, (z, bits, low) = numbers
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
