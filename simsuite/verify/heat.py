"""`simsuite verify heat`: everything that is checked of the heat solver."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.verify.benchmarks import benchmark_checks, benchmark_files
from simsuite.verify.checks import Check
from simsuite.verify.heat_orders import FULL, QUICK, order_checks
from simsuite.verify.heat_whole import whole_checks

CELLS = {True: 12, False: 24}  # along each axis, of runs with everything at once; quick or not


def heat_checks(backend: Backend, quick: bool = False) -> Iterator[Check]:
    """Check after check, as they are done. quick: fewer combinations, smaller grids."""
    yield from whole_checks(backend, _another(backend), CELLS[quick])
    yield from benchmark_checks(backend, benchmark_files(), refine=not quick)
    yield from order_checks(backend, QUICK if quick else FULL)


def heat_notes(backend: Backend) -> list[str]:
    """What cannot be checked here, and why."""
    notes = [] if backend.note is None else [backend.note]
    if _another(backend) is None:
        notes.append("the device is the CPU: there is nothing to compare it with")
    if not benchmark_files():
        notes.append("the benchmark scenarios are not here: they come with the source, in scenarios/benchmarks")
    return notes


def _another(backend: Backend) -> Backend | None:
    """The CPU, unless `backend` is that."""
    cpu = open_backend("cpu")
    return cpu if backend.name != cpu.name else None
