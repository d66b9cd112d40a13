"""What a path does in a step besides a normal increment, see `step_terms.py`: for one path of an asset, on a GPU."""

from __future__ import annotations

import math
from typing import Any

from numba import cuda, float32, uint64

from simsuite.rng import words
from simsuite.solvers.gbm.market.jumps import STREAMS
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.kernels.step_terms_scalars import (
    after32,
    after64,
    exceeded,
    gain32,
    gain64,
    normal32,
    normal64,
    uniform,
)


def make_step_terms(step_terms: StepTerms, real: Any, drawn: Any) -> tuple[Any, Any, Any]:
    """Three functions: what a scheme makes of an increment, what jumps add, and what dividends in cash leave. real:
    type of what is added up along a path; drawn: type of normals."""
    HALF, N = real(step_terms.scheme.half), len(step_terms.jumping)
    gain, after_cash = (gain32, after32) if real is float32 else (gain64, after64)
    normal = normal32 if drawn is float32 else normal64
    number = cuda.jit(device=True)(exceeded.py_func)  # compiled code cannot take the arrays of the CUDA simulator

    @cuda.jit(device=True)
    def discretised(d, drift, a, k):
        column = k if drift.shape[1] > 1 else 0
        return gain(d, drift[a, column], drift[N + a, column], HALF)

    @cuda.jit(device=True)
    def jumped(k, a, stream, seed, sign, jumps, thresholds):
        w0, w1, w2, w3 = words(k, STREAMS + a, stream, seed)
        further = number(uint64(uniform(w0, w1)), thresholds, a)
        count = jumps[a, 0] + real(further)
        added = jumps[a, 1] + real(further) * jumps[a, 2]
        if count > real(0):
            added += real(sign) * math.sqrt(count) * jumps[a, 3] * real(normal(w2, w3))
        return added

    return discretised, jumped, after_cash
