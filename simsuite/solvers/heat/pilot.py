"""Steps for the problem at hand, as a coarse model of the run shows them to be needed.

The steps of `method` are those of the worst mode there could be. What a problem has is found by solving it on few
cells, with the planned steps and with steps half as long, from which follows the error of the planned ones
(Richardson). Where they miss the tolerance they are halved, and it is all done again. Where they more than meet it they
can be longer, as the error of a second-order method grows with the square of the steps; that the longer ones meet it is
then seen by taking them.

The tolerance is relative to how far the temperature is from the level of edges and held cells, or from its mean where
there are none: with longer steps at each frame, with the planned ones at most so far.

Few cells have no short waves. A run has them, but damps them: rkl2 by itself, adi by its first step (see there). There
is a pilot for linear problems in which nothing moves only, since fronts and pulses could fall through the mesh, and
none where data come as arrays of the shape of the grid. Held regions, whose outline few cells do not follow, may make
steps shorter, not longer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from simsuite.core import Backend, Clock, Device, Snapshot
from simsuite.errors import DeviceError, Mistake
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.ledger import empty_ledger
from simsuite.solvers.heat.measure import Wanted
from simsuite.solvers.heat.operator import ledger_entries
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.statement import discretise
from simsuite.solvers.heat.steppers import make_stepper

CELLS = 48  # along an axis at most
MOST_STAGES = 20_000  # of a plan, a step of adi counted as 10: with more the pilot would take long
MARGIN = 1.4  # of the error on few cells to that of the run
LONGEST = 4.0  # times the steps of the worst mode
WORTH = 1.1  # times them
HALVINGS = 4  # at most


def sharpened(
    device: Device | None, scenario: HeatScenario, base: Path, plan: Plan, stretched: Callable[[float], Plan]
) -> Plan:
    """The plan, or one with the steps that the tolerance needs.

    stretched: the plan with steps so many times as long, as far as the tolerance is what limits them.
    """
    mistakes: list[Mistake] = []
    if device is None or _is_long(plan):
        return plan
    made = discretise(_coarse(scenario), base, mistakes)
    try:
        backend = device()
    except DeviceError:
        return plan
    if mistakes or not backend.timed:
        return plan
    backend.announce(f"finding out on few cells how long the steps of {plan.stepper} may be")
    with backend.little_work():
        return _found(Pilot(made, backend, scenario.time.tolerance / MARGIN), plan, stretched, not made.any_held)


def _found(pilot: Pilot, plan: Plan, stretched: Callable[[float], Plan], longer: bool) -> Plan:
    """longer: whether steps may be longer than those of the plan."""
    factor = 1.0
    for _ in range(HALVINGS):
        if pilot.meets(plan):
            return pilot.longer(plan, factor, stretched) if longer else plan
        factor /= 2
        plan = stretched(factor)
        if _is_long(plan):
            break
    return plan


def _is_long(plan: Plan) -> bool:
    return plan.clock.end * max(plan.stages, 10) > MOST_STAGES


class Pilot:
    """A problem on few cells. exact: its solution at each frame, once a plan was looked at."""

    def __init__(self, made: Discretisation, backend: Backend, tolerance: float) -> None:
        self._made, self._backend, self._tolerance = made, backend, tolerance
        self._level = level_of(made)
        self._exact: list[np.ndarray] = []

    def meets(self, plan: Plan) -> bool:
        """Whether the error is within the tolerance, relative to how far the temperature was from the level so far."""
        self._once = self._frames(plan, plan.clock)
        twice = self._frames(plan, Clock(tuple(2 * step for step in plan.clock.steps), plan.clock.times))
        self._exact = [fine + (fine - T) / 3 for T, fine in zip(self._once, twice)]
        self._sizes = [_size(T - self._level) for T in (self._made.T0, *self._exact)]
        most = list(itertools.accumulate(self._sizes, max))[1:]
        return self._error(self._once, most) <= self._tolerance

    def longer(self, plan: Plan, factor: float, stretched: Callable[[float], Plan]) -> Plan:
        """The plan that was looked at, with steps `factor` as long as those of the worst mode, or one with longer steps
        whose error is within the tolerance, relative to how far the temperature is from the level at each frame."""
        error = self._error(self._once, self._sizes[1:])
        further = min(math.sqrt(self._tolerance / error), LONGEST) if error > 0 else LONGEST
        while further > WORTH:
            longer = stretched(factor * further)
            if self._error(self._frames(longer, longer.clock), self._sizes[1:]) <= self._tolerance:
                return longer
            further *= 0.9
        return plan

    def _frames(self, plan: Plan, clock: Clock) -> list[np.ndarray]:
        """The temperatures at all times of the clock but the first, by the plan's stepper."""
        made = self._made
        start = Snapshot(0, {"temperature": made.T0, **empty_ledger(ledger_entries(made), made.T0.dtype)})
        wanted = Wanted([], False)
        stepper = make_stepper(plan.stepper, plan.stages, made, wanted, clock, self._backend, start, "auto")
        found = []
        for step in clock.steps[1:]:
            stepper.advance(step - stepper.step)
            found.append(self._backend.to_host(stepper.state["temperature"]))
        return found

    def _error(self, found: Sequence[np.ndarray], scales: Sequence[float]) -> float:
        """The largest of all frames, relative to these scales."""
        errors = [_size(T - exact) for T, exact in zip(found, self._exact)]
        relative = [error / scale if scale > 0 else math.inf for error, scale in zip(errors, scales) if error > 0]
        return max(relative, default=0.0) if all(map(math.isfinite, relative)) else math.inf


def _coarse(scenario: HeatScenario) -> HeatScenario:
    g = scenario.grid
    grid = g.model_copy(update={"nx": min(g.nx, CELLS), "ny": min(g.ny, CELLS)})
    run = scenario.run.model_copy(update={"precision": "float64"})
    return scenario.model_copy(update={"grid": grid, "run": run})


def level_of(made: Discretisation) -> float:
    """The mean temperature that edges and held cells draw to, or the mean of all where none does."""
    beta, gamma = made.edges.coefficients(0.0, made.edge_k())
    levels = [float(gamma[beta > 0].sum() / beta.sum())] if beta.any() else []
    if made.any_held:
        levels.append(float(made.T0[made.held].mean()))
    return float(np.mean(levels)) if levels else float(made.T0.mean())


def _size(T: np.ndarray) -> float:
    return float(np.sqrt(np.mean(T**2)))
