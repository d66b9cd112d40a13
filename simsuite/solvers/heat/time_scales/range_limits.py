"""A lower limit of the range of temperatures that errors are measured by.

An error is allowed to be a tolerance of the range of all temperatures so far. At the beginning of a run they may be all
the same, and the range is then almost 0, although data will make it large. As long as it is less than a small share of
what data could make of it, that share is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.longest_steps import data_of

SHARE = 1e-7  # share of what data could make of the range, which may be far more than what they do, since heat is lost
_LOOKS = 512  # the number of times at which data are looked at, and the most of the times at which steps end


def range_floor(made: Discretisation, end: float, times: Sequence[float]) -> float:
    """The range that errors are measured by, K, as long as temperatures differ by less. times: times at which steps
    end, s.

    It is a small share of what the initial temperatures, those at edges and those outside differ by, and of what fluxes
    and sources could warm on the average of the run if no heat were lost."""
    some = np.asarray(times, float)[:: 1 + len(times) // _LOOKS]
    t = np.unique(np.concatenate([end * (np.arange(_LOOKS) * GOLDEN % 1.0), some, [end]]))
    levels, warmed = [distinct(made.T0).min(), distinct(made.T0).max()], 0.0
    with np.errstate(all="ignore"):
        for data in data_of(made, end, steady=True):
            values = data(t)
            if data.is_temperature:
                levels += [values.min(), values.max()]
            elif np.isfinite(data.kelvin):
                warmed += float(np.max(np.trapezoid(np.abs(values), t, axis=0))) / end * data.kelvin
    found = SHARE * (float(np.ptp(levels)) + warmed)
    return found if np.isfinite(found) else 0.0
