"""What the faces of a thin plate are given, at the centres of some cells, as if these were points of an edge: it is
checked as edges are."""

from __future__ import annotations

import numpy as np

from simsuite.scenario.heat import Convection, HeatScenario
from simsuite.solvers.heat.grid.edges import CONVECTION, RADIATION, ZERO, Edges, Piece

_CELLS = 32  # the most columns and rows of cells that are looked at


def faces_of(scenario: HeatScenario) -> Edges:
    """The faces of the plate; none without `[surface]`. There is a piece for what is given by h, and one for radiation,
    both of all points."""
    g, surface = scenario.grid, scenario.surface
    pieces: list[Piece] = []
    if surface is not None:
        x, y = (
            (np.unique(np.linspace(0, n - 1, min(n, _CELLS)).round()) + 0.5) * (length / n)
            for n, length in ((g.nx, g.lx), (g.ny, g.ly))
        )
        x, y = (a.ravel() for a in np.meshgrid(x, y))
        condition = Convection.model_construct(kind="convection", h=surface.h or ZERO, ambient=surface.ambient)
        for kind, given in ((CONVECTION, surface.h), (RADIATION, surface.emissivity)):
            if given is not None:
                points = np.arange(x.size)
                pieces.append(Piece(kind, points, x, y, given, surface.ambient, condition, ("surface",)))
    return Edges(tuple(pieces), g.ny, g.nx, g.lx / g.nx, g.ly / g.ny)
