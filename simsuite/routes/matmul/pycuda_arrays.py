"""The product by PyCUDA's `ElementwiseKernel`: element i of C is a sum over a row of A and a column of B.

The statement holds a loop; PyCUDA writes the rest. Neighbouring threads have neighbouring columns, so that reads of B
come together. The rate is that of the first attempt by Numba, for the same reason: two reads for each multiplication.
"""

from __future__ import annotations

import functools

import pycuda.autoprimaryctx  # noqa: F401
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray

from simsuite.routes.arrays import address_of, dtype_of, shape_of
from simsuite.routes.matmul.shapes import sizes

DOT = """
const size_t row = i / columns, column = i - row * columns;
{real} sum = 0;
for (int d = 0; d < k; d++) sum += a[row * k + d] * b[(size_t)d * columns + column];
c[i] = sum
"""


@functools.cache
def _multiply(real):
    arguments = f"{real} *c, const {real} *a, const {real} *b, int k, int columns"
    return ElementwiseKernel(arguments, DOT.format(real=real), "product")


def _view(array):
    """A GPUArray over the memory of an array of any library, which it keeps alive."""
    return GPUArray(shape_of(array), dtype_of(array), base=array, gpudata=address_of(array))


def product(a, b):
    """C = A B, a GPUArray; a and b may be arrays of any library on the device."""
    m, k, n = sizes(a, b)
    c = GPUArray((m, n), dtype_of(a))
    if c.size:
        _multiply("float" if c.dtype.itemsize == 4 else "double")(c, _view(a), _view(b), k, n)
    return c
