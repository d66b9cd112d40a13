"""Error estimates of steps on the CPU: rows in parallel. See `controlled`."""

from __future__ import annotations

from numba import njit, prange

THREADS = 1  # that a row of cells is launched with


@njit(parallel=True, cache=True)
def gather(Y, Y0, weight, first, defect):
    """defect += weight (Y - Y0), or = for the first."""
    for y in prange(Y.shape[0]):
        for x in range(Y.shape[1]):
            part = weight * (Y[y, x] - Y0[y, x])
            defect[y, x] = part if first else defect[y, x] + part


@njit(parallel=True, cache=True)
def judge(Y, Y0, weight, defect, zero, rows):
    """defect += weight (Y - Y0). Of each row: the largest |defect|, and the least and the largest Y; NaN where one
    is."""
    for y in prange(Y.shape[0]):
        error, low, high, total = zero, Y[y, 0], Y[y, 0], zero
        for x in range(Y.shape[1]):
            v = Y[y, x]
            d = defect[y, x] + weight * (v - Y0[y, x])
            defect[y, x], e = d, abs(d)
            error, low, high = max(error, e), min(low, v), max(high, v)
            total += e * zero + v * zero  # 0, or NaN where a number is not finite
        rows[0, y], rows[1, y], rows[2, y] = error + total, low + total, high + total


@njit(parallel=True, cache=True)
def grow(error, q1, q0, c, weight):
    """error += weight c (q1 - q0)."""
    for y in prange(error.shape[0]):
        for x in range(error.shape[1]):
            error[y, x] += weight * c[y, x] * (q1[y, x] - q0[y, x])
