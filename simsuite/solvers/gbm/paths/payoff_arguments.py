"""What the program that adds up payoffs takes besides paths and sums: the struct of `payoff_arguments.cuh`."""

from __future__ import annotations

from typing import NamedTuple

from simsuite.solvers.structs import Array, Uint, Ulong


class Payoffs(NamedTuple):
    """What is the same for all batches. growth, coarse_growth: what 2 to the power of the noise of each asset is
    multiplied by in the end, of paths and of coarse ones, float64 (assets,). room: paths that arrays have room for.
    whole, replicates, each: which paths are of which replicate, see `numbering`. stride: limbs from the sums of a
    replicate to those of the next."""

    growth: Array
    coarse_growth: Array
    room: Ulong
    whole: Ulong
    replicates: Uint
    each: Uint
    stride: Uint
