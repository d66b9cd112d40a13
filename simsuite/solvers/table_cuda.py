"""Filling a FunctionTable on a GPU: one thread an entry, float64 whatever the table holds. A template, see
`unwritten`."""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.unwritten import expression

f = cuda.jit(device=True)(expression)


@cuda.jit(cache=True)
def fill(out, start, x, y, begin, span, first, count, offsets, numbers, n):
    """Evaluates the expression in x, y, t for n rows; numbers: those in the expression."""
    j, k = cuda.grid(2)
    if j < x.size and k < n:
        out[k, start + j] = f(x[j], y[j], begin + span * (first + offsets[k]) / count, numbers)
