"""How much sources can heat or cool a cell in the course of a run, at most.

That is the integral over time of the largest and of the least power density of all sources at each time, divided by ρc,
as if all heat stayed where it arises. The bounds of the sources come from interval arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.expressions.intervals import Bounds, bounds_within
from simsuite.solvers.heat.grid.discretisation import Discretisation

# the number of parts of a run, and of blocks of the plate along x and along y, in which sources are bounded
_PARTS, _BLOCKS = 256, 64


@dataclass(frozen=True)
class SourceRange:
    """By how much sources can cool and heat a cell until each of some times. times: ascending, s; the first is 0.
    falls, rises: the most that temperatures can fall and rise until each time, K, not negative."""

    times: np.ndarray
    falls: np.ndarray
    rises: np.ndarray

    def until(self, t: float) -> tuple[float, float]:
        """By how much a cell can have become colder and hotter at time t, K."""
        i = min(int(np.searchsorted(self.times, t)), len(self.times) - 1)
        return float(self.falls[i]), float(self.rises[i])


def source_range(made: Discretisation, end: float, dt: float) -> SourceRange | None:
    """The `SourceRange` of a run until `end` in steps of dt, s, each of which may take a source as it is at any time in
    the step or beside it. None where sources depend on T, or where no bounds of them are known."""
    if any(f.depends_on("T") for f in made.sources):
        return None
    times = np.linspace(0.0, end, _PARTS + 1)
    if not made.sources:
        return SourceRange(times, np.zeros_like(times), np.zeros_like(times))
    x, y = made.centres
    columns, rows = _blocks(made.nx), _blocks(made.ny)
    t = np.maximum(times[:-1] - dt, 0.0), np.minimum(times[1:] + dt, end)
    boxes = {
        "t": (t[0][:, None, None], t[1][:, None, None]),
        "y": _ends(y.ravel(), rows, (-1, 1)),
        "x": _ends(x, columns, (-1,)),
    }
    found = [bounds_within(f.tree, boxes) for f in made.sources]
    lower, upper = (sum(parts[1:], parts[0]) for parts in zip(*found))
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        return None
    c = np.maximum.reduceat(np.maximum.reduceat(made.inverse_capacity, rows, axis=0), columns, axis=1)
    return SourceRange(times, _integral(-lower, c, times), _integral(upper, c, times))


def _blocks(n: int) -> np.ndarray:
    """The number of the first cell of each of the blocks that n cells in a row are divided into."""
    blocks = min(n, _BLOCKS)
    return np.arange(blocks) * n // blocks


def _ends(centres: np.ndarray, firsts: np.ndarray, shape: tuple[int, ...]) -> Bounds:
    """The least and the largest centre of each block."""
    lasts = np.append(firsts[1:], len(centres)) - 1
    return centres[firsts].reshape(shape), centres[lasts].reshape(shape)


def _integral(most: np.ndarray, c: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The integral, until each time, of the largest rate at which sources heat a block, K/s, where that rate is
    positive.

    most: the largest power density in blocks of time, y and x, W/m³. c: 1/(ρc) in blocks of y and x."""
    rates = np.max(np.maximum(most, 0.0) * c, axis=(-2, -1))
    return np.append(0.0, np.cumsum(np.broadcast_to(rates, len(times) - 1) * np.diff(times)))
