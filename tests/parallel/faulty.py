"""`simsuite` with something that goes wrong in one of the processes that share a run:

    faulty.py PROCESS FAULT STEP ARGUMENTS...

The fault comes when that process's stepper is to advance from STEP or beyond: "raise" raises an error that nobody
expects, "refuse" one of simsuite's, "kill" kills the process, "term" sends it SIGTERM, of which it tells the first.
"cd DIR" has it work in another directory from the start."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from simsuite.errors import DeviceError
from simsuite.parallel.launch import rank_and_size


def main() -> None:
    process, fault, step = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    del sys.argv[1:4]
    if rank_and_size()[0] == process:
        if fault.startswith("cd "):
            os.chdir(fault[3:])
        else:
            _plant(fault, step)
    from simsuite.__main__ import main as run

    run()


def _plant(fault: str, step: int) -> None:
    from simsuite.solvers.gbm.multilevel.multilevel_stepper import MultilevelStepper
    from simsuite.solvers.gbm.paths.stepper import PathStepper
    from simsuite.solvers.heat.adi.adi import AdiStepper
    from simsuite.solvers.heat.error_control.controlled import ControlledStepper
    from simsuite.solvers.heat.explicit.slab_steps import SlabStepper
    from simsuite.solvers.heat.rkl2.rkl2 import Rkl2Stepper

    for kind in (PathStepper, MultilevelStepper, SlabStepper, Rkl2Stepper, AdiStepper):
        kind.advance = _faulty(kind.advance, fault, step)  # type: ignore[method-assign]
    ControlledStepper.advance_for = _faulty(ControlledStepper.advance_for, fault, step)  # type: ignore[method-assign]


def _faulty(advance: Callable[..., None], fault: str, step: int) -> Callable[..., None]:
    def faulty(stepper: Any, *arguments: float) -> None:
        if stepper.step >= step:
            if fault == "raise":
                raise ZeroDivisionError("planted")
            if fault == "refuse":
                raise DeviceError("the device is on fire")
            os.kill(os.getpid(), signal.SIGKILL if fault == "kill" else signal.SIGTERM)
        advance(stepper, *arguments)

    return faulty


main()
