"""Monte Carlo by Numba on the GPU with Numba's own generator, as its documentation has it.

xoroshiro128+ keeps 16 bytes of state a thread in global memory. The states of many threads are made on the host, one
after the other by jumps of 2^64 numbers: seconds for millions, longer than the paths take, so that fewer threads than
paths are started, each with paths one after the other. Which numbers a path gets depends on the number of threads.
Numba's `xoroshiro128p_normal_float32` makes two uniform numbers into one normal and drops the other that Box and
Muller's formula has for them; taking both here leaves half the work. `xoroshiro128p_uniform_float32` goes by float64.
"""

from __future__ import annotations

import functools
import math

from numba import cuda, float32, float64
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32, xoroshiro128p_uniform_float64

from simsuite.routes.arrays import as_numba

THREADS, MOST = 128, 1 << 18  # of a block, and in all


@functools.cache
def make_kernel(real, asian):
    """The kernel for payoffs of type `real`, one of Numba's: of the mean price if `asian`, else of the last one."""
    uniform = xoroshiro128p_uniform_float32 if real == float32 else xoroshiro128p_uniform_float64

    @cuda.jit(device=True, inline="always")
    def normals(states, thread):
        radius = math.sqrt(real(-2) * math.log(uniform(states, thread)))
        angle = real(2 * math.pi) * uniform(states, thread)
        return radius * math.cos(angle), radius * math.sin(angle)

    @cuda.jit(fastmath=True)
    def kernel(states, payoffs, spot, strike, drift, deviation, discount, steps):
        thread = path = cuda.grid(1)
        while path < payoffs.size:  # a `range` whose step is not known beforehand makes the kernel a tenth slower
            x = total = real(0)  # log S / spot, and the sum of S / spot
            for _ in range(steps // 2):
                for z in normals(states, thread):
                    x += drift + deviation * z
                    if asian:
                        total += math.exp(x)
            if steps % 2:
                x += drift + deviation * normals(states, thread)[0]
                if asian:
                    total += math.exp(x)
            price = spot * total / real(steps) if asian else spot * math.exp(x)
            payoffs[path] = discount * max(price - strike, real(0))
            path += cuda.gridsize(1)

    return kernel


@functools.lru_cache(2)
def _states(threads, seed):
    """The first states of so many threads, and an array for those that follow: draws change them."""
    first = create_xoroshiro128p_states(threads, seed=seed)
    return first, cuda.device_array_like(first)


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = as_numba(out, 1)
    kernel = make_kernel(float32 if view.dtype.itemsize == 4 else float64, contract.asian)
    blocks = min(-(-view.size // THREADS), MOST // THREADS)
    names = ("spot", "strike", "drift", "deviation", "discount")
    numbers = [view.dtype.type(getattr(contract, name)) for name in names]
    first, states = _states(blocks * THREADS, seed)
    states.copy_to_device(first)  # so that the same seed gives the same paths again
    kernel[blocks, THREADS](states, view, *numbers, contract.steps)
    return out
