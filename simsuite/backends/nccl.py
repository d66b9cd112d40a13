"""Rows of arrays from GPU to GPU by NCCL, queued on the stream in which steps are."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from simsuite.core import DeviceArray
from simsuite.errors import DeviceError

if TYPE_CHECKING:
    import cupy


class NcclLink:
    """Connects this GPU with those of `size` processes, of which this is number `rank`. identity: what `new_identity`
    gave in one of them. Waits until all of them call this."""

    def __init__(self, stream: cupy.cuda.Stream, identity: tuple[int, ...], rank: int, size: int) -> None:
        from cupy.cuda import nccl

        self._nccl: ModuleType = nccl
        _print_past_libraries()
        self._stream, self._rank, self._all = stream, rank, nccl.NcclCommunicator(size, identity, rank)

    def exchange(
        self, to_before: DeviceArray, from_before: DeviceArray, before: int | None,
        to_after: DeviceArray, from_after: DeviceArray, after: int | None,
    ) -> None:  # fmt: skip
        """Queue sending and receiving of arrays in C order, all of one size. before, after: numbers of the processes on
        both sides; None for none.

        NCCL pairs what two processes send with what they receive by order alone. First all rows go towards the last
        process, then all go towards the first; otherwise two processes that are neighbours on both sides, as in a ring,
        would get rows at the wrong ends."""
        self._nccl.groupStart()
        try:
            self._send(to_after, after)
            self._receive(from_before, before)
            self._send(to_before, before)
            self._receive(from_after, after)
        finally:
            self._nccl.groupEnd()

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        """Queue sending of array number p of the first ones to process p, and receiving of the other one from it; a
        process may send to itself."""
        self._nccl.groupStart()
        try:
            for other, (to, source) in enumerate(zip(given, taken)):
                self._send(to, other if to.nbytes else None)
                self._receive(source, other if source.nbytes else None)
        finally:
            self._nccl.groupEnd()

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        """Queue sending of this process's part to all others, and receiving of part number p from process p. Parts need
        not have one size, as they would for NCCL's function of that name."""
        own = parts[self._rank]
        self._nccl.groupStart()
        try:
            for other, part in enumerate(parts):
                if other != self._rank:
                    self._send(own, other if own.nbytes else None)
                    self._receive(part, other if part.nbytes else None)
        finally:
            self._nccl.groupEnd()

    def _send(self, array: DeviceArray, to: int | None) -> None:
        if to is not None:
            self._all.send(array.data.ptr, array.nbytes, self._nccl.NCCL_UINT8, to, self._stream.ptr)

    def _receive(self, array: DeviceArray, source: int | None) -> None:
        if source is not None:
            self._all.recv(array.data.ptr, array.nbytes, self._nccl.NCCL_UINT8, source, self._stream.ptr)


@functools.cache
def _print_past_libraries() -> None:
    """From now on what libraries print on standard output goes to standard error, and what Python prints where it was:
    NCCL prints its version, and codes of colours at the end, among the results of `--json`."""
    sys.stdout.flush()
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(output, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)


def new_identity() -> tuple[int, ...]:
    """What processes tell each other to find each other. Raises ImportError where NCCL is not installed."""
    from cupy.cuda import nccl

    identity: tuple[int, ...] = nccl.get_unique_id()
    return identity


def installed_nccl() -> str:
    """The version of NCCL. Raises DeviceError where CuPy has none."""
    try:
        from cupy.cuda import nccl
    except ImportError as error:
        raise DeviceError(f"CuPy has no NCCL ({error}): pip install nvidia-nccl-cu13, or -cu12") from None
    version = nccl.get_version()
    return f"NCCL {version // 10000}.{version // 100 % 100}.{version % 100}"


def links(topology: str) -> list[str]:
    """How GPUs of a machine are connected, each kind once: NV18 for 18 lines of NVLink, PIX or PHB through PCIe, SYS
    between sockets. topology: what `nvidia-smi topo -m` prints."""
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in topology.splitlines()]
    gpus = [line.split() for line in lines if re.match(r"GPU\d+\s", line)]  # the line of names begins with a blank
    return sorted({kind for row in gpus for kind in row[1 : 1 + len(gpus)]} - {"X"})
