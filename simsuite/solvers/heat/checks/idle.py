"""Warnings about parts of a heat scenario that have no effect: regions and pieces of edges that lie between the cells'
centres, and sources and edges that are 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.formula import formula
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.moments import equations
from simsuite.expressions.tree import Node, Number, names_in, walk
from simsuite.scenario.heat import EDGES, HeatScenario, Mask
from simsuite.scenario.heat.source import SURFACE
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, RADIATION, described

# the range of temperatures for which sources are looked at; it is wider where the data go beyond it
_COLDEST, _HOTTEST = 1.0, 1e4
_BLOCK = 1 << 16  # the number of cells that are looked at together
# Something that is 0 is looked at so many times after the end, up to so many lengths of the run.
_LATER, _LATEST = 64, 1e4
_PLACES = 128  # the number of places along each axis in which it is looked at then
# for each kind of edge, the key that lets heat in or out where it is not 0
_KEYS = {FLUX: "value", CONVECTION: "h", RADIATION: "emissivity"}

_Range: TypeAlias = tuple[np.ndarray, np.ndarray]


def idle_warnings(scenario: HeatScenario, made: Discretisation) -> tuple[list[str], frozenset[Expression]]:
    """A sentence for each region or piece of an edge that has no cell, and for each source or edge that heats none; and
    the functions of these sources and edges."""
    sources, edges = _sources(scenario, made), _edges(scenario, made)
    sentences = [*_regions(scenario, made), *_pieces(scenario, made), *sources.values(), *edges.values()]
    return list(dict.fromkeys(sentences)), frozenset({*sources, *edges})


def _regions(scenario: HeatScenario, made: Discretisation) -> list[str]:
    found = []
    for i in made.empty:
        region = scenario.region[i]
        if isinstance(region, Mask):
            found.append(f"region {i + 1}, a mask, has no effect: {region.file} marks no cell")
        else:
            found.append(
                f"region {i + 1}, a {region.shape}, has no effect, as no cell has its centre inside: "
                f"{_finer(scenario, f'cells are {made.dx:.3g} m by {made.dy:.3g} m')}"
            )
    return found


def _pieces(scenario: HeatScenario, made: Discretisation) -> list[str]:
    with_cells = {piece.path for piece in made.edges.pieces}
    found = []
    for edge in EDGES:
        segments = scenario.boundary.segments(edge, scenario.edge_length(edge))
        for i, segment in enumerate(segments, 1):
            if segment.path not in with_cells:
                along = made.dy if edge in ("left", "right") else made.dx
                found.append(
                    f"piece {i} of the {edge} edge has no effect, as no cell has its middle between from = "
                    f"{segment.start:g} and to = {segment.stop:g}: "
                    f"{_finer(scenario, f'cells are {along:.3g} m along this edge')}"
                )
    return found


def _finer(scenario: HeatScenario, cells: str) -> str:
    g = scenario.grid
    return f"{cells}, on a plate of {g.lx:g} m by {g.ly:g} m; check that it is given in metres, or take more cells"


def _sources(scenario: HeatScenario, made: Discretisation) -> dict[Expression, str]:
    end, found = scenario.time.end or 0.0, {}
    x, y = made.centres
    free, everywhere = ~np.broadcast_to(made.held, (made.ny, made.nx)), np.ones((made.ny, made.nx), bool)
    for source in made.heating:
        power = source.power
        if source.mask is not None and source.shape is not None and not source.shape(x=x, y=y).any():
            found[power] = f"{source.words} heats nothing: {source.mask.file} marks no cell"
            continue
        if not (power.names or not free.any()) or not _is_zero(power, made, end, free):
            continue
        if made.any_held and not _is_zero(power, made, end, everywhere):
            found[power] = (
                f"{source.words} heats nothing: it acts only in cells that a region holds at a temperature; move "
                "it, or give the region a material in place of a temperature"
            )
        elif power.names:
            when = _at_all_times(power, made, end, *made.centres, free, or_else=", or take more cells")
            found[power] = f"{source.words} is 0 in every cell {when}"
    return found


def lost_watts(scenario: HeatScenario, made: Discretisation) -> Iterator[str]:
    """A sentence for each source in watts of which a part lies in cells that are held at a temperature."""
    held = np.broadcast_to(made.held, (made.ny, made.nx))
    for source in made.heating if made.any_held else ():
        if source.name == SURFACE or not source.by_cells:
            continue
        x, y = made.centres
        inside = np.True_ if source.shape is None else source.shape(x=x, y=y) != 0
        cells = np.broadcast_to(inside, held.shape)
        lost, count = int(np.count_nonzero(cells & held)), int(np.count_nonzero(cells))
        if 0 < lost < count:
            yield (
                f"{100 * lost / count:.3g} % of the watts of {source.words} are lost: {lost} of its {count} cells are "
                "in a region that is held at a temperature; move it, or give the region a material in place of that"
            )


def _edges(scenario: HeatScenario, made: Discretisation) -> dict[Expression, str]:
    """A sentence for each flux, heat transfer coefficient and emissivity that is an expression, and 0 on its edge."""
    end, found = scenario.time.end or 0.0, {}
    for piece in () if scenario.manufactured else made.edges.pieces:
        key, f = _KEYS.get(piece.kind), described(piece.condition)[1]
        if key and f.names and _vanishes(f, piece.x, piece.y, *_times_and_temperatures(made, end)).all():
            when = _at_all_times(f, made, end, piece.x, piece.y, np.ones(piece.x.shape, bool))
            found[f] = f"`{key}` of the {piece.path[1]} edge is 0 at all of its points {when}"
    return found


def _at_all_times(
    f: Expression, made: Discretisation, end: float, x: np.ndarray, y: np.ndarray, free: np.ndarray, or_else: str = ""
) -> str:
    """Says when a function is 0 that is 0 during a whole run, and what to do about it; see `_acts_later`. or_else: what
    else to do, if the function is 0 after the run as well."""
    if end > 0.0 and _acts_later(f, made, end, x, y, free):
        return f"at all times of the run, which ends at {end:g} s, before it acts: check time.end and its t, in seconds"
    line = next((line for name in ("x", "y") for line in equations(f.tree, name) if not _holds(line, x, y)), None)
    if line is not None:
        name = "x" if "x" in names_in(line) else "y"
        width = made.dx if name == "x" else made.dy
        at = next((part.value for part in line.args if isinstance(part, Number)), 0.05)
        return (
            f"at all times, as `{formula(line)}` holds on a line only, which meets the middle of no cell: write, for a "
            f"strip as wide as a cell, (abs({name} - {at:g}) < {0.5 * width:.3g}) in place of ({name} == {at:g})"
        )
    return f"at all times: check that its x and y are in metres and its t in seconds{or_else}"


def _holds(equation: Node, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a comparison of nothing but x and y holds at any of these places; True if it contains others."""
    if not names_in(equation) <= {"x", "y"}:
        return True
    with np.errstate(all="ignore"):
        return bool(np.any(Expression.from_tree(equation, ("x", "y"))(x=x, y=y)))


