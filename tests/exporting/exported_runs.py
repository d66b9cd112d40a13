"""Small runs of all three solvers, complete and stopped, whose names need care in every format."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numba
import pytest

import simsuite

A, B = NAMES = ('Größe, "außen"', "it's <b>&amp;</b>")
HEAT = {
    "solver": "heat",
    "title": NAMES[0],
    "grid": {"nx": 7, "ny": 5, "lx": 2.0},
    "material": {"diffusivity": 0.3},
    "initial": {"temperature": "x*y/3"},
    "boundary": {"left": {"kind": "temperature", "value": "sin(30*t)"}},
    "time": {"end": 0.05},
    "probe": [{"name": NAMES[0], "x": 0.5, "y": 0.25}, {"name": NAMES[1], "x": 1.5, "y": 0.75}],
    "output": {"frames": 4},
}
GBM = {
    "solver": "gbm",
    "market": {"rate": 0.05, "correlation": [[1.0, 0.4], [0.4, 1.0]]},
    "asset": [{"name": name, "spot": 100.0, "volatility": 0.2} for name in NAMES],
    "time": {"end": 1.0, "steps": 8},
    "paths": {"count": 2000},
    "option": [
        {"name": name, "style": "european", "payoff": "call", "strike": 90.0 + i, "asset": NAMES[i]}
        for i, name in enumerate(NAMES)
    ],
    "output": {"quantiles": [0.05, 0.5], "frames": 5, "store_paths": 3},
}
LINEAR = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[0.0, 1.0], [-4.0, -0.2]]},
    "initial": {"state": [[1.0, 0.5], [0.0, 0.1]]},
    "time": {"dt": 0.01, "steps": 100},
    "output": {"frames": 6},
}
SCENARIOS: dict[str, dict[str, Any]] = {"heat": HEAT, "gbm": GBM, "linear": LINEAR}


_MADE: dict[str, Path] = {}


def runs_in(place: Path, factory: pytest.TempPathFactory) -> Callable[..., simsuite.Run]:
    """A function that gives a run of a solver, stopped at its first step if it is to be, in a directory of its own
    within `place`. Runs are computed once: what is given are copies. changed: keys, with __ in place of dots."""

    def copy(solver: str, stopped: bool = False, **changed: object) -> simsuite.Run:
        key = repr((solver, stopped, changed))
        if key not in _MADE:
            numba.set_num_threads(1)
            made = factory.mktemp("runs") / solver
            changes = {name.replace("__", "."): value for name, value in changed.items()}
            limit = 0.0 if stopped else None
            scenario = deepcopy(SCENARIOS[solver])
            run = simsuite.run(scenario, changes, device="cpu", directory=made, max_minutes=limit)
            assert run.summary["status"] == ("stopped" if stopped else "complete")
            _MADE[key] = made
        return simsuite.load(shutil.copytree(_MADE[key], place / solver))

    return copy
