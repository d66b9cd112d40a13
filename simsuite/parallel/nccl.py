"""NCCL between the GPUs of the processes of a run; values that the first process decides go by MPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from simsuite.capabilities import Link, Linking
from simsuite.communication.communicator import Communicator, Halos
from simsuite.core import Backend, DeviceArray
from simsuite.parallel.mpi import Mpi

T = TypeVar("T")


class Nccl:
    """A `Communicator` for arrays on GPUs. These are linked at the first exchange, since linking takes a second."""

    def __init__(self, mpi: Mpi, backend: Linking) -> None:
        self.rank, self.size, self._mpi, self._backend = mpi.rank, mpi.size, mpi, backend
        self._link: Link | None = None

    def from_first(self, make: Callable[[], T]) -> T:
        return self._mpi.from_first(make)

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        self._linked().exchange(halos.first, halos.before, before, halos.last, halos.after, after)

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        self._linked().swap(given, taken)

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        self._linked().allgather(parts)

    def gather(self, values: np.ndarray) -> np.ndarray:
        return self._mpi.gather(values)

    def first(self, processes: int) -> Nccl:
        return self if processes == self.size else Nccl(self._mpi.first(processes), self._backend)

    def _linked(self) -> Link:
        if self._link is None:
            self._link = self._backend.link(self.from_first(self._backend.link_identity), self.rank, self.size)
        return self._link


def communicator_for(backend: Backend, mpi: Mpi) -> Communicator:
    """What exchanges arrays of a backend: NCCL between GPUs, MPI between CPUs."""
    return Nccl(mpi, backend) if isinstance(backend, Linking) else mpi
