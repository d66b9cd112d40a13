"""The product by CuPy's `RawModule`: a template in C++ with tiles in shared memory, compiled by NVRTC.

The size of the shared arrays stands in the text, so that nothing has to be said at the launch; `__launch_bounds__`
tells the compiler how many threads a block has, and so how many registers each may take.
"""

from __future__ import annotations

import functools
from pathlib import Path

import cupy
import numpy as np

from simsuite.routes.matmul.shapes import sizes

TILE, THREADS = 64, 256
NAMES = {"float32": "product<float>", "float64": "product<double>"}


@functools.cache
def _module():
    text = Path(__file__).with_name("product.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=tuple(NAMES.values()))


def product(a, b):
    """C = A B, an array of CuPy's; a and b may be arrays of any library on the device."""
    m, k, n = sizes(a, b)
    a, b = cupy.asarray(a), cupy.asarray(b)
    c = cupy.empty((m, n), a.dtype)
    blocks = (-(-n // TILE), -(-m // TILE))
    _module().get_function(NAMES[a.dtype.name])(blocks, (THREADS,), (a, b, c, *map(np.int32, (m, k, n))))
    return c
