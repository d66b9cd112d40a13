"""What a path does in a step besides a normal increment, see `step_terms.py`: for chunks of paths of an asset, on the
CPU.

The first w paths of y[asset, path] are moved. single: the precision of y, or of normals in `jump`, see
`normals_cpu.py`.
"""

from __future__ import annotations

import math

from numba import float32, float64

from simsuite.parallel_for import procedure
from simsuite.solvers.gbm.market.jumps import STREAMS
from simsuite.solvers.gbm.paths.kernels.step_terms_scalars import (
    after32,
    after64,
    exceeded,
    gain32,
    gain64,
    normal32,
    normal64,
    uniform,
)
from simsuite.solvers.gbm.random_numbers.normals_cpu import fill_words


@procedure
def discretise(y, a, w, dw, own, drift, column, half, single):
    """Adds to y what a scheme makes of the increments own * dw."""
    growth, centre = drift[a, column], drift[y.shape[0] + a, column]
    if single is None:
        for p in range(w):
            y[a, p] += gain64(own * dw[p], growth, centre, half)
    else:
        for p in range(w):
            y[a, p] += gain32(own * dw[p], growth, centre, half)


@procedure
def jump(jumps, y, a, w, bits, first_path, step, seed, antithetic, single):
    """Adds to y what jumps add in a step. jumps: (which assets jump, numbers, thresholds). bits: work space for the
    words of as many random numbers."""
    jumping, numbers, thresholds = jumps
    if jumping[a]:
        pair = 2 if antithetic else 1
        fill_words(bits, w // pair, first_path // pair, step, STREAMS + a, seed)
        first, base, mean, deviation = numbers[a, 0], numbers[a, 1], numbers[a, 2], numbers[a, 3]
        for p in range(w // pair):
            further = exceeded(uniform(bits[0, p], bits[1, p]), thresholds, a)
            common, count = base, first
            if further > 0:
                common, count = base + further * mean, first + further
            if count > 0:
                z = normal64(bits[2, p], bits[3, p]) if single is None else float64(normal32(bits[2, p], bits[3, p]))
                odd = math.sqrt(count) * deviation * z
                y[a, pair * p] += common + odd
                if antithetic:
                    y[a, pair * p + 1] += common - odd
            else:
                for q in range(pair * p, pair * p + pair):
                    y[a, q] += common


@procedure
def pay(cash, y, a, w, step, single):
    """Pays dividends in cash after a step. cash: (which assets pay such dividends, amounts, and below them centres)."""
    paying, amounts = cash
    if paying[a] and amounts[a, step] > 0:
        amount, centre = amounts[a, step], amounts[y.shape[0] + a, step]
        if single is None:
            for p in range(w):
                y[a, p] = after64(y[a, p], float64(amount), float64(centre))
        else:
            for p in range(w):
                y[a, p] = after32(y[a, p], float32(amount), float32(centre))
