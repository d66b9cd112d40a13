"""Warnings about sources and edges that act at single moments only, such as `(t == 50)`, and so have no effect in steps
of any length. Others are about sources that are 0 at all times at which they are looked at, although interval
arithmetic does not show that they are always 0."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import searched_changes
from simsuite.expressions.formula import formula
from simsuite.expressions.moments import equations
from simsuite.expressions.tree import Apply, Name, Number, names_in
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import described
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.time_scales.data_changes import MOST, MOST_MOVING
from simsuite.solvers.heat.time_scales.data_stops import data_stops

# the number of irregular times that are looked at, and the most times between changes of the data
_LOOKS, _BETWEEN = 64, 512
_CELLS = 16  # the number of cells along each axis in which comparisons are looked at
_MOST = 1 << 24  # the most values of a source that are looked at


def moment_warnings(
    scenario: HeatScenario, made: Discretisation, plan: Plan, idle: Collection[Expression]
) -> list[str]:
    """A sentence for each comparison of times that holds at single moments, and for each other source that is 0 at all
    times that are looked at. idle: functions that are known to have no effect."""
    if scenario.time.steady or scenario.time.end is None:
        return []
    end = scenario.time.end
    times = _times(end, plan.changes)
    found = []
    for name, f, x, y in _data(scenario, made):
        if f in idle:
            continue
        of_time = (node for node in equations(f.tree, "t") if "T" not in names_in(node))
        equal = next((node for node in of_time if not _holds(node, times, x, y)), None)
        if equal is not None:
            found.append(
                f"`{formula(equal)}` in {name} holds at single moments only, which steps pass over: "
                f"{_for_a_time(equal, end)}"
            )
        elif name.startswith("the source") and _never_acts(f, made, plan, times, end):
            found.append(
                f"{name} is 0 in every cell at each of the {len(times)} times at which it was looked at, and probably "
                "never acts: check its expression"
            )
    return list(dict.fromkeys(found))


def _for_a_time(equation: Apply, end: float) -> str:
    """What to write in place of a comparison that holds at single moments, so that something acts for a hundredth of
    the run, or less."""
    at = next((part.value for part in equation.args if isinstance(part, Number)), None)
    if at is None or Name("t") not in equation.args:
        return "give it a length, as (t >= 50)*(t < 51), a second, has in place of (t == 50)"
    time = 10.0 ** math.floor(math.log10(0.01 * end))
    return f"write, for {time:g} s, (t >= {at:g})*(t < {at + time:g}) in place of (t == {at:g})"


def _times(end: float, changes: Sequence[float]) -> np.ndarray:
    """The times that are looked at: irregular ones, and one between every two changes of the data, or every few."""
    ends = np.unique(np.clip([0.0, *changes, end], 0.0, end))
    between = ends[:-1] + GOLDEN * np.diff(ends)
    few = between[:: 1 + between.size // _BETWEEN]
    return np.unique(np.concatenate([end * ((np.arange(_LOOKS) + 1) * GOLDEN % 1.0), few]))


def _data(scenario: HeatScenario, made: Discretisation) -> Iterator[tuple[str, Expression, np.ndarray, np.ndarray]]:
    """The name and the function, as it is written, of everything that may depend on time, with x and y of some of the
    points where it counts."""
    for piece in made.edges.pieces:
        few = slice(None, None, -(-len(piece.x) // _CELLS))
        _, *data = described(piece.condition)
        for f in data:
            yield f"the {piece.path[1]} edge", f, piece.x[few], piece.y[few]
    x, y = (a.ravel()[:: -(-a.size // _CELLS)] for a in made.centres)
    for source in made.heating:
        yield source.words, source.power, np.tile(x, y.size), np.repeat(y, x.size)


def _never_acts(f: Expression, made: Discretisation, plan: Plan, times: np.ndarray, end: float) -> bool:
    """Whether a source, as far as can be seen, is 0 at all times; False if it depends on temperature."""
    seen = f.depends_on("T") or not _is_never_seen(f, made, times)
    return not seen and not _may_act(f, made, plan, end)


def _may_act(f: Expression, made: Discretisation, plan: Plan, end: float) -> bool:
    """Whether a source may jump at more times than were looked for, or has a peak in between."""
    x, y = made.centres
    if not searched_changes(f.tree, "t", 0.0, end, {"x": x, "y": y}, MOST_MOVING, MOST)[1]:
        return True
    peaks = data_stops(replace(made, sources=(f,)), end, sorted({0.0, *plan.changes, end}))
    return f in peaks.unsearched or not _is_never_seen(f, made, np.array([0.0, *plan.changes, *peaks.times]))


def _holds(equation: Apply, times: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a comparison holds at any of these times and points."""
    f = Expression.from_tree(equation, ("x", "y", "t"))
    return bool(np.any(f(x=x, y=y, t=times[:, None])))


def _is_never_seen(f: Expression, made: Discretisation, times: np.ndarray) -> bool:
    """Whether a source that depends on place or time is 0 at all of these times in all cells that are not held; False
    where it would take too long to find out."""
    looks = times if f.depends_on("t") else times[:1]
    if not f.names or made.nx * made.ny * looks.size > _MOST:
        return False
    x, y = made.centres
    return not any(np.any((f(x=x, y=y, t=t) != 0.0) & ~made.held) for t in looks)
