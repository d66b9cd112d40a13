"""Kernels for the coordinates of modes, on a GPU. `modes_cpu` explains the arguments."""

from __future__ import annotations

from numba import cuda

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


@cuda.jit(cache=True)
def weigh(rates, steps, out):
    i = cuda.grid(1)
    if i < out.shape[1]:
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


@cuda.jit(cache=True)
def move(rates, weight, start, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        other = i + int(rates[SIGN, i])
        out[i, j] = weight[0, i] * start[i, j] + weight[1, i] * start[other, j] + weight[2, i]
