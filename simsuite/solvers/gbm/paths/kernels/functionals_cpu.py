"""What functionals take on a date (functionals.py), for chunks of paths on the CPU. For those of all times see
`continuous_cpu.py`.

functionals[number]: (functional, kind, asset, bit, row of the weight, partner) of the functionals of some kinds. dated:
a `Dated`, see `arguments.py`. kept[functional, path] and y[asset, path]: paths are numbered within the chunk.
prices[asset, path]: S / S(0) of the assets whose sums have been taken on this date. single: the precision of y, see
`normals_cpu.py`.
"""

from __future__ import annotations

import numpy as np

from simsuite.elementary_functions import exp32, exp64
from simsuite.parallel_for import procedure
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS
from simsuite.solvers.gbm.payoffs.functionals import Kind

_LN2_SINGLE = np.float32(LN2)
_LOGARITHMS, _LEAST, _LARGEST = map(int, (Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST))
_WEIGHTED, _SQUARES, _EXERCISED = map(int, (Kind.WEIGHTED, Kind.SQUARES, Kind.EXERCISED))


@procedure
def keep_sums(functionals, dated, kept, y, prices, w, k, single):
    """Add the price on a date to each SUM. The prices stay in `prices`, for the functionals that go with a sum."""
    due, growth = dated.due, dated.growth
    for n in range(functionals.shape[0]):
        f, a, bit = functionals[n, 0], functionals[n, 2], functionals[n, 3]
        if bit < 0 or due[k] >> bit & 1:
            if single is None:
                for p in range(w):
                    prices[a, p] = exp64(LN2 * y[a, p]) * growth[a, k]
                    kept[f, p] += prices[a, p]
            else:
                for p in range(w):
                    prices[a, p] = exp32(_LN2_SINGLE * y[a, p]) * growth[a, k]
                    kept[f, p] += prices[a, p]


@procedure
def keep_beside_sums(functionals, dated, kept, y, prices, w, k):
    """Add the price on a date, times a weight or times the noise, to each WEIGHTED or NOISY functional."""
    due, centre, growth = dated.due, dated.centre, dated.growth
    for n in range(functionals.shape[0]):
        f, kind, a, bit = functionals[n, 0], functionals[n, 1], functionals[n, 2], functionals[n, 3]
        if bit < 0 or due[k] >> bit & 1:
            if kind == _WEIGHTED:
                weight = growth[centre.shape[0] + functionals[n, 4], k]
                for p in range(w):
                    kept[f, p] += weight * prices[a, p]
            else:
                for p in range(w):
                    kept[f, p] += y[a, p] * prices[a, p]


@procedure
def keep_logarithms(functionals, dated, kept, y, w, k):
    """Take the noise on a date: add it up (LOGARITHMS), add up squares of its changes (SQUARES), keep it (LATEST)."""
    due, centre, growth = dated.due, dated.centre, dated.growth
    for n in range(functionals.shape[0]):
        f, kind, a, bit = functionals[n, 0], functionals[n, 1], functionals[n, 2], functionals[n, 3]
        if bit < 0 or due[k] >> bit & 1:
            if kind == _LOGARITHMS:
                for p in range(w):
                    kept[f, p] += y[a, p]
            elif kind == _SQUARES:
                weight, partner = growth[centre.shape[0] + functionals[n, 4], k], functionals[n, 5]
                for p in range(w):
                    kept[f, p] += weight * (y[a, p] - kept[partner, p]) ** 2
            else:
                for p in range(w):
                    kept[f, p] = y[a, p]


@procedure
def keep_extremes(functionals, dated, kept, y, w, k):
    """Keep the least and largest logarithm of the price (LEAST, LARGEST), and after them the weights of the dates on
    which they were reached (AT_LEAST, AT_LARGEST)."""
    due, centre, growth = dated.due, dated.centre, dated.growth
    for n in range(functionals.shape[0]):
        f, kind, a, bit = functionals[n, 0], functionals[n, 1], functionals[n, 2], functionals[n, 3]
        if bit < 0 or due[k] >> bit & 1:
            middle = centre[a, k]
            if kind == _LEAST:
                for p in range(w):
                    kept[f, p] = min(kept[f, p], y[a, p] + middle)
            elif kind == _LARGEST:
                for p in range(w):
                    kept[f, p] = max(kept[f, p], y[a, p] + middle)
            else:
                weight, partner = growth[centre.shape[0] + functionals[n, 4], k], functionals[n, 5]
                for p in range(w):
                    kept[f, p] = weight if kept[partner, p] == y[a, p] + middle else kept[f, p]


@procedure
def keep_exercised(functionals, rights, dated, kept, y, price, now, w, k, single):
    """A date of American options: sets EXERCISED where the rule says so, and AT_EXERCISED, which goes with that.
    rights: degree and call of each option, and a `Policy`. price, now: work space of one number for each path."""
    (judged, policy), due, centre, growth = rights, dated.due, dated.centre, dated.growth
    right = -1
    for n in range(functionals.shape[0]):
        f, kind, a, bit = functionals[n, 0], functionals[n, 1], functionals[n, 2], functionals[n, 3]
        if kind == _EXERCISED:
            right += 1
            if bit < 0 or due[k] >> bit & 1:
                _exercise(
                    kept,
                    f,
                    y,
                    a,
                    w,
                    policy.rules,
                    policy.row[right, k],
                    judged[right, 0],
                    judged[right, 1],
                    price,
                    now,
                    single,
                )
                for m in range(n + 1, functionals.shape[0]):
                    if functionals[m, 1] != _EXERCISED and functionals[m, 5] == f:
                        g, weight = functionals[m, 0], growth[centre.shape[0] + functionals[m, 4], k]
                        for p in range(w):
                            kept[g, p] = weight if now[p] else kept[g, p]


@procedure
def _exercise(kept, f, y, a, w, rules, row, degree, call, price, now, single):
    """Exercises an option where its value is no less than that of waiting, by a Chebyshev series in the price; sets
    now[path] to whether it was exercised. row: that of `rules`, see `exercise_policy.py`."""
    if single is None:
        for p in range(w):
            price[p] = exp64(LN2 * y[a, p])
    else:
        for p in range(w):
            price[p] = exp32(_LN2_SINGLE * y[a, p])
    for p in range(w):
        value, now[p] = rules[row, 0] * price[p] + rules[row, 1], False
        if kept[f, p] < 0 and value > 0:
            u = min(max(rules[row, 2] * (1.0 / price[p] if call else price[p]) + rules[row, 3], -1.0), 1.0)
            waits, later = np.float64(rules[row, TERMS + degree]), 0.0
            for c in range(degree - 1, 0, -1):
                waits, later = rules[row, TERMS + c] + 2.0 * u * waits - later, waits
            if rules[row, TERMS] + u * waits - later <= 0:
                kept[f, p], now[p] = value, True
