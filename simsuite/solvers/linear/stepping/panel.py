"""The rows of a linear system that one of several processes steps, see `matmul.shared_rows`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, Snapshot
from simsuite.solvers.linear.stepping.step import LinearStepper
from simsuite.solvers.linear.stepping.step import device_bytes as step_bytes
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import Panel, SharedRows


def panel_of(system: LinearSystem, panel: Panel) -> LinearSystem:
    """A system with the panel's rows of A, B and G alone, and all of the states. The noise of a step is drawn by each
    process, for all rows of G w; outputs are computed by the first one."""
    rows = panel.held
    noise = None if system.noise is None else dataclasses.replace(system.noise, G=system.noise.G[rows])
    C = system.C if panel.process == 0 else None
    return dataclasses.replace(system, A=system.A[rows], B=system.B[rows], noise=noise, C=C)


def panel_stepper(
    backend: Backend, start: Snapshot, system: LinearSystem, steps: int, kernel: str, communicator: Communicator
) -> LinearStepper:
    """The stepper of a process that steps all states together with others; the first arguments are those of
    `LinearStepper`."""
    X = start.arrays["state"]
    panel = Panel(len(X), communicator.rank, communicator.size)
    sharing = SharedRows(backend, panel, X.shape[1], X.dtype, communicator)
    return LinearStepper(backend, start, panel_of(system, panel), steps, kernel, sharing=sharing)


def device_bytes(system: LinearSystem, dtype: Any, steps: int, panel: Panel) -> int:
    """The bytes that such a stepper allocates on its device; most are those of the first process, which has outputs."""
    rows = panel.height * system.start.shape[1] * np.dtype(dtype).itemsize
    return step_bytes(panel_of(system, panel), dtype, steps) + rows
