"""The points of paths, for the kernels on the CPU and for Numba's kernels on GPUs.

numbering: int64[3], (replicates, whole, each), see `numbering.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import int64, njit

from simsuite.scenario.gbm import GROUP

_IN_GROUP = np.int64(GROUP - 1)


@njit(error_model="numpy", cache=True)
def point_of(path: Any, replicates: Any, whole: Any, each: Any) -> Any:
    """(replicate, point, left) of a path: `left` paths, this one included, have consecutive points and are of its
    group."""
    within = int64(path) & _IN_GROUP
    if path < whole:
        group = int64(path) // int64(GROUP)
        return group % replicates, group // replicates * int64(GROUP) + within, int64(GROUP) - within
    replicate = (path - whole) // each
    j = (path - whole) - replicate * each
    return replicate, whole // replicates + j, min(each - j, int64(GROUP) - within)


def runs(first_path: int, n: int, longest: int, numbering: Sequence[int]) -> np.ndarray:
    """int64[run, (begin, end, replicate, point)]: n paths, cut into runs of consecutive points of a group, no run
    longer than `longest`. begin, end: counted from the first path; point: that of the run's first path."""
    replicates, whole, each = map(int, numbering)
    cuts = [np.arange(min(n, 1)), np.arange(GROUP - first_path % GROUP, n, GROUP)]
    if whole - first_path < n and each > 0:
        shares = whole - first_path + each * np.arange(replicates)
        cuts.append(shares[(shares > 0) & (shares < n)])
    begin = np.unique(np.concatenate(cuts))
    parts = -(-np.diff(begin, append=n) // longest)
    # the number of each part within the run that it was cut from
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    begin = np.repeat(begin, parts) + longest * number
    path = first_path + begin
    group, j, rest = path // GROUP, path % GROUP, path - whole
    replicate = np.where(rest < 0, group % replicates, rest // max(each, 1))
    point = np.where(rest < 0, group // replicates * GROUP + j, whole // replicates + rest % max(each, 1))
    return np.stack([begin, np.append(begin[1:], n)[: len(begin)], replicate, point], axis=1)
