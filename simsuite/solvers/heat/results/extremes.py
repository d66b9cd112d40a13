"""The lowest, the highest and the mean temperature, and where the first two are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation


def extremes(arrays: Mapping[str, np.ndarray], made: Discretisation) -> dict[str, Any]:
    """What is told of the temperatures at a step. arrays: as they were observed there. Any: numbers, and places of the
    middles of cells in m, of the first cell by rows where several are as hot, or as cold; none where all of it is as
    hot."""
    found: dict[str, Any] = {
        "min": float(arrays["row_min"].min()),
        "max": float(arrays["row_max"].max()),
        "mean": math.fsum(arrays["row_sum"]) / (made.nx * made.ny),
    }
    if found["min"] < found["max"]:
        x, y = made.centres
        rows = {"coldest": int(arrays["row_min"].argmin()), "hottest": int(arrays["row_max"].argmax())}
        for name, row in rows.items():
            column = int(arrays["row_min_at" if name == "coldest" else "row_max_at"][row])
            found[name] = {"x": float(x[column]), "y": float(y.ravel()[row])}
    return found
