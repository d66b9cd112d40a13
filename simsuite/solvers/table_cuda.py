"""Filling a FunctionTable on a GPU: one thread an entry, float64 whatever the table holds."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import config, cuda

from simsuite.expressions import Expression
from simsuite.solvers.table import KEPT


@lru_cache(KEPT)
def make_fill(expression: Expression) -> Any:
    """The kernel that evaluates `expression` in x, y, t."""
    function = expression.simulated_function if config.ENABLE_CUDASIM else expression.scalar_function
    f = cuda.jit(device=True)(function(("x", "y", "t")))

    @cuda.jit
    def fill(out, start, x, y, begin, span, first, count, offsets, n):
        j, k = cuda.grid(2)
        if j < x.size and k < n:
            out[k, start + j] = f(x[j], y[j], begin + span * (first + offsets[k]) / count)

    return fill
