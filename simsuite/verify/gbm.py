"""`simsuite verify gbm`: everything that is checked of the Monte Carlo solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.verify import gbm_rates
from simsuite.verify.checks import Check
from simsuite.verify.gbm_cases import CASES, ONE, SEEDED, SEEDED_WITH_GREEKS, TWO, WITH_GREEKS, Case
from simsuite.verify.gbm_coverage import coverage_checks
from simsuite.verify.gbm_laws import law_checks, risk_checks, scheme_checks
from simsuite.verify.gbm_prices import price_checks
from simsuite.verify.gbm_rates import rate_checks
from simsuite.verify.gbm_runs import Note
from simsuite.verify.gbm_scores import seed_checks
from simsuite.verify.gbm_whole import whole_checks


@dataclass(frozen=True)
class Extent:
    """How much is done. paths: of each price. seeds: over which estimators are looked at, and which cases."""

    paths: int
    seeds: int
    seeded: Sequence[Case]
    rates: gbm_rates.Extent


FULL = Extent(1 << 19, 100, SEEDED, gbm_rates.Extent([1 << k for k in range(10, 19, 2)], 48))
QUICK = Extent(1 << 16, 36, (ONE, TWO), gbm_rates.Extent([1 << k for k in range(9, 16, 2)], 48))
ON_GPU = 16  # times as many paths


def gbm_checks(backend: Backend, quick: bool, note: Note) -> Iterator[Check]:
    """Check after check, as they are done. quick: fewer paths and seeds. note: is told what cannot be checked."""
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
