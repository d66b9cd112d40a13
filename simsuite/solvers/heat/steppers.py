"""The steppers by the names that `time.stepper` takes: the stepper `name` has its record in `<name>/<name>.py`."""

from __future__ import annotations

import functools
import importlib

from simsuite.scenario.heat import STEPPERS
from simsuite.solvers.heat.stepper_record import KindOfWork, StepperRecord


@functools.cache
def stepper_record(name: str) -> StepperRecord:
    """The record of a stepper that a scenario can name."""
    record = importlib.import_module(f"simsuite.solvers.heat.{name}.{name}").RECORD
    assert isinstance(record, StepperRecord)
    assert record.name == name
    return record


def stepper_records() -> dict[str, StepperRecord]:
    """All of them by name, in the order in which the description of `time.stepper` lists them."""
    return {name: stepper_record(name) for name in STEPPERS}


def record_or_none(name: str) -> StepperRecord | None:
    """The record of a plan's stepper; None for a steady state, and for steps of two steppers by turns."""
    return stepper_record(name) if name in STEPPERS else None


def is_exact_in_time(name: str) -> bool:
    """Whether a plan's stepper makes no error in time that shorter steps could lessen."""
    record = record_or_none(name)
    return name == "steady" or (record is not None and record.order_in_time is None)


def kinds_of_work() -> dict[str, tuple[StepperRecord, KindOfWork]]:
    """All kinds of work that steppers consist of, by name, with the stepper that does it."""
    return {kind.name: (record, kind) for record in stepper_records().values() for kind in record.kinds}
