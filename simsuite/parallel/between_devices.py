"""Exchanges of arrays between the GPUs of the processes of a run: by NCCL, or over the host where NCCL cannot do it.
Values that the first process decides go by MPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from simsuite.capabilities import Link, Linking
from simsuite.communication.communicator import Communicator, Halos
from simsuite.core import Backend, DeviceArray
from simsuite.parallel.mpi import Mpi
from simsuite.parallel.staged import Staged

T = TypeVar("T")


class BetweenDevices:
    """A `Communicator` for arrays on GPUs. These are linked at the first exchange, since linking takes a second."""

    def __init__(self, mpi: Mpi, backend: Backend, linking: Linking) -> None:
        self.rank, self.size, self._mpi, self._backend, self._linking = mpi.rank, mpi.size, mpi, backend, linking
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

    def first(self, processes: int) -> BetweenDevices:
        return (
            self if processes == self.size else BetweenDevices(self._mpi.first(processes), self._backend, self._linking)
        )

    def _linked(self) -> Link:
        if self._link is None:
            why = self._without_nccl()
            if why is None:
                identity = self.from_first(self._linking.link_identity)
                self._link = self._linking.link(identity, self.rank, self.size)
            else:
                if self.rank == 0:
                    self._backend.announce(f"GPUs exchange their arrays over the host, which is slow: {why}")
                self._link = Staged(self._mpi, self._backend)
        return self._link

    def _without_nccl(self) -> str | None:
        """Why NCCL cannot connect the GPUs of these processes, the same in all of them; None if it can."""
        lacks = self._linking.lacks_links()
        told = self._mpi.gather(np.array([lacks is not None, self._linking.bus_address]))
        without = np.flatnonzero(told[:, 0])
        if without.size:
            return lacks or f"process {without[0]} has no NCCL"
        devices = {(self._mpi.people[rank].host, address) for rank, address in enumerate(told[:, 1])}
        return None if len(devices) == self.size else "processes share a GPU, which NCCL refuses"


def communicator_for(backend: Backend, mpi: Mpi) -> Communicator:
    """What exchanges arrays of a backend: NCCL between GPUs where it can, MPI between CPUs."""
    return BetweenDevices(mpi, backend, backend) if isinstance(backend, Linking) else mpi
