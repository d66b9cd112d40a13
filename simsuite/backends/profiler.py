"""What NVIDIA's profilers are told of a run on a GPU: ranges of NVTX, and when to look. Also times of copies, by
events."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from simsuite.core import Fence

if TYPE_CHECKING:
    import cupy

    from simsuite.backends.staging import Staging


_MOST_COPIES = 50_000  # copies whose times are kept, the last ones


class CudaProfiler:
    """elapsed: gives the seconds from a fence to an event."""

    def __init__(self, cupy: ModuleType, staging: Staging, elapsed: Callable[[Fence, cupy.cuda.Event], float]) -> None:
        from cupy.cuda import nvtx

        self._cupy, self._nvtx, self._elapsed = cupy, nvtx, elapsed
        self._copies = staging.copies = deque(maxlen=_MOST_COPIES)

    @contextlib.contextmanager
    def range(self, name: str) -> Iterator[None]:
        """A context in which NVTX has a range of this name in the thread."""
        self._nvtx.RangePush(name)
        try:
            yield
        finally:
            self._nvtx.RangePop()

    def start(self) -> None:
        """Let the profilers that wait for it begin."""
        self._cupy.cuda.runtime.profilerStart()

    def stop(self) -> None:
        """Let them end, when all that is queued is done."""
        self._cupy.cuda.runtime.deviceSynchronize()
        self._cupy.cuda.runtime.profilerStop()

    def copies(self, since: Fence) -> list[tuple[float, float, int]]:
        """(seconds from a fence to its begin, seconds that it took, bytes) of each copy of a snapshot to the host."""
        found = []
        for begin, end, nbytes in self._copies:
            at = self._elapsed(since, begin)
            found.append((at, self._elapsed(since, end) - at, nbytes))
        return found
