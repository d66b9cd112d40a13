"""Least squares for rules of exercise (exercise_policy.py) on a GPU, by successive launches of `regression.cu`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.gbm.american.exercise_policy import FEWEST
from simsuite.solvers.gbm.american.regression import SMALLEST_PIVOT
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS, Holder
from simsuite.solvers.gbm.payoffs.functionals import Right
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES

REGRESSION = Path(__file__).with_name("regression.cu")
_THREADS, _GROUP = 256, 2048  # threads of a block; paths of a group


def regression_macros(right: Right, dtype: np.dtype) -> dict[str, str | int]:
    return {
        "STATE": C_TYPES[dtype],
        "DEGREE": right.degree,
        "CALL": int(right.call),
        "TERMS": TERMS,
        "FEWEST": FEWEST,
        "SMALLEST_PIVOT": repr(SMALLEST_PIVOT),
        "GROUP": _GROUP,
        "THREADS": _THREADS,
    }


def learn_by_program(backend: Backend, holders: Sequence[Holder], steps: np.ndarray, noise: Any, policy: Any) -> None:
    """Queues the learning of all rules into policy[row, ..], which already holds the exercise values. noise[date,
    asset, path]: the noise after each of `steps`, of the paths to learn from."""
    n = noise.shape[-1]
    groups, paths = -(-n // _GROUP), np.uint32(n)
    for holder in holders:
        size = holder.right.degree + 1
        program = backend.program(REGRESSION, regression_macros(holder.right, np.dtype(noise.dtype)))
        wide = {name: program.launcher(name, groups, _THREADS) for name in ("range", "multiply", "project", "exercise")}
        scale, factor, solve = (program.launcher(name, 1, _THREADS) for name in ("scale", "factor", "solve"))
        parts = backend.zeros(groups * (size * (size + 1) // 2 + size), np.float64)
        inverse, worth = backend.zeros(size * size, np.float64), backend.zeros(n, np.float64)
        held, count = backend.zeros(1, np.int32), np.int32(groups)
        dates = np.searchsorted(steps, holder.steps)
        for row, date in reversed(list(zip(range(holder.rows.start, holder.rows.stop), dates))):
            y, rule = noise[date, holder.asset], policy[row]
            if row < holder.rows.stop - 1:
                wide["range"](y, paths, rule, parts)
                scale(parts, count, rule, held)
                wide["multiply"](y, paths, rule, parts)
                factor(parts, count, inverse)
                wide["project"](y, worth, paths, rule, inverse, parts)
                solve(parts, count, inverse, held, rule)
            wide["exercise"](y, paths, rule, worth)
