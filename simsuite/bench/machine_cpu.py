"""Kernels that measure a CPU's limits: a copy and a fill by all cores, and chains of x ← a·x + b in the registers of
each.
"""

from __future__ import annotations

from numba import njit, prange, types
from numba.extending import intrinsic

from simsuite.solvers.matmul.cpu.vectors_cpu import INDEX, MANY, VECTOR, Vectors

ELEMENTS = 1 << 18  # so few that they fit into the second caches
PER_ROUND = 256  # operations on each element in a round
LIMIT = 2.0  # the limit of every element, for a = 1/2 and b = 1
CHAINS = 16 if MANY else 8  # So many vectors hide an addition's latency.


@njit(parallel=True, cache=True)
def copy(source, target):
    for i in prange(source.size):
        target[i] = source[i]


@njit(parallel=True, cache=True)
def fill(target, value):
    for i in prange(target.size):
        target[i] = value


@njit(parallel=True, cache=True)
def chains(out, a, b, rounds):
    """Do PER_ROUND·rounds operations on each element; the number of elements must fill whole chains."""
    block = CHAINS * (VECTOR // out.itemsize)
    for t in prange(out.size // block):
        _chains(out, t * block, a, b, PER_ROUND * rounds)


@intrinsic
def _chains(typing, out, at, a, b, turns):
    """Do x ← a·x + b, `turns` times, for CHAINS vectors of numbers x from `at` on."""
    signature = types.void(out, types.intp, out.dtype, out.dtype, types.intp)

    def write(context, builder, signature, given):
        v = Vectors(builder, out.dtype)
        begin = builder.gep(context.make_array(out)(context, builder, given[0]).data, [given[1]])
        factor, term = v.all_of(given[2]), v.all_of(given[3])
        places = [v.at(begin, INDEX(c * v.lanes)) for c in range(CHAINS)]
        found = v.sums([v.load(p) for p in places], given[4], lambda _, xs: [v.fma(x, factor, term) for x in xs])
        for place, value in zip(places, found):
            v.store(value, place)
        return context.get_dummy_value()

    return signature, write
