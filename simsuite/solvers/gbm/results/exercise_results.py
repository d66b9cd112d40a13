"""What comes out of a run about the exercise of American options: how probable it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.american.exercise_policy import learning_paths
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate, estimate
from simsuite.solvers.gbm.unseen_errors.unseen import completed

PROBABILITY = "option_exercise_probability"
_UNKNOWN = Estimate(math.nan, math.nan)


def exercise_totals(problem: Statement, observed: Snapshot) -> dict[str, np.ndarray]:
    """After the last path has ended; of options that cannot be exercised NaN, nothing if there are no others."""
    if not problem.holders:
        return {}
    found = [_estimate(problem, observed, option) or _UNKNOWN for option in range(len(problem.scenario.option))]
    return {
        PROBABILITY: np.array([e.value for e in found]),
        f"{PROBABILITY}_standard_error": np.array([e.standard_error for e in found]),
    }


def exercise_results(problem: Statement, observed: Snapshot, option: int) -> dict[str, Any]:
    """Of an option, after the last path has ended; nothing if it cannot be exercised."""
    found = _estimate(problem, observed, option)
    if found is None:
        return {}
    error = found.standard_error
    return {
        "exercise_probability": found.value,
        "exercise_probability_standard_error": None if math.isnan(error) else error,
        "exercise_dates": getattr(problem.scenario.option[option], "exercise", None) or problem.n_steps,
        "regression_paths": learning_paths(problem),
    }


def _estimate(problem: Statement, observed: Snapshot, option: int) -> Estimate | None:
    mean = problem.payoffs.exercises.get(option)
    if mean is None:
        return None
    n = int(observed.arrays["done"][0]) // problem.width
    found = estimate(observed.arrays["options"][0, mean.rows], n, 1.0, float(problem.shifts[mean.value]))
    return completed(problem, observed, mean, found, 1.0)
