"""The heat step by PyCUDA's `SourceModule`, made from a template: block size, unrolling and type are filled in.

Run-time code generation is what PyCUDA is about: the text of a kernel is a string, and Python fills in what a compiler
should know (`string.Template` here; Jinja or Mako where loops are wanted). nvcc compiles it, which has to be installed,
and takes one or two seconds; PyCUDA keeps the machine code on disk. Here a thread has ROWS points above each other,
whose loads are in flight at the same time. `autoprimaryctx` makes the device's primary context current, which CuPy,
Numba and PyTorch use as well: with `autoinit`, which makes a context of its own, PyCUDA could not read their memory.

`prepare` fixes the types of arguments; a launch by `prepared_call` then takes some 7 microseconds, and without it 15.
"""

from __future__ import annotations

import functools
from string import Template

import pycuda.autoprimaryctx  # noqa: F401
import pycuda.driver as driver
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of

BLOCK, ROWS = (64, 4, 1), 4
TEXT = Template("""
__global__ void step(const $real* u, $real* v, int nx, int ny, $real rx, $real ry) {
  const int x = blockIdx.x * $bx + threadIdx.x;
  #pragma unroll
  for (int k = 0; k < $rows; k++) {
    const int y = (blockIdx.y * $rows + k) * $by + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const size_t i = (size_t)y * nx + x;
    const $real c = u[i];
    const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    v[i] = edge ? c : c + rx * (u[i - 1] - 2 * c + u[i + 1]) + ry * (u[i - nx] - 2 * c + u[i + nx]);
  }
}
""")


@functools.cache
def _step(real, letter):
    text = TEXT.substitute(real=real, bx=BLOCK[0], by=BLOCK[1], rows=ROWS)
    step = SourceModule(text, options=["-std=c++17"]).get_function("step")
    return step.prepare(f"PPii{letter}{letter}")


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, a GPUArray; edges keep their values."""
    (ny, nx), dtype = shape_of(checked(u, 2)), dtype_of(u)
    here, there = GPUArray((ny, nx), dtype), GPUArray((ny, nx), dtype)
    driver.memcpy_dtod(here.gpudata, address_of(u), here.nbytes)
    step = _step(*(("float", "f") if dtype.itemsize == 4 else ("double", "d")))
    grid = (-(-nx // BLOCK[0]), -(-ny // (BLOCK[1] * ROWS)))
    for _ in range(steps):
        step.prepared_call(grid, BLOCK, here.gpudata, there.gpudata, nx, ny, rx, ry)
        here, there = there, here
    return here
