"""The kernel that fills a FunctionTable on a GPU, in float64 whatever the table holds, with a thread for each entry. It
is a template; see `expression_placeholders`.
"""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.expression_placeholders import expression

f = cuda.jit(device=True)(expression)


@cuda.jit(cache=True)
def fill(out, start, x, y, begin, span, first, count, offsets, numbers, n):
    """Evaluate the expression in x, y, t for n rows; numbers: those that the expression contains."""
    j, k = cuda.grid(2)
    if j < x.size and k < n:
        out[k, start + j] = f(x[j], y[j], begin + span * (first + offsets[k]) / count, numbers)
