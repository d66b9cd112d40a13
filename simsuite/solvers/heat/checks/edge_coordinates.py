"""Edges whose data depend on the coordinate that is the same all along them, as x is on the left edge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.tree import Apply, names_in, walk
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_PLACES, _TIMES = 64, 16  # the number of places and times at which an expression is evaluated
_KEYS = ("value", "h", "emissivity", "ambient")


def edge_coordinates(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence for each expression of an edge that would differ if the coordinate which is constant there were not.

    It is left out where the same expression is given for an edge along which that coordinate runs, since then one
    function of the whole plate is meant, and where it depends on the coordinate along the edge as well, unless it
    compares the constant one with something."""
    if scenario.manufactured:
        return []
    given = list(_given(made))
    found = []
    for edge, key, f in given:
        constant, along, at = _coordinates(scenario, edge)
        shared = any(other.text == f.text and _coordinates(scenario, place)[1] == constant for place, _, other in given)
        meant = f.depends_on(along) and not _compares(f, constant, along)
        if f.depends_on(constant) and not shared and not meant and _differs(f, scenario, constant):
            found.append(
                f"{constant} is {at:g} m all along the {edge} edge, so that {constant} in `{key}` = `{f.text}` makes "
                f"no difference there: write {along}, which runs along this edge, if that is meant, or leave it out"
            )
    return list(dict.fromkeys(found))


def _given(made: Discretisation) -> Iterator[tuple[str, str, Expression]]:
    """The edge, the key and the expression, for all expressions that are given for edges."""
    for piece in made.edges.pieces:
        for key in _KEYS:
            f = getattr(piece.condition, key, None)
            if isinstance(f, Expression):
                yield str(piece.path[1]), key, f


def _coordinates(scenario: HeatScenario, edge: str) -> tuple[str, str, float]:
    """The coordinate that is constant on an edge, the one that runs along it, and the value of the first one, m."""
    constant, along, length = (
        ("x", "y", scenario.grid.lx) if edge in ("left", "right") else ("y", "x", scenario.grid.ly)
    )
    return constant, along, length if edge in ("right", "top") else 0.0


def _compares(f: Expression, constant: str, along: str) -> bool:
    """Whether an expression compares numbers one of which depends on a coordinate, and none on the other."""
    return any(
        isinstance(node, Apply)
        and node.op in _COMPARISONS
        and constant in names_in(node)
        and along not in names_in(node)
        for node in walk(f.tree)
    )


def _differs(f: Expression, scenario: HeatScenario, constant: str) -> bool:
    """Whether an expression has several values where a coordinate is not constant, and all else is."""
    end = scenario.time.end or 0.0
    sizes = {"x": scenario.grid.lx, "y": scenario.grid.ly}
    irregular = (np.arange(_TIMES) + 1) * GOLDEN % 1.0
    other = "y" if constant == "x" else "x"
    places = {constant: sizes[constant] * np.linspace(0.0, 1.0, _PLACES), other: (sizes[other] * irregular)[:, None]}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(f(**places, t=(end * irregular)[:, None, None]), (_TIMES, _TIMES, _PLACES))
        return bool(np.any(np.ptp(values, axis=2) > 0.0))
