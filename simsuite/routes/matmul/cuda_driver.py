"""The product by the driver's own functions, through CUDA Python's `cuda.bindings`, with NVRTC by hand.

See `heat/cuda_driver.py` for what compiles and loads. Memory from `cuMemAlloc` belongs to whoever asked for it: the
array that is returned frees it (`cuMemFree`, which waits for the device) when nothing refers to it any more.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from cuda.bindings import driver

from simsuite.routes.arrays import address_of, dtype_of
from simsuite.routes.exchange import memory_as_cupy
from simsuite.routes.heat.cuda_driver import load, succeed
from simsuite.routes.matmul.shapes import sizes

TILE, THREADS = 64, 256
NAMES = {"float32": b"product<float>", "float64": b"product<double>"}


def product(a, b):
    """C = A B, seen as an array of CuPy's; a and b may be arrays of any library on the device."""
    m, k, n = sizes(a, b)
    dtype = dtype_of(a)
    kernel = load(Path(__file__).with_name("product.cu"), NAMES[dtype.name], int(succeed(driver.cuCtxGetDevice())))
    c = int(succeed(driver.cuMemAlloc(max(1, m * n) * dtype.itemsize)))
    types = (ctypes.c_void_p,) * 3 + (ctypes.c_int,) * 3
    if m and n:
        blocks = (-(-n // TILE), -(-m // TILE), 1)
        arguments = (address_of(a), address_of(b), c, m, k, n), types
        succeed(driver.cuLaunchKernel(kernel, *blocks, THREADS, 1, 1, 0, 0, arguments, 0))
    return memory_as_cupy(c, (m, n), dtype, lambda: driver.cuMemFree(c))
