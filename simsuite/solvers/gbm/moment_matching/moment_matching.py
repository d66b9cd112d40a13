"""Moment matching: the normals of each step are shifted and stretched until a group of paths has their moments.

Method:     over each GROUP of n = 1024 paths, by absolute number, and for each step and independent normal (one an
            asset, before they are correlated)
                z' = (z - m) / s,   m = mean of z,   s^2 = mean of (z - m)^2,
            so that the mean of z' is 0 and that of z'^2 is 1. Antithetic pairs have m = 0 already: z' = z / s.
            P. Boyle, M. Broadie and P. Glasserman, "Monte Carlo methods for security pricing", J. Economic Dynamics and
            Control 21 (1997), section 4.2; P. Glasserman, "Monte Carlo Methods in Financial Engineering" (2003),
            section 4.5.
Variance:   of the mean of f over a group, that of what is left of f by a regression on z and z^2 of all steps, but for
            terms of order 1/n^2: matching is a control variate, whose coefficients E f' and E z f' / 2 are by Stein's
            identity those of least variance for normal z, cov(f, z) and cov(f, z^2) / 2. So it is never more than that
            of independent paths.
Bias:       z' is not normal: a coordinate of a point that is uniform on a sphere of n - 1 dimensions (n / 2 for pairs),
            independent of the others of its path, with the density (1 - z^2 / (n - 1))^((n - 4) / 2) but for a factor
            and the kurtosis 3 - 6 / (n + 1) (3 - 12 / (n + 4)). E f(z') is off by the sum over steps of
                -E f''''(z) / (4 (n + 1))   (pairs: / (2 (n + 4)))
            and less: so much whatever the number of paths, as groups do not grow with it, but the less the more steps
            there are, as f'''' by one of K is as 1/K^2.
Errors:     paths of a group depend on each other, groups do not: a group is one observation, its mean
(`matched_groups.py`).

Groups are whole, so nothing depends on batches. A kernel draws the normals of some blocks of steps and leaves factors
1 / s and shifts -m / s in a table, then `advance` draws them again and takes z' = fma(z, factor, shift). The table is
made again for each stretch of blocks; long ones are cut to what has room in it, which no bit depends on.

The kernels stand in `moment_matching_cpu.py` and `moment_matching_cuda.py`, and, for programs, in `moment_matching.cu`.
make_measure(normal) makes measure(match, groups, first, draws, begin, end, seed):

- match[group, block - begin, asset, factor or shift, step of the block]: for the first `groups` groups, and blocks
  begin .. end - 1.
- first: number of the path, or of the pair, that the first of them begins with. draws: of these in a group.

Sums of z and z^2 are made in this order everywhere: by 32 lanes, of draws lane, lane + 32, ..; then halves of the lanes
are added until one is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.scenario.gbm import GROUP
from simsuite.solvers.gbm.paths.kernels.arguments import Stretch
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.statement import Statement

LANES = 32
MATCHING = Path(__file__).with_name("moment_matching.cu")
_TABLE_BYTES = 1 << 26  # a launch at least takes the steps of a block
_THREADS, _BLOCKS = 256, 8  # of a block; blocks a multiprocessor


def draws_of(statement: Statement) -> int:
    """Of a group, for each normal: antithetic pairs share theirs."""
    return GROUP // (1 + statement.antithetic)


def table_shape(statement: Statement) -> tuple[int, ...]:
    """Of `match`; a single entry stands in for what nobody reads."""
    if not statement.scenario.paths.moment_matching:
        return (1, 1, 1, 2, 1)
    groups, each = statement.batch // GROUP, (statement.n_assets, 2, statement.block)
    of_block = groups * int(np.prod(each)) * statement.normal.itemsize
    blocks = -(-statement.n_steps // statement.block)
    return (groups, min(max(_TABLE_BYTES // of_block, 1), blocks), *each)


def table_bytes(statement: Statement) -> int:
    return int(np.prod(table_shape(statement))) * statement.normal.itemsize


def stretches(begin: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """The blocks begin .. end - 1, at most so many at a time."""
    for first in range(begin, end, longest):
        yield first, min(first + longest, end)


def numba_launch(
    statement: Statement, backend: Backend, match: Any, launch: Callable[..., None]
) -> Callable[..., None]:
    """A launch of `advance` on a batch that makes the table before. match: as kernels take it."""
    kernels = backend.kernels("simsuite.solvers.gbm.moment_matching.moment_matching")
    groups, longest, n_assets = table_shape(statement)[:3]
    measure = backend.launcher(
        kernels.make_measure(statement.normal), (groups * kernels.THREADS, n_assets), (kernels.THREADS, 1)
    )
    draws = draws_of(statement)

    def matched(paths: Any, n: int, first_path: int, stretch: tuple[int, ...], *others: Any) -> None:
        whole = Stretch(*stretch)
        for first, last in stretches(whole.begin, whole.end, longest):
            measure(match, n // GROUP, first_path // GROUP * draws, draws, first, last, statement.seed)
            part = whole._replace(begin=first, end=last)
            if last < whole.end:
                part = part._replace(valid=statement.block, watched=0)
            launch(paths, n, first_path, tuple(part), *others)

    return matched


def program_macros(statement: Statement) -> dict[str, str | int]:
    return {
        "ASSETS": statement.n_assets,
        "NORMAL": C_TYPES[statement.normal],
        "DRAWS": draws_of(statement),
        "GROUP": GROUP,
        "THREADS": _THREADS,
    }


def program_measure(statement: Statement, backend: Backend, match: Any) -> Callable[[int, int, int, int], None]:
    """measure(n, first_path, begin, end), by the program."""
    program = backend.program(MATCHING, program_macros(statement))
    launch = program.launcher("measure", backend.processors * _BLOCKS, _THREADS)
    draws, longest = draws_of(statement), table_shape(statement)[1]

    def measure(n: int, first_path: int, begin: int, end: int) -> None:
        launch(
            match, np.uint32(n // GROUP), np.uint64(first_path // GROUP * draws), statement.seed, np.int32(begin),
            np.int32(end), np.int32(longest),
        )  # fmt: skip

    measure(0, 0, 0, 1)  # after which it is loaded
    return measure
