"""A bound for how fast errors grow where sources give more for a higher temperature."""

from __future__ import annotations

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct

_FEW, _TEMPERATURES = 8, 33  # the number of cells along each axis, and of temperatures, that are looked at


def fastest_growth(made: Discretisation, t: float, low: float, high: float) -> float:
    """The largest value of (∂q/∂T)/ρc, 1/s, at a time t and temperatures from low to high, K, as far as few cells show;
    0 where no source gives more for a higher temperature."""
    if not (np.isfinite(high - low) and high > low):
        return 0.0
    x, y = (a.reshape(-1)[:: 1 + a.size // _FEW] for a in made.centres)
    T = np.linspace(low, high, _TEMPERATURES)
    places = {"x": x, "y": y[:, None], "t": t}
    fastest = 0.0
    with np.errstate(all="ignore"):
        for f in made.sources:
            if f.depends_on("T"):
                q = np.broadcast_to(f(**places, T=T[:, None, None]), (T.size, y.size, x.size))
                slopes = np.diff(q, axis=0) / (T[1] - T[0])
                fastest += float(np.max(slopes, where=np.isfinite(slopes), initial=0.0))
    return fastest / float(np.min(distinct(made.rho_c)))
