"""Sums of small terms over very many steps: the energy that came in through each edge point, from each source, ...

A kernel adds its term of each step to `partial`, in the precision of the run. Every ROWS steps, counted from step 0
wherever the run was cut, `fold` adds the partial sums to float64 totals, with compensated summation (Kahan, Comm. ACM
8:40, 1965). So the error of a sum is that of ROWS additions, however long the run is: at most 64 half ulps of the sum's
own size, where plain sums of a steady flux would lose up to half an ulp each step, always in the same direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.table import ROWS


def empty_ledger(entries: int, dtype: Any) -> dict[str, np.ndarray]:
    """The arrays of a ledger in which nothing is booked yet."""
    return {"ledger": np.zeros(entries, dtype), "ledger_total": np.zeros((2, entries))}


def booked(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The sums, (entries,), float64, from the arrays of a ledger."""
    total, lost = arrays["ledger_total"]
    return total + (arrays["ledger"] - lost)


class Ledger:
    """Owns the arrays of a ledger on the device, which begin as those of the same names in `start`."""

    def __init__(self, backend: Backend, start: Mapping[str, np.ndarray]) -> None:
        self.arrays = {name: backend.array(start[name]) for name in ("ledger", "ledger_total")}
        self._views = [backend.view(a) for a in self.arrays.values()]
        self.partial = self._views[0]
        n = start["ledger"].size
        kernel = backend.kernels(__name__).fold
        self._fold = backend.launcher(kernel, (n,), (min(n, 128),))
        # A kernel is loaded when it is first launched; this launch loads it now, and not in the middle of a run.
        nothing = empty_ledger(1, start["ledger"].dtype)
        self._tried = [backend.array(a) for a in nothing.values()]
        backend.launcher(kernel, (1,), (1,))(*map(backend.view, self._tried))

    def fold(self, step: int) -> None:
        """Queue the folding that is due at `step`, if one is."""
        if step % ROWS == 0:
            self._fold(*self._views)
