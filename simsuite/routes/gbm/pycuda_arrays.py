"""Monte Carlo by PyCUDA's `ElementwiseKernel` on a `GPUArray`, and payoffs that come to the host while others are made.

The array is one of PyCUDA's over the memory of `out`, whichever library made that. `payoffs_on_host` has two streams
with a part of the paths each: while one computes, the other copies into page-locked memory, which a device can write by
itself; from ordinary memory a copy would first go through a buffer of the driver's, and the host would wait. Events say
when a part is there, and how long all took.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pycuda.autoprimaryctx  # noqa: F401
import pycuda.driver as driver
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of

PART = 1 << 20  # paths that are copied at a time


@functools.cache
def _paths(real, asian):
    arguments = f"{real} *out, {real} spot, {real} strike, {real} drift, {real} deviation, {real} discount"
    path = f"Path<{real}, {str(asian).lower()}>(first + i, seed, spot, strike, drift, deviation, discount, steps)"
    return ElementwiseKernel(
        f"{arguments}, int steps, unsigned long seed, unsigned long first",
        f"out[i] = {path}.payoff",
        "gbm_paths",
        preamble=Path(__file__).with_name("paths.cu").read_text(encoding="utf-8"),
    )


def payoffs(contract, seed, out, first=0, stream=None):
    """Fill `out`, an array of any library on the device, with discounted payoffs of the paths first, first + 1, .."""
    shape, dtype = shape_of(checked(out, 1)), dtype_of(out)
    view = GPUArray(shape, dtype, base=out, gpudata=address_of(out))
    kernel = _paths("float" if dtype.itemsize == 4 else "double", contract.asian)
    market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    if shape[0]:
        kernel(view, *market, contract.steps, seed, first, stream=stream)
    return out


def payoffs_on_host(contract, seed, n, dtype=np.float32):
    """(payoffs of n paths in page-locked memory, seconds by events): copies overlap the paths of the next part."""
    host = driver.pagelocked_empty(n, dtype)
    streams, parts = (driver.Stream(), driver.Stream()), [GPUArray((min(PART, n),), dtype) for _ in range(2)]
    begin, ends = driver.Event().record(streams[0]), []
    streams[1].wait_for_event(begin)
    for k, first in enumerate(range(0, n, PART)):
        part, stream = parts[k % 2][: min(PART, n - first)], streams[k % 2]
        payoffs(contract, seed, part, first, stream)
        driver.memcpy_dtoh_async(host[first : first + part.size], part.gpudata, stream)
        ends.append(driver.Event().record(stream))
    return host, max(end.synchronize().time_since(begin) for end in ends) / 1e3
