"""Powers of eigenvalues and their sums, in functions for every device. `spectral.rates` explains the arguments."""

from __future__ import annotations

import math

from numba import float64, njit

TWO_PI = 2 * math.pi
SPLIT = 2.0**26
# The exponential of anything below is 0, and the small terms that would be added to it do not matter.
NOTHING = -1000.0


@njit
def factors(growth, growth_rest, first, second, third, inverse, inverse_imag, steps):
    """The real and imaginary part of l^k, and of S = 1 + l + .. + l^(k-1), for an eigenvalue l and k = `steps`.

    l^k = g e^(i phi), and S = (l^k - 1) / (l - 1), whose numerator is (g - 1) cos phi - 2 sin^2(phi/2) + i g sin phi.
    log g, and the number of turns phi / (2 pi), are sums whose first parts are exact products, up to 2^30 steps; whole
    turns are subtracted first.
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
    g, above = math.exp(exponent) * factor, math.expm1(exponent) * factor + more  # `above` is g - 1
    a, b = above * cosine - 2.0 * half * half, g * sine
    if inverse == 0.0 and inverse_imag == 0.0:
        return g * cosine, g * sine, k, 0.0
    return g * cosine, g * sine, a * inverse - b * inverse_imag, a * inverse_imag + b * inverse
