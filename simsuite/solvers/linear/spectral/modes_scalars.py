"""Powers of eigenvalues and their sums, for every device. Rows of `rates`: see `spectral.rates`."""

from __future__ import annotations

import math

from numba import float64, njit

TWO_PI = 2 * math.pi
SPLIT = 2.0**26
NOTHING = -1000.0  # whose exponential is 0, and the little that comes to it may be anything


@njit
def factors(growth, growth_rest, first, second, third, inverse, inverse_imag, steps):
    """Real and imaginary part of l^k, and of S = 1 + l + .. + l^(k-1), for an eigenvalue l and so many steps k.

    l^k = g e^(i phi), and S = (l^k - 1) / (l - 1), whose numerator is (g - 1) cos phi - 2 sin^2(phi/2) + i g sin phi.
    log g, and the turns, of which phi is 2 pi times as many, are sums whose first parts are exact products, up to 2^30
    steps; whole turns are taken away from them first.
    """
    k = float64(steps)
    high = math.floor(k / SPLIT) * SPLIT
    near, far = (k - high) * first, high * second
    turns = (near - math.floor(near)) + (far - math.floor(far)) + (k - high) * second + k * third
    turns -= math.floor(turns + 0.5)
    phi, exponent, little = TWO_PI * turns, k * growth, k * growth_rest
    if exponent < NOTHING:
        little = 0.0
    cosine, sine, half = math.cos(phi), math.sin(phi), math.sin(0.5 * phi)
    factor, more = math.exp(little), math.expm1(little)
    g, above = math.exp(exponent) * factor, math.expm1(exponent) * factor + more  # above: g - 1
    a, b = above * cosine - 2.0 * half * half, g * sine
    if inverse == 0.0 and inverse_imag == 0.0:
        return g * cosine, g * sine, k, 0.0
    return g * cosine, g * sine, a * inverse - b * inverse_imag, a * inverse_imag + b * inverse
