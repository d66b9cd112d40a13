"""Numba's CUDA simulator: the CUDA kernels run as Python threads. Slow, for tests and teaching.

SciPy and NumPy take the place of the device's libraries.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, cast

import numpy as np
from numba import config
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator import kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray

from simsuite.backends.host import HostBackend
from simsuite.core import DeviceArray, HostArray, Kernel, Products

if TYPE_CHECKING:
    import numpy.typing as npt


class _NumPyProducts:
    name = "NumPy"

    def multiply(self, A: HostArray, B: HostArray, out: HostArray) -> None:
        np.matmul(A, B, out=out)

    def multiply_add(self, A: DeviceArray, B: DeviceArray, out: DeviceArray, add: bool) -> None:
        a, b, c = (view._ary for view in (A, B, out))
        c[...] = a @ b + (c if add else 0)


class _Player(simulator.BlockThread):  # type: ignore[misc]  # Numba has no types
    """A Python thread that runs the threads of a block one after the other, until one of them waits at a barrier."""

    def __init__(self, block: _Block, place: tuple[int, ...]) -> None:
        super().__init__(block.play, block, place, (0, 0, 0), False)
        self.turn = threading.Lock()
        self.turn.acquire()

    def run(self) -> None:
        super().run()  # Numba's `run` keeps an exception as an attribute
        self._manager.ended(self)

    def become(self, place: tuple[int, ...]) -> None:
        width, height, _ = self._manager._block_dim
        self.threadIdx = simulator.Dim3(*place)
        self.thread_id = place[0] + width * (place[1] + height * place[2])

    def syncthreads(self) -> None:
        self._manager.arrived(self)
        self.turn.acquire()
        if self.abort:
            raise RuntimeError("another thread of the block failed")


class _Block(simulator.BlockManager):  # type: ignore[misc]  # Numba has no types
    """The threads of a block, one at a time from barrier to barrier.

    Numba's own block runs them all at once and asks each over and over whether it waits, which takes many times as
    long. Their order turns around at every barrier, so that one that is missing does not go unnoticed.
    """

    def run(self, place: tuple[int, ...], *arguments: object) -> None:
        self._place, self._arguments = place, arguments
        self._new = deque(np.ndindex(*self._block_dim))
        self._waiting: list[_Player] = []  # players that wait at the barrier
        self._ready: list[_Player] = []  # players that are to go on beyond the barrier
        self._failure: tuple[BaseException, TracebackType] | None = None
        self._over = threading.Lock()
        self._over.acquire()
        self._go_on()
        self._over.acquire()
        if self._failure:
            error, trace = self._failure
            raise error.with_traceback(trace)

    def play(self) -> None:
        """Run threads that have not begun, one after the other, until none is left; each player calls this."""
        player = cast("_Player", threading.current_thread())
        while self._new:
            player.become(self._new.popleft())
            self._f(*self._arguments)

    def arrived(self, player: _Player) -> None:
        """Note that a player has arrived at a barrier, and let another one go on."""
        self._waiting.append(player)
        self._go_on()

    def ended(self, player: _Player) -> None:
        if self._failure:
            return
        if player.exception is None:
            self._go_on()
            return
        self._failure = player.exception
        for other in (*self._waiting, *self._ready):
            other.abort = True
            other.turn.release()
        self._over.release()

    def _go_on(self) -> None:
        """Let the next thread run: one that has not begun, or else one that may go on beyond the barrier, which opens
        when every thread has arrived at it."""
        if self._new:
            _Player(self, self._place).start()
            return
        if not self._ready:
            self._ready, self._waiting = self._waiting, []
        (self._ready.pop().turn if self._ready else self._over).release()


class _Shared(kernelapi.FakeCUDAShared):  # type: ignore[misc]  # Numba has no types
    """Shared memory. For every array, Numba's own class looks up the files and functions of the whole call stack, which
    takes long."""

    def array(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike, alignment: int | None = None) -> HostArray:
        if shape == 0 or alignment is not None:
            by_numba: HostArray = super().array(shape, dtype, alignment)
            return by_numba
        kernel = sys._getframe(1)
        line = kernel.f_code, kernel.f_lineno
        if line not in self._allocations:
            if isinstance(dtype, kernelapi.types.Type):
                dtype = kernelapi.numpy_support.as_dtype(dtype)
            self._allocations[line] = np.empty(shape, dtype)
        shared: HostArray = self._allocations[line]
        return shared


simulator.BlockManager, kernelapi.FakeCUDAShared = _Block, _Shared


def _within(argument: object) -> object:
    """An argument as kernels see it. Numba's simulator looks at arrays alone, and not into tuples."""
    if isinstance(argument, tuple):
        return tuple(map(_within, argument))
    return FakeWithinKernelCUDAArray(argument) if isinstance(argument, FakeCUDAArray) else argument


class CudaSimulatorBackend(HostBackend):
    """The grid of a real launch, one Python thread a CUDA thread."""

    name = "cudasim"
    dialect = "cuda"
    simulated = True
    device_name = "Numba CUDA simulator"

    def __init__(self) -> None:
        if not config.ENABLE_CUDASIM:
            raise RuntimeError("numba was imported before NUMBA_ENABLE_CUDASIM was set")

    def view(self, array: HostArray) -> DeviceArray:
        return FakeCUDAArray(array)

    def products(self) -> Products:
        return _NumPyProducts()

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        grid = tuple(-(-n // b) for n, b in zip(extent, block))

        def launch(*arguments: object) -> None:
            configured = kernel[grid, block]  # which is the kernel itself here: another launcher may do it again
            configured(*map(_within, arguments))

        return launch
