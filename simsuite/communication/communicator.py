"""What solvers and devices know of the other processes of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

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

    def exchange(self, halos: Halos, periodic: bool) -> None:
        """Exchange rows with the processes before and after this one; of arrays on a GPU this is queued. The first and
        the last process are neighbours too if `periodic`, and otherwise leave one end as it is."""


class Alone:
    """A process that shares its run with no other."""

    rank = 0
    size = 1

    def from_first(self, make: Callable[[], T]) -> T:
        return make()

    def exchange(self, halos: Halos, periodic: bool) -> None:
        if periodic:
            halos.before[...] = halos.last
            halos.after[...] = halos.first


ALONE = Alone()


def neighbours(rank: int, size: int, periodic: bool) -> tuple[int | None, int | None]:
    """The processes before and after one of `size` processes; None where there is none."""
    before, after = rank - 1, rank + 1
    if periodic:
        return before % size, after % size
    return (before if before >= 0 else None), (after if after < size else None)
