"""Process noise on a GPU: a thread draws a pair of components of one state. `noise.py` explains the arguments."""

from __future__ import annotations

from numba import cuda

from simsuite.rng import direction64, radius64, words


@cuda.jit(cache=True)
def mark(begin, step):
    begin[0] = step


@cuda.jit(cache=True)
def fill(X, first, begin, k, seed, column):
    """Write the noise w of step begin[0] + k to X[first:]."""
    j, i = cuda.grid(2)
    row = first + 2 * i
    if j < X.shape[1] and row < X.shape[0]:
        w0, w1, w2, w3 = words(begin[0] + k, i, column + j, seed)
        r = radius64(w0, w1)
        x, y = direction64(w2, w3)
        X[row, j] = r * x
        if row + 1 < X.shape[0]:
            X[row + 1, j] = r * y
