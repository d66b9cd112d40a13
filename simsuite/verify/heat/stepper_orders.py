"""Checks of the orders of convergence of the heat solver's steppers, in which grid and time step are refined
separately.

Space: manufactured solutions, on grids so fine in time that only the grid matters (explicit steps follow the bound, so
that both errors fall by 4). Time: one small grid, against the same equations discretised in space alone and solved
almost exactly by other means (`semidiscrete`), so that the grid does not matter at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.sampling import cell_centres
from simsuite.solvers.heat.stepper_record import ORDER_IN_SPACE
from simsuite.solvers.heat.steppers import stepper_record
from simsuite.verify.checks import Check, at_most, near
from simsuite.verify.convergence import fitted_line, orders, root_mean_square
from simsuite.verify.heat import cases
from simsuite.verify.heat.refinement import ORDER_IN_TIME
from simsuite.verify.heat.runs import Outcome, problem_of, run_scenario
from simsuite.verify.heat.semidiscrete import SemiDiscrete

SPACE, TIME, EXACTNESS = "order in space", "order in time", "exact in time"
WITHIN = {SPACE: 0.1, TIME: 0.15}
ROUND_OFF = 1e-11  # relative error that `exact` may make, whatever the time step


@dataclass(frozen=True)
class Extent:
    """How much is checked. grids: the numbers of cells along each axis. doublings: how often the number of time steps
    is doubled."""

    materials: Sequence[str]
    grids: Sequence[int]
    doublings: int
    exact_steps: Sequence[int]


FULL = Extent(tuple(cases.MATERIALS), (12, 16, 24, 32), 3, (1, 7, 64))
QUICK = Extent(("orthotropic",), (8, 12, 16), 2, (1, 7))
# the number of steps of the coarsest run in time, for steppers whose steps may have any length
FEWEST_STEPS = {"rkl2": 24}
OTHERS = 32  # this number for other steppers; those whose steps are limited by stability take as many as that needs


def order_checks(backend: Backend, extent: Extent) -> Iterator[Check]:
    """Checks of every stepper with every kind of edge and every material, in space and in time."""
    yield from space_checks(backend, extent)
    yield from time_checks(backend, extent)
    yield from exactness_checks(backend, extent)


def space_checks(backend: Backend, extent: Extent) -> Iterator[Check]:
    """Checks of orders in space by manufactured solutions; for `exact` by closed forms, as its data must be steady."""
    for stepper in ORDER_IN_TIME:
        for kind in cases.KINDS:
            for material in extent.materials:
                errors = [
                    _error(run_scenario(cases.manufactured(kind, material, n, _fine(stepper, n)), backend))
                    for n in extent.grids
                ]
                yield _order(SPACE, stepper, kind, material, _cells(extent.grids), errors, ORDER_IN_SPACE)
    for kind in cases.LINEAR_KINDS:
        for material in cases.STEADY_MATERIALS:
            errors = [
                _error(run_scenario(cases.closed_form(kind, material, n, {"stepper": "exact"}), backend))
                for n in extent.grids
            ]
            yield _order(SPACE, "exact", kind, material, _cells(extent.grids), errors, ORDER_IN_SPACE)


def time_checks(backend: Backend, extent: Extent) -> Iterator[Check]:
    """Checks of orders in time on one small grid."""
    for kind in cases.KINDS:
        for material in extent.materials:
            wanted = None
            for stepper, order in ORDER_IN_TIME.items():
                scenario = cases.moving(kind, material, {"stepper": stepper})
                if wanted is None:
                    wanted = SemiDiscrete(HeatScenario.model_validate(scenario)).at([cases.END])[0]
                first = FEWEST_STEPS.get(stepper, OTHERS)
                if stepper_record(stepper).automatic is not None:
                    first = problem_of(scenario).clock.end
                dts = [cases.END / (first << k) for k in range(extent.doublings + 1)]
                errors = [
                    _difference(run_scenario(_with_time(scenario, dt=dt), backend).temperature, wanted) for dt in dts
                ]
                yield _order(TIME, stepper, kind, material, dts, errors, order)


def exactness_checks(backend: Backend, extent: Extent) -> Iterator[Check]:
    """Checks that `exact` agrees with the matrix exponential, for any number of steps."""
    for kind in cases.LINEAR_KINDS:
        for material in cases.STEADY_MATERIALS:
            scenario = cases.steady(kind, material, {"stepper": "exact"})
            wanted = SemiDiscrete(HeatScenario.model_validate(scenario)).propagated(cases.END)
            found = [run_scenario(_with_time(scenario, dt=cases.END / n), backend) for n in extent.exact_steps]
            worst = max(_difference(outcome.temperature, wanted) for outcome in found)
            yield at_most(_name("exact", kind, material), EXACTNESS, worst, ROUND_OFF, steps=list(extent.exact_steps))


def _order(
    kind: str, stepper: str, edge: str, material: str, sizes: Sequence[float], errors: Sequence[float], wanted: float
) -> Check:
    order, factor = fitted_line(sizes, errors)
    return near(
        _name(stepper, edge, material),
        kind,
        order,
        wanted,
        WITHIN[kind],
        stepper=stepper,
        edge=edge,
        material=material,
        sizes=list(sizes),
        errors=list(errors),
        orders=orders(sizes, errors),
        factor=factor,
        order=order,
        expected=wanted,
    )


def _name(stepper: str, edge: str, material: str) -> str:
    return f"{stepper:<9} {edge:<12} {material}"


def _fine(stepper: str, n: int) -> dict[str, Any]:
    """`[time]` with steps that add next to nothing to the error of a grid of n × n cells."""
    automatic = stepper_record(stepper).automatic is not None
    return {"stepper": stepper, "dt": "auto" if automatic else cases.END / (4 * n)}


def _with_time(scenario: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    return {**scenario, "time": {**scenario["time"], **keys}}


def _cells(grids: Sequence[int]) -> list[float]:
    return [cases.LX / n for n in grids]


def _error(outcome: Outcome) -> float:
    """The root mean square error relative to the reference. It is computed here, and not taken from the results."""
    scenario = outcome.problem.scenario
    assert scenario.reference is not None
    x, y = cell_centres(scenario)
    exact = scenario.reference.temperature(x=x, y=y[:, None], t=outcome.end)
    return _difference(outcome.temperature, np.broadcast_to(exact, outcome.temperature.shape))


def _difference(found: np.ndarray, wanted: np.ndarray) -> float:
    return root_mean_square(found - wanted) / root_mean_square(wanted)