def _acts_later(
    f: Expression, made: Discretisation, end: float, x: np.ndarray, y: np.ndarray, free: np.ndarray
) -> bool:
    """Whether a function is seen not to be 0 at some time after the end of a run.

    It is looked at few times, among them the numbers in its expression, and in some of the places x and y (one array
    each, which broadcast) that are `free`."""
    if not f.depends_on("t"):
        return False
    numbers = [abs(node.value) for node in walk(f.tree) if isinstance(node, Number)]
    times = np.concatenate([np.geomspace(1.0, _LATEST, _LATER) * end, np.outer([1 - 1e-6, 1 + 1e-6], numbers).ravel()])
    few = tuple(slice(None, None, -(-n // _PLACES)) for n in free.shape)
    x, y = (np.broadcast_to(a, free.shape)[few] for a in (x, y))
    with np.errstate(all="ignore"):
        values = (np.asarray(f(x=x, y=y, t=t, T=T)) for t in times[times > end] for T in made.temperatures((0.0,)))
        return any(np.any(((v < 0.0) | (v > 0.0)) & free[few]) for v in values)


def _is_zero(power: Expression, made: Discretisation, end: float, cells: np.ndarray) -> bool:
    """Whether a source certainly gives nothing until `end` in any of these cells (ny, nx), whatever its temperature: by
    interval arithmetic over all times and temperatures."""
    x, y = made.centres
    t, T = _times_and_temperatures(made, end)
    height = max(1, _BLOCK // made.nx)
    for first in range(0, made.ny, height):
        rows = slice(first, first + height)
        if np.any(~_vanishes(power, x, y[rows], t, T) & cells[rows]):
            return False
    return True


def _times_and_temperatures(made: Discretisation, end: float) -> tuple[_Range, _Range]:
    """Bounds of the times and of the temperatures of a run."""
    low, high = made.temperatures(made.edges.looks(end))
    return (np.array(0.0), np.array(end)), (np.array(min(low, _COLDEST)), np.array(max(high, _HOTTEST)))


def _vanishes(f: Expression, x: np.ndarray, y: np.ndarray, t: _Range, T: _Range) -> np.ndarray:
    """For each place, whether a function is certainly 0 there at all times t and temperatures T."""
    lower, upper = bounds_within(f.tree, {"x": (x, x), "y": (y, y), "t": t, "T": T})
    return np.asarray((lower == 0.0) & (upper == 0.0))
