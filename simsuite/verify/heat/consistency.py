"""Whole runs with all that a stepper can do at once: does the ledger close, do CPU and device agree?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.core import Backend
from simsuite.scenario.heat import STEPPERS
from simsuite.solvers.heat.steppers import stepper_record
from simsuite.verify.checks import Check, at_most
from simsuite.verify.convergence import root_mean_square
from simsuite.verify.heat import cases
from simsuite.verify.heat.runs import run_scenario

LEDGER, DEVICE = "ledger", "CPU and device"
ADDED = 1e-12  # the largest residual of the ledger, relative to the energy moved, where steps only add and multiply
SOLVED = 1e-10  # the largest such residual where steps solve equations
AGREEMENT = 1e-11  # the largest relative difference of float64 runs


def whole_checks(backend: Backend, cpu: Backend | None, cells: int) -> Iterator[Check]:
    """Checks of the ledgers on `backend`, and of the agreement with `cpu` where that is another backend, on cells ×
    cells cells."""
    for stepper in STEPPERS:
        for name, scenario in cases.everything(stepper, cells):
            found = run_scenario(scenario, backend)
            energy = found.results["energy"]
            label = f"{stepper:<9} {name}"
            share = energy["residual"] / moved(energy)
            yield at_most(label, LEDGER, share, SOLVED if stepper_record(stepper).solves else ADDED, energy=energy)
            if cpu is not None:
                other = run_scenario(scenario, cpu).temperature
                difference = root_mean_square(found.temperature - other) / root_mean_square(other)
                yield at_most(label, DEVICE, difference, AGREEMENT, device=backend.name)


def moved(energy: Mapping[str, Any]) -> float:
    """The energy in a ledger that was stored, went through edges, arose in sources and went into held regions, J/m."""
    total: float = abs(energy["stored"])
    for name in ("edges", "sources", "held"):
        part = energy.get(name, 0.0)
        total += sum(map(abs, part.values())) if isinstance(part, Mapping) else abs(part)
    return total
