"""The results about the exercise of American options: how probable it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.american.exercise_policy import learning_paths
from simsuite.solvers.gbm.error_allowances.allowances import completed
from simsuite.solvers.gbm.parts import of_option
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate, estimate

PROBABILITY = "option_exercise_probability"
_UNKNOWN = Estimate(math.nan, math.nan)


def exercise_totals(statement: Statement, observed: Snapshot) -> dict[str, np.ndarray]:
    """The probability of exercise of each option after the last path has ended; NaN for options that cannot be
    exercised, and nothing at all if there are no others."""
    if not statement.holders:
        return {}
    options = range(len(statement.scenario.option))
    found = [_estimate(*of_option(statement, observed, o)) or _UNKNOWN for o in options]
    return {
        PROBABILITY: np.array([e.value for e in found]),
        f"{PROBABILITY}_standard_error": np.array([e.standard_error for e in found]),
    }


def exercise_results(statement: Statement, observed: Snapshot, option: int) -> dict[str, Any]:
    """The probability of exercise of one option after the last path has ended; nothing if it cannot be exercised."""
    found = _estimate(statement, observed, option)
    if found is None:
        return {}
    error = found.standard_error
    return {
        "exercise_probability": found.value,
        "exercise_probability_standard_error": None if math.isnan(error) else error,
        "exercise_dates": getattr(statement.scenario.option[option], "exercise", None) or statement.n_steps,
        "regression_paths": learning_paths(statement),
    }


def _estimate(statement: Statement, observed: Snapshot, option: int) -> Estimate | None:
    mean = statement.payoffs.exercises.get(option)
    if mean is None:
        return None
    n = int(observed.arrays["done"][0]) // statement.width
    found = estimate(observed.arrays["options"][0, mean.rows], n, 1.0, float(statement.shifts[mean.value]))
    return completed(statement, observed, mean, found, 1.0)
