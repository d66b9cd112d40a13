"""The refinement study of a user's own scenario. Results are compared with its reference, or, without one, with each
other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.stepper_record import ORDER_IN_SPACE
from simsuite.solvers.heat.steppers import is_exact_in_time
from simsuite.verify.checks import Check, near
from simsuite.verify.convergence import (
    Limit,
    averaged,
    changes,
    is_round_off,
    limit,
    limit_of_field,
    orders,
    root_mean_square,
)
from simsuite.verify.heat.benchmarks import figures, tolerances
from simsuite.verify.heat.refinement import in_shorter_steps, problems, with_less_tolerance
from simsuite.verify.heat.runs import Outcome, run

OFF_BY = 0.3  # how far the observed order may be from 2
SHARE_IN_TIME = 0.2  # If steps in time make more than this share of a grid's error, they disturb the order.
MOST_LEVELS = 6  # the most levels that the command line accepts
SHORTER = 4  # the factor by which steps are made shorter, to see the effect of steps in time
LESS = 16  # the factor by which a tolerance is made smaller for that


def outcomes(model: HeatScenario, base: Path, backend: Backend, levels: int) -> Iterator[Outcome]:
    """The outcomes of the scenario on `levels` grids, each twice as fine as the one before. Raises ScenarioError,
    UsageError."""
    made = problems(model, base, levels, device=lambda: backend, controlled=True)
    return (run(problem, backend) for problem in made)


@dataclass(frozen=True)
class Cause:
    """Why the order is not that of the scheme, as seen on the grid on which steps in time have the largest effect.

    grid: its cells, in words. stepper: what took its steps. in_time: the error of its steps in time, K. off: the whole
    error on the grid, K: the error against the reference, or the change to the next grid. controlled: whether steps are
    as long as a tolerance allows; in_time is the change of the field for a smaller one, or else in shorter steps.
    levels: the number of grids of the study. high: whether the order is higher than that of the scheme, instead of
    lower. reference: whether there is one, so that off is no change between grids."""

    grid: str
    stepper: str
    in_time: float
    off: float
    controlled: bool
    levels: int
    high: bool = False
    reference: bool = True

    @property
    def steps(self) -> bool:
        """Whether the cause is the steps in time, and not the grid."""
        return self.in_time >= SHARE_IN_TIME * self.off

    @property
    def timeless(self) -> bool:
        """Whether there is no error in time: a steady state is found without steps, and exact steps have none."""
        return is_exact_in_time(self.stepper)


def cause(found: Sequence[Outcome], checks: Sequence[Check], base: Path, backend: Backend) -> Cause:
    """The cause of a failed study. It is looked for where it may be largest: on the grid with the largest estimate if
    runs estimate their errors in time, which takes one more run; else on the first two, which takes two."""
    data = checks[0].data
    values = data.get("differences") or data["values"]
    offs = [abs(values[min(k, len(values) - 1)]) for k in range(len(found))]
    grids = range(min(2, len(found)))
    if found[0].problem.adaptive:
        shares = [_estimate(outcome) / off if off > 0 else 0.0 for outcome, off in zip(found, offs, strict=True)]
        grids = range(worst := shares.index(max(shares)), worst + 1)
    causes = []
    for k in grids:
        problem, grid = found[k].problem, found[k].problem.scenario.grid
        in_time, high = _error_in_time(found[k], base, backend), checks[0].measured > ORDER_IN_SPACE
        name, stepper = f"{grid.nx} x {grid.ny}", problem.method["stepper"]
        reference = "differences" not in data
        causes.append(Cause(name, stepper, in_time, offs[k], problem.adaptive, len(found), high, reference))
    return max(causes, key=lambda each: each.in_time / each.off if each.off > 0 else 0.0)


def _estimate(outcome: Outcome) -> float:
    """The run's own estimate of the largest error of its steps in time, K, at any time."""
    low, high = outcome.results["range"]
    return float(outcome.results.get("time_error", 0.0) * (high - low))


def _error_in_time(outcome: Outcome, base: Path, backend: Backend) -> float:
    """The error of steps in time at the end of a run, K, as the root of its mean square."""
    problem = outcome.problem
    if is_exact_in_time(problem.method["stepper"]):
        return 0.0
    better = with_less_tolerance(problem, base, LESS) if problem.adaptive else in_shorter_steps(problem, base, SHORTER)
    return root_mean_square(run(better, backend).temperature - outcome.temperature)


