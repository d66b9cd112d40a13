"""Answers to heat problems from Fourier series and closed forms, written down from the books; no code of simsuite.

H. S. Carslaw, J. C. Jaeger, Conduction of Heat in Solids, 2nd ed., Oxford 1959 (CJ). All series converge exponentially
where they are used; the number of terms is far beyond need.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfc

TERMS = 200


def slab(x: float, t: float, length: float = 1.0, diffusivity: float = 1.0) -> float:
    """Slab from 0 to `length`, 1 at the start, both faces at 0 from then on (CJ 3.3 (8))."""
    m = np.arange(TERMS) * 2 + 1
    decay = np.exp(-diffusivity * (m * math.pi / length) ** 2 * t)
    return float(np.sum(4 / (m * math.pi) * np.sin(m * math.pi * x / length) * decay))


def cooled_square(x: float, y: float, t: float) -> float:
    """Unit square, 1 at the start, its edges at 0: the product of two slabs (CJ 5.6)."""
    return slab(x, t) * slab(y, t)


def shocked_slab(x: float, t: float) -> float:
    """code_aster TTLL01: slab |x| < 1 m at 0, both faces at 100 from the start on; diffusivity 1."""
    return 100.0 * (1.0 - slab(x + 1.0, t, 2.0))


def driven_bar(x: float, t: float, length: float, diffusivity: float, omega: float) -> float:
    """Bar at 0, one end kept there, the other at 100 sin(ωt): the transient part by Duhamel's integral (CJ 3.5).

    The stationary part x/L·100 sin(ωt) is split off, and mode n then driven by its rate of change.
    """
    n = np.arange(1, 2000)
    rate = diffusivity * (n * math.pi / length) ** 2
    weight = 2.0 * (-1.0) ** n / (n * math.pi)  # of x/L, with the sign that makes the driving term
    memory = rate * np.cos(omega * t) + omega * np.sin(omega * t) - rate * np.exp(-rate * t)
    modes = weight * omega * memory / (rate**2 + omega**2) * np.sin(n * math.pi * x / length)
    return 100.0 * (x / length * math.sin(omega * t) + float(np.sum(modes)))


def wall_roots(biot: float, n: int) -> np.ndarray:
    """The first n roots of ζ tan ζ = Bi."""
    return np.array(
        [brentq(lambda z: z * math.sin(z) - biot * math.cos(z), k * math.pi, (k + 0.5) * math.pi) for k in range(n)]
    )


def wall_coefficients(roots: np.ndarray) -> np.ndarray:
    """C of the plane wall that starts at 1: 4 sin ζ / (2ζ + sin 2ζ)."""
    return 4.0 * np.sin(roots) / (2.0 * roots + np.sin(2.0 * roots))


def plane_wall(x: float, fourier: float, biot: float) -> float:
    """Wall |x| < 1 that starts at 1 and is cooled by convection to 0 (CJ 3.11; Incropera, equation 5.42)."""
    zeta = wall_roots(biot, 60)
    return float(np.sum(wall_coefficients(zeta) * np.exp(-(zeta**2) * fourier) * np.cos(zeta * x)))


def half_space_flux(x: float, t: float, flux: float, k: float, diffusivity: float) -> float:
    """Rise of a half-space that a constant flux heats (CJ 2.9 (7))."""
    s = math.sqrt(diffusivity * t)
    gaussian = 2.0 * flux * s / (k * math.sqrt(math.pi)) * math.exp(-((x / (2 * s)) ** 2))
    return float(gaussian - flux * x / k * erfc(x / (2 * s)))


def half_space_step(x: float, t: float, diffusivity: float) -> float:
    """Rise of a half-space whose surface is at 1 from the start on (CJ 2.4)."""
    return float(erfc(x / (2.0 * math.sqrt(diffusivity * t))))


def heated_square(x: float, y: float) -> float:
    """-∇²T = 1 in the unit square, 0 at its edges: the parabola and what it is corrected by (CJ 5.4, steady)."""
    n = np.arange(TERMS) * 2 + 1
    a = n * math.pi
    ratio = (np.exp(a * (y - 1)) + np.exp(-a * y)) / (1.0 + np.exp(-a))  # cosh(a(y - 1/2)) / cosh(a/2)
    return x * (1 - x) / 2 - float(np.sum(4 / a**3 * np.sin(a * x) * ratio))


def hot_side(x: float, y: float) -> float:
    """Laplace in the unit square, 1 at the top and 0 at the other edges (CJ 5.2); y < 1."""
    n = np.arange(TERMS) * 2 + 1
    a = n * math.pi
    ratio = (np.exp(a * (y - 1)) - np.exp(-a * (y + 1))) / (1.0 - np.exp(-2 * a))  # sinh(ay) / sinh(a)
    return float(np.sum(4 / a * np.sin(a * x) * ratio))


def nafems_t4(x: float, y: float) -> float:
    """0.6 m × 1 m, k = 52: bottom at 100, left insulated, right and top with h = 750 to 0; y > 0."""
    a, b, k, h = 0.6, 1.0, 52.0, 750.0
    s = wall_roots(h * a / k, 150) / a
    c = 100.0 * wall_coefficients(s * a)
    up, over = np.exp(-s * y), np.exp(-s * (2 * b - y))
    profile = ((s * k + h) * up + (s * k - h) * over) / ((s * k + h) + (s * k - h) * np.exp(-2 * s * b))
    return float(np.sum(c * np.cos(s * x) * profile))


def radiating_end(T0: float, ambient: float, k: float, length: float, emissivity: float, sigma: float) -> float:
    """Temperature of the end of a bar that radiates, the other end being at T0: k (T0 - T)/L = εσ (T⁴ - a⁴)."""

    def excess(T: float) -> float:
        return k * (T0 - T) / length - emissivity * sigma * (T**4 - ambient**4)

    return float(brentq(excess, ambient, T0, xtol=1e-12))


def linear_conductivity(x: float, k: float, slope: float, source: float, length: float) -> float:
    """k(1 + βT): insulated at 0, at 0 K at the end, heated evenly (V. S. Arpaci, Conduction Heat Transfer, 1966)."""
    return (math.sqrt(1 + slope * source * (length**2 - x**2) / k) - 1) / slope


def moving_spot(
    x: float, y: float, t: float, path: Callable[[float], float], width: float, power: float, diffusivity: float
) -> float:
    """Rise of an infinite plate over which a Gaussian source of standard deviation `width` moves along y = 0.

    power: W per m of depth over ρc. The sum of all it left behind, each by then as wide as σ² + 2αs (CJ 10.3).
    """

    def left_behind(s: float) -> float:
        variance = width**2 + 2 * diffusivity * (t - s)
        r2 = (x - path(s)) ** 2 + y**2
        return power / (2 * math.pi * variance) * math.exp(-r2 / (2 * variance))

    value, _ = quad(left_behind, 0.0, t, epsabs=1e-13, epsrel=1e-12, limit=400, points=[0.9 * t, 0.99 * t])
    return float(value)
