"""Nodes and weights for integrals against normal laws.

Between two dates the log-price moves by a normal step of standard deviation s, so the functions that a recursion over
dates integrates are analytic and vary on the scale s. Gauss-Legendre rules with n nodes resolve wave numbers up to 4 n
/ width; the spectrum of a product of two functions that were both smoothed by such a step falls like exp(-k^2 s^2 / 4).
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from simsuite.libraries import special

Vector = NDArray[np.float64]
TAIL = 8.5  # deviations up to which normal laws are followed: a probability of 1e-17 lies beyond
NODES = 3.0  # nodes for each s of the width, so that exp(-k^2 s^2 / 4) = 2e-16 at the last wave number that is resolved


@functools.lru_cache(maxsize=64)
def _legendre(n: int) -> tuple[Vector, Vector]:
    """Nodes of the Gauss-Legendre rule as 1 - cos(theta), theta rising to pi, and the weights; n is even.

    Relative errors of the weights near the ends are 1e-14, as elsewhere; those of NumPy and SciPy are 5e-10 at n = 400,
    and recursions up to a barrier depend on them. Newton's method in theta starts from Tricomi's approximation, with
    Legendre's recursion in differences, which is well conditioned near the end.
    """
    theta = math.pi * (np.arange(1, n // 2 + 1) - 0.25) / (n + 0.5)
    for _ in range(4):
        y = 2 * np.sin(theta / 2) ** 2
        p, before, change = np.ones_like(y), np.ones_like(y), np.zeros_like(y)
        for k in range(n):
            change = (k * change - (2 * k + 1) * y * p) / (k + 1)
            p, before = p + change, p
        slope = -n * (before - (1 - y) * p) / np.sin(theta)
        theta -= p / slope
    y, w = 2 * np.sin(theta / 2) ** 2, 2 / slope**2
    return np.concatenate([y, 2 - y[::-1]]), np.concatenate([w, w[::-1]])


def gauss_legendre(low: float, high: float, n: int) -> tuple[Vector, Vector]:
    """Nodes and weights for the integral over [low, high], n rounded up to an even number."""
    y, w = _legendre(n + n % 2)
    half = (high - low) / 2
    return low + half * y, half * w


def gauss_normal(n: int) -> tuple[Vector, Vector]:
    """Nodes and weights for the expectation over a standard normal variable, for smooth functions."""
    x, w = special.roots_hermitenorm(n)
    return x, w / w.sum()


def resolving(low: float, high: float, deviation: float) -> tuple[Vector, Vector]:
    """Gauss-Legendre nodes and weights for functions that were smoothed by a normal step of this deviation."""
    return gauss_legendre(low, high, math.ceil(NODES * (high - low) / deviation) + 24)


def steps_between(start: Vector, stop: Vector, mean: float, deviation: float) -> Vector:
    """The density of a normal step from each of `start` (rows) to each of `stop` (columns)."""
    z = (stop[None, :] - start[:, None] - mean) / deviation
    return np.exp(-z * z / 2) / (deviation * math.sqrt(2 * math.pi))
