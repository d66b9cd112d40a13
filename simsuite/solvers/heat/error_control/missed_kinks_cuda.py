"""What a step misses of a source that kinks, on a GPU, one thread a cell. See `missed_kinks`."""

from __future__ import annotations

from numba import cuda


@cuda.jit(cache=True)
def bend(error, q0, q1, q2, c, weight):
    """error += weight c (q0 - 2 q1 + q2)."""
    x, y = cuda.grid(2)
    if x < error.shape[1] and y < error.shape[0]:
        error[y, x] += weight * c[y, x] * ((q0[y, x] - q1[y, x]) + (q2[y, x] - q1[y, x]))
