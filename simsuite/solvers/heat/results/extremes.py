"""The lowest, the highest and the mean temperature, and where the first two are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation


def extremes(arrays: Mapping[str, np.ndarray], made: Discretisation) -> dict[str, Any]:
    """What is told of the temperatures at a step. arrays: as they were observed there. Any: numbers, and places of the
    middles of cells in m, of the first cell by rows where several are as hot, or as cold; none where the field itself
    was not observed, or all of it is as hot."""
    found: dict[str, Any] = {
        "min": float(arrays["row_min"].min()),
        "max": float(arrays["row_max"].max()),
        "mean": math.fsum(arrays["row_sum"]) / (made.nx * made.ny),
    }
    if "temperature" in arrays and found["min"] < found["max"]:
        x, y = made.centres
        rows = {"coldest": int(arrays["row_min"].argmin()), "hottest": int(arrays["row_max"].argmax())}
        for name, row in rows.items():
            cells = arrays["temperature"][row]
            column = int(cells.argmin() if name == "coldest" else cells.argmax())
            found[name] = {"x": float(x[column]), "y": float(y.ravel()[row])}
    return found
