"""The layout in which matrix products on a CPU store A, and columns of X while they multiply them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from simsuite.core import Backend
from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.registers_cpu import ahead, move, place
from simsuite.solvers.matmul.cpu.vectors_cpu import VECTOR

_LINE = 64  # bytes


@parallel_for
def _pack(begin, end, A, height, last, panels):
    n, p = A.shape
    for t in range(begin, end):
        for k in range(p):
            for r in range(height):
                i = min(t * height, last) + r
                panels[(t * p + k) * height + r] = A[i, k] if i < n else 0


@kernel
def pack(A, height, last, panels):
    """Store A in panels of `height` rows. The last panel begins with row `last`, and is filled up with zeros."""
    _pack(-(-len(A) // height), (A, height, last, panels))


def filled(backend: Backend, A: np.ndarray, height: int) -> np.ndarray:
    """Panels of A of `height` rows each, the last of which is filled up with zeros."""
    n, p = A.shape
    panels = in_lines(backend, (-(-n // height) * height * p,), A.dtype)
    pack(A, height, n, panels)
    return panels


def overlapping(backend: Backend, A: np.ndarray, height: int, low: int) -> np.ndarray:
    """Panels of A of `height` rows each, where the last one ends with the last row and overlaps the one before, if A
    has so many rows; and, if `low` is less than `height`, one more panel of the last `low` rows.
    """
    n, p = A.shape
    size = -(-n // height) * height * p
    panels = in_lines(backend, (size + (low * p if low < height else 0),), A.dtype)
    pack(A, height, max(n - height, 0), panels)
    if low < height:
        pack(A[n - low :], low, 0, panels[size:])
    return panels


@register_jitable
def first_column(v, lanes, m):
    """The first column of vector v. The last vector ends with the last column, if there are enough columns for a
    vector.
    """
    return max(min(v * lanes, m - lanes), 0)


@register_jitable
def pairs_from(v0, v1, longest):
    """The vector from which on tiles have two vectors a row, behind tiles of more, such that the last tile is full."""
    return v1 - 2 * (-(v1 - v0) % longest)


@part
def load(X, k0, kept, v0, v1, depth, into):
    """Copy rows k0 .. k0 + kept of the vectors v0 .. v1 of columns to the pointer `into`, where each vector has room
    for `depth` rows. With fewer columns than a vector has, its other numbers stay unset; results there are never read.
    """
    m, lanes = X.shape[1], VECTOR // X.itemsize
    for k in range(kept):
        for v in range(v0, v1):
            source, target = (k0 + k) * m + first_column(v, lanes, m), ((v - v0) * depth + k) * lanes
            move(place(X, source), ahead(into, target), m)


@part
def store(source, out, v0, v1, depth):
    """Copy all rows of the vectors v0 .. v1 of columns from the pointer `source` to `out`: the reverse of `load`."""
    m, lanes = out.shape[1], VECTOR // out.itemsize
    for i in range(len(out)):
        for v in range(v0, v1):
            move(ahead(source, ((v - v0) * depth + i) * lanes), place(out, i * m + first_column(v, lanes, m)), m)


def in_lines(backend: Backend, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros whose last axis is lengthened so that it ends with a cache line."""
    *before, last = shape
    size = np.dtype(dtype).itemsize
    return backend.zeros((*before, -(-last * size // _LINE) * _LINE // size), dtype)
