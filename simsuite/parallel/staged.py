"""Arrays of GPUs from process to process over the host, by MPI, which need not know of GPUs: slow, but always there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.communication.communicator import Halos
from simsuite.core import Backend, DeviceArray
from simsuite.parallel.mpi import Mpi


class Staged:
    """A `capabilities.Link`. Each call waits until what is queued on the device is done, and until the other processes
    have made theirs."""

    def __init__(self, mpi: Mpi, backend: Backend) -> None:
        self._mpi, self._backend = mpi, backend

    def exchange(
        self, to_before: DeviceArray, from_before: DeviceArray, before: int | None,
        to_after: DeviceArray, from_after: DeviceArray, after: int | None,
    ) -> None:  # fmt: skip
        host = Halos(
            first=self._sent(to_before, before), before=np.empty(from_before.shape, from_before.dtype),
            last=self._sent(to_after, after), after=np.empty(from_after.shape, from_after.dtype),
        )  # fmt: skip
        self._mpi.exchange(host, before, after)
        for other, array, came in ((before, from_before, host.before), (after, from_after, host.after)):
            if other is not None:
                self._put(came, array)

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        host = [np.empty(array.shape, array.dtype) for array in taken]
        self._mpi.swap([self._backend.to_host(array) for array in given], host)
        for came, array in zip(host, taken):
            if came.size:
                self._put(came, array)

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        host = [np.empty(array.shape, array.dtype) for array in parts]
        own = self._mpi.rank
        host[own] = self._backend.to_host(parts[own])
        self._mpi.allgather(host)
        for other, (came, array) in enumerate(zip(host, parts)):
            if other != own and came.size:
                self._put(came, array)

    def _sent(self, array: DeviceArray, to: int | None) -> np.ndarray:
        """The rows for a process on the host; nothing where there is no such process."""
        return np.empty(0) if to is None else self._backend.to_host(array)

    def _put(self, came: np.ndarray, array: DeviceArray) -> None:
        self._backend.copy(self._backend.array(came), array)
