"""Time to solution: the seconds in which each stepper reaches a given error, and how `auto` does for that error.

Every stepper runs with shorter and shorter steps, and its time is related to its error. Seconds are those of the steps,
from an idle device to an idle one, after a run that compiles; making the problem and moving it to the device do not
count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.bench.effort import Effort
from simsuite.bench.machine import Machine
from simsuite.bench.timing import stretch
from simsuite.bench.wave import END, Reference, reference, wave
from simsuite.capabilities import taken
from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.solvers.heat.problem import HeatProblem

TARGETS = (1e-3, 1e-5, 1e-7)
EXPLICIT_WORDS = 5  # So many numbers a cell are moved by an explicit step, with the variable material.
MOST_STEPS = 1 << 12  # Second-order steppers take at most so many steps.
BRIEF, REPEATS = 0.1, 3  # Runs that take fewer seconds than BRIEF are repeated.


@dataclass(frozen=True)
class Timed:
    """A run that was timed: its steps (with `stages` each), the seconds that they took, and the error at the end."""

    stepper: str
    steps: int
    stages: int
    seconds: float
    error: float

    def as_json(self) -> dict[str, Any]:
        """The run as the document has it."""
        return dict(vars(self))


def default_size(effort: Effort, machine: Machine) -> int:
    """The largest grid whose explicit steps are done in the time allowed; their number grows with the square of the
    cells along an edge.
    """

    def explicit(n: int) -> float:
        steps = END * 10.0 * n**2  # as many steps as dt = "auto" takes with the variable material
        return steps * n**2 * EXPLICIT_WORDS * 8 / machine.copy

    return next((n for n in effort.solution if explicit(n) <= effort.longest_explicit), effort.solution[-1])


def work_precision(backend: Backend, effort: Effort, n: int, precision: str) -> Iterator[dict[str, Any]]:
    """The results for each material, one at a time, as they are done."""
    for material in effort.materials:
        against = reference(n, material, backend)
        row = {"material": material, "n": n, "precision": precision, "end": END, "reference": against.way}
        right = against.deviation <= TARGETS[-1]
        row |= {"largest_error": against.deviation, "error_limit": TARGETS[-1], "right": right}
        if not row["right"]:
            yield row
            continue
        study = Study(backend, effort, n, material, precision, against)
        runs = list(study.ladders())
        auto = [study.auto(target, runs) for target in TARGETS]
        reached = [reach(runs, target) for target in TARGETS]
        yield row | {"runs": [run.as_json() for run in runs], "reached": reached, "auto": auto}


@dataclass(frozen=True)
class Study:
    """Runs of a problem by all steppers."""

    backend: Backend
    effort: Effort
    n: int
    material: str
    precision: str
    against: Reference

    def ladders(self) -> Iterator[Timed]:
        """The timed runs of every stepper, from long steps to short ones."""
        yield from self._ladder("explicit", self._problem(stepper="explicit").clock.end, 1 << 62)
        for stepper in ("rkl2", "adi"):
            yield from self._ladder(stepper, 2, MOST_STEPS)
        try:
            problem = self._problem(stepper="exact")
        except ScenarioError:
            return
        yield self._timed("exact", problem)

    def _ladder(self, stepper: str, steps: int, most: int) -> Iterator[Timed]:
        """The timed runs of a stepper, each with twice as many steps as the last, until the last target is met or runs
        take too long.
        """
        while steps <= most:
            try:
                problem = self._problem(stepper=stepper, dt=END / steps)
            except ScenarioError:  # Such long steps would take too many stages.
                steps *= 2
                continue
            run = self._timed(stepper, problem)
            if math.isfinite(run.error):
                yield run
            if run.error <= TARGETS[-1] or 2 * run.seconds > self.effort.longest_run:
                return
            steps *= 2

    def auto(self, target: float, runs: Sequence[Timed]) -> dict[str, Any]:
        """How `stepper = "auto"` does for a target, beside the best of the other runs. Its tolerance is relative to the
        range of all temperatures, in every cell; the target is relative to the root mean square of those at the end,
        which is less.
        """
        start, T = self._problem().T0, self.against.T
        asked = target * min(1.0, float(np.sqrt(np.mean(T**2)) / np.ptp(start)))
        problem = self._problem(stepper="auto", tolerance=asked)
        run = self._timed(problem.plan.stepper, problem)
        times = {name: found["seconds"] for name, found in reach(runs, target)["steppers"].items() if found}
        best = min(times, key=lambda name: times[name], default=None)
        compared = {"best": best, "best_seconds": times[best], "ratio": run.seconds / times[best]} if best else {}
        return {"tolerance": target, **run.as_json(), "met": run.error <= target, **compared}

    def _problem(self, **time: Any) -> HeatProblem:
        return wave(self.n, self.material, self.precision, lambda: self.backend, **time)

    def _timed(self, stepper: str, problem: HeatProblem) -> Timed:
        """Time a stepper: first a part of a run to warm up, then whole runs from the start."""
        end = problem.clock.end
        problem.stepper(self.backend, problem.initial()).advance(end if problem.adaptive else min(2, end))
        times: list[float] = []
        while not times or (times[0] < BRIEF and len(times) < REPEATS):
            run = problem.stepper(self.backend, problem.initial())
            times.append(stretch(self.backend, run.advance, end))
        error = self.against.error(self.backend.to_host(run.state["temperature"]))
        return Timed(stepper, taken(problem, run), problem.plan.stages, min(times), error)


def reach(runs: Sequence[Timed], target: float) -> dict[str, Any]:
    """How each stepper reaches an error: the cheapest run that meets it, and the seconds at which the line from the run
    before to this run, on logarithmic axes, crosses that error. None for a stepper that does not reach it.
    """
    found: dict[str, Any] = {}
    for stepper in dict.fromkeys(run.stepper for run in runs):
        ladder = [run for run in runs if run.stepper == stepper]
        good = [run for run in ladder if run.error <= target]
        if not good:
            found[stepper] = None
            continue
        cheapest = min(good, key=lambda run: run.seconds)
        at = ladder.index(cheapest)
        seconds = crossing(ladder[at - 1], cheapest, target) if at > 0 else cheapest.seconds
        found[stepper] = {"seconds": seconds, "run_seconds": cheapest.seconds, "steps": cheapest.steps}
    return {"error": target, "steppers": found}


def crossing(before: Timed, after: Timed, target: float) -> float:
    """The seconds at which the line from one run to the next crosses an error; those of the next run where there is no
    line.
    """
    if not before.error > target >= after.error > 0 or not before.seconds < after.seconds:
        return after.seconds
    share = math.log(before.error / target) / math.log(before.error / after.error)
    seconds: float = before.seconds * (after.seconds / before.seconds) ** share
    return seconds
