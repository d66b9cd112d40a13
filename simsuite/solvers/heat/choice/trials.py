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
from simsuite.solvers.heat.choice import rates
from simsuite.solvers.heat.choice.rates import Rates, Times
from simsuite.solvers.heat.operator.ledger import empty_ledger
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.statement import discretise
from simsuite.solvers.heat.steppers import make_stepper
from simsuite.words import counted

SIDES = (128, 1024)  # cells along the edges of the plates
PRODUCT_SIDE = 512  # of the one plate whose edges have no fast transform
BUSY = 2  # times these on devices of many processors, which smaller ones leave idle
STAGES = 9
_USUAL = {"cpu": rates.TWO_CORES, "cuda": rates.H200}
_MOST_STEPS = 1 << 20  # more than are taken
_HELD = {"kind": "temperature", "value": 1.0}
_CONVECTION = {"kind": "convection", "h": 1.0, "ambient": 1.0}
_MATERIAL = {"conductivity": "1 + 0.5*sin(x)*cos(y)", "density": 1.0, "specific_heat": "1 + 0.3*cos(x)"}
_VARYING: dict[str, Any] = {"material": _MATERIAL}
_HOLE = [{"shape": "circle", "center": [4.0, 4.0], "radius": 2.0, "temperature": 1.0}]
# By kind: stepper, steps of a trial, its dt, and sections that differ from a plate of constant coefficients.
_PLATES: dict[str, tuple[str, int, float, dict[str, Any]]] = {
    rates.EXPLICIT_PLAIN: ("explicit", 64, 0.1, {}),
    rates.EXPLICIT_GENERAL: ("explicit", 64, 0.1, _VARYING),
    rates.EXPLICIT_CHANGING: ("explicit", 16, 0.1, {**_VARYING, "region": _HOLE}),
    rates.RKL2_PLAIN: ("rkl2", 2, 1.0, {}),
    rates.RKL2_GENERAL: ("rkl2", 2, 1.0, _VARYING),
    rates.ADI: ("adi", 2, 10.0, _VARYING),
    rates.EXACT: ("exact", 2, 10.0, {}),
    rates.PRODUCT: ("exact", 2, 10.0, {"boundary": {"left": _CONVECTION, "bottom": _CONVECTION}}),
}


def rates_on(device: Device | None, run: HeatRun, kinds: Iterable[str], worth: bool) -> Rates:
    """The rates of a run's device for these kinds of work; usual ones where there is none or it is not worth it."""
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
    stepper, steps, _, _ = _PLATES[kind]
    wider = BUSY if backend.processors > 1 else 1
    sides = [n * wider for n in ((PRODUCT_SIDE,) if kind == rates.PRODUCT else SIDES)]
    kernel = run.kernel if stepper == "explicit" else "auto"
    plates = " and ".join(f"{n} x {n}" for n in sides)
    about = f"{run.precision}, kernel = {kernel}, {counted(steps, 'step')} on plates of {plates} cells"
    trials = [_trial(backend, kind, n, run.precision, kernel) for n in sides]
    seconds = backend.times(f"{kind} ({about})", trials)
    units = steps * (STAGES if stepper == "rkl2" else 1)
    amounts = [float(n * n * (2 * n if kind == rates.PRODUCT else 1)) for n in sides]
    return Times(tuple(amounts), tuple(second / units for second in seconds))


def _trial(backend: Backend, kind: str, n: int, precision: str, kernel: str) -> Callable[[], None]:
    """What queues some steps on a plate of n × n cells, made when it is first called. The plate is at rest: what is
    computed does not change how long it takes."""
    name, steps, dt, sections = _PLATES[kind]

    @functools.cache
    def stepper() -> Any:
        plate = {
            "solver": "heat",
            "run": {"precision": precision},
            "grid": {"nx": n, "ny": n, "lx": float(n), "ly": float(n)},
            "material": {"diffusivity": 1.0},
            "initial": {"temperature": 1.0},
            "boundary": {"left": _HELD},
            "time": {"end": _MOST_STEPS * dt},
        }
        made = discretise(HeatScenario.model_validate(plate | sections), Path(), [])
        start = Snapshot(0, {"temperature": made.T0, **empty_ledger(ledger_entries(made), made.T0.dtype)})
        clock = Clock((0, _MOST_STEPS), (0.0, _MOST_STEPS * dt))
        return make_stepper(name, STAGES, made, Wanted([], False), clock, backend, start, kernel)

    return lambda: stepper().advance(steps)
