"""The power of a source from places that are drawn where it may act.

Places that are spread evenly over cells meet nothing of what is much narrower than the distance between them. Here one
place is drawn at each time: the plate is halved again and again, along x and along y in turn, and one of the halves is
drawn in proportion to the bound of the source's size in it, which comes from interval arithmetic."""

from __future__ import annotations

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.heat.grid.discretisation import Discretisation

_HALVINGS = 16  # along each axis


def drawn_powers(f: Expression, made: Discretisation, times: np.ndarray) -> np.ndarray:
    """For each time an estimate of the mean of f over the plate, where cells that are held count as 0. The mean of many
    of them estimates the mean over these times."""
    T, _ = made.temperatures((0.0,))
    rng, weight = np.random.default_rng(0), np.ones(times.size)
    begin = {"x": np.zeros(times.size), "y": np.zeros(times.size)}
    size = {"x": made.nx * made.dx, "y": made.ny * made.dy}

    def bounds() -> np.ndarray:
        boxes = {axis: (begin[axis], begin[axis] + size[axis]) for axis in ("x", "y")}
        fixed = {"t": (times, times), "T": (np.array(T), np.array(T))}
        lower, upper = bounds_within(f.tree, boxes | fixed, infinite=True)
        largest = np.broadcast_to(np.maximum(np.abs(lower), np.abs(upper)), times.shape)
        known = np.isfinite(largest)
        return np.where(known, largest, np.max(largest, where=known, initial=0.0) or 1.0)

    for _ in range(_HALVINGS):
        for axis in ("x", "y"):
            size[axis] *= 0.5
            first = bounds()
            begin[axis] = begin[axis] + size[axis]
            both = first + bounds()
            p = np.where(both > 0.0, first / np.where(both > 0.0, both, 1.0), 0.5)
            is_first = rng.random(times.size) < p
            begin[axis] = begin[axis] - is_first * size[axis]
            weight *= 0.5 / np.where(is_first, p, 1.0 - p)
    x, y = (begin[axis] + rng.random(times.size) * size[axis] for axis in ("x", "y"))
    row, column = np.minimum((y / made.dy).astype(int), made.ny - 1), np.minimum((x / made.dx).astype(int), made.nx - 1)
    free = ~np.broadcast_to(made.held, (made.ny, made.nx))[row, column]
    return np.asarray(weight * f(x=x, y=y, t=times, T=T) * free)
