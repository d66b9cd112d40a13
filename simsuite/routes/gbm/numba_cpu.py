"""Monte Carlo by Numba on the CPU: a loop over paths, shared out among threads, with a loop over steps inside.

The normals are simsuite's own (`simsuite.rng`): functions of seed, path and step that vectorise, the same on every
machine and for any number of threads. With `numpy.random` inside, each thread would have a state of its own, and the
paths would depend on how many threads there are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from simsuite.rng import fill_normals32, fill_normals64
from simsuite.routes.arrays import on_host
from simsuite.routes.gbm.contract import Contract


def make(fill, per_block):
    """A function over paths whose normals `fill` makes, so many at a time."""

    @njit(parallel=True, error_model="numpy")
    def run(out, spot, strike, drift, deviation, discount, steps, asian, seed):
        for path in prange(out.size):
            z = np.empty((1, per_block), out.dtype)
            x = total = out.dtype.type(0)  # log S / spot, and the sum of S / spot
            for step in range(steps):
                if step % per_block == 0:
                    fill(z, 0, step // per_block, 0, path, seed)
                x += drift + deviation * z[0, step % per_block]
                if asian:
                    total += math.exp(x)
            price = spot * (total / out.dtype.type(steps) if asian else math.exp(x))
            out[path] = discount * max(price - strike, out.dtype.type(0))

    return run


_RUN = {"float32": make(fill_normals32, 4), "float64": make(fill_normals64, 2)}


def payoffs(contract: Contract, seed: int, out: np.ndarray) -> np.ndarray:
    """Fill `out` with the discounted payoff of a path each."""
    real = on_host(out, 1).dtype.type
    names = ("spot", "strike", "drift", "deviation", "discount")
    numbers = [real(getattr(contract, name)) for name in names]
    _RUN[out.dtype.name](out, *numbers, contract.steps, contract.asian, np.uint64(seed))
    return out
