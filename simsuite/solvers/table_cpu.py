"""Filling a FunctionTable on the CPU."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import njit

from simsuite.expressions import Expression
from simsuite.solvers.table import KEPT


@lru_cache(KEPT)
def make_fill(expression: Expression) -> Any:
    """The kernel that evaluates `expression` in x, y, t."""
    f = njit(error_model="numpy")(expression.scalar_function(("x", "y", "t")))

    @njit(error_model="numpy")
    def fill(out, start, x, y, begin, span, first, count, offsets, n):
        for k in range(n):
            for j in range(x.size):
                out[k, start + j] = f(x[j], y[j], begin + span * (first + offsets[k]) / count)

    return fill
