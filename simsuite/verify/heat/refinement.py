"""The same heat scenario on finer grids, with the time step that goes with each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simsuite.core import Backend, Device
from simsuite.errors import ScenarioError, UsageError
from simsuite.scenario.common import Output
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.material import is_image
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.stepper_record import ORDER_IN_SPACE
from simsuite.solvers.heat.steppers import stepper_record, stepper_records
from simsuite.verify.heat.runs import Outcome, run

# Steppers that are not here have no error in time that shorter steps could lessen.
ORDER_IN_TIME = {
    name: record.order_in_time for name, record in stepper_records().items() if record.order_in_time is not None
}


def refined(model: HeatScenario, level: int, dt: float | None = None, stepper: str | None = None) -> HeatScenario:
    """`model` with cells 2^level times smaller, one frame at the end, and, if given, that time step and stepper.

    Raises UsageError where arrays of fixed shape stand in the way.
    """
    fixed = [".".join(map(str, key)) for key, file in _files(model.model_dump(mode="json", by_alias=True), ())]
    if level and fixed:
        raise UsageError(f"{fixed[0]} is an array of fixed shape, which a finer grid does not fit; use an expression")
    grid = model.grid.model_copy(update={"nx": model.grid.nx << level, "ny": model.grid.ny << level})
    time = model.time.model_copy(
        update={
            "steady_tolerance": 0.0,
            **({} if dt is None else {"dt": dt}),
            **({} if stepper is None or model.time.steady else {"stepper": stepper}),
        }
    )
    return model.model_copy(update={"grid": grid, "time": time, "output": Output(frames=2)})


def _files(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every .npy file that is named in a dumped scenario, with its place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key == "file" and isinstance(item, str) and not is_image(item):
            yield path, item
        yield from _files(item, (*path, key))


def problems(
    model: HeatScenario,
    base: Path,
    levels: int,
    first: int = 0,
    device: Device | None = None,
    controlled: bool = False,
) -> list[HeatProblem]:
    """The problem on grids `first` .. `first + levels - 1`, coarse to fine, all with the stepper that the first one
    takes.

    Time steps shrink such that the error in time falls like that in space: by 4 for explicit, by 2 for rkl2 and adi.
    The first one is what the scenario asks for, or less where that would be unstable later. Where the scenario's steps
    are as long as their error allows, equal steps of adi are taken; or, if `controlled`, such steps on each grid, for a
    tolerance 4 times smaller than on the grid before. Raises ScenarioError and UsageError."""
    start = HeatProblem.from_scenario(refined(model, first), base, device)
    if controlled and start.adaptive:
        return [start, *(_tighter(model, base, first + k, k, device) for k in range(1, levels))]
    stepper = "adi" if start.adaptive else start.method["stepper"]  # a stepper whose steps follow from the grid
    if model.time.steady or stepper not in ORDER_IN_TIME:
        return [start, *(_problem(model, base, first + k, None, stepper) for k in range(1, levels))]
    shrink = 2.0 ** (ORDER_IN_SPACE / ORDER_IN_TIME[stepper])
    dt = start.dt
    if stepper_record(stepper).automatic is not None:  # the bound does not always fall by exactly 4
        finest = _problem(model, base, first + levels - 1, "auto", stepper)
        dt = min(dt, finest.dt * shrink ** (levels - 1))
    assert model.time.end is not None
    steps = math.ceil(model.time.end / dt * (1 - 1e-9))
    return [_problem(model, base, first + k, model.time.end / (steps * shrink**k), stepper) for k in range(levels)]


def in_shorter_steps(problem: HeatProblem, base: Path, factor: int) -> HeatProblem:
    """The same problem, whose equal steps are so many times shorter. Raises UsageError."""
    return _problem(problem.scenario, base, 0, problem.dt / factor, problem.method["stepper"])


def with_less_tolerance(problem: HeatProblem, base: Path, factor: float) -> HeatProblem:
    """The same problem, whose tolerance is so many times smaller. Raises UsageError."""
    time = problem.scenario.time
    model = problem.scenario.model_copy(update={"time": time.model_copy(update={"tolerance": time.tolerance / factor})})
    try:
        return HeatProblem.from_scenario(model, base)
    except ScenarioError as error:
        raise UsageError(error.mistakes[0].message) from None


def _tighter(model: HeatScenario, base: Path, level: int, k: int, device: Device | None) -> HeatProblem:
    tolerance = model.time.tolerance / 4.0**k
    tighter = model.model_copy(update={"time": model.time.model_copy(update={"tolerance": tolerance})})
    return HeatProblem.from_scenario(refined(tighter, level), base, device)


def _problem(model: HeatScenario, base: Path, level: int, dt: Any, stepper: str) -> HeatProblem:
    try:
        return HeatProblem.from_scenario(refined(model, level, dt, stepper), base)
    except ScenarioError as error:
        g = model.grid
        raise UsageError(f"{g.nx << level} × {g.ny << level} cells: {error.mistakes[0].message}") from None


def outcomes(made: list[HeatProblem], backend: Backend) -> Iterator[Outcome]:
    """The outcome of each problem in turn."""
    return (run(problem, backend) for problem in made)
