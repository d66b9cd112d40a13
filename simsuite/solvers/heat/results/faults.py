"""Where temperatures are not finite, from what was measured for a row of results."""

from __future__ import annotations

import math

import numpy as np

from simsuite.core import Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.words import cell_in_words


def fault_cell(made: Discretisation, observed: Snapshot) -> tuple[int, int] | None:
    """The first cell, along x and along y from 0, whose temperature is NaN or infinite; None where there is none."""
    first = observed.arrays["row_bad"]
    rows = np.flatnonzero(first < made.nx)
    return (int(first[rows[0]]), int(rows[0])) if rows.size else None


def fault(scenario: HeatScenario, made: Discretisation, observed: Snapshot) -> str | None:
    """What is not finite, in words: a cell, else the sum of a row, else a probe; None where all is finite."""
    cell = fault_cell(made, observed)
    if cell is not None:
        return cell_in_words(*cell)
    overflown = np.flatnonzero(~np.isfinite(observed.arrays["row_sum"]))
    if overflown.size:
        return f"the sum of row y={overflown[0]}"
    probes = zip(scenario.probe, observed.arrays["probes"])
    return next((f"probe {probe.name!r}" for probe, value in probes if not math.isfinite(value)), None)
