"""Steps a second of linear systems, taken as in runs, beside the library called in a loop.

The system is a random one whose spectrum is known (`random_stable`), so that states stay of the same size. The result
of the stepper is compared with steps of some of the states on the host, in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from simsuite.bench.checking import Deviation
from simsuite.bench.findings import Row
from simsuite.bench.linear.library import library
from simsuite.bench.timing import Patience, device_seconds, seconds
from simsuite.core import Backend, Stepper
from simsuite.errors import DeviceError
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.table import ROWS

_FEW = 2  # So many states are stepped on the host.
_CHECKED = 10  # steps
_MOST_STEPS = 10**9
JUMP = 1000  # Methods that need not take single steps go so many steps from frame to frame.
_JUMPS = 33  # There are so many frames, more than are timed.
_MOST_JUMPING = 1024  # Powers are timed for up to so many components, for which they are made quickly.

LibraryLoop: TypeAlias = Callable[[Backend, LinearSystem, str], Callable[[int], None] | None]


def step_rows(
    backend: Backend, patience: Patience, systems: Sequence[tuple[int, int]], precisions: Sequence[str]
) -> Iterator[Row]:
    """A row for each system, precision and way to take its steps, as it is measured: one by one, by the chosen kernels
    and by Numba's, and by the method that the run chooses with JUMP steps from frame to frame.
    """
    for n, m in systems:
        single = problem_of(n, m, "step", 2)
        problems = [single, replace(single, kernel="numba")] if backend.compiles else [single]
        if n <= _MOST_JUMPING:
            problems.append(problem_of(n, m, "auto", _JUMPS))
        for precision in precisions:
            for problem in problems:
                yield {"components": n, "states": m, "precision": precision} | measured(
                    backend, patience, replace(problem, dtype=np.dtype(precision)), _library_loop
                )


def problem_of(n: int, m: int, method: str, frames: int) -> LinearProblem:
    """A problem with m states of n components, and JUMP steps from frame to frame, or very many between two frames."""
    scenario = {
        "solver": "linear",
        "system": {"kind": "discrete", "matrix": {"generator": "random_stable", "size": n, "radius": 1.0}},
        "initial": {"state": {"random": "normal", "batch": m}},
        "time": {"steps": _MOST_STEPS if frames == 2 else JUMP * (frames - 1), "method": method},
        "output": {"frames": frames},
    }
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario), Path())


def measured(backend: Backend, patience: Patience, problem: LinearProblem, library_loop: LibraryLoop) -> Row:
    """The measurements of steps of `problem`, and of as many by the library, if there is one."""
    jumps = len(problem.frames) > 2
    row: Row = {"steps_at_once": JUMP} if jumps else {}
    if problem.device_bytes() > backend.memory_free():
        return row | {"kernel": problem.kernel, "skipped": "not enough memory"}
    try:
        stepper = problem.stepper(backend, problem.initial())
    except DeviceError as reason:
        return row | {"kernel": problem.kernel, "skipped": str(reason)}
    system, precision = problem.system, str(problem.dtype)
    off = _deviation(system, precision, stepper)
    method = f", {stepper.chosen.get('stepper', 'step')}" if jumps else ""
    row |= {"kernel": stepper.chosen["kernel"] + method}
    row |= {"largest_error": off.error, "error_limit": off.limit, "right": off.right}
    if not off.right:
        return row
    stepper.advance((JUMP if jumps else ROWS) - _CHECKED)
    if jumps:
        took = device_seconds(backend, lambda: stepper.advance(JUMP), patience) / JUMP
    else:
        took = seconds(backend, lambda times: stepper.advance(times * ROWS), patience)[0] / ROWS
    row |= {"steps_per_second": 1 / took, "flops": 2.0 * system.multiplications * system.start.shape[1] / took}
    loop = library_loop(backend, system, precision)
    if loop is not None:
        row["simsuite_is_faster_by"] = seconds(backend, loop, patience)[0] / ROWS / took
    return row


def _deviation(system: LinearSystem, precision: str, stepper: Stepper) -> Deviation:
    stepper.advance(_CHECKED)
    with stepper.snapshot() as snapshot:
        found = snapshot.arrays["state"][:, :_FEW].astype(np.float64)
    A, X = system.A.astype(precision).astype(np.float64), system.start[:, :_FEW].astype(precision).astype(np.float64)
    for _ in range(_CHECKED):
        X = A @ X
    eps, terms = float(np.finfo(precision).eps), system.multiplications / len(X)
    return Deviation(float(np.max(np.abs(found - X)) / np.max(np.abs(X))), _CHECKED * eps * (2 + math.sqrt(terms)))


def _library_loop(backend: Backend, system: LinearSystem, precision: str) -> Callable[[int], None] | None:
    """A function that takes ROWS steps at a time by the library, recorded where the device can;
    None without a library.
    """
    known = library(backend)
    if known is None:
        return None
    A = backend.array(system.A.astype(precision))
    states: list[Any] = [backend.array(system.start.astype(precision)) for _ in range(2)]
    recorder = backend.recorder()

    def launches() -> None:
        for k in range(ROWS):
            known.multiply(A, states[k % 2], states[(k + 1) % 2])

    def work(times: int) -> None:
        for _ in range(times):
            recorder.replay("steps", launches)

    return work
