"""Process noise on the CPU. `noise.py` explains the arguments. The innermost loops run along states, vectorised."""

from __future__ import annotations

from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.rng import direction64, radius64, words

_TASK = 1024  # A core draws the numbers of so many states at a time.
_SERIAL = 32768  # Up to so many pairs are drawn by one core: waking the other cores would take longer.


@kernel
def mark(begin, step):
    begin[0] = step


@part
def _pair(x, y, step, i, j, seed):
    """Draw components 2i and 2i + 1 of the states from j on."""
    for k in range(len(x)):
        w0, w1, w2, w3 = words(step, i, j + k, seed)
        r = radius64(w0, w1)
        cosine, sine = direction64(w2, w3)
        x[k] = r * cosine
        y[k] = r * sine


@part
def _single(x, step, i, j, seed):
    """Draw component 2i where it is the last one, without another to pair it with."""
    for k in range(len(x)):
        w0, w1, w2, w3 = words(step, i, j + k, seed)
        x[k] = radius64(w0, w1) * direction64(w2, w3)[0]


@part
def _draw(X, row, step, i, j, seed, column):
    end = min(j + _TASK, X.shape[1])
    if row + 1 < X.shape[0]:
        _pair(X[row, j:end], X[row + 1, j:end], step, i, column + j, seed)
    else:
        _single(X[row, j:end], step, i, column + j, seed)


@parallel_for
def _draw_tasks(begin, end, X, first, step, seed, column, tasks):
    for number in range(begin, end):
        i = number // tasks
        _draw(X, first + 2 * i, step, i, number % tasks * _TASK, seed, column)


@kernel
def fill(X, first, begin, k, seed, column):
    """Write the noise w of step begin[0] + k to X[first:]."""
    step, pairs, tasks = begin[0] + k, (X.shape[0] - first + 1) // 2, -(-X.shape[1] // _TASK)
    most = pairs * tasks if pairs * X.shape[1] > _SERIAL else 1
    _draw_tasks(pairs * tasks, (X, first, step, seed, column, tasks), most)
