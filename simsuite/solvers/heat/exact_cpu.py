"""Kernels of the exact stepper on the CPU, in float64 whatever the precision of the run. See `exact`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.solvers.heat.fast import fast_transform

__all__ = ["add", "book", "deviation", "fast_transform", "propagate", "working_precision"]


def working_precision(dtype: Any) -> np.dtype:
    """Of the arithmetic, in a run of precision `dtype`."""
    return np.dtype(np.float64)


@njit(parallel=True, cache=True)
def deviation(T, level, out):
    """out = T - level"""
    for y in prange(T.shape[0]):
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] - level


@njit(parallel=True, cache=True)
def add(change, T):
    """T += change"""
    for y in prange(T.shape[0]):
        for x in range(T.shape[1]):
            T[y, x] += change[y, x]


@njit(cache=True)
def _phi2(z, phi1, one, terms):
    """φ₂(-z) = (1 - φ₁(-z)) / z, by its series 1/2! - z/3! + z²/4! - .. where that would cancel."""
    if z + z > one:
        return (one - phi1) / z
    p, m = one, terms
    while m > one + one:
        p = one - p * z / m
        m -= one
    return p / (one + one)


@njit(parallel=True, cache=True)
def propagate(modes, source, rate_x, rate_y, dt, one, terms, integral):
    """Replaces modes by their change in dt; integral: of the modes over dt."""
    for y in prange(modes.shape[0]):
        for x in range(modes.shape[1]):
            rate = rate_x[x] + rate_y[y]
            z = rate * dt
            phi1 = -math.expm1(-z) / z if z > one - one else one
            a, s = modes[y, x], source[y, x]
            integral[y, x] = dt * (phi1 * a + dt * (_phi2(z, phi1, one, terms) * s))
            modes[y, x] = dt * (phi1 * (s - rate * a))


@njit(cache=True)
def book(at_sides, at_ends, edges, gx, gy, dt, ledger):
    """ledger += g (γ dt - β ∫T dt) at all edge points. at_sides (ny, 2), at_ends (2, nx): the integrals in the cells at
    left and right, at bottom and top; edges (2, points): β, γ; gx, gy: conductances of the edges, W/(m³ K)."""
    ny, nx = at_sides.shape[0], at_ends.shape[1]
    for side in range(2):
        for y in range(ny):
            p = side * ny + y
            ledger[p] += gx * (edges[1, p] * dt - edges[0, p] * at_sides[y, side])
        for x in range(nx):
            p = 2 * ny + side * nx + x
            ledger[p] += gy * (edges[1, p] * dt - edges[0, p] * at_ends[side, x])
