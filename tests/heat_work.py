"""How much work automatic steps of a plate are, and how much the best stepper would need with the best equal steps.

Work is the time that steps and stages take by the rates that `auto` itself goes by, for a plate of the same kind with
CELLS cells, so that it depends on how many there are and not on what the machine does besides. What is compared with
`auto` is each stepper with steps that are equal between the times at which frames are due or data change; how long they
may be is found by trying.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from heat_random import Plate

from simsuite.core import Backend, Stepper
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.control import StepControl
from simsuite.solvers.heat.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.rates import TWO_CORES, work_of

CELLS = 1e6
FINER = 1.5  # by how much steps are shortened until they are accurate
BISECTIONS = 3


class Equal(StepControl):
    """Steps of one length, whatever their error."""

    def __init__(self, like: StepControl, dt: float) -> None:
        super().__init__(like.tolerance, 1.0, dt, (0.0, 1.0))
        self["dt"] = dt

    def restart(self, jump: bool) -> None:
        pass

    def error(self, *_: Any) -> float:
        return 0.0

    def go_on(self, *_: Any) -> None:
        pass


def problem_of(plate: Plate, **time: Any) -> HeatProblem:
    sections = plate.sections | {"solver": "heat", "time": plate.sections["time"] | time}
    return HeatProblem.from_scenario(HeatScenario.model_validate(sections), Path())


def largest_error(problem: HeatProblem, stepper: Stepper, backend: Backend, want: np.ndarray, enough: float) -> float:
    """At any frame, K; or at the first at which it is more than enough."""
    worst = 0.0
    for step, T in zip(problem.layout.series[0].steps, want):
        stepper.advance(step - stepper.step)
        worst = max(worst, float(np.max(np.abs(backend.to_host(stepper.state["temperature"]) - T))))
        if not worst <= enough:
            break
    return worst


def count(stepper: ControlledStepper, adi_steps: int) -> Counter[str]:
    """Count stages and steps of adi while the stepper goes on. adi_steps: for each try."""
    counts: Counter[str] = Counter()
    rkl2, adi = stepper._try_rkl2, stepper._try_adi

    def try_rkl2(dt: float) -> Any:
        counts["rkl2"] += stepper._stages(dt)
        return rkl2(dt)

    def try_adi(dt: float) -> Any:
        counts["adi"] += adi_steps
        return adi(dt)

    stepper._try_rkl2, stepper._try_adi = try_rkl2, try_adi  # type: ignore[method-assign]
    return counts


def seconds(problem: HeatProblem, name: str, times: int) -> float:
    """That many stages of rkl2, or steps of another stepper, on CELLS cells."""
    work = work_of(name, times, 1, problem.made, False)
    share = CELLS / (problem.made.nx * problem.made.ny)
    return TWO_CORES.seconds(replace(w, amount=w.amount * share) for w in work)


def automatic(plate: Plate, backend: Backend, want: np.ndarray, stepper: str = "auto") -> tuple[float, float]:
    """The largest error, K, and the work of steps that the program chooses."""
    problem = problem_of(plate, stepper=stepper)
    taken = problem.stepper(backend, problem.initial())
    if isinstance(taken, ControlledStepper):
        counts = count(taken, 3)
        error = largest_error(problem, taken, backend, want, math.inf)
        assert taken.control["error"] <= problem.scenario.time.tolerance
        return error, sum(seconds(problem, name, n) for name, n in counts.items())
    error = largest_error(problem, taken, backend, want, math.inf)
    return error, seconds(problem, problem.plan.stepper, problem.clock.end)


def equal_steps(plate: Plate, backend: Backend, want: np.ndarray, method: str, dt: float) -> tuple[float, float]:
    """The largest error, K, as far as it is known to be too large, and the work of steps of rkl2 or adi."""
    problem = problem_of(plate, stepper=method)
    stepper = problem.stepper(backend, problem.initial())
    assert isinstance(stepper, ControlledStepper)
    stepper.control = Equal(stepper.control, 2.0 * dt if method == "adi" else dt)  # adi: both halves count
    counts = count(stepper, 2)
    enough = plate.sections["time"]["tolerance"] * float(np.ptp(want))
    error = largest_error(problem, stepper, backend, want, enough)
    return error, seconds(problem, method, counts[method])


def best(plate: Plate, backend: Backend, want: np.ndarray, most: float) -> tuple[str, float]:
    """The stepper that takes the least work to keep the tolerance with equal steps, and that work. most: beyond which
    nothing is tried."""
    enough = plate.sections["time"]["tolerance"] * float(np.ptp(want))
    found = "none", most
    explicit = problem_of(plate, stepper="explicit")
    work = seconds(explicit, "explicit", explicit.clock.end)
    if work < most:
        stepper = explicit.stepper(backend, explicit.initial())
        if largest_error(explicit, stepper, backend, want, enough) <= enough:
            found = "explicit", work
    for method in ("rkl2", "adi"):
        work = least(lambda dt, method=method: equal_steps(plate, backend, want, method, dt), plate, enough, found[1])  # type: ignore[misc]
        if work < found[1]:
            found = method, work
    return found


def least(run: Callable[[float], tuple[float, float]], plate: Plate, enough: float, most: float) -> float:
    """The least work with which a run of steps is accurate enough; infinite if that is more than `most`."""
    dt, fine, work = plate.end, 0.0, math.inf
    while not fine:
        error, needed = run(dt)
        if error <= enough:
            fine, work = dt, needed
        elif needed > most:
            return math.inf
        else:
            dt /= FINER
    coarse = fine * FINER
    for _ in range(BISECTIONS):
        dt = math.sqrt(coarse * fine)
        error, needed = run(dt)
        if error <= enough:
            fine, work = dt, needed
        else:
            coarse = dt
    return work
