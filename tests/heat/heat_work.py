"""How much work automatic steps of a plate are, and how much the best stepper would need with the best equal steps.

Work is the time that steps and stages take by the rates that `auto` itself goes by, for a plate of the same kind with
CELLS cells, so that it depends on how many there are and not on what the machine does besides. What is compared with
`auto` is each stepper with steps that are equal between the times at which frames are due or data change; how long they
may be is found by trying. Errors are those at the end of any step, or only those at frames.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from heat_random import Plate

from simsuite.core import Backend, Stepper
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.error_control.control import Judgement, StepControl
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.error_control.method_choice import ADI_TAKES, MORE_TAKES
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.stepper_choice.rates import TWO_CORES, work_of

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

    def judge(self, *_: Any) -> Judgement:
        return Judgement()

    def go_on(self, *_: Any) -> None:
        pass


def problem_of(plate: Plate, **time: Any) -> HeatProblem:
    sections = plate.sections | {"solver": "heat", "time": plate.sections["time"] | time}
    return HeatProblem.from_scenario(HeatScenario.model_validate(sections), Path())


class Reference:
    """What a plate's run is held against. solution: T at any time. everywhere: whether a run has to keep the tolerance
    at the ends of all steps, and not at frames alone."""

    def __init__(self, plate: Plate, solution: Callable[[float], np.ndarray], everywhere: bool) -> None:
        self.solution, self._everywhere = solution, everywhere
        problem = problem_of(plate)
        times = (problem.clock.time(step) for step in problem.layout.series[0].steps)
        range_ = float(np.ptp([solution(t) for t in times]))
        self.enough = plate.sections["time"]["tolerance"] * range_

    def largest_errors(self, problem: HeatProblem, stepper: Stepper, backend: Backend) -> tuple[float, float]:
        """Of a run, K: at frames, and at the end of any step. Explicit and exact steps count at frames alone."""
        worst = always = 0.0
        for step in problem.layout.series[0].steps:
            for error in self._errors_up_to(step, problem, stepper, backend, isinstance(stepper, ControlledStepper)):
                always = max(always, error)
            worst = max(worst, error)
        return worst, always

    def keeps(self, problem: HeatProblem, stepper: Stepper, backend: Backend) -> bool:
        """Whether a run is accurate enough; it is ended once it is not."""
        every = self._everywhere and isinstance(stepper, ControlledStepper)
        steps = problem.layout.series[0].steps
        return all(
            error <= self.enough
            for step in steps
            for error in self._errors_up_to(step, problem, stepper, backend, every)
        )

    def _errors_up_to(
        self, step: int, problem: HeatProblem, stepper: Stepper, backend: Backend, every: bool
    ) -> Iterator[float]:
        """Errors as a run goes on to a step of its clock, K: after every step that is taken, or when it is there."""
        while True:
            T = backend.to_host(stepper.state["temperature"])
            yield float(np.max(np.abs(T - self.solution(problem.clock.time(stepper.step)))))
            if stepper.step == step:
                return
            stepper.advance(1 if every else step - stepper.step)


def count(stepper: ControlledStepper, adi_steps: int) -> Counter[str]:
    """Count stages and steps of adi while the stepper goes on. adi_steps: for each try."""
    counts: Counter[str] = Counter()
    rkl2, adi, more = stepper._try_rkl2, stepper._try_adi, stepper._measure_more

    def try_rkl2(dt: float) -> Any:
        counts["rkl2"] += stepper._stages(dt)
        return rkl2(dt)

    def try_adi(dt: float) -> Any:
        counts["adi"] += adi_steps
        return adi(dt)

    def measure_more(dt: float) -> Any:
        counts["adi"] += MORE_TAKES
        return more(dt)

    stepper._try_rkl2, stepper._try_adi = try_rkl2, try_adi  # type: ignore[method-assign]
    stepper._measure_more = measure_more  # type: ignore[method-assign]
    return counts


def seconds(problem: HeatProblem, name: str, times: int) -> float:
    """That many stages of rkl2, or steps of another stepper, on CELLS cells."""
    work = work_of(name, times, 1, problem.made, False)
    share = CELLS / (problem.made.nx * problem.made.ny)
    return TWO_CORES.seconds(replace(w, amount=w.amount * share) for w in work)


@dataclass(frozen=True)
class Automatic:
    """Of a run whose steps the program chooses: the largest error at frames, and at the end of any step, K; and its
    work, s."""

    at_frames: float
    always: float
    work: float


def automatic(plate: Plate, backend: Backend, reference: Reference, stepper: str = "auto") -> Automatic:
    problem = problem_of(plate, stepper=stepper)
    taken = problem.stepper(backend, problem.initial())
    if isinstance(taken, ControlledStepper):
        counts = count(taken, ADI_TAKES)
        errors = reference.largest_errors(problem, taken, backend)
        # What lasts of errors is known at the end only, and may be more than the steps were chosen for.
        range_ = taken.control["high"] - taken.control["low"]
        assert taken.control["error"] <= 2.0 * problem.scenario.time.tolerance * range_
        return Automatic(*errors, sum(seconds(problem, name, n) for name, n in counts.items()))
    errors = reference.largest_errors(problem, taken, backend)
    return Automatic(*errors, seconds(problem, problem.plan.stepper, problem.clock.end))


def equal_steps(plate: Plate, backend: Backend, reference: Reference, method: str, dt: float) -> tuple[bool, float]:
    """Whether steps of rkl2 or adi keep the tolerance, and their work as far as that is known."""
    problem = problem_of(plate, stepper=method)
    stepper = problem.stepper(backend, problem.initial())
    assert isinstance(stepper, ControlledStepper)
    stepper.control = Equal(stepper.control, 2.0 * dt if method == "adi" else dt)  # adi: both halves count
    counts = count(stepper, 2)
    return reference.keeps(problem, stepper, backend), seconds(problem, method, counts[method])


def best(plate: Plate, backend: Backend, reference: Reference, most: float) -> tuple[str, float]:
    """The stepper that takes the least work to keep the tolerance with equal steps, and that work. most: beyond which
    nothing is tried."""
    found = ("none", most)
    explicit = problem_of(plate, stepper="explicit")
    work = seconds(explicit, "explicit", explicit.clock.end)
    if work < most:
        stepper = explicit.stepper(backend, explicit.initial())
        if reference.keeps(explicit, stepper, backend):
            found = "explicit", work
    for method in ("rkl2", "adi"):
        run = partial(equal_steps, plate, backend, reference, method)
        work = least(run, plate.end, found[1])
        if work < found[1]:
            found = method, work
    return found


def least(run: Callable[[float], tuple[bool, float]], end: float, most: float) -> float:
    """The least work with which a run of steps is accurate enough; infinite if that is more than `most`."""
    dt, fine, work = end, 0.0, math.inf
    while not fine:
        kept, needed = run(dt)
        if kept:
            fine, work = dt, needed
        elif needed > most:
            return math.inf
        else:
            dt /= FINER
    coarse = fine * FINER
    for _ in range(BISECTIONS):
        dt = math.sqrt(coarse * fine)
        kept, needed = run(dt)
        if kept:
            fine, work = dt, needed
        else:
            coarse = dt
    return work
