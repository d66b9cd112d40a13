"""What tells a CPU's limits: a copy by all cores, and chains of x ← a·x + b on blocks that stay in the first cache."""

from __future__ import annotations

from numba import njit, prange

BLOCK = 256
PER_ROUND = 16  # operations on each element, for one load and one store
LIMIT = 2.0  # of every element, for a = 1/2 and b = 1


@njit(parallel=True, cache=True)
def copy(source, target):
    for i in prange(source.size):
        target[i] = source[i]


@njit(parallel=True, cache=True, fastmath={"contract"})
def chains(out, a, b, rounds):
    """PER_ROUND·rounds operations on each of a multiple of BLOCK elements."""
    for block in prange(out.size // BLOCK):
        v = out[block * BLOCK : (block + 1) * BLOCK]
        for _ in range(rounds):
            for j in range(BLOCK):
                x = v[j]
                for _ in range(PER_ROUND):
                    x = x * a + b
                v[j] = x
