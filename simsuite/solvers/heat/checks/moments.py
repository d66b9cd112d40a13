"""Warnings about sources and edges that act at single moments only, such as `(t == 50)`, and so have no effect in steps
of any length. Others are about sources that are 0 at all times at which they are looked at, although interval
arithmetic does not show that they are always 0."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.changes import jumping
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import Apply, Node, names_in, walk
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.time_scales.data_stops import data_stops

# the number of irregular times that are looked at, and the most times between changes of the data
_LOOKS, _BETWEEN = 64, 512
_CELLS = 16  # the number of cells along each axis in which comparisons are looked at
_CONSTANT = ("floor", "ceil", "//", "sign", "step", "<", "<=", ">", ">=")  # functions that are constant but for jumps
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
        equal = next((node for node in equations(f.tree, "t") if not _holds(node, times, x, y)), None)
        if equal is not None:
            found.append(
                f"`{formula(equal)}` in {name} holds at single moments only, which steps pass over: write, for a "
                "second, (t >= 50)*(t < 51) in place of (t == 50)"
            )
        elif name.startswith("the source") and _is_never_seen(f, made, times) and not _may_act(f, made, plan, end):
            found.append(
                f"{name} is 0 in every cell at each of the {len(times)} times at which it was looked at, and probably "
                "never acts: check its expression"
            )
    return list(dict.fromkeys(found))


def _times(end: float, changes: Sequence[float]) -> np.ndarray:
    """The times that are looked at: irregular ones, and one between every two changes of the data, or every few."""
    ends = np.unique(np.clip([0.0, *changes, end], 0.0, end))
    between = ends[:-1] + GOLDEN * np.diff(ends)
    few = between[:: 1 + between.size // _BETWEEN]
    return np.unique(np.concatenate([end * ((np.arange(_LOOKS) + 1) * GOLDEN % 1.0), few]))


def _data(scenario: HeatScenario, made: Discretisation) -> Iterator[tuple[str, Expression, np.ndarray, np.ndarray]]:
    """The name and the function of everything that may depend on time, with x and y of some of the points where it
    counts."""
    for piece in made.edges.pieces:
        few = slice(None, None, -(-len(piece.x) // _CELLS))
        yield f"the {piece.path[1]} edge", piece.first, piece.x[few], piece.y[few]
        yield f"the {piece.path[1]} edge", piece.second, piece.x[few], piece.y[few]
    x, y = (a.ravel()[:: -(-a.size // _CELLS)] for a in made.centres)
    for name, f in zip(scenario.source_names, made.sources):
        if not f.depends_on("T"):
            yield f"the source {name}", f, np.tile(x, y.size), np.repeat(y, x.size)


def equations(tree: Node, name: str) -> Iterator[Apply]:
    """The comparisons `==` that contain a variable, but for those of functions that go up in jumps, such as
    `floor(t)`."""
    for node in walk(tree):
        if isinstance(node, Apply) and node.op == "==" and name in names_in(node) and not _goes_by_jumps(node):
            yield node


def _goes_by_jumps(node: Node) -> bool:
    """Whether a comparison contains a function that is constant between its jumps. `%` is not one: it grows in
    between."""
    return any(isinstance(part, Apply) and part.op in _CONSTANT for part in walk(node))


def _may_act(f: Expression, made: Discretisation, plan: Plan, end: float) -> bool:
    """Whether a source may jump at more times than were looked for, or has a peak in between."""
    if not plan.changes and next(jumping(f.tree, "t"), None) is not None:
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
