"""How far temperatures are from the reference of a scenario."""

from __future__ import annotations

import math

import numpy as np

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation


def reference_error(scenario: HeatScenario, made: Discretisation, T: np.ndarray, t: float) -> dict[str, float]:
    """Norms of the difference between T (ny, nx) and the reference at time t: its mean absolute value (l1), its root
    mean square (l2), its largest absolute value (linf), and l2 relative to the l2 norm of the reference, which there
    has to be."""
    assert scenario.reference is not None
    x, y = made.centres
    exact = scenario.reference.temperature(x=x, y=y, t=t)
    difference = np.abs(T - exact)
    size = float(np.sqrt(np.mean(np.broadcast_to(exact, made.T0.shape) ** 2)))
    l2 = float(np.sqrt(np.mean(difference**2)))
    return {
        "l1": float(np.mean(difference)),
        "l2": l2,
        "linf": float(np.max(difference)),
        "relative_l2": l2 / size if size > 0 else math.nan,
    }
