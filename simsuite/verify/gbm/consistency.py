"""Checks of whole runs: they give the same bits however they are divided, and nearly the same numbers on another
device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.verify.checks import Check, at_most
from simsuite.verify.gbm.cases import ANTITHETIC, ONE, PLAIN, TWO, WATCHED, Way
from simsuite.verify.gbm.runs import Outcome, label, problem_of, run, scenario_of

DIVISION, DEVICE = "same bits", "CPU and device"
AGREEMENT = {"float64": 1e-12, "mixed": 2e-5, "float32": 2e-5}  # tolerance of prices, relative to the spot
WAYS: tuple[Way, ...] = (("float64", ANTITHETIC), ("mixed", PLAIN), ("float32", PLAIN))
CASES = (ONE, WATCHED, TWO)
PATHS, BATCHES = 10_000, (1024, 3072)


def whole_checks(backend: Backend, cpu: Backend | None) -> Iterator[Check]:
    """Checks of runs on `backend`, also against runs on `cpu` if that is another device."""
    for case in CASES:
        for way in WAYS:
            model = scenario_of(case, way, PATHS, frames=3)
            with backend.on_threads(1):
                whole = run(problem_of(model), backend)
                differing = 0
                for batch in BATCHES:
                    paths = model.paths.model_copy(update={"batch": batch})
                    problem = problem_of(model.model_copy(update={"paths": paths}))
                    parts = np.random.default_rng(batch).integers(1, 5, 2 * problem.clock.end).tolist()
                    differing += differences(whole, run(problem, backend, parts))
            yield at_most(label(case, way, "batches and parts"), DIVISION, float(differing), 0.0)
            if cpu is not None:
                other = run(problem_of(model), cpu)
                yield at_most(label(case, way, "prices"), DEVICE, distance(whole, other), AGREEMENT[way[0]])


def differences(one: Outcome, other: Outcome) -> int:
    """The number of results that differ between two runs."""
    return sum(a != b for a, b in zip(numbers(one), numbers(other), strict=True))


def distance(one: Outcome, other: Outcome) -> float:
    """The largest difference of two numbers, relative to the spot or, for larger ones, to their size."""
    spot = max(asset.spot for asset in one.problem.scenario.asset)
    pairs = zip(numbers(one), numbers(other), strict=True)
    return max(abs(a - b) / max(spot, abs(a)) for a, b in pairs)


def numbers(outcome: Outcome) -> list[float]:
    """All numbers of a run's rows and results."""
    rows = [float(value) for row in outcome.rows for name in sorted(row) for value in np.ravel(row[name])]
    return rows + list(_flat(outcome.results))


def _flat(found: Any) -> Iterator[float]:
    """Yields the numbers in a value that may be JSON."""
    if isinstance(found, Mapping):
        found = [found[key] for key in sorted(found)]
    if isinstance(found, (list, tuple)):
        for item in found:
            yield from _flat(item)
    elif isinstance(found, (int, float)):
        yield float(found)
