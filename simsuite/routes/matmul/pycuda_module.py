"""The product by PyCUDA's `SourceModule`: tile, unrolling and type are parameters of a template, to be tried out.

A kernel's best tile depends on device and type. With the text as a template, a program compiles a few, times them by
events, and keeps the quickest (`fastest`). nvcc takes a second or two for each; PyCUDA keeps them.
"""

from __future__ import annotations

import functools
from string import Template

import numpy as np
import pycuda.autoprimaryctx  # noqa: F401
import pycuda.driver as driver
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray

from simsuite.routes.arrays import address_of, dtype_of
from simsuite.routes.matmul.shapes import sizes

T = 16  # threads along each side of a block
CANDIDATES = ((2, 16), (4, 8), (4, 16))  # numbers of C a thread along each side, and products at a time
TEXT = Template("""
__global__ void __launch_bounds__(256) product(const $real* a, const $real* b, $real* c, int m, int k, int n) {
  const int TILE = $t * $each, x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  __shared__ $real as[$depth][$t * $each + 1], bs[$depth][$t * $each];
  $real sum[$each][$each] = {};
  for (int begin = 0; begin < k; begin += $depth) {
    for (int e = y * $t + x; e < TILE * $depth; e += $t * $t) {
      const int i = e / $depth, d = e % $depth, j = e % TILE, f = e / TILE;
      as[d][i] = row + i < m && begin + d < k ? a[(size_t)(row + i) * k + begin + d] : 0;
      bs[f][j] = begin + f < k && column + j < n ? b[(size_t)(begin + f) * n + column + j] : 0;
    }
    __syncthreads();
    #pragma unroll
    for (int d = 0; d < $depth; d++)
      for (int i = 0; i < $each; i++)
        for (int j = 0; j < $each; j++) sum[i][j] += as[d][y + $t * i] * bs[d][x + $t * j];
    __syncthreads();
  }
  for (int e = 0; e < $each * $each; e++) {
    const int i = row + y + e / $each * $t, j = column + x + e % $each * $t;
    if (i < m && j < n) c[(size_t)i * n + j] = sum[e / $each][e % $each];
  }
}
""")


def compiled(real, each, depth):
    """A kernel, a thread of which has each x each numbers of C and adds `depth` products at a time, and its tile."""
    text = TEXT.substitute(real=real, each=each, depth=depth, t=T)
    return SourceModule(text, options=["-std=c++17"]).get_function("product").prepare("PPPiii"), T * each


@functools.cache
def fastest(real, size=1024):
    """The kernel of CANDIDATES that takes the least time for matrices of size x size, by events, and its tile."""
    a = GPUArray((3, size, size), np.float32 if real == "float" else np.float64).fill(0)

    def seconds(candidate):
        for _ in range(2):  # the first time does not count
            begin = driver.Event().record()
            launch(candidate, a.gpudata, a[1].gpudata, a[2].gpudata, size, size, size)
            took = driver.Event().record().synchronize().time_since(begin)
        return took

    return min((compiled(real, *candidate) for candidate in CANDIDATES), key=seconds)


def launch(candidate, a, b, c, m, k, n):
    kernel, tile = candidate
    kernel.prepared_call((-(-n // tile), -(-m // tile)), (T, T, 1), a, b, c, m, k, n)


def product(a, b):
    """C = A B, a GPUArray; a and b may be arrays of any library on the device."""
    m, k, n = sizes(a, b)
    c = GPUArray((m, n), dtype_of(a))
    launch(fastest("float" if c.dtype.itemsize == 4 else "double"), address_of(a), address_of(b), c.gpudata, m, k, n)
    return c
