"""Checks of how a rod of more and more points converges to the heat equation dT/dt = a d2T/dx2 with both ends held at
0.

Stepping is exact in time, so the remaining error is that of second differences. A sine sin(pi k x/L) decays like exp(-a
(pi k/L)^2 t); sines of three wave numbers are the columns of one run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.core import Backend
from simsuite.verify.checks import Check, near
from simsuite.verify.convergence import fitted_line, orders, root_mean_square
from simsuite.verify.linear.runs import run

ORDER, WANTED, WITHIN = "order in space", 2.0, 0.1
WAVES = (1, 2, 3)
LENGTH, DIFFUSIVITY, END, STEPS = 2.0, 0.5, 0.4, 8


def rod_checks(backend: Backend, points: Sequence[int]) -> Iterator[Check]:
    """A check for each wave number, with these numbers of points between the ends."""
    errors = [_errors(backend, n) for n in points]
    spacing = [LENGTH / (n + 1) for n in points]
    for wave, found in zip(WAVES, zip(*errors)):
        order, factor = fitted_line(spacing, found)
        data = {"sizes": spacing, "errors": list(found), "orders": orders(spacing, found), "factor": factor}
        name = f"heat1d, sin({wave} pi x/L)"
        yield near(name, ORDER, order, WANTED, WITHIN, **data, wave=wave, order=order, expected=WANTED)


def _errors(backend: Backend, points: int) -> list[float]:
    """The relative error of each wave, as a root mean square over the points."""
    x = LENGTH * np.arange(1, points + 1) / (points + 1)
    start = np.column_stack([np.sin(math.pi * k * x / LENGTH) for k in WAVES])
    scenario = {
        "solver": "linear",
        "system": {
            "kind": "continuous",
            "matrix": {"generator": "heat1d", "points": points, "length": LENGTH, "diffusivity": DIFFUSIVITY},
        },
        "initial": {"state": start.tolist()},
        "time": {"steps": STEPS, "dt": END / STEPS},
        "output": {"frames": 2},
    }
    decay = [math.exp(-DIFFUSIVITY * (math.pi * k / LENGTH) ** 2 * END) for k in WAVES]
    found = run(scenario, backend).last
    return [
        root_mean_square(found[:, i] - factor * start[:, i]) / root_mean_square(factor * start[:, i])
        for i, factor in enumerate(decay)
    ]
