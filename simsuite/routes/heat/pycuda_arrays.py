"""The heat step by PyCUDA's `GPUArray` and `ElementwiseKernel`, and a probe that the kernel writes into the host's
memory.

An `ElementwiseKernel` is one statement in C for element i of arrays of one length; PyCUDA writes the kernel around it,
with threads that stride over the array, and nvcc compiles it. `probe` shows the host's memory that a device can reach:
pages that stay where they are (`pagelocked_empty`), and are mapped into the device's memory (`DEVICEMAP`), so that a
kernel writes a number straight into them, without a copy. Only an event tells when it is there.
"""

from __future__ import annotations

import functools

import numpy as np
import pycuda.autoprimaryctx  # noqa: F401
import pycuda.driver as driver
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of

STEP = """
const int y = i / nx, x = i - y * nx;
const {real} c = u[i];
const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
v[i] = edge ? c : c + rx * (u[i - 1] - 2 * c + u[i + 1]) + ry * (u[i - nx] - 2 * c + u[i + nx])
"""


@functools.cache
def _kernels(real):
    arguments = f"{real} *v, const {real} *u, int nx, int ny, {real} rx, {real} ry"
    step = ElementwiseKernel(arguments, STEP.format(real=real), "heat_step")
    look = ElementwiseKernel(f"{real} *seen, const {real} *u", "seen[i] = u[i]", "look")
    return step, look


def _start(u):
    """A copy of the plate, an array beside it, and the kernels for its type."""
    shape, dtype = shape_of(checked(u, 2)), dtype_of(u)
    here, there = GPUArray(shape, dtype), GPUArray(shape, dtype)
    driver.memcpy_dtod(here.gpudata, address_of(u), here.nbytes)
    return here, there, *_kernels("float" if dtype.itemsize == 4 else "double")


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, a GPUArray; edges keep their values."""
    here, there, step, _ = _start(u)
    ny, nx = here.shape
    for _ in range(steps):
        step(there, here, nx, ny, rx, ry)
        here, there = there, here
    return here


def probe(u, steps, rx, ry, y, x):
    """The values of the point u[y, x] after 1, 2, .. steps, an array of NumPy's in mapped memory, and the seconds that
    the device took for them, by events."""
    here, there, step, look = _start(u)
    (ny, nx), dtype = here.shape, here.dtype
    seen = driver.pagelocked_empty(steps, dtype, mem_flags=driver.host_alloc_flags.DEVICEMAP)
    begin, stream, end, place = seen.base.get_device_pointer(), driver.Stream(), driver.Event(), y * nx + x
    step(there, here, nx, ny, rx, ry, stream=stream)  # the first call compiles; the loop writes these numbers again
    look(*(GPUArray((1,), dtype, gpudata=int(array)) for array in (begin, here.gpudata)), stream=stream)
    started = driver.Event().record(stream)
    for k in range(steps):
        step(there, here, nx, ny, rx, ry, stream=stream)
        here, there = there, here
        target = GPUArray((1,), dtype, gpudata=int(begin) + k * dtype.itemsize)
        look(target, GPUArray((1,), dtype, gpudata=int(here.gpudata) + place * dtype.itemsize), stream=stream)
    end.record(stream).synchronize()
    return np.asarray(seen), end.time_since(started) / 1e3
