"""The arguments, besides paths and sums, of the program that adds up payoffs: the struct of `payoff_arguments.cuh`."""

from __future__ import annotations

from typing import NamedTuple

from simsuite.solvers.structs import Array, Uint, Ulong


class Payoffs(NamedTuple):
    """The arguments that are the same for all batches. growth, coarse_growth: factors of 2 to the power of the noise of
    each asset in the end, for paths and for coarse paths, float64 (assets,). room: the number of paths that arrays have
    room for. whole, replicates, each: which paths are of which replicate, see `numbering`. stride: the number of limbs
    from the sums of a replicate to those of the next."""

    growth: Array
    coarse_growth: Array
    room: Ulong
    whole: Ulong
    replicates: Uint
    each: Uint
    stride: Uint
