"""The pieces of a run: the times between two changes of the data, at which these jump, kink or peak."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

import numpy as np


class Pieces:
    """The pieces of a run that goes from 0 to `end`, s. changes: the times between them, s."""

    def __init__(self, changes: Iterable[float], end: float) -> None:
        self._changes, self._end = sorted(changes), end
        lengths = np.diff([0.0, *self._changes, end])
        increasing = np.sort(lengths)
        up_to = np.append(0.0, np.cumsum(increasing))
        self._alike = up_to[np.searchsorted(increasing, 2.0 * lengths, side="right")] / up_to[-1]

    def around(self, t: float) -> tuple[float, float]:
        """The beginning and the end of the piece that t lies in, or that begins then, s."""
        i = bisect.bisect_right(self._changes, t)
        return self._changes[i - 1] if i else 0.0, self._changes[i] if i < len(self._changes) else self._end

    def alike(self, t: float) -> float:
        """The share of the run that is made up of pieces at most twice as long as the one that t lies in."""
        return float(self._alike[bisect.bisect_right(self._changes, t)])

    def progress(self, t: float) -> float:
        """The share of the run that is done at time t. If data change, half of the share goes by the number of pieces
        that are over, and half by time."""
        share = t / self._end
        if not self._changes:
            return share
        before, after = self.around(t)
        within = (t - before) / (after - before) if after > before else 1.0
        i = bisect.bisect_right(self._changes, t)
        return 0.5 * share + 0.5 * (i + within) / (len(self._changes) + 1)
