"""What a step misses of a source that kinks, on the CPU: rows in parallel. See `missed_kinks`."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for


@parallel_for
def _bend(begin, end, error, q0, q1, q2, c, weight):
    for y in range(begin, end):
        for x in range(error.shape[1]):
            error[y, x] += weight * c[y, x] * ((q0[y, x] - q1[y, x]) + (q2[y, x] - q1[y, x]))


@kernel
def bend(error, q0, q1, q2, c, weight):
    """error += weight c (q0 - 2 q1 + q2)."""
    _bend(error.shape[0], (error, q0, q1, q2, c, weight))
