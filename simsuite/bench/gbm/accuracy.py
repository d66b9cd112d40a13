"""Time to a standard error for the arithmetic Asian option with 252 fixings, by each way to lower that error.

A pilot tells the standard error of one path, and so how many paths a target takes; that many are then run, and timed on
the device: all paths, with statistics at the end and the sums of the payoffs. Errors of Sobol points fall at another
rate: there the number of points is doubled until the target is met. A run that would take too long is not made; its row
has a forecast in place of seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.bench.findings import Row
from simsuite.bench.gbm.cases import ASIAN, GROUP, SPOT
from simsuite.bench.gbm.effort import Effort
from simsuite.bench.gbm.pricing import REPEATS, Run, priced, run
from simsuite.core import Backend
from simsuite.errors import DeviceError, ScenarioError

TARGETS = (1e-4 * SPOT, 1e-6 * SPOT)  # standard errors, in units of price
MORE = 1.02  # factor of the paths that the pilot proposes, as its standard error is an estimate
FEWEST = 1 << 14  # Sobol points to begin with, over all replicates


@dataclass(frozen=True)
class Method:
    """A way to lower the standard error. sampling: keys of [paths]."""

    name: str
    control: bool
    sampling: Mapping[str, Any]


METHODS = tuple(
    Method(name + (" + control" if control else ""), control, sampling)
    for name, sampling in (("plain", {}), ("antithetic", {"antithetic": True}), ("sobol", {"sampling": "sobol"}))
    for control in (False, True)
)


def accuracy_rows(backend: Backend, effort: Effort, precisions: Sequence[str]) -> Iterator[Row]:
    """Yields a row for each precision, method and target, as it is measured."""
    for precision in precisions:
        for method in METHODS:
            study = _Study(backend, effort, precision, method)
            name = {"method": method.name, "precision": precision}
            try:
                for target, row in zip(TARGETS, study.rows()):
                    yield name | {"target": target} | row
            except (DeviceError, ScenarioError) as reason:
                yield name | {"target": TARGETS[0], "skipped": str(reason)}


@dataclass(frozen=True)
class _Study:
    backend: Backend
    effort: Effort
    precision: str
    method: Method

    def rows(self) -> Iterator[Row]:
        if "sampling" in self.method.sampling:
            yield from self._doubled()
        else:
            yield from self._planned()

    def _planned(self) -> Iterator[Row]:
        pilot = self._run(self.effort.pilot, 1)
        for target in TARGETS:
            n = MORE * self.effort.pilot * (pilot.estimate.standard_error / target) ** 2
            paths = max(math.ceil(n / GROUP), 1) * GROUP
            forecast = pilot.seconds * paths / self.effort.pilot
            yield self._outcome(paths, target, forecast)

    def _doubled(self) -> Iterator[Row]:
        """Rows of Sobol points; the runs for each target go on from the number of points at which the one before has
        stopped."""
        paths = FEWEST
        last = self._run(paths)
        for target in TARGETS:
            while last.estimate.standard_error > target and 2 * last.seconds <= self.effort.longest:
                paths *= 2
                last = self._run(paths)
            yield self._row(paths, target, last)

    def _outcome(self, paths: int, target: float, forecast: float) -> Row:
        if forecast > self.effort.longest:
            return {"paths": paths, "forecast_seconds": forecast}
        return self._row(paths, target, self._run(paths))

    def _row(self, paths: int, target: float, done: Run) -> Row:
        row = {"paths": paths, "seconds": done.seconds, **priced(ASIAN, self.precision, done.estimate)}
        return row | {"met": done.estimate.standard_error <= target}

    def _run(self, paths: int, repeats: int = REPEATS) -> Run:
        method = self.method
        problem = ASIAN.problem(self.precision, paths, whole=False, control=method.control, **method.sampling)
        return run(self.backend, problem, repeats)
