"""Kernels that follow the growth of errors on a GPU, with one thread for each cell. See `growth`."""

from __future__ import annotations

import math

from numba import cuda


@cuda.jit(cache=True)
def grow(error, q1, q0, c, weight):
    """error += d, d = weight c (q1 - q0). Where d makes an error smaller, error / (1 - d / error) is taken instead,
    which does not change its sign."""
    x, y = cuda.grid(2)
    if x < error.shape[1] and y < error.shape[0]:
        e, d = error[y, x], weight * c[y, x] * (q1[y, x] - q0[y, x])
        error[y, x] = e * e / (e - d) if e * d < 0 else e + d


@cuda.jit(cache=True)
def shift(T, by, out):
    """out = T + by."""
    x, y = cuda.grid(2)
    if x < T.shape[1] and y < T.shape[0]:
        out[y, x] = T[y, x] + by


@cuda.jit(cache=True)
def slope(q1, q0, c, weight, zero):
    """q1 = weight c (q1 - q0) where that is positive, else 0."""
    x, y = cuda.grid(2)
    if x < q1.shape[1] and y < q1.shape[0]:
        q1[y, x] = max(weight * c[y, x] * (q1[y, x] - q0[y, x]), zero)


@cuda.jit(cache=True)
def multiply(V, rates, time):
    """V *= 1 + rates · time."""
    x, y = cuda.grid(2)
    if x < V.shape[1] and y < V.shape[0]:
        V[y, x] += V[y, x] * rates[y, x] * time


@cuda.jit(cache=True)
def weigh(smooth, error, T, before, rates, rate, time, fastest, noise, zero, one, most):
    """smooth = (min(|smooth|, |error|) - noise) · growth, where that is positive: growth by min(rates, rate) in a time,
    or by fastest / |T - before| if that is less, and in proportion to the time where it is so short that errors hardly
    grow. most: the largest exponent of e."""
    x, y = cuda.grid(2)
    if x < error.shape[1] and y < error.shape[0]:
        grows, factor = max(min(rates[y, x], rate) * time, zero), zero
        if grows > zero:
            moved = abs(T[y, x] - before[y, x])
            factor = math.exp(min(grows, most))
            if fastest < factor * moved:
                factor = max(fastest / moved, one)
        smooth[y, x] = max(min(abs(smooth[y, x]), abs(error[y, x])) - noise, zero) * factor * min(grows, one)
