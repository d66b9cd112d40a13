"""Products with a single column on a CPU, where each vector holds rows of a column."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.registers_cpu import column_product


@part
def _begin(X, bias, row, x, shifts, n):
    for k in range(len(X)):
        x[k] = X[k, 0]
    for i in range(n):
        shifts[i] = bias[row, i]


@part
def _next(following, bias, row, x, shifts, n):
    for i in range(n):
        x[i] = following[i]
        shifts[i] = bias[row, i]


@part
def _end(following, out):
    for i in range(len(out)):
        out[i, 0] = following[i]


@parallel_for
def _panels(begin, end, height, panels, x, p, shifts, following):
    for t in range(begin, end):
        column_product(panels, t * p * height, x, p, shifts, t * height, following, t * height)


@kernel
def column(height, panels, alone, x, shifts, following, X, bias, row, stride, n_steps, out):
    """Take n_steps steps, as `steps` of `steps_cpu` does, for a single column, with panels of `height` rows. x, shifts,
    following: work vectors whose lengths are multiples of a panel's.
    """
    p, n = len(X), len(out)
    _begin(X, bias, row, x, shifts, n)
    for s in range(n_steps):
        if s > 0:
            _next(following, bias, row + s * stride, x, shifts, n)
        _panels(-(-n // height), (height, panels, x, p, shifts, following), 1 if alone else n)
    _end(following, out)