def as_expected(found: Sequence[Outcome]) -> list[Check]:
    """A check of every figure that the scenario expects, `expected` of probes and `within` of the reference, on the
    finest grid."""
    finest, grid = found[-1], found[-1].problem.scenario.grid
    got = figures(finest)
    return [
        near(f"{name} on {grid.nx} x {grid.ny}", "expected", got[name], expected, within)
        for name, (expected, within) in tolerances(finest.problem.scenario).items()
    ]


def with_cause(checks: Sequence[Check], why: Cause) -> list[Check]:
    """The checks with the cause added to the one that is judged, for `--json`."""
    data = {
        "cause": "time" if why.steps else "space",
        "grid": why.grid,
        "error_in_time": why.in_time,
        "off": why.off,
    }
    return [replace(checks[0], data={**checks[0].data, **data}), *checks[1:]]


def study(found: Sequence[Outcome]) -> list[Check]:
    """The checks that follow from at least three levels, coarse to fine. The first check is the verdict; the others
    always pass."""
    if found[0].problem.scenario.reference is not None:
        return against_reference(found)
    return by_itself(found)


def against_reference(found: Sequence[Outcome]) -> list[Check]:
    """Checks of the order of each error norm that the results have."""
    errors = {norm: [o.results["error"][norm] for o in found] for norm in found[0].results["error"]}
    scale = max(root_mean_square(o.temperature) for o in found)
    judged = "l2"
    names = [judged, *(norm for norm in errors if norm != judged)]
    return [_order_of(f"error {norm}", errors[norm], scale, found, norm == judged) for norm in names]


def _order_of(name: str, errors: list[float], scale: float, found: Sequence[Outcome], judged: bool) -> Check:
    seen = orders(_sizes(found), errors)
    return _verdict(name, seen[-1], is_round_off(errors, scale), judged, values=errors, orders=seen)


def by_itself(found: Sequence[Outcome]) -> list[Check]:
    """Self-convergence of the final field and of min, max, mean and probes, with grid convergence indices.

    The field is judged, averaged over the cells of the coarsest grid. The others are shown: smallest and largest are
    those of cell centres, which move, and probes are interpolated between them, so that their orders may be any.
    """
    fields = [averaged(o.temperature, 1 << k) for k, o in enumerate(found)]
    steps = [root_mean_square(b - a) for a, b in pairwise(fields)]
    scale = root_mean_square(fields[-1])
    limits = [limit_of_field(a, b) for a, b in pairwise(steps)]
    checks = [_converging("field", limits, is_round_off(steps, scale), True, differences=steps)]
    for name, values in quantities(found).items():
        bounds = [limit(*three) for three in zip(values, values[1:], values[2:])]
        checks.append(_converging(name, bounds, is_round_off(changes(values), scale), False, values=values))
    return checks


def quantities(found: Sequence[Outcome]) -> dict[str, list[float]]:
    """min, max, mean and every probe, level by level."""
    plain = {name: [float(o.results[name]) for o in found] for name in ("min", "max", "mean")}
    probes = found[0].results["probes"]
    return plain | {f"probe {name}": [float(o.results["probes"][name]) for o in found] for name in probes}


def _converging(name: str, limits: list[Limit], exact: bool, judged: bool, **data: list[float]) -> Check:
    last = limits[-1]
    return _verdict(
        name,
        math.nan if exact else last.order,
        exact,
        judged,
        orders=[each.order for each in limits],
        extrapolated=last.extrapolated,
        gci=0.0 if exact else last.gci,
        **data,
    )


def _verdict(name: str, order: float, exact: bool, judged: bool, **data: object) -> Check:
    wanted = f"{ORDER_IN_SPACE} +- {OFF_BY}" if judged else "shown"
    if exact:
        wanted = "equal on all grids"
    passed = exact or not judged or abs(order - ORDER_IN_SPACE) <= OFF_BY
    return Check(name, "order", order, wanted, passed, {"exact": exact, "judged": judged, **data})


def _sizes(found: Sequence[Outcome]) -> list[float]:
    return [o.problem.scenario.grid.lx / o.problem.scenario.grid.nx for o in found]


def levels_of(found: Sequence[Outcome]) -> list[dict[str, float]]:
    """Cells, longest time step and number of steps of each level, as they were taken."""
    return [
        {
            "nx": o.problem.scenario.grid.nx,
            "ny": o.problem.scenario.grid.ny,
            "dt": o.dt[1],
            "steps": o.steps,
        }
        for o in found
    ]
