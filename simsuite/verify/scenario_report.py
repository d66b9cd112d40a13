"""A refinement study for people: a table, a verdict, lines to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simsuite.verify.checks import Check
from simsuite.verify.report import number
from simsuite.verify.runs import Outcome
from simsuite.verify.scenario import ADVICE, levels_of
from simsuite.verify.study import changes, fitted_line

UNJUDGED = "Only the field is judged: min and max are those of cell centres, which move, and probes lie between them."


def described(outcome: Outcome) -> str:
    """One level: its cells, and its steps unless the state is steady."""
    (level,) = levels_of([outcome])
    steps = f", {level['steps']} steps of {level['dt']:.4g} s by {outcome.problem.method['stepper']}"
    steady = outcome.problem.scenario.time.steady
    return f"{level['nx']} x {level['ny']} cells" + (", steady" if steady else steps)


def table(found: Sequence[Outcome], checks: Sequence[Check]) -> list[list[str]]:
    """A row for each quantity: its value on each grid, observed order, extrapolated value, grid convergence index."""
    grids = [f"{level['nx']} x {level['ny']}" for level in levels_of(found)]
    alone = "gci" in checks[0].data
    rows = [["", *grids, "order", *(["limit", "+- (GCI)"] if alone else [])]]
    for check in checks:
        data = check.data
        values = [f"{value:.9g}" for value in data.get("values", [])] or ["", *map(number, data["differences"])]
        last = [_limit(data["extrapolated"]), number(data["gci"])] if alone else []
        rows.append([check.name, *values, "exact" if data["exact"] else number(check.measured), *last])
    return rows


def _limit(value: float) -> str:
    return f"{value:.9g}" if math.isfinite(value) else ""


def verdict(checks: Sequence[Check]) -> str:
    """What the check that is judged says."""
    check = next(check for check in checks if check.data["judged"])
    if check.data["exact"]:
        said = f"{check.name}: nothing but round-off on any grid"
    else:
        said = f"{check.name}: order {number(check.measured)}, wanted {check.wanted}"
    if "gci" in check.data:
        said += f"\n{UNJUDGED}"
    return said if check.passed else f"{said}\n{ADVICE}"


def lines(
    found: Sequence[Outcome], checks: Sequence[Check]
) -> list[tuple[str, list[float], list[float], float, float]]:
    """Name, cell sizes, errors or changes from grid to grid, fitted order and factor of all that is not exact."""
    sizes = [o.problem.scenario.grid.lx / o.problem.scenario.grid.nx for o in found]
    drawn = []
    for check in checks:
        data = check.data
        errors = data["values"] if "gci" not in data else data.get("differences") or changes(data["values"])
        if not data["exact"] and all(errors):
            at = sizes[-len(errors) :]
            drawn.append((check.name, at, list(map(abs, errors)), *fitted_line(at, list(map(abs, errors)))))
    return drawn
