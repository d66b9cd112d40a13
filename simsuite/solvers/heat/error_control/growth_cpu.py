"""Kernels that follow the growth of errors on the CPU, with rows in parallel. See `growth`."""

from __future__ import annotations

import math

from simsuite.parallel_for import kernel, parallel_for


@parallel_for
def _grow(begin, end, error, q1, q0, c, weight):
    for y in range(begin, end):
        for x in range(error.shape[1]):
            e, d = error[y, x], weight * c[y, x] * (q1[y, x] - q0[y, x])
            error[y, x] = e * e / (e - d) if e * d < 0 else e + d


@kernel
def grow(error, q1, q0, c, weight):
    """error += d, d = weight c (q1 - q0). Where d makes an error smaller, error / (1 - d / error) is taken instead,
    which does not change its sign."""
    _grow(error.shape[0], (error, q1, q0, c, weight))


@parallel_for
def _shift(begin, end, T, by, out):
    for y in range(begin, end):
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] + by


@kernel
def shift(T, by, out):
    """out = T + by."""
    _shift(T.shape[0], (T, by, out))


@parallel_for
def _slope(begin, end, q1, q0, c, weight, zero):
    for y in range(begin, end):
        for x in range(q1.shape[1]):
            q1[y, x] = max(weight * c[y, x] * (q1[y, x] - q0[y, x]), zero)


@kernel
def slope(q1, q0, c, weight, zero):
    """q1 = weight c (q1 - q0) where that is positive, else 0."""
    _slope(q1.shape[0], (q1, q0, c, weight, zero))


@parallel_for
def _multiply(begin, end, V, rates, time):
    for y in range(begin, end):
        for x in range(V.shape[1]):
            V[y, x] += V[y, x] * rates[y, x] * time


@kernel
def multiply(V, rates, time):
    """V *= 1 + rates · time."""
    _multiply(V.shape[0], (V, rates, time))


@parallel_for
def _weigh(begin, end, smooth, error, T, before, rates, limits):
    rate, time, fastest, noise, zero, one, most = limits
    for y in range(begin, end):
        for x in range(error.shape[1]):
            grows, factor = max(min(rates[y, x], rate) * time, zero), zero
            if grows > zero:
                moved = abs(T[y, x] - before[y, x])
                factor = math.exp(min(grows, most))
                if fastest < factor * moved:
                    factor = max(fastest / moved, one)
            smooth[y, x] = max(min(abs(smooth[y, x]), abs(error[y, x])) - noise, zero) * factor * min(grows, one)


@kernel
def weigh(smooth, error, T, before, rates, rate, time, fastest, noise, zero, one, most):
    """smooth = (min(|smooth|, |error|) - noise) · growth, where that is positive: growth by min(rates, rate) in a time,
    or by fastest / |T - before| if that is less, and in proportion to the time where it is so short that errors hardly
    grow. most: the largest exponent of e."""
    _weigh(error.shape[0], (smooth, error, T, before, rates, (rate, time, fastest, noise, zero, one, most)))
