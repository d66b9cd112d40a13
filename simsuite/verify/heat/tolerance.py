"""Checks that steps whose lengths the program chooses keep to `time.tolerance`.

Data move, and are switched, on a small grid; the solution is that of the same equations discretised in space alone and
integrated almost exactly by other means (`semidiscrete`). In addition, a strip follows the daily temperature for ten
days, for which there is a closed form, and whose ledger of heat must close."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.verify.checks import Check, at_most
from simsuite.verify.heat import cases
from simsuite.verify.heat.consistency import LEDGER, SOLVED, moved
from simsuite.verify.heat.runs import run_scenario
from simsuite.verify.heat.semidiscrete import SemiDiscrete

STEPPERS = ("auto", "rkl2", "adi")
TOLERANCES = (1e-3, 1e-5)
WITHIN = "error over tolerance"


def tolerance_checks(backend: Backend, quick: bool) -> Iterator[Check]:
    """Checks of the largest error at the end of runs, in units of the tolerance times the range of temperatures."""
    kinds = cases.KINDS[:2] if quick else cases.KINDS
    tolerances = TOLERANCES[:1] if quick else TOLERANCES
    for kind in kinds:
        for case in (cases.moving, cases.switched):
            scenario = case(kind, "variable", {})
            changes = cases.CHANGES if case is cases.switched else ()
            equations = SemiDiscrete(HeatScenario.model_validate(scenario))
            wanted = equations.at([cases.END], changes)[0]
            range_ = float(np.ptp([equations.start, wanted]))
            for stepper in STEPPERS:
                for tolerance in tolerances:
                    time = {"end": cases.END, "stepper": stepper, "tolerance": tolerance}
                    found = run_scenario(scenario | {"time": time}, backend)
                    off = float(np.max(np.abs(found.temperature - wanted))) / (tolerance * range_)
                    name = f"{stepper:<9} {kind:<12} {case.__name__} data, {tolerance:.0e}"
                    yield at_most(name, WITHIN, off, 1.0, time_error=found.results.get("time_error"))
    for stepper in STEPPERS:
        scenario, _, wanted_last = cases.daily(stepper)
        found = run_scenario(scenario, backend)
        off = abs(float(found.temperature[1, -1]) - wanted_last) / (scenario["time"]["tolerance"] * 40.0)
        name, energy = f"{stepper:<9} an edge that follows the day", found.results["energy"]
        yield at_most(name, WITHIN, off, 1.0)
        yield at_most(name, LEDGER, energy["residual"] / moved(energy), SOLVED, energy=energy)
