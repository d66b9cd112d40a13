"""Filling a FunctionTable on a GPU: one thread an entry, float64 whatever the table holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda


def make_fill(function: Callable[[float, float, float], float]) -> Any:
    f = cuda.jit(device=True)(function)

    @cuda.jit
    def fill(out, start, x, y, begin, span, first, count, n):
        j, k = cuda.grid(2)
        if j < x.size and k < n:
            out[k, start + j] = f(x[j], y[j], begin + span * ((first + k) / count))

    return fill
