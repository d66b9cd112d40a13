"""Points of paths, for the kernels on the CPU and Numba's on GPUs.

sharing: int64[3], (replicates, whole, each), see `sharing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit

from simsuite.scenario.gbm import GROUP

_IN_GROUP = np.int64(GROUP - 1)


@njit(error_model="numpy", cache=True)
def place(path: Any, replicates: Any, whole: Any, each: Any) -> Any:
    """(replicate, point, left): of the paths from this one on, `left` have the next points and are of its group."""
    within = int64(path) & _IN_GROUP
    if path < whole:
        group = int64(path) // int64(GROUP)
        return group % replicates, group // replicates * int64(GROUP) + within, int64(GROUP) - within
    replicate = (path - whole) // each
    j = (path - whole) - replicate * each
    return replicate, whole // replicates + j, min(each - j, int64(GROUP) - within)


@njit(error_model="numpy", cache=True)
def runs(first_path: Any, n: Any, longest: Any, sharing: Any) -> Any:
    """int64[run, (begin, end, replicate, point)]: n paths cut to runs of consecutive points of a group, not longer than
    that. begin, end: counted from the first path; point: the first."""
    replicates, whole, each = sharing[0], sharing[1], sharing[2]
    count, at = 0, 0
    while at < n:
        at += min(place(first_path + at, replicates, whole, each)[2], longest, n - at)
        count += 1
    found, at = np.empty((count, 4), np.int64), 0
    for i in range(count):
        replicate, point, left = place(first_path + at, replicates, whole, each)
        end = at + min(left, longest, n - at)
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = at, end, replicate, point
        at = end
    return found
