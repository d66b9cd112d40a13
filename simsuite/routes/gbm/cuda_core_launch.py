"""Monte Carlo by CUDA Python's `cuda.core`: compiled by its `Program`, launched on a stream of its own.

The payoffs belong to another library, which may still be at work on the default stream: `create_stream` makes one that
runs beside it, and events put the two in order, one before the launch and one after it. Without them the kernel might
write into memory that is still being read. Work on the default stream, as the other roads have it, needs no events.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of

THREADS = 128
TYPES = {"float32": "float", "float64": "double"}


@functools.cache
def _kernel(arch, dtype, asian):
    name = f"paths<{TYPES[dtype]}, {str(asian).lower()}>"
    text = Path(__file__).with_name("paths.cu").read_text(encoding="utf-8")
    program = Program(text, "c++", ProgramOptions(std="c++17", arch=f"sm_{arch}"))
    return program.compile("cubin", name_expressions=(name,)).get_kernel(name)


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    device = Device()
    device.set_current()
    (n,), dtype = shape_of(checked(out, 1)), dtype_of(out)
    kernel = _kernel(device.arch, dtype.name, contract.asian)
    market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    numbers = (*map(dtype.type, market), np.int32(contract.steps), np.uint64(seed))
    stream = device.create_stream()
    stream.wait(device.default_stream)
    if n:
        config = LaunchConfig(grid=-(-n // THREADS), block=THREADS)
        launch(stream, config, kernel, address_of(out), np.int32(n), *numbers)
    device.default_stream.wait(stream)
    return out
