"""Kernels for the coordinates of modes, on the CPU."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.linear.spectral.modes_scalars import factors
from simsuite.solvers.linear.spectral.rates import (
    FIRST,
    GROWTH,
    GROWTH_REST,
    INPUT,
    INVERSE,
    INVERSE_IMAG,
    SECOND,
    SIGN,
    THIRD,
)


@kernel
def weigh(rates, steps, out):
    """Compute the weights out (3, n) for so many steps: with its rows w, v, s, coordinate i becomes w z_i + v z_j + s,
    where j is the other one of its pair. `spectral.rates` explains the rows of `rates`.
    """
    for i in range(out.shape[1]):
        sign, other = rates[SIGN, i], i + int(rates[SIGN, i])
        real, imag, s, t = factors(
            rates[GROWTH, i],
            rates[GROWTH_REST, i],
            rates[FIRST, i],
            rates[SECOND, i],
            rates[THIRD, i],
            rates[INVERSE, i],
            rates[INVERSE_IMAG, i],
            steps,
        )
        out[0, i], out[1, i] = real, sign * imag
        out[2, i] = s * rates[INPUT, i] + sign * t * rates[INPUT, other]


@parallel_for
def _move(begin, end, rates, weight, start, out):
    for i in range(begin, end):
        other = i + int(rates[SIGN, i])
        for j in range(out.shape[1]):
            out[i, j] = weight[0, i] * start[i, j] + weight[1, i] * start[other, j] + weight[2, i]


@kernel
def move(rates, weight, start, out):
    """Compute the coordinates `out` (n, m) from those at the start and their weights, in the precision of `out`."""
    _move(out.shape[0], (rates, weight, start, out))
