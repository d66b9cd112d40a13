"""`simsuite` with something that goes wrong in one of the processes that share a run:

    faulty.py PROCESS FAULT STEP ARGUMENTS...

The fault comes when that process's stepper is to advance from STEP or beyond: "raise" raises an error that nobody
expects, "refuse" one of simsuite's, "kill" kills the process, "term" sends it SIGTERM, of which it tells the first.
Others are there from the start: "cd DIR" has it work in another directory, "bare" lacks mpi4py, "gpus N" has N devices
that look like GPUs and are none, see `one_of`, "one gpu" shares a real one with the others. PROCESS -1 is all."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from one_gpu import share_one_gpu

from simsuite.errors import DeviceError
from simsuite.parallel.launch import rank_and_size


def main() -> None:
    process, fault, step = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    del sys.argv[1:4]
    if process in (-1, rank_and_size()[0]):
        if fault.startswith("cd "):
            os.chdir(fault[3:])
        elif fault == "bare":
            sys.modules["mpi4py"] = None  # type: ignore[assignment]
        elif fault.startswith("gpus "):
            _see_gpus(int(fault[5:]))
        elif fault == "one gpu":
            share_one_gpu()
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
    from simsuite.solvers.linear.powers.power import PowerStepper
    from simsuite.solvers.linear.spectral.stepper import SpectralStepper
    from simsuite.solvers.linear.stepping.step import LinearStepper

    of_heat, of_linear = (SlabStepper, Rkl2Stepper, AdiStepper), (LinearStepper, PowerStepper, SpectralStepper)
    for kind in (PathStepper, MultilevelStepper, *of_heat, *of_linear):
        kind.advance = _faulty(kind.advance, fault, step)  # type: ignore[method-assign]
    ControlledStepper.advance_for = _faulty(ControlledStepper.advance_for, fault, step)  # type: ignore[method-assign]


def _see_gpus(n: int) -> None:
    """Make devices "auto" and "cuda" those of a machine with n GPUs, which are its CPU by other names."""
    from simsuite import assembly
    from simsuite.backends.cpu import CpuBackend
    from simsuite.core import Backend

    def one_of(device: str, loader: str = "auto", gpu: int = 0) -> Backend:
        if gpu < n:
            backend = CpuBackend()
            backend.name, backend.dialect = f"cuda:{gpu}", "cuda"
            return backend
        if device == "cuda":
            raise DeviceError(f"there is no cuda:{gpu}; this machine has {n} CUDA device(s)")
        return CpuBackend(note="running on the CPU")

    assembly.open_backend = one_of


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
