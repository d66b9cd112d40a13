"""The heat step by CuPy's `RawModule`: a whole kernel in C++, compiled by NVRTC, launched by CuPy.

The kernel is a template; `name_expressions` says for which types it is compiled, and `get_function` takes the same
names. CuPy keeps the machine code in ~/.cupy. Arguments are not converted: a number has to have exactly the type that
the kernel declares (np.int32, the plate's type), or the kernel reads something else. A launch costs the host about 5
microseconds, where arrays are passed as arrays: their addresses as integers are quicker by 2.
"""

from __future__ import annotations

import functools
from pathlib import Path

import cupy
import numpy as np

from simsuite.routes.arrays import checked

THREADS = (64, 4)
NAMES = {"float32": "step<float>", "float64": "step<double>"}


@functools.cache
def _module():
    text = Path(__file__).with_name("step.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=tuple(NAMES.values()))


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, an array of CuPy's; edges keep their values."""
    here = cupy.array(checked(u, 2), order="C")
    there, step = cupy.empty_like(here), _module().get_function(NAMES[here.dtype.name])
    ny, nx = here.shape
    blocks = (-(-nx // THREADS[0]), -(-ny // THREADS[1]))
    numbers = (np.int32(nx), np.int32(ny), here.dtype.type(rx), here.dtype.type(ry))
    for _ in range(steps):
        step(blocks, THREADS, (here, there, *numbers))
        here, there = there, here
    return here
