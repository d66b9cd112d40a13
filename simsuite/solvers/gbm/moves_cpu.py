"""What a path does in a step besides a normal increment, see `moves.py`: for w paths of an asset, on the CPU."""

from __future__ import annotations

import math

from numba import float32, float64, njit

from simsuite.rng import words
from simsuite.solvers.gbm.jumps import STREAMS
from simsuite.solvers.gbm.moves_scalars import (
    after32,
    after64,
    exceeded,
    gain32,
    gain64,
    normal32,
    normal64,
    uniform,
)


@njit(cache=True, error_model="numpy")
def discretise(y, dw, own, a, c, half):
    """y += what a scheme makes of the increments own * dw."""
    if y.itemsize == 4:
        for p in range(y.shape[0]):
            y[p] += gain32(own * dw[p], a, c, half)
    else:
        for p in range(y.shape[0]):
            y[p] += gain64(own * dw[p], a, c, half)


@njit(cache=True, error_model="numpy")
def jump(y, bits, first_path, step, a, seed, antithetic, numbers, thresholds, dw):
    """y += what jumps add in a step. bits: room for the words of as many random numbers; dw: of their type."""
    w, pair = y.shape[0], 2 if antithetic else 1
    for p in range(w // pair):
        words_of = words(step, STREAMS + a, first_path // pair + p, seed)
        bits[0, p], bits[1, p], bits[2, p], bits[3, p] = words_of
    first, base, mean, deviation = numbers[a, 0], numbers[a, 1], numbers[a, 2], numbers[a, 3]
    for p in range(w // pair):
        further = exceeded(uniform(bits[0, p], bits[1, p]), thresholds, a)
        common, count = base, first
        if further > 0:
            common, count = base + further * mean, first + further
        if count > 0:
            z = float64(normal32(bits[2, p], bits[3, p])) if dw.itemsize == 4 else normal64(bits[2, p], bits[3, p])
            odd = math.sqrt(count) * deviation * z
            y[pair * p] += common + odd
            if antithetic:
                y[pair * p + 1] += common - odd
        else:
            for q in range(pair * p, pair * p + pair):
                y[q] += common


@njit(cache=True, error_model="numpy")
def pay(y, q, c):
    """Dividends in cash."""
    if y.itemsize == 4:
        for p in range(y.shape[0]):
            y[p] = after32(y[p], float32(q), float32(c))
    else:
        for p in range(y.shape[0]):
            y[p] = after64(y[p], float64(q), float64(c))
