"""Times at which steps end so that none passes over a pulse of smooth data, unseen by its estimate of the error.

Where a condition or a source changes by MOST_CHANGE of its range within a part SOON of the run, steps end before and
after, and where that begins, as far as LOOKS times and some points tell: a peak that lasts a hundredth of a run is met
five times. Data that go up and down more often than OFTEN are looked at by any accurate step, and need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.sampling import distinct

LOOKS = 1025  # times of a run
MOST_CHANGE = 0.5  # of the range of a function of time
SOON = 1.0 / 12.0
BEGINNING = 1e-3  # of that range
OFTEN = 5.0  # times that range, added up over a run
_POINTS = 8  # along an edge, and along each axis of a source
_APART = 2.0  # looks: times that are closer to another one are left out


def data_stops(made: Discretisation, end: float, others: Sequence[float]) -> tuple[float, ...]:
    """Increasing, s. others: increasing times at which steps end anyway."""
    t = np.linspace(0.0, end, LOOKS)
    wanted: list[float] = []
    with np.errstate(all="ignore"):
        for values in _data(made, t):
            range_ = float(np.max(np.ptp(values, axis=0)))
            if not (np.isfinite(range_) and range_ > 0):
                continue
            changed = np.append(0.0, np.cumsum(np.max(np.abs(np.diff(values, axis=0)), axis=1))) / range_
            if changed[-1] <= OFTEN:
                met = t[np.searchsorted(changed, np.arange(0.5 * MOST_CHANGE, changed[-1], MOST_CHANGE))]
                soon = np.diff(met, prepend=-np.inf, append=np.inf) < SOON * end
                wanted += met[soon[:-1] | soon[1:]].tolist()
                first = met[~soon[:-1] & soon[1:]]  # of several that are close to each other
                quiet = changed[np.searchsorted(t, np.maximum(first - SOON * end, 0.0))]
                wanted += t[np.searchsorted(changed, quiet + BEGINNING, side="right") - 1].tolist()
    apart, taken = _APART * end / (LOOKS - 1), np.array(others)
    stops: list[float] = []
    for at in sorted(wanted):
        if np.min(np.abs(taken - at)) >= apart and (not stops or at - stops[-1] >= apart):
            stops.append(at)
    return tuple(stops)


def _data(made: Discretisation, t: np.ndarray) -> Iterator[np.ndarray]:
    """Of each function that depends on time its values, (times, points)."""
    for piece in made.edges.pieces:
        few = slice(None, None, max(1, len(piece.x) // _POINTS))
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                values = f(x=piece.x[few], y=piece.y[few], t=t[:, None])
                yield np.broadcast_to(values, (len(t), len(piece.x[few])))
    x, y = (a.ravel()[:: max(1, a.size // _POINTS)] for a in made.centres)
    T = float(np.mean(distinct(made.T0)))
    for f in made.sources:
        if f.depends_on("t"):
            values = f(x=x, y=y[:, None], t=t[:, None, None], T=T)
            yield np.broadcast_to(values, (len(t), len(y), len(x))).reshape(len(t), -1)
