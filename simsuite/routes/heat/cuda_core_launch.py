"""The heat step by CUDA Python's `cuda.core`: NVIDIA's own objects for devices, streams, programs and launches.

A `Program` holds C++ and is compiled to machine code by NVRTC (a tenth of a second; keep the code yourself, nothing
else does), `name_expressions` says for which types the template is wanted. `launch` takes a stream, the numbers of
blocks and threads, the kernel, and arguments: an address is an int, a number one of NumPy's, of the type that the
kernel declares. A launch takes some 6 microseconds. Memory comes from the device's pool as a `Buffer`: bytes without
shape or type.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of
from simsuite.routes.exchange import buffer_as_cupy

THREADS = (64, 4)
NAMES = {"float32": "step<float>", "float64": "step<double>"}


@functools.cache
def _module(arch):
    text = Path(__file__).with_name("step.cu").read_text(encoding="utf-8")
    program = Program(text, "c++", ProgramOptions(std="c++17", arch=f"sm_{arch}"))
    return program.compile("cubin", name_expressions=tuple(NAMES.values()))


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, seen as an array of CuPy's; edges keep their values."""
    device = Device()
    device.set_current()
    (ny, nx), dtype = shape_of(checked(u, 2)), dtype_of(u)
    kernel, stream = _module(device.arch).get_kernel(NAMES[dtype.name]), device.default_stream
    buffers = [device.allocate(nx * ny * dtype.itemsize, stream=stream) for _ in range(2)]
    config = LaunchConfig(grid=(-(-nx // THREADS[0]), -(-ny // THREADS[1])), block=THREADS)
    numbers = (np.int32(nx), np.int32(ny), dtype.type(rx), dtype.type(ry))
    source, addresses = address_of(u), [int(buffer.handle) for buffer in buffers]
    for k in range(steps):
        launch(stream, config, kernel, source, addresses[k % 2], *numbers)
        source = addresses[k % 2]
    if not steps:
        launch(stream, config, kernel, source, addresses[1], *numbers[:2], dtype.type(0), dtype.type(0))  # a copy
    return buffer_as_cupy(buffers[(steps - 1) % 2], (ny, nx), dtype)
