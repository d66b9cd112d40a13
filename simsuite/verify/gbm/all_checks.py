"""`simsuite verify gbm`: everything that is checked of the Monte Carlo solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.verify.checks import Check
from simsuite.verify.gbm import convergence_rates
from simsuite.verify.gbm.cases import CASES, ONE, SEEDED, SEEDED_WITH_GREEKS, TWO, WITH_GREEKS, Case
from simsuite.verify.gbm.consistency import whole_checks
from simsuite.verify.gbm.convergence_rates import rate_checks
from simsuite.verify.gbm.coverage import coverage_checks
from simsuite.verify.gbm.laws import law_checks, risk_checks, scheme_checks
from simsuite.verify.gbm.prices import price_checks
from simsuite.verify.gbm.runs import Note
from simsuite.verify.gbm.standard_errors import seed_checks


@dataclass(frozen=True)
class Extent:
    """The amount of checking. paths: number of paths for each price. seeds, seeded: the number of seeds over which
    estimators are checked, and the cases for that. rates: paths and seeds for rates of convergence."""

    paths: int
    seeds: int
    seeded: Sequence[Case]
    rates: convergence_rates.Extent


FULL = Extent(1 << 19, 100, SEEDED, convergence_rates.Extent([1 << k for k in range(10, 19, 2)], 48))
QUICK = Extent(1 << 16, 36, (ONE, TWO), convergence_rates.Extent([1 << k for k in range(9, 16, 2)], 48))
ON_GPU = 16  # factor of the number of paths


def gbm_checks(backend: Backend, quick: bool, note: Note) -> Iterator[Check]:
    """Yields the checks as they are done. quick: whether to take fewer paths and seeds. note: is told what cannot be
    checked."""
    extent, cpu = QUICK if quick else FULL, open_backend("cpu")
    elsewhere = backend.name != cpu.name
    if not elsewhere:
        note("the device is the CPU: there is nothing to compare it with")
    paths = extent.paths * (ON_GPU if elsewhere else 1)
    yield from whole_checks(backend, cpu if elsewhere else None)
    yield from price_checks(backend, CASES, WITH_GREEKS[quick], paths, note)
    yield from law_checks(backend, paths, note)
    yield from risk_checks(backend, paths, note)
    yield from scheme_checks(backend, paths, note)
    yield from rate_checks(backend, extent.rates, note)
    yield from coverage_checks(backend, extent.seeds)
    yield from seed_checks(backend, extent.seeded, SEEDED_WITH_GREEKS[quick], extent.seeds, note)
