"""The heat step by Numba, recorded as a CUDA graph: launches are prepared once and replayed by the device.

CuPy's stream records (`begin_capture` .. `end_capture`) what Numba's kernel queues on it: a graph of 64 steps, of which
a replay costs the host some 10 microseconds, and the device 1.4 a step, where Numba's launches take 18 each. That
counts for plates so small that the device would wait for the host. Numba knows nothing of CuPy's streams: it has to be
handed the stream (`external_stream`) at every launch. While a stream records, nothing may wait for the device or free
memory, also not Python's garbage collector; it is switched off meanwhile. The kernel is compiled before, by a launch
that is not recorded. An even number of steps ends in the array in which it began, so that a graph can be replayed.
"""

from __future__ import annotations

import gc

import cupy
from numba import cuda

from simsuite.routes.arrays import checked
from simsuite.routes.heat.numba_cuda import THREADS, step

RECORDED = 64  # steps of a graph, an even number


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of CuPy's; edges keep their values."""
    here = cupy.array(checked(u, 2), order="C")
    there = cupy.empty_like(here)
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.wait_event(cupy.cuda.get_current_stream().record())  # the copy above is on another stream
    ny, nx = here.shape
    launch = step[(-(-nx // THREADS[0]), -(-ny // THREADS[1])), THREADS, cuda.external_stream(stream.ptr)]
    rx, ry = here.dtype.type(rx), here.dtype.type(ry)
    arrays = cuda.as_cuda_array(here, sync=False), cuda.as_cuda_array(there, sync=False)

    def queue(steps):
        for k in range(steps):
            launch(arrays[k % 2], arrays[1 - k % 2], rx, ry)

    replays, rest = divmod(steps, RECORDED)
    if replays:
        launch(arrays[0], arrays[1], rx, ry)  # compiles the kernel; what it writes is written again
        collecting = gc.isenabled()
        gc.disable()
        try:
            stream.begin_capture()
            queue(RECORDED)
            graph = stream.end_capture()
        finally:
            if collecting:
                gc.enable()
        for _ in range(replays):
            graph.launch(stream)
    queue(rest)
    cupy.cuda.get_current_stream().wait_event(stream.record())
    stream.synchronize()  # `graph`, and the array that is not returned, go when this function ends
    return (here, there)[rest % 2]
