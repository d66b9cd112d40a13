"""What a heat scenario says without any effect: regions and pieces of edges between the cells, sources that are 0."""

from __future__ import annotations

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.scenario.heat import EDGES, HeatScenario, Mask
from simsuite.solvers.heat.grid.discretisation import Discretisation

_COLDEST, _HOTTEST = 1.0, 1e4  # temperatures up to which sources are looked at, if the data do not go beyond
_BLOCK = 1 << 16  # cells that are looked at at a time


def idle_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence for each region or piece of an edge that has no cell, and for each source that heats none."""
    return [*_regions(scenario, made), *_pieces(scenario, made), *_sources(scenario, made)]


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


def _sources(scenario: HeatScenario, made: Discretisation) -> list[str]:
    return [
        f"the source {name} is 0 in every cell at all times: check that its x and y are in metres and its t in "
        "seconds, or take more cells"
        for name, source in zip(scenario.source_names, scenario.source)
        if source.power.names and _is_zero(source.power, made, scenario.time.end or 0.0)
    ]


def _is_zero(power: Expression, made: Discretisation, end: float) -> bool:
    """Whether a source certainly gives nothing until `end` in any cell that is not held, whatever its temperature: by
    interval arithmetic over all times and temperatures."""
    x, y = made.centres
    low, high = made.temperatures(made.edges.looks(end))
    T = np.array(min(low, _COLDEST)), np.array(max(high, _HOTTEST))
    t = np.array(0.0), np.array(end)
    height = max(1, _BLOCK // made.nx)
    for first in range(0, made.ny, height):
        rows = slice(first, first + height)
        lower, upper = bounds_within(power.tree, {"x": (x, x), "y": (y[rows], y[rows]), "t": t, "T": T})
        if np.any(~((lower == 0.0) & (upper == 0.0)) & ~made.held[rows]):
            return False
    return True
