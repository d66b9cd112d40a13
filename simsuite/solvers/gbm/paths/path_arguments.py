"""The arguments, besides paths, of the program that steps paths: the structs of `path_arguments.cuh`.

Tables are made in `tables` and `sobol.sobol_tables`. "normal" is the precision of random numbers and prices, "state"
that of what is added up."""

from __future__ import annotations

from typing import NamedTuple

from simsuite.solvers.structs import Array, Int, Uint, Ulong


class Market(NamedTuple):
    """What steps of paths need to know of the market, and of what is kept of a path; see `tables`.

    mix: the matrix that makes independent normals into those of assets, normal (assets, assets). scale, centre, growth,
    drift: rows for steps, normal. due: which schedules have a date at the end of a step, a bit each, uint32 (blocks,
    steps of a block). bridges: variance and sharpness of the bridge of each step, normal. dividend_drops: by how much
    log2 prices fall at the ends of steps, normal. levels: a number for each functional, see `continuous`, state
    (functionals,). jumps, thresholds: sizes of jumps, and how many of them a random number stands for. cash: dividends
    in cash. policy_row, rules: of American options, see `exercise_policy`. length: the number of entries in the rows of
    steps. n_thresholds: thresholds in a row. n_steps: of the run."""

    mix: Array
    scale: Array
    centre: Array
    growth: Array
    due: Array
    bridges: Array
    dividend_drops: Array
    levels: Array
    drift: Array
    jumps: Array
    thresholds: Array
    cash: Array
    policy_row: Array
    rules: Array
    length: Int
    n_thresholds: Int
    n_steps: Int


class Points(NamedTuple):
    """Where Sobol points come from.

    opened, weights, inside: the Brownian bridge, see `brownian_bridge`. points: what the lowest five bits of an index
    and the shift of each replicate give, and direction numbers; offset: what bits beyond the lowest 32 add, see
    `sobol.arguments`. blocks: of steps. replicates, each, whole: which points are of which replicate, see
    `numbering`."""

    opened: Array
    weights: Array
    inside: Array
    points: Array
    offset: Array
    blocks: Int
    replicates: Uint
    each: Uint
    whole: Ulong
