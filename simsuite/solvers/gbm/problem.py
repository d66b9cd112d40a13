"""Monte Carlo simulation of correlated geometric Brownian motions: what `exact.py` steps, and what comes out of it."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.core import Backend, Clock, Device, Layout, Snapshot, Stepper
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.contracts import Contracts, read_contracts
from simsuite.solvers.gbm.exact import ExactStepper
from simsuite.solvers.gbm.exactsum import LIMBS
from simsuite.solvers.gbm.layout import gbm_layout
from simsuite.solvers.gbm.results import PriceStatistics, option_estimates, price_statistics, stored_prices
from simsuite.solvers.gbm.statistics import BINS, GROUP, NO_FAULT, Estimate
from simsuite.solvers.gbm.unsupported import not_yet
from simsuite.solvers.schedule import frame_steps

_BATCH_BYTES = 1 << 30
_LARGEST_BATCH = 1 << 24
_STORED_PATHS = 64
MOST_STEPS = 1 << 53  # of all batches: beyond, times are no longer exact


@dataclass(frozen=True)
class GbmProblem:
    """A validated scenario. Growth rates in 1/year, times in years.

    The paths are worked off in `n_batches` batches of `batch` paths, one after another. The clock counts the steps of
    all of them; rows of results fall due in the last batch, when the statistics of the others are complete.
    frame_steps: time steps of the frames, first 0, last the end.
    """

    scenario: GbmScenario
    growth: np.ndarray
    contracts: Contracts
    frame_steps: tuple[int, ...]
    batch: int

    solver = "gbm"
    decided: ClassVar[Mapping[str, Any]] = {}
    settled = None
    rate_unit = "path-steps/s"

    @classmethod
    def from_scenario(
        cls, model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
        """base: the scenario file's directory (no file is read). Raises ScenarioError for what cannot be done yet, and
        if the steps of all batches are more than can be counted."""
        missing = not_yet(model)
        if missing:
            raise ScenarioError(missing)
        rate, drift = model.market.rate.value, model.market.drift
        growth = np.array([rate - a.dividend_yield.value if drift is None else drift.value for a in model.asset])
        contracts = read_contracts(model, growth)
        itemsize = np.dtype(model.run.precision).itemsize
        fitting = _BATCH_BYTES // (itemsize * (len(model.asset) + len(contracts.averages)))
        batch = model.paths.batch or max(min(fitting, _LARGEST_BATCH) // GROUP, 1) * GROUP
        batch = max(batch, -(-(model.output.store_paths or 0) // GROUP) * GROUP)  # all in the first batch
        frames = frame_steps(model.output, model.time.steps, model.time.end / model.time.steps)
        problem = cls(model, growth, contracts, frames, min(batch, model.paths.count))
        if problem.clock.end >= MOST_STEPS:
            message = f"{problem.n_batches} batches of {problem.n_steps} steps are more than can be counted"
            key = "count" if model.paths.batch is None else "batch"
            raise ScenarioError([Mistake(("paths", key), message, "take fewer steps, or fewer paths")])
        return problem

    @property
    def method(self) -> Mapping[str, str]:
        return {"stepper": self.scenario.time.scheme, "precision": self.scenario.run.precision}

    @cached_property
    def clock(self) -> Clock:
        return Clock((0, self.n_batches * self.n_steps), (0.0, self.scenario.time.end))

    @property
    def dt(self) -> float:
        return self.time(1)

    def position(self, step: int) -> tuple[int, float]:
        """Where the present batch is."""
        k = step - self.rows_from if step >= self.rows_from else step % self.n_steps
        return k, self.time(k)

    @cached_property
    def layout(self) -> Layout:
        return gbm_layout(self)

    @property
    def work_per_step(self) -> float:
        return self.scenario.paths.count / self.n_batches

    # ---- what the stepper asks

    @property
    def n_assets(self) -> int:
        return len(self.scenario.asset)

    @property
    def n_steps(self) -> int:
        """Time steps of each path."""
        return self.scenario.time.steps

    @property
    def n_batches(self) -> int:
        return -(-self.scenario.paths.count // self.batch)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.scenario.run.precision)

    @property
    def seed(self) -> np.uint64:
        return np.uint64(self.scenario.run.seed)

    @property
    def antithetic(self) -> bool:
        return self.scenario.paths.antithetic

    @property
    def width(self) -> int:
        """Paths that make one independent observation."""
        return 2 if self.antithetic else 1

    @property
    def stored(self) -> int:
        """Paths kept whole: the first ones."""
        asked = self.scenario.output.store_paths
        return min(_STORED_PATHS, self.batch) if asked is None else asked

    def batch_paths(self, batch: int) -> int:
        """Paths in a batch: the last may be smaller."""
        return min(self.batch, self.scenario.paths.count - batch * self.batch)

    def time(self, step: int) -> float:
        """The time at a time step of a path."""
        return self.scenario.time.end * (step / self.n_steps)

    def frame(self, step: int) -> int | None:
        """Which frame falls on this time step, if any."""
        k = bisect.bisect_left(self.frame_steps, step)
        return k if self.frame_steps[k] == step else None

    def next_frame(self, step: int) -> int:
        """The time step of the first frame after `step`, which is before the end."""
        return self.frame_steps[bisect.bisect_right(self.frame_steps, step)]

    def slot(self, frame: int) -> int:
        """Where the statistics of a frame are: with a single batch, one frame's room serves all in turn."""
        return frame if self.n_batches > 1 else 0

    def frame_of_row(self, step: int) -> int:
        """The frame that the last batch has reached at this step of the run, or passed last."""
        return max(bisect.bisect_right(self.frame_steps, step - self.rows_from) - 1, 0)

    @property
    def rows_from(self) -> int:
        """The step of the run at which the last batch begins."""
        return (self.n_batches - 1) * self.n_steps

    @property
    def tables(self) -> Mapping[str, np.ndarray]:
        """What the kernels read: see `exact.py`, `statistics.py`, `contracts.py`."""
        return {**self._small_tables, "due": self.contracts.due(self.n_steps)}

    @cached_property
    def _small_tables(self) -> Mapping[str, np.ndarray]:
        """All but the one that grows with the number of steps."""
        dt = self.scenario.time.end / self.n_steps
        correlation = self.scenario.market.correlation
        factor = np.linalg.cholesky(np.eye(self.n_assets) if correlation is None else np.array(correlation))
        volatility = np.array([a.volatility.value for a in self.scenario.asset])
        log_growth = self.growth - volatility**2 / 2
        tables = {
            "drift": (log_growth * dt).astype(self.dtype),
            "mix": (volatility[:, None] * math.sqrt(dt) * factor).astype(self.dtype),
            "growth": self.growth,
            "log_growth": log_growth,
            "inverse_volatility": np.array([1 / v if v > 0 else 0.0 for v in volatility]),
        }
        if len(self.contracts.kinds):
            tables |= {"kinds": self.contracts.kinds, "terms": self.contracts.terms}
        return tables

    def initial(self) -> Snapshot:
        arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in self._shapes().items()}
        arrays["fault"][0] = NO_FAULT
        return Snapshot(0, arrays)

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        n, slots = self.n_assets, self.slot(len(self.frame_steps) - 1) + 1
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {
            "x": ((n, self.batch), self.dtype),
            "averages": ((len(self.contracts.averages), self.batch), self.dtype),
            "moments": ((slots, n, 2, LIMBS), np.int64),
            "histogram": ((slots, n, BINS), np.int64),
            "paths": ((len(self.frame_steps), n, self.stored), self.dtype),
            "options": ((len(self.contracts.kinds), 2, LIMBS), np.int64),
            "fault": ((1,), np.int64),
        }
        return {name: spec for name, spec in shapes.items() if math.prod(spec[0])}

    def device_bytes(self) -> int:
        state = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self._shapes().values())
        due = math.prod(self.contracts.due_shape(self.n_steps))
        return state + due + sum(table.nbytes for table in self._small_tables.values())

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return ExactStepper(self, backend, start)

    # ---- what comes out

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        prices = self._prices(observed)
        rows = {
            "time": np.array(prices.time),
            "price_mean": prices.mean,
            "price_std": prices.std,
            "price_quantile": prices.quantiles,
        }
        if "paths" in observed.arrays:
            rows["path"] = stored_prices(self.scenario, observed.arrays["paths"])
        return rows

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        found = self._options(observed)
        if not found:
            return {}
        return {
            "option_price": np.array([e.value for e in found]),
            "option_standard_error": np.array([e.standard_error for e in found]),
        }

    def results(self, observed: Snapshot) -> dict[str, Any]:
        """A number that a single path does not give (a standard error, a deviation) is None."""
        prices = self._prices(observed)
        options = {
            name: {
                "price": e.value,
                "standard_error": _number(e.standard_error),
                "ci95": [_number(bound) for bound in e.ci95],
            }
            for name, e in zip(self.scenario.option_names, self._options(observed))
        }
        assets = {
            name: {
                "mean": float(prices.mean[a]),
                "std": _number(prices.std[a]),
                "quantiles": {
                    f"{q:g}": float(p) for q, p in zip(self.scenario.output.quantiles, prices.quantiles[:, a])
                },
            }
            for a, name in enumerate(self.scenario.asset_names)
        }
        return {"paths": self.scenario.paths.count, "options": options, "assets": assets}

    def fault(self, observed: Snapshot) -> str | None:
        code = int(observed.arrays["fault"][0])
        if code == NO_FAULT:
            return None
        path, asset = divmod(code, self.n_assets)
        return f"path {path} of asset {self.scenario.asset_names[asset]!r}"

    def _prices(self, observed: Snapshot) -> PriceStatistics:
        t = self.time(self.frame_steps[self.frame_of_row(observed.step)])
        return price_statistics(self.scenario, self.growth, t, observed.arrays["moments"], observed.arrays["histogram"])

    def _options(self, observed: Snapshot) -> list[Estimate]:
        """One for each option; none before the last path has ended."""
        if observed.step < self.clock.end or "options" not in observed.arrays:
            return []
        return option_estimates(self.contracts, observed.arrays["options"], self.scenario.paths.count // self.width)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
