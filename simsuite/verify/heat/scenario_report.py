"""A refinement study as people read it: a table, a verdict, and lines to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simsuite.solvers.heat.steppers import stepper_record
from simsuite.verify.checks import Check
from simsuite.verify.convergence import changes, fitted_line
from simsuite.verify.heat.runs import Outcome
from simsuite.verify.heat.scenario_study import LESS, MOST_LEVELS, SHORTER, Cause, levels_of
from simsuite.verify.report import number
from simsuite.words import steps_in_words

UNJUDGED = "Only the field is judged: min and max are those of cell centres, which move, and probes lie between them."


def described(outcome: Outcome) -> str:
    """One level in words: its cells, and its steps unless the state is steady."""
    (level,) = levels_of([outcome])
    steps = f", {steps_in_words(outcome.steps, outcome.dt, 's')} by {outcome.problem.method['stepper']}"
    steady = outcome.problem.scenario.time.steady
    return f"{level['nx']} x {level['ny']} cells" + (", steady" if steady else steps)


def table(found: Sequence[Outcome], checks: Sequence[Check]) -> list[list[str]]:
    """A row for each quantity: its value on each grid, observed order, extrapolated value, grid convergence index."""
    grids = [f"{level['nx']} x {level['ny']}" for level in levels_of(found)]
    alone = "gci" in checks[0].data
    unit = found[0].problem.scenario.degrees
    rows = [[unit, *grids, "order", *(["limit", "+- (GCI)"] if alone else [])]]
    for check in checks:
        data = check.data
        values = [f"{value:.9g}" for value in data.get("values", [])] or ["", *map(number, data["differences"])]
        last = [_limit(data["extrapolated"]), number(data["gci"])] if alone else []
        rows.append([check.name, *values, "exact" if data["exact"] else number(check.measured), *last])
    return rows


def _limit(value: float) -> str:
    return f"{value:.9g}" if math.isfinite(value) else ""


def verdict(checks: Sequence[Check], why: Cause | None = None) -> str:
    """The verdict in words. why: the cause, if the study failed."""
    check = next(check for check in checks if check.data["judged"])
    if check.data["exact"]:
        said = f"{check.name}: nothing but round-off on any grid"
    else:
        said = f"{check.name}: order {number(check.measured)}, wanted {check.wanted}"
    if "gci" in check.data:
        said += f"\n{UNJUDGED}"
    return said if why is None else f"{said}\n{advice(why)}"


def advice(why: Cause) -> str:
    """Says what keeps the study from the scheme's order, the steps in time or the grid, and what to do about it."""
    found = "This is not the order of the scheme.\n"
    if why.timeless:
        return found + _space(why)
    how = f"seen with {f'a tolerance {LESS} times smaller' if why.controlled else f'steps {SHORTER} times shorter'}"
    whole = f"by which {why.grid} cells differ from {'the reference' if why.reference else 'the grid beside them'}"
    if why.in_time <= why.off:
        found += f"Of {why.off:.2g} K {whole},\n{why.in_time:.2g} K are by steps in time ({how})."
    else:  # errors in time and in space have opposite signs
        found += f"Steps in time are off by {why.in_time:.2g} K ({how}):\nmore than the {why.off:.2g} K {whole}."
    if why.steps:
        return f"{found}\nSo the steps in time are in the way of the order. {_shorter(why)}\nThen look at grids."
    return f"{found}\nSo it is not the steps in time. {_space(why)}"


def _space(why: Cause) -> str:
    """Says what may keep the study from the scheme's order where steps in time do not."""
    finer = "" if why.levels >= MOST_LEVELS else f"--levels {why.levels + 1} or "
    if why.high:
        return (
            "The order is too high: from one of these grids to the next errors fell faster than they do in the long\n"
            "run, by chance perhaps, as where the outline of a region cuts through other cells on each grid. So the\n"
            f"grids are too coarse to tell the order: try {finer}begin with a finer grid."
        )
    return (
        f"Either the grids are too coarse for what happens in them: try {finer}begin\nwith a finer grid. Or the data "
        "are rough (jumps, corners, regions whose outline cuts through cells), which lowers\nthe order for good. Or "
        "there is a [reference], and it is not the solution: then errors do not fall at all."
    )


def _shorter(why: Cause) -> str:
    """Says how to get shorter steps, which depends on how their length is chosen."""
    if why.controlled:
        return "They are as long as the tolerance allows:\ngive a smaller tolerance in [time]."
    if stepper_record(why.stepper).automatic is not None:
        return (
            f"{why.stepper.capitalize()} steps go by stability, whatever the\ntolerance: give a smaller dt in [time], "
            'or a stepper whose steps go by their error, "rkl2" or "adi", without dt.'
        )
    return (
        f"These steps of {why.stepper} are equal, as\ndt says: give a smaller dt in [time], or leave dt out, and they "
        "are as long as the tolerance allows."
    )


def lines(
    found: Sequence[Outcome], checks: Sequence[Check]
) -> list[tuple[str, list[float], list[float], float, float]]:
    """For everything that is not exact: its name, cell sizes, errors or changes from grid to grid, fitted order and
    factor."""
    sizes = [o.problem.scenario.grid.lx / o.problem.scenario.grid.nx for o in found]
    drawn = []
    for check in checks:
        data = check.data
        errors = data["values"] if "gci" not in data else data.get("differences") or changes(data["values"])
        if not data["exact"] and all(errors):
            at = sizes[-len(errors) :]
            drawn.append((check.name, at, list(map(abs, errors)), *fitted_line(at, list(map(abs, errors)))))
    return drawn
