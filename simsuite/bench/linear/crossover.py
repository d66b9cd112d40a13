"""The number of steps between two frames from which on powers, or modes, take less time than single steps.

A whole run is timed, from the matrix to the last frame, including the squarings, or the decomposition on the host. The
steps between frames are doubled until the method is faster than stepping; the states at the end are compared with those
of stepping.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from simsuite.bench.checking import Deviation
from simsuite.bench.findings import Row
from simsuite.bench.linear.steps import problem_of
from simsuite.bench.timing import Patience, seconds
from simsuite.core import Backend
from simsuite.errors import NumericalFailure
from simsuite.solvers.linear.method_choice.method import Plan
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.table import ROWS

METHODS = ("power", "spectral")
_FIRST, _LAST = 16, 1 << 22  # the fewest and the most steps that are tried
_TRIES = 3
_LOOSE = 1e-3  # a tolerance that refuses no method


def crossover_rows(
    backend: Backend, patience: Patience, sizes: Sequence[int], precisions: Sequence[str]
) -> Iterator[Row]:
    """A row for each size of the matrix and of the batch, precision and method."""
    for n in sizes:
        system = replace(problem_of(n, n, "step", 2), tolerance=_LOOSE)
        for precision in precisions:
            stepped = replace(system, dtype=np.dtype(precision))
            one = _seconds_of_a_step(backend, stepped, patience)
            for method in METHODS:
                name = {"components": n, "states": n, "precision": precision, "kernel": method}
                yield name | _measured(backend, stepped, method, one)


def _seconds_of_a_step(backend: Backend, stepped: LinearProblem, patience: Patience) -> float:
    stepper = stepped.stepper(backend, stepped.initial())
    return seconds(backend, lambda times: stepper.advance(times * ROWS), patience)[0] / ROWS


def _measured(backend: Backend, stepped: LinearProblem, method: str, one: float) -> Row:
    """The row of a method. one: the seconds of a single step."""
    steps = _FIRST
    while True:
        problem = replace(stepped, frames=(0, steps), plan=Plan(method, "measured", asked=True))
        try:
            took = min(_run(backend, problem) for _ in range(_TRIES))
        except NumericalFailure as reason:
            return {"skipped": str(reason)}
        if took < steps * one or steps == _LAST:
            break
        steps *= 2
    off = _deviation(backend, replace(stepped, frames=(0, steps)), problem)
    row: Row = {"seconds": took, "largest_error": off.error, "error_limit": off.limit, "right": off.right}
    return row | ({"from_steps": steps} if took < steps * one else {})


def _run(backend: Backend, problem: LinearProblem) -> float:
    start = problem.initial()
    backend.fence().wait()
    begun = time.perf_counter()
    stepper = problem.stepper(backend, start)
    stepper.advance(problem.clock.end)
    with stepper.observe("time"):
        pass
    return time.perf_counter() - begun


def _deviation(backend: Backend, one: LinearProblem, other: LinearProblem) -> Deviation:
    """The deviation of the states at the end, relative to the largest number. The limit allows for rounding in each
    step, which adds up at random.
    """
    found = []
    for problem in (one, other):
        stepper = problem.stepper(backend, problem.initial())
        stepper.advance(problem.clock.end)
        with stepper.observe("time") as observed:
            found.append(observed.arrays["state"].astype(np.float64))
    n, steps = len(found[0]), one.clock.end
    limit = float(np.finfo(one.dtype).eps) * (10 + steps) * np.sqrt(n)
    return Deviation(float(np.max(np.abs(found[0] - found[1])) / np.max(np.abs(found[0]))), float(limit))
