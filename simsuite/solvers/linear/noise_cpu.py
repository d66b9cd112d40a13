"""Process noise on the CPU. Arguments: see `noise.py`. The innermost loops run along states, vectorised."""

from __future__ import annotations

from numba import njit, prange

from simsuite.rng import direction64, radius64, words

_TASK = 1024  # states for which a core draws at a time
_SERIAL = 32768  # up to so many pairs in all, waking the other cores takes longer


@njit(cache=True)
def mark(begin, step):
    begin[0] = step


@njit(error_model="numpy", cache=True)
def _pair(x, y, step, i, j, seed):
    """Components 2i and 2i + 1 of the states from j on."""
    for k in range(len(x)):
        w0, w1, w2, w3 = words(step, i, j + k, seed)
        r = radius64(w0, w1)
        cosine, sine = direction64(w2, w3)
        x[k] = r * cosine
        y[k] = r * sine


@njit(error_model="numpy", cache=True)
def _single(x, step, i, j, seed):
    """Component 2i, where there is no other."""
    for k in range(len(x)):
        w0, w1, w2, w3 = words(step, i, j + k, seed)
        x[k] = radius64(w0, w1) * direction64(w2, w3)[0]


@njit(error_model="numpy", cache=True)
def _draw(X, row, step, i, j, seed):
    end = min(j + _TASK, X.shape[1])
    if row + 1 < X.shape[0]:
        _pair(X[row, j:end], X[row + 1, j:end], step, i, j, seed)
    else:
        _single(X[row, j:end], step, i, j, seed)


@njit(error_model="numpy", parallel=True, cache=True)
def _parallel(X, first, step, seed, pairs, tasks):
    for number in prange(pairs * tasks):
        i = number // tasks
        _draw(X, first + 2 * i, step, i, number % tasks * _TASK, seed)


@njit(error_model="numpy", cache=True)
def fill(X, first, begin, k, seed):
    """X[first:] = w of step begin[0] + k."""
    step, pairs, tasks = begin[0] + k, (X.shape[0] - first + 1) // 2, -(-X.shape[1] // _TASK)
    if pairs * X.shape[1] > _SERIAL:
        _parallel(X, first, step, seed, pairs, tasks)
    else:
        for i in range(pairs):
            for task in range(tasks):
                _draw(X, first + 2 * i, step, i, task * _TASK, seed)
