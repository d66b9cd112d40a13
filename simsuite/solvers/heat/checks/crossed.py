"""Warnings about polygons whose sides cross each other, as where their corners are not in order."""

from __future__ import annotations

import numpy as np

from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.region import Polygon

_MOST = 1000  # the most corners of a polygon whose sides are compared, each with each


def crossed_warnings(scenario: HeatScenario) -> list[str]:
    """A sentence for each polygon of which two sides cross."""
    found = []
    for i, region in enumerate(scenario.region, 1):
        if isinstance(region, Polygon) and (sides := _crossing(np.array(region.points))) is not None:
            first, second = (f"from corner {k + 1} to {(k + 1) % len(region.points) + 1}" for k in sides)
            found.append(
                f"region {i}, a polygon, crosses itself: its sides {first} and {second} cross; check the order of its "
                "corners"
            )
    return found


def _crossing(corners: np.ndarray) -> tuple[int, int] | None:
    """The numbers of two sides that cross within both; None if there are none. corners: (n, 2). Side k goes from corner
    k to the next one."""
    n = len(corners)
    if n > _MOST:
        return None
    begin, end = corners, np.roll(corners, -1, axis=0)
    # on which side of each line from begin to end each corner lies, (line, corner)
    along = end - begin
    turn = np.sign(
        along[:, None, 0] * (corners[None, :, 1] - begin[:, None, 1])
        - along[:, None, 1] * (corners[None, :, 0] - begin[:, None, 0])
    )
    apart = turn * np.roll(turn, -1, axis=1) < 0
    pairs = np.argwhere(np.triu(apart & apart.T, 2))
    return (int(pairs[0][0]), int(pairs[0][1])) if len(pairs) else None
