"""The product by CuPy's `@`, which calls cuBLAS: NVIDIA's library, whose kernels are written for each generation of
GPUs.

Nothing is compiled; the first product loads the library, a tenth of a second or so. C order is no obstacle: in the
column order of BLAS the same numbers are transposed matrices, and transposing C = A B gives B' A'. Hardly anyone does
better.
"""

from __future__ import annotations

import cupy

from simsuite.routes.matmul.shapes import sizes


def product(a, b):
    """C = A B, an array of CuPy's; a and b may be arrays of any library on the device."""
    sizes(a, b)
    return cupy.asarray(a) @ cupy.asarray(b)
