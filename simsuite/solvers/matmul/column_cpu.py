"""Products with a single column on a CPU, whose vectors are of rows."""

from __future__ import annotations

from numba import njit, prange

from simsuite.solvers.matmul.registers_cpu import column_product


@njit(cache=True)
def _begin(X, bias, row, x, shifts, n):
    for k in range(len(X)):
        x[k] = X[k, 0]
    for i in range(n):
        shifts[i] = bias[row, i]


@njit(cache=True)
def _next(following, bias, row, x, shifts, n):
    for i in range(n):
        x[i] = following[i]
        shifts[i] = bias[row, i]


@njit(cache=True)
def _end(following, out):
    for i in range(len(out)):
        out[i, 0] = following[i]


@njit(parallel=True, cache=True)
def column(height, panels, alone, x, shifts, following, X, bias, row, stride, n_steps, out):
    """As `march` of `steps_cpu` for a single column, by panels of so many rows. x, shifts, following: vectors with room
    for whole panels."""
    p, n = len(X), len(out)
    _begin(X, bias, row, x, shifts, n)
    for s in range(n_steps):
        if s > 0:
            _next(following, bias, row + s * stride, x, shifts, n)
        if alone:
            for t in range(-(-n // height)):
                column_product(panels, t * p * height, x, p, shifts, t * height, following, t * height)
        else:
            for t in prange(-(-n // height)):
                column_product(panels, t * p * height, x, p, shifts, t * height, following, t * height)
    _end(following, out)
