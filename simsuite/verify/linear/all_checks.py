"""`simsuite verify linear`: everything that is checked of the solver for linear systems."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.verify.checks import Check
from simsuite.verify.linear import products
from simsuite.verify.linear.analysis import analysis_checks, known
from simsuite.verify.linear.cases import cases
from simsuite.verify.linear.hard_exponentials import exponential_cases
from simsuite.verify.linear.known_solutions import state_checks
from simsuite.verify.linear.methods import method_checks
from simsuite.verify.linear.noise import noise_checks
from simsuite.verify.linear.orders import rod_checks
from simsuite.verify.linear.power_errors import power_error_checks
from simsuite.verify.linear.products import product_checks
from simsuite.verify.linear.runs import Note

POINTS = {True: (15, 23, 31), False: (15, 31, 63, 127)}  # the points of a rod, by whether the checks are to be quick
NOISE_SEEDS = {True: 6, False: 30}


def linear_checks(backend: Backend, quick: bool, note: Note) -> Iterator[Check]:
    """All checks of the linear solver, one after the other, as they are done. quick: whether fewer shapes are checked.
    note: is told what cannot be checked here, and why.
    """
    cpu = open_backend("cpu")
    elsewhere = backend.name != cpu.name
    if not elsewhere:
        note("the device is the CPU: there is nothing to compare it with")
    with backend.on_threads(1):
        yield from state_checks(backend, [*cases(quick), *exponential_cases()], note)
        yield from rod_checks(backend, POINTS[quick])
        yield from analysis_checks(backend, known())
        yield from power_error_checks(backend)
    yield from product_checks(backend, products.QUICK if quick else products.FULL)
    yield from method_checks(backend, cpu if elsewhere else None, note)
    with backend.on_threads(1):
        yield from noise_checks(backend, cpu if elsewhere else None, NOISE_SEEDS[quick])
