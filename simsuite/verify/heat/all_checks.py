"""`simsuite verify heat`: everything that is checked of the heat solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.verify.benchmarks import benchmark_files
from simsuite.verify.checks import Check
from simsuite.verify.heat.benchmarks import benchmark_checks
from simsuite.verify.heat.consistency import whole_checks
from simsuite.verify.heat.stepper_orders import FULL, QUICK, order_checks
from simsuite.verify.heat.tolerance import tolerance_checks

# the number of cells along each axis in runs with everything at once, by whether checks are quick
CELLS = {True: 12, False: 24}


def heat_checks(backend: Backend, quick: bool, note: Callable[[str], None]) -> Iterator[Check]:
    """The checks of the heat solver, one after another as they are done. quick: whether to check fewer combinations on
    smaller grids. note: a function that is told what cannot be checked here, and why."""
    another = _another(backend)
    if another is None:
        note("the device is the CPU: there is nothing to compare it with")
    yield from whole_checks(backend, another, CELLS[quick])
    yield from tolerance_checks(backend, quick)
    yield from benchmark_checks(backend, benchmark_files(), refine=not quick)
    yield from order_checks(backend, QUICK if quick else FULL)


def _another(backend: Backend) -> Backend | None:
    """The CPU's backend, unless `backend` is the CPU itself."""
    cpu = open_backend("cpu")
    return cpu if backend.name != cpu.name else None
