"""The rates of the device: a few steps of each kind that is asked for, timed on plates of two sizes.

They are taken by the steppers that runs use, with the kernel that the run asks for. What a device answered is kept
(see `Backend.times`), so that this happens once for each kind of work, precision and kernel. Steppers that were never
used on the device are compiled on the way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from simsuite.core import Backend, Clock, Device, Snapshot
from simsuite.errors import DeviceError
from simsuite.scenario.heat import HeatRun, HeatScenario
from simsuite.solvers.heat.operator.ledger import empty_ledger
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.statement import discretise
from simsuite.solvers.heat.stepper_choice import rates
from simsuite.solvers.heat.stepper_choice.rates import Rates, Times
from simsuite.solvers.heat.stepper_record import Ingredients, StepperRecord, Trial
from simsuite.solvers.heat.steppers import kinds_of_work
from simsuite.words import counted

SIDES = (128, 1024)  # the numbers of cells along the edges of the two plates on which work is timed
# the number of cells along the edges of the one plate that is used where edges have no fast transform
PRODUCT_SIDE = 512
BUSY = 2  # Plates are larger by this factor on devices of many processors, which smaller plates leave idle.
_USUAL = {"cpu": rates.TWO_CORES, "cuda": rates.H200}
_MOST_STEPS = 1 << 20  # more steps than any trial takes
_HELD = {"kind": "temperature", "value": 1.0}


def rates_on(device: Device | None, run: HeatRun, kinds: Iterable[str], worth: bool) -> Rates:
    """The rates of a run's device for these kinds of work; the usual ones if there is no device, or if measuring is not
    worth it."""
    if device is None:
        return rates.TWO_CORES
    try:
        backend = device()
        if not backend.timed:
            return rates.TWO_CORES
        return measured(backend, kinds, run) if worth else _USUAL[backend.dialect]
    except DeviceError as reason:
        usual = rates.H200 if run.device.partition(":")[0] == "cuda" else rates.TWO_CORES
        return replace(usual, origin=f"{usual.origin}, since {reason}")


def measured(backend: Backend, kinds: Iterable[str], run: HeatRun) -> Rates:
    """The device's rates for these kinds of work, in the run's precision and with its kernels. Raises DeviceError."""
    return Rates({kind: _times(backend, kind, run) for kind in kinds}, "rates of this device")


def _times(backend: Backend, kind: str, run: HeatRun) -> Times:
    record, of = kinds_of_work()[kind]
    trial = of.trial
    wider = BUSY if backend.processors > 1 else 1
    sides = [n * wider for n in ((PRODUCT_SIDE,) if trial.times_line else SIDES)]
    kernel = run.kernel if record.chooses_kernel else "auto"
    plates = " and ".join(f"{n} x {n}" for n in sides)
    about = f"{run.precision}, kernel = {kernel}, {counted(trial.steps, 'step')} on plates of {plates} cells"
    trials = [_trial(backend, record, trial, n, run.precision, kernel) for n in sides]
    seconds = backend.times(f"{kind} ({about})", trials)
    units = trial.steps * trial.stages
    return Times(tuple(map(trial.amount, sides)), tuple(second / units for second in seconds))


def _trial(
    backend: Backend, record: StepperRecord, trial: Trial, n: int, precision: str, kernel: str
) -> Callable[[], None]:
    """A function that queues some steps on a plate of n × n cells. The plate is made when the function is first called.
    It is at rest, since the values that are computed do not change how long steps take."""

    @functools.cache
    def stepper() -> Any:
        plate = {
            "solver": "heat",
            "run": {"precision": precision},
            "grid": {"nx": n, "ny": n, "lx": float(n), "ly": float(n)},
            "material": {"diffusivity": 1.0},
            "initial": {"temperature": 1.0},
            "boundary": {"left": _HELD},
            "time": {"end": _MOST_STEPS * trial.dt},
        }
        made = discretise(HeatScenario.model_validate({**plate, **trial.sections}), Path(), [])
        start = Snapshot(0, {"temperature": made.T0, **empty_ledger(ledger_entries(made), made.T0.dtype)})
        clock = Clock((0, _MOST_STEPS), (0.0, _MOST_STEPS * trial.dt))
        wanted = Wanted([], False)
        return record.make(Ingredients(made, wanted, clock, backend, start, trial.stages, kernel))

    return lambda: stepper().advance(trial.steps)
