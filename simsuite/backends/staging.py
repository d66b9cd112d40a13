"""Snapshots on their way from a GPU to files.

They are copied aside on the device, in the stream that computes, so that stepping goes on at once. To the host they
cross when they are entered, on the thread that enters them: that is the one that writes files, so that one buffer of
page-locked memory, which takes up to a second per GB to get, serves them all.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from simsuite.core import SNAPSHOTS, DeviceArray, HostArray, Pending, Snapshot

if TYPE_CHECKING:
    import cupy

    Copies = deque[tuple[cupy.cuda.Event, cupy.cuda.Event, int]]

_ALIGN = 512


class _Slot:
    """Memory on the device for one snapshot; it is free again when the snapshot is on the host."""

    def __init__(self, cupy: ModuleType) -> None:
        self.free = threading.Semaphore(1)
        self.staged = cupy.cuda.Event(disable_timing=True)
        self.memory: DeviceArray = None  # None until the slot is first used

    @property
    def nbytes(self) -> int:
        return 0 if self.memory is None else self.memory.nbytes


class _Ring:
    """Slots for snapshots of about the same size, used in turn."""

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._slots = [_Slot(cupy) for _ in range(SNAPSHOTS)]
        self._turn = 0

    def take(self, nbytes: int) -> _Slot:
        """The next slot, which may have to be waited for."""
        slot = self._slots[self._turn]
        self._turn = (self._turn + 1) % SNAPSHOTS
        slot.free.acquire()
        try:
            if slot.nbytes < nbytes:
                self._grow(slot, nbytes)
        except BaseException:
            slot.free.release()
            raise
        return slot

    def _grow(self, held: _Slot, nbytes: int) -> None:
        """Enlarge the held slot and all idle ones at once, so that this does not happen in the middle of the run."""
        for slot in self._slots:
            if slot is held or (slot.nbytes < nbytes and slot.free.acquire(blocking=False)):
                slot.memory = None
                try:
                    slot.memory = self._cupy.empty(nbytes, np.uint8)
                finally:
                    if slot is not held:
                        slot.free.release()


class _HostBuffers:
    """Page-locked memory: one buffer, unless several snapshots are held at the same time."""

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._lock = threading.Lock()
        self._idle: list[HostArray] = []
        self._largest = 0

    def prepare(self, nbytes: int) -> None:
        """Make sure that there is a buffer of so many bytes."""
        if nbytes > self._largest:
            self._largest = nbytes
            self.give(self._made(nbytes))

    def take(self, nbytes: int) -> HostArray:
        with self._lock:
            fitting = [buffer for buffer in self._idle if buffer.nbytes >= nbytes]
            if fitting:
                found = min(fitting, key=lambda buffer: buffer.nbytes)
                self._idle = [buffer for buffer in self._idle if buffer is not found]
                return found
        return self._made(nbytes)

    def give(self, buffer: HostArray) -> None:
        with self._lock:
            self._idle.append(buffer)

    def _made(self, nbytes: int) -> HostArray:
        return np.frombuffer(self._cupy.cuda.alloc_pinned_memory(nbytes), np.uint8, nbytes)


@dataclass(frozen=True)
class _Part:
    """The place of an array in a slot, with its shape and type."""

    at: int
    nbytes: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def of(self, memory: DeviceArray) -> DeviceArray:
        return memory[self.at : self.at + self.nbytes].view(self.dtype).reshape(self.shape)


class _Copying:
    """A snapshot in its slot, or on the host."""

    def __init__(self, staging: Staging, slot: _Slot, step: int, parts: Mapping[str, _Part], nbytes: int) -> None:
        self._staging, self._slot, self._step, self._parts, self._nbytes = staging, slot, step, parts, nbytes
        self._host: HostArray | None = None

    def __enter__(self) -> Snapshot:
        try:
            self._host = host = self._staging.fetched(self._slot, self._nbytes)
        finally:
            self._slot.free.release()
        return Snapshot(self._step, {name: part.of(host) for name, part in self._parts.items()})

    def __exit__(self, *exc: object) -> None:
        assert self._host is not None
        self._staging.hosts.give(self._host)


class Staging:
    """device, compute: the device, and the stream in which the state is advanced. allocating: a context in which CuPy's
    memory belongs to that stream, and a lack of it is explained."""

    def __init__(
        self,
        cupy: ModuleType,
        device: cupy.cuda.Device,
        compute: cupy.cuda.Stream,
        allocating: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._cupy, self._device, self._compute, self._allocating = cupy, device, compute, allocating
        self._outgoing = cupy.cuda.Stream(non_blocking=True)
        self._rings: dict[int, _Ring] = {}
        self.hosts = _HostBuffers(cupy)
        # events before and after each copy to the host, and its bytes; None unless somebody wants to know
        self.copies: Copies | None = None

    def stage(self, step: int, arrays: Mapping[str, DeviceArray]) -> Pending:
        """See `core.Backend.stage`."""
        parts: dict[str, _Part] = {}
        for name, a in arrays.items():
            parts[name] = _Part(_room(parts), a.nbytes, a.dtype, a.shape)
        nbytes = max(_room(parts), _ALIGN)
        with self._allocating():
            self.hosts.prepare(nbytes)
            slot = self._ring(nbytes).take(nbytes)
            try:
                for name, a in arrays.items():
                    self._cupy.copyto(parts[name].of(slot.memory), a)
                slot.staged.record(self._compute)
            except BaseException:
                slot.free.release()
                raise
        return _Copying(self, slot, step, parts, nbytes)

    def _ring(self, nbytes: int) -> _Ring:
        """The ring for snapshots of this size. Small ones have a ring of their own, so that they need not wait until
        large ones are written."""
        kind = nbytes.bit_length() // 4
        if kind not in self._rings:
            self._rings[kind] = _Ring(self._cupy)
        return self._rings[kind]

    def fetched(self, slot: _Slot, nbytes: int) -> HostArray:
        """What a slot holds, on the host; waits until it is there."""
        with self._device:
            host = self.hosts.take(nbytes)
            self._outgoing.wait_event(slot.staged)
            untimed = self.copies is None
            begin = self._cupy.cuda.Event(disable_timing=untimed)
            if not untimed:
                begin.record(self._outgoing)
            slot.memory.data.copy_to_host_async(host.ctypes.data, nbytes, self._outgoing)
            there = self._cupy.cuda.Event(block=True, disable_timing=untimed)
            there.record(self._outgoing)
            there.synchronize()
            if self.copies is not None:
                self.copies.append((begin, there, nbytes))
        return host


def _room(parts: Mapping[str, _Part]) -> int:
    """Bytes that parts take, one after another."""
    return sum(-(-part.nbytes // _ALIGN) * _ALIGN for part in parts.values())
