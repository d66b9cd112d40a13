"""Monte Carlo by the driver's own functions, through CUDA Python's `cuda.bindings`, with NVRTC by hand.

See `heat/cuda_driver.py` for what compiles and loads. Here the number of threads in a block is asked of the driver: it
knows how many registers the kernel takes, and how many blocks a multiprocessor could hold
(`cuOccupancyMaxPotentialBlockSize`).
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from cuda.bindings import driver

from simsuite.routes.arrays import address_of, checked, dtype_of, shape_of
from simsuite.routes.heat.cuda_driver import load, succeed

TYPES = {"float32": ("float", ctypes.c_float), "float64": ("double", ctypes.c_double)}


@functools.cache
def _function(name, device):
    function = load(Path(__file__).with_name("paths.cu"), name.encode(), device)
    _, threads = succeed(driver.cuOccupancyMaxPotentialBlockSize(function, None, 0, 0))
    return function, threads


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    (n,), dtype = shape_of(checked(out, 1)), dtype_of(out)
    real, c_real = TYPES[dtype.name]
    name = f"paths<{real}, {str(contract.asian).lower()}>"
    function, threads = _function(name, int(succeed(driver.cuCtxGetDevice())))
    market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    values = (address_of(out), n, *market, contract.steps, seed)
    types = (ctypes.c_void_p, ctypes.c_int, *(c_real,) * 5, ctypes.c_int, ctypes.c_uint64)
    if n:
        succeed(driver.cuLaunchKernel(function, -(-n // threads), 1, 1, threads, 1, 1, 0, 0, (values, types), 0))
    return out
