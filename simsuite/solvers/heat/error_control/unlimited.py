"""Recognises sources that give ever more heat as the temperature grows, so that temperatures may run away."""

from __future__ import annotations

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.heat.grid.discretisation import Discretisation

_HOTTEST, _UNLIMITED = 1e200, 1e50  # a temperature, and a power that no source has there unless it grows with T


def grows_with_temperature(f: Expression, made: Discretisation, end: float) -> bool:
    """Whether a source may give any power at a temperature that is high enough, as far as interval arithmetic can tell.
    A source that is limited, as by min(.., 1e9), does not."""
    if not f.depends_on("T"):
        return False
    width, height = made.nx * made.dx, made.ny * made.dy
    ranges = {"x": (0.0, width), "y": (0.0, height), "t": (0.0, end), "T": (-_HOTTEST, _HOTTEST)}
    boxes = {name: (np.array(low), np.array(high)) for name, (low, high) in ranges.items()}
    _, most = bounds_within(f.tree, boxes, infinite=True)
    return not bool(np.all(most < _UNLIMITED))
