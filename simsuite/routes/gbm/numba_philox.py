"""Monte Carlo by Numba on the GPU with counter-based random numbers: no state, four normals from one counter.

Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11) turns the counter
(block of steps, 0, path) and the key (seed) into four words by ten rounds of two products of 32 x 32 bits; Box and
Muller's formula makes normals of them. Nothing is kept in memory between steps, so arithmetic is the limit. What makes
it fast: `fastmath`, by which logarithm, root, sine and cosine are one instruction each of the special function unit;
`uint32(..)` around every word, since Numba makes uint64 of two uint32; no branch in the loop over blocks of four steps;
and sums of logarithms, so that an exponential is taken only where a price is needed.
"""

import functools
import math

from numba import cuda, float32, float64, int32, uint32, uint64

from simsuite.routes.arrays import as_numba


@cuda.jit(device=True, inline="always")
def philox(block, path, seed):
    c0, c1, c2, c3 = uint32(block), uint32(0), uint32(path), uint32(path >> 32)
    k0, k1 = uint32(seed), uint32(seed >> uint64(32))
    for _ in range(10):
        a, b = uint64(c0) * uint64(0xD2511F53), uint64(c2) * uint64(0xCD9E8D57)
        c0, c1 = uint32(uint32(b >> uint64(32)) ^ c1 ^ k0), uint32(b)
        c2, c3 = uint32(uint32(a >> uint64(32)) ^ c3 ^ k1), uint32(a)
        k0, k1 = uint32(uint64(k0) + uint64(0x9E3779B9)), uint32(uint64(k1) + uint64(0xBB67AE85))
    return c0, c1, c2, c3


@cuda.jit(device=True, inline="always")
def normals(first, second):
    """Two standard normals from two words: radius from the first, angle from the second."""
    u = float32(first) * float32(2.0**-32) + float32(2.0**-33)
    radius = math.sqrt(float32(-2) * math.log(u))
    angle = float32(int32(second)) * float32(math.pi * 2.0**-31)
    return radius * math.cos(angle), radius * math.sin(angle)


@functools.cache
def make_kernel(real, asian):
    """The kernel for payoffs of type `real`, one of Numba's: of the mean price if `asian`, else of the last one."""

    @cuda.jit(fastmath=True)
    def kernel(payoffs, spot, strike, drift, deviation, discount, steps, seed):
        path = cuda.grid(1)
        if path < payoffs.size:
            x = total = real(0)  # log S / spot, and the sum of S / spot
            for block in range(steps // 4):
                w0, w1, w2, w3 = philox(block, path, seed)
                for z in normals(w0, w1) + normals(w2, w3):
                    x += drift + deviation * z
                    if asian:
                        total += math.exp(x)
            w0, w1, w2, w3 = philox(steps // 4, path, seed)
            z = normals(w0, w1) + normals(w2, w3)
            for j in range(steps % 4):
                x += drift + deviation * z[j]
                if asian:
                    total += math.exp(x)
            price = spot * total / real(steps) if asian else spot * math.exp(x)
            payoffs[path] = discount * max(price - strike, real(0))

    return kernel


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = as_numba(out, 1)
    kernel = make_kernel(float32 if view.dtype.itemsize == 4 else float64, contract.asian)
    names = ("spot", "strike", "drift", "deviation", "discount")
    numbers = [view.dtype.type(getattr(contract, name)) for name in names]
    kernel[-(-view.size // 128), 128](view, *numbers, contract.steps, uint64(seed))
    return out
