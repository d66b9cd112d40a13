"""A source that is evaluated in every cell, on the CPU: rows in parallel. A template, see `unwritten` and `sources`."""

from __future__ import annotations

from numba import njit, prange

from simsuite.solvers.unwritten import expression

f = njit(error_model="numpy")(expression)


@njit(error_model="numpy", parallel=True, cache=True)
def source(T, times, k, dx, dy, c, base, q, power, first, numbers):
    """q = base + the expression in x, y, t, T; its sum over every row to `power`, from `first` on; none in held cells,
    where c is 0. numbers: those in the expression."""
    ny, nx = T.shape
    t = times[min(k, times.size - 1)]
    for y in prange(ny):
        total = 0.0
        for x in range(nx):
            s = f((x + 0.5) * dx, (y + 0.5) * dy, t, float(T[y, x]), numbers) if c[y, x] > 0 else 0.0
            q[y, x] = base[y, x] + s
            total += s
        power[first + y] = total
