"""What solvers and devices know of the other processes of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from simsuite.core import DeviceArray

T = TypeVar("T")


@dataclass(frozen=True)
class Halos:
    """Rows at both ends of a slab, all of one shape. first, last: the slab's own rows, which the processes before and
    after this one need; before, after: where those of these processes go."""

    first: DeviceArray
    last: DeviceArray
    before: DeviceArray
    after: DeviceArray


@dataclass(frozen=True)
class Seat:
    """Where a process works. gpu: the number of the GPU, among those it sees, that is its own. sharing: the number of
    processes, itself included, that run on the same cores."""

    gpu: int = 0
    sharing: int = 1


ONLY_SEAT = Seat()


class Communicator(Protocol):
    """The processes that share a run. rank: the number of this one, from 0 on; size: how many there are."""

    rank: int
    size: int

    def from_first(self, make: Callable[[], T]) -> T:
        """What `make` returns in the first process, where alone it is called. All processes have to ask for the same
        things in the same order."""

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        """Exchange rows with the processes of these numbers; of arrays on a GPU this is queued. None leaves an end as
        it is."""

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        """Give array number p of the first ones to process p, and take the one of the others from it, for all p from 0
        on; of arrays on a GPU this is queued. Arrays are in C order; some may be empty."""

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        """Give part number `rank` of an array to all others, and take part number p from process p; of arrays on a GPU
        this is queued. Parts are in C order, each of the same size in all processes; some may be empty."""

    def gather(self, values: np.ndarray) -> np.ndarray:
        """What all processes have here, (size, ...) float64, on the host. Waits for all of them."""

    def first(self, processes: int) -> Communicator:
        """The first so many processes, for one of these; waits until all of these ask for it."""


class Alone:
    """A process that shares its run with no other."""

    rank = 0
    size = 1

    def from_first(self, make: Callable[[], T]) -> T:
        return make()

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        if before is not None:
            halos.before[...] = halos.last
        if after is not None:
            halos.after[...] = halos.first

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        taken[0][...] = given[0]

    def allgather(self, parts: Sequence[DeviceArray]) -> None: ...

    def gather(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values, np.float64)[None]

    def first(self, processes: int) -> Alone:
        return self


ALONE = Alone()


def neighbours(rank: int, size: int, periodic: bool) -> tuple[int | None, int | None]:
    """The processes before and after one of `size` processes; None where there is none."""
    before, after = rank - 1, rank + 1
    if periodic:
        return before % size, after % size
    return (before if before >= 0 else None), (after if after < size else None)
