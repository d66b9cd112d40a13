"""What a stepper knows of the slabs beside its own, which other processes step. See `slabs`.

Steppers keep to one rule: a field of temperatures that one part of a step hands to the next has the right values in its
halos, all rows of them. Fields of errors and of changes need no halos."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from simsuite.communication.communicator import ALONE, Communicator, Halos, neighbours
from simsuite.communication.unrecorded import Unrecorded
from simsuite.core import Backend, Recorder
from simsuite.solvers.heat.grid.slabs import Slab

T = TypeVar("T")


class NoNeighbours:
    """Of a plate that is stepped as a whole. communicator: of the processes that do the same, or do it in slabs.

    shared: whether there are others with other slabs."""

    shared = False

    def __init__(self, communicator: Communicator = ALONE) -> None:
        self._all = communicator

    def decided(self, make: Callable[[], T]) -> T:
        """See `Communicator.from_first`."""
        return self._all.from_first(make)

    def remember(self, views: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Whose views these are, (rows, nx) each. Any: as the backend has them."""

    def refresh(self, *views: Any) -> None:
        """Queue the exchange of the halos of these fields."""

    def largest(self, rows: np.ndarray) -> np.ndarray:
        """The largest number of each kind in all rows of the grid, NaN where there is one. rows: (kinds, rows), on the
        host."""
        return np.asarray(rows.max(axis=1))

    def recorder(self, backend: Backend) -> Recorder:
        """What records a stepper's launches."""
        return backend.recorder()

    def in_turn(self, stages: int) -> int:
        """How many of so many evaluations of dT/dt there may be one after another, before halos are to be exchanged."""
        return stages


ALL_ROWS = NoNeighbours()


class Neighbours(NoNeighbours):
    """Of a slab, one of several. slabs: how many there are, those of the first processes. periodic: whether the first
    and the last one are neighbours.

    own: which of its rows are the slab's own. depth: how many rows its halos have."""

    shared = True

    def __init__(self, slab: Slab, slabs: int, periodic: bool, communicator: Communicator) -> None:
        super().__init__(communicator)
        self.slab, self.slabs, self.rank = slab, slabs, communicator.rank
        self.own, self.depth = slab.own, max(slab.below, slab.above)
        self._beside = neighbours(self.rank, slabs, periodic)
        self._arrays: dict[int, tuple[Any, Any]] = {}  # by the identities of views, which are kept with them

    @functools.cached_property
    def communicator(self) -> Communicator:
        """Of the processes with slabs. Waits for these, and so is not for use before all of them are to take steps."""
        return self._all.first(self.slabs)

    def remember(self, views: Sequence[Any], arrays: Sequence[Any]) -> None:
        self._arrays |= {id(view): (view, array) for view, array in zip(views, arrays, strict=True)}

    def array(self, view: Any) -> Any:
        """The array of a view that is remembered."""
        return self._arrays[id(view)][1]

    def refresh(self, *views: Any) -> None:
        self.exchange(map(self.array, views))

    def exchange(self, arrays: Iterable[Any]) -> None:
        """Queue the exchange of the halos of fields that are given as arrays. Any: of the backend."""
        begin, end, depth = self.own.start, self.own.stop, self.depth
        for T in arrays:
            halos = Halos(T[begin : begin + depth], T[end - depth : end], T[:begin], T[end:])
            self.communicator.exchange(halos, *self._beside)

    def largest(self, rows: np.ndarray) -> np.ndarray:
        own = rows[:, self.own].max(axis=1)
        return np.asarray(self.communicator.gather(own).max(axis=0).astype(rows.dtype))

    def recorder(self, backend: Backend) -> Recorder:
        return Unrecorded()

    def in_turn(self, stages: int) -> int:
        return min(stages, self.depth)
