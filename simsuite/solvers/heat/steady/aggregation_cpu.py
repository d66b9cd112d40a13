"""The algorithm that collects strongly connected unknowns in aggregates. See `multigrid`."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def aggregate(indptr, indices):
    """(number of the aggregate of each unknown, how many there are), from the pattern of a sparse matrix by rows."""
    n = indptr.size - 1
    own = np.full(n, -1, np.int64)
    count = 0
    # First whole neighbourhoods become aggregates; unknowns that are left over join one of these; the rest form their
    # own.
    for i in range(n):
        alone = True
        for p in range(indptr[i], indptr[i + 1]):
            if own[indices[p]] >= 0:
                alone = False
        if alone:
            for p in range(indptr[i], indptr[i + 1]):
                own[indices[p]] = count
            own[i] = count
            count += 1
    first = count
    joined = own.copy()
    for i in range(n):
        if own[i] < 0:
            for p in range(indptr[i], indptr[i + 1]):
                if 0 <= own[indices[p]] < first:
                    joined[i] = own[indices[p]]
    for i in range(n):
        if joined[i] < 0:
            joined[i] = count
            for p in range(indptr[i], indptr[i + 1]):
                if joined[indices[p]] < 0:
                    joined[indices[p]] = count
            count += 1
    return joined, count
