"""Slabs of rows of a grid, one of each process that shares a run, and the plate that a slab is.

A slab has rows of its own and, on the sides where others follow, copies of their nearest rows, its halos. A step makes
the outermost row of a halo wrong, the next step the next one, and so on: what lies beyond is not there. After as many
steps as halos are deep, they have to be exchanged. The slab's plate ends there in edges through which nothing flows.

An exchange takes its latency, tens of microseconds between two GPUs, in which one of them steps some thousand rows. The
deeper halos are, the fewer exchanges there are, but the more rows are stepped by two processes: so halos of high slabs
are deeper, see `halo_depth`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, ZERO, Edges, Piece

_LEAST_DEPTH, _MOST_DEPTH = 8, 64  # rows of a halo; passes of explicit steps take 8 or 16, and 64 are recorded at once
_PART = 128  # the depth of a halo is at most this part of the rows of a slab, where that is more than the least


@dataclass(frozen=True)
class Slab:
    """Rows begin .. end - 1 of a grid of ny rows. below, above: the depths of its halos, 0 where the grid ends."""

    begin: int
    end: int
    below: int
    above: int
    ny: int

    @property
    def first_row(self) -> int:
        """The number of the first row, halos included; negative where it lies beyond a periodic edge."""
        return self.begin - self.below

    @property
    def rows(self) -> np.ndarray:
        """The numbers of all rows, halos included."""
        return np.arange(self.first_row, self.end + self.above) % self.ny

    @property
    def own(self) -> slice:
        """The slab's own rows among all of them."""
        return slice(self.below, self.below + self.end - self.begin)


WHOLE = Slab(0, 1, 0, 0, 1)


def slabs_among(ny: int, processes: int, least: int) -> int:
    """How many slabs of at least so many rows a grid is divided into for so many processes."""
    return max(1, min(processes, ny // least))


def halo_depth(rows: int) -> int:
    """The depth of the halos of slabs of so many rows: a power of two from 8 on, or all rows where there are fewer."""
    depth = _LEAST_DEPTH
    while 2 * depth <= min(_MOST_DEPTH, rows // _PART):
        depth *= 2
    return min(depth, rows)


def slab_of(ny: int, process: int, processes: int, periodic: bool) -> Slab:
    """The slab of a process; all are about as high, and the lowest is that of process 0."""
    begin, end = (ny * p // processes for p in (process, process + 1))
    depth = halo_depth(ny // processes)
    return Slab(
        begin, end, depth if process > 0 or periodic else 0, depth if process < processes - 1 or periodic else 0, ny
    )


@dataclass(frozen=True, eq=False)
class Plate(Discretisation):
    """The plate that a slab is, without periodic edges at its ends. Which kernels are for it follows from the whole
    grid, so that all slabs are stepped in the same way."""

    slab: Slab = WHOLE
    of: Discretisation | None = None

    @property
    def whole(self) -> Discretisation:
        assert self.of is not None
        return self.of

    @property
    def place(self) -> tuple[int, int]:
        return self.slab.first_row, self.slab.ny

    @cached_property
    def centres(self) -> tuple[np.ndarray, np.ndarray]:
        x, y = self.whole.centres
        return x, y[self.slab.rows]

    @cached_property
    def any_held(self) -> bool:
        return self.whole.any_held

    @cached_property
    def uniform(self) -> bool:
        return self.whole.uniform

    @property
    def nonlinear(self) -> bool:
        return self.whole.nonlinear

    @cached_property
    def static_source(self) -> np.ndarray:
        return _rows(self.whole.static_source, self.slab)


def plate_of(made: Discretisation, slab: Slab) -> Plate:
    rows, one = slab.rows, made.edges
    edges = Edges(tuple(_pieces(one, slab)), len(rows), one.nx, one.dx, one.dy)
    kx, ky, rho_c, held, T0 = (_rows(a, slab) for a in (made.kx, made.ky, made.rho_c, made.held, made.T0))
    law = None if made.law is None else replace(made.law, which=_rows(made.law.which, slab))
    return Plate(
        kx, ky, rho_c, held, T0, edges, made.wrap_x, False, law, made.sources, heating=made.heating, slab=slab, of=made
    )


def _rows(a: np.ndarray, slab: Slab) -> np.ndarray:
    """The slab's rows of an array (ny, nx), which stays one number where it is."""
    if a.strides[0] == 0:
        return np.broadcast_to(a[:1], (len(slab.rows), a.shape[1]))
    return a[slab.rows]


def edge_points(slab: Slab, nx: int) -> np.ndarray:
    """For each edge point of the slab's plate the number of that point of the whole grid; -1 where it has none."""
    rows, ny, end = slab.rows, slab.ny, np.arange(nx)
    nowhere = np.full(nx, -1)
    bottom = 2 * ny + end if slab.begin == 0 and slab.below == 0 else nowhere
    top = 2 * ny + nx + end if slab.end == ny and slab.above == 0 else nowhere
    return np.concatenate([rows, ny + rows, bottom, top])


def held_entries(made: Discretisation, slab: Slab) -> tuple[np.ndarray, np.ndarray]:
    """For each held cell of the slab's plate its number among those of the whole grid, and whether it is in an own
    row."""
    y, rows = made.held_cells[:, 0], slab.rows
    begin, count = np.searchsorted(y, rows), np.bincount(y, minlength=slab.ny)[rows]
    row = np.repeat(np.arange(len(rows)), count)
    numbers = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + begin[row]
    return numbers, (row >= slab.own.start) & (row < slab.own.stop)


def _pieces(edges: Edges, slab: Slab) -> Iterator[Piece]:
    """The pieces of the slab's edges, in the order of their points."""
    whole = edge_points(slab, edges.nx)
    owner, place = np.full(edges.size, -1), np.zeros(edges.size, np.int64)
    for i, piece in enumerate(edges.pieces):
        owner[piece.points], place[piece.points] = i, np.arange(len(piece.points))
    sides = np.repeat(np.arange(4), [len(slab.rows), len(slab.rows), edges.nx, edges.nx])
    keys = [(int(side), int(owner[p]) if p >= 0 else -1) for side, p in zip(sides, whole)]
    for (_, i), group in itertools.groupby(range(len(keys)), keys.__getitem__):
        points = np.array(list(group))
        if i >= 0:
            piece, at = edges.pieces[i], place[whole[points]]
            yield replace(piece, points=points, x=piece.x[at], y=piece.y[at])
        else:
            nowhere, like = np.zeros(len(points)), edges.pieces[0]
            yield Piece(FLUX, points, nowhere, nowhere, ZERO, ZERO, like.condition, like.path)
