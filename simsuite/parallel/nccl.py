"""NCCL between the GPUs of the processes of a run; values that the first process decides go by MPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from simsuite.capabilities import Link, Linking
from simsuite.communication.communicator import Communicator, Halos, neighbours
from simsuite.core import Backend
from simsuite.parallel.mpi import Mpi

T = TypeVar("T")


class Nccl:
    """A `Communicator` for arrays on GPUs. These are linked at the first exchange, since linking takes a second."""

    def __init__(self, mpi: Mpi, backend: Linking) -> None:
        self.rank, self.size, self._mpi, self._backend = mpi.rank, mpi.size, mpi, backend
        self._link: Link | None = None

    def from_first(self, make: Callable[[], T]) -> T:
        return self._mpi.from_first(make)

    def exchange(self, halos: Halos, periodic: bool) -> None:
        if self._link is None:
            self._link = self._backend.link(self.from_first(self._backend.link_identity), self.rank, self.size)
        before, after = neighbours(self.rank, self.size, periodic)
        self._link.exchange(halos.first, halos.before, before, halos.last, halos.after, after)


def communicator_for(backend: Backend, mpi: Mpi) -> Communicator:
    """What exchanges arrays of a backend: NCCL between GPUs, MPI between CPUs."""
    return Nccl(mpi, backend) if isinstance(backend, Linking) else mpi
