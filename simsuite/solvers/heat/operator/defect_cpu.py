"""Error estimates of steps on the CPU, from a weighted sum of what stages have changed: rows in parallel."""

from __future__ import annotations

from simsuite.parallel_for import kernel, larger, lesser, parallel_for

THREADS = 1  # the number of threads that a row of cells is launched with


@parallel_for
def _gather(begin, end, Y, Y0, weight, first, defect):
    for y in range(begin, end):
        for x in range(Y.shape[1]):
            change = weight * (Y[y, x] - Y0[y, x])
            defect[y, x] = change if first else defect[y, x] + change


@kernel
def gather(Y, Y0, weight, first, defect):
    """defect += weight (Y - Y0), or defect = weight (Y - Y0) if `first`."""
    _gather(Y.shape[0], (Y, Y0, weight, first, defect))


@parallel_for
def _judge(begin, end, Y, Y0, weight, defect, zero, rows):
    for y in range(begin, end):
        error, low, high, total = zero, Y[y, 0], Y[y, 0], zero
        for x in range(Y.shape[1]):
            v = Y[y, x]
            d = defect[y, x] + weight * (v - Y0[y, x])
            defect[y, x], e = d, abs(d)
            error, low, high = larger(error, e), lesser(low, v), larger(high, v)
            total += e * zero + v * zero  # adds 0, or NaN if a number is not finite
        rows[0, y], rows[1, y], rows[2, y] = error + total, low + total, high + total


@kernel
def judge(Y, Y0, weight, defect, zero, rows):
    """defect += weight (Y - Y0). Then puts the largest |defect| and the least and the largest Y of each row into
    `rows`; they are NaN if the row contains a NaN."""
    _judge(Y.shape[0], (Y, Y0, weight, defect, zero, rows))
