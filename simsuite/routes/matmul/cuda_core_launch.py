"""The product by CUDA Python's `cuda.core`: memory from the device's pool, a program, a launch, and events that time
it.

`Device.allocate` is ordered by a stream: memory is there for work queued after it, and returns to the pool behind the
work queued before it is freed, without a wait. See `heat/cuda_core_launch.py` for the rest.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from simsuite.routes.arrays import address_of, dtype_of
from simsuite.routes.exchange import buffer_as_cupy
from simsuite.routes.matmul.shapes import sizes

TILE, THREADS = 64, 256
NAMES = {"float32": "product<float>", "float64": "product<double>"}


@functools.cache
def _module(arch):
    text = Path(__file__).with_name("product.cu").read_text(encoding="utf-8")
    program = Program(text, "c++", ProgramOptions(std="c++17", arch=f"sm_{arch}"))
    return program.compile("cubin", name_expressions=tuple(NAMES.values()))


def product(a, b):
    """C = A B, seen as an array of CuPy's; a and b may be arrays of any library on the device."""
    m, k, n = sizes(a, b)
    device, dtype = Device(), dtype_of(a)
    device.set_current()
    kernel, stream = _module(device.arch).get_kernel(NAMES[dtype.name]), device.default_stream
    c = device.allocate(max(1, m * n) * dtype.itemsize, stream=stream)
    if m and n:
        config = LaunchConfig(grid=(-(-n // TILE), -(-m // TILE)), block=THREADS)
        launch(stream, config, kernel, address_of(a), address_of(b), int(c.handle), *map(np.int32, (m, k, n)))
    return buffer_as_cupy(c, (m, n), dtype)
