"""Monte Carlo by arrays of CuPy: the text of NumPy on the GPU, with cuRAND's generators behind `cupy.random`.

For each step the normals are written to memory and read again, as are the logarithms: some ten passes over arrays of
the paths, which sets the pace. `Generator(Philox4x3210)` draws in one kernel; `broadcasting` could draw all steps at
once, as a matrix of steps and paths, for which the memory does not suffice for long. Paths are done four million at a
time.
"""

from __future__ import annotations

import cupy

from simsuite.routes.arrays import checked

CHUNK = 1 << 22


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = cupy.asarray(checked(out, 1))
    generator = cupy.random.Generator(cupy.random.Philox4x3210(seed))
    for begin in range(0, view.size, CHUNK):
        some = view[begin : begin + CHUNK]
        x, total = cupy.zeros_like(some), cupy.zeros_like(some)  # log S / spot, and the sum of S / spot
        for _ in range(contract.steps):
            x += contract.drift + contract.deviation * generator.standard_normal(some.size, dtype=some.dtype)
            if contract.asian:
                total += cupy.exp(x)
        price = contract.spot * (total / contract.steps if contract.asian else cupy.exp(x))
        some[:] = contract.discount * cupy.maximum(price - contract.strike, 0)
    return out
