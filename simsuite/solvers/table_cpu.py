"""Filling a FunctionTable on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def make_fill(function: Callable[[float, float, float], float]) -> Any:
    f = njit(error_model="numpy")(function)

    @njit(error_model="numpy")
    def fill(out, start, x, y, begin, span, first, count, n):
        for k in range(n):
            for j in range(x.size):
                out[k, start + j] = f(x[j], y[j], begin + span * ((first + k) / count))

    return fill
