"""The refinement study of a user's own scenario: against its reference, or of what it converges to by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.verify.checks import Check
from simsuite.verify.refinement import ORDER_IN_SPACE, problems
from simsuite.verify.runs import Outcome, run
from simsuite.verify.study import (
    Limit,
    averaged,
    changes,
    is_round_off,
    limit,
    limit_of_field,
    orders,
    root_mean_square,
)

OFF_BY = 0.3  # how far from 2 the observed order may be
ADVICE = (
    "This is not the order of the scheme. Either the grids are too coarse for what happens in them: try --levels 4 or\n"
    "begin with a finer grid. Or the data are rough (jumps, corners, regions whose outline cuts through cells), which\n"
    "lowers the order for good. Or there is a [reference], and it is not the solution: then errors do not fall at all."
)


def outcomes(model: HeatScenario, base: Path, backend: Backend, levels: int) -> Iterator[Outcome]:
    """Of the scenario on `levels` grids, each twice as fine as the one before. Raises ScenarioError, UsageError."""
    return (run(problem, backend) for problem in problems(model, base, levels, device=lambda: backend))


def study(found: Sequence[Outcome]) -> list[Check]:
    """What at least three levels, coarse to fine, say: the first check is the verdict, the others always pass."""
    if found[0].problem.scenario.reference is not None:
        return against_reference(found)
    return by_itself(found)


def against_reference(found: Sequence[Outcome]) -> list[Check]:
    """The order of each error norm that the results have."""
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
    """Cells, time step and number of steps of each level."""
    return [
        {
            "nx": o.problem.scenario.grid.nx,
            "ny": o.problem.scenario.grid.ny,
            "dt": o.problem.dt,
            "steps": o.problem.position(o.problem.clock.end)[0],
        }
        for o in found
    ]
