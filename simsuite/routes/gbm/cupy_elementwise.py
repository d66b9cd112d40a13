"""Monte Carlo by CuPy's `ElementwiseKernel`, and the price with its standard error by `ReductionKernel`.

Of an elementwise kernel only the statement for one element is written; `preamble` takes functions in C++, here the text
that other roads compile, with Philox in it. A path is an element, all its steps happen in registers, and one pass is
left: the payoffs. A reduction has a statement for each element (`map`), one for two results (`reduce`), and one for the
end; CuPy makes one kernel of them, or two, and the sum never leaves the device.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path

import cupy

from simsuite.routes.arrays import checked


@functools.cache
def _paths(asian):
    return cupy.ElementwiseKernel(
        "T spot, T strike, T drift, T deviation, T discount, int32 steps, uint64 seed",
        "T out",
        f"out = Path<T, {str(asian).lower()}>(i, seed, spot, strike, drift, deviation, discount, steps).payoff",
        f"gbm_paths_{'asian' if asian else 'european'}",
        preamble=Path(__file__).with_name("paths.cu").read_text(encoding="utf-8"),
    )


@functools.cache
def _sum(square):
    return cupy.ReductionKernel(
        "T x", "float64 y", "(double)x * x" if square else "x", "a + b", "y = a", "0", "gbm_sum"
    )


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = cupy.asarray(checked(out, 1))
    numbers = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
    _paths(contract.asian)(*numbers, contract.steps, seed, view)
    return out


def price(out):
    """(price, standard error) of payoffs in an array of any library on the device."""
    view = cupy.asarray(checked(out, 1))
    total, squares, n = float(_sum(False)(view)), float(_sum(True)(view)), view.size
    return total / n, math.sqrt(max(0.0, squares / n - (total / n) ** 2) / max(1, n - 1))
