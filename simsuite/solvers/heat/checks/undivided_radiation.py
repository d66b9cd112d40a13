"""A warning about edges that radiate into a plate of which the diffusivity alone is given, so that ρc counts as 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import RADIATION

_LARGEST = 1e-2  # divided by ρc of the lightest gases, no emissivity is larger


def undivided_radiation(scenario: HeatScenario, made: Discretisation) -> Iterator[str]:
    """A sentence for each edge whose emissivity cannot have been divided by ρc, although it has to be."""
    if not scenario.material.alone or scenario.manufactured:
        return
    looks = np.array(made.edges.looks(scenario.time.end or 0.0))
    for piece in made.edges.pieces:
        if piece.kind == RADIATION:
            emissivity = float(np.max(piece.first(x=piece.x, y=piece.y, t=looks[:, None])))
            if emissivity > _LARGEST:
                yield (
                    f"the {piece.path[1]} edge radiates with an emissivity of {emissivity:g}, but the material is a "
                    "diffusivity alone, so that ρc counts as 1 J/(m³·K), some 1e6 times less than in solids: give "
                    "conductivity, density and specific_heat in its place"
                )
