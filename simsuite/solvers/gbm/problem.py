"""Monte Carlo simulation of correlated geometric Brownian motions: what `paths/stepper.py` steps, and what comes out of
it.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.core import Backend, Device, Layout, Problem, Snapshot, Stepper
from simsuite.errors import ScenarioError
from simsuite.expressions.magnitude import magnitudes
from simsuite.expressions.sharing import evaluate_each, values_at_once
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.add_paths import extended
from simsuite.solvers.gbm.american.exercise_policy import Holder, holders, learning_bytes, policy_shape, unlearnt_policy
from simsuite.solvers.gbm.checks.advice import remedies, warnings_of
from simsuite.solvers.gbm.checks.feasibility import rehearse
from simsuite.solvers.gbm.checks.rare_prices import missed_means
from simsuite.solvers.gbm.checks.unsupported import not_yet
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.paths.stepper import ExactStepper
from simsuite.solvers.gbm.paths.tables import table_bytes
from simsuite.solvers.gbm.payoffs.functionals import codes
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs, expected_path
from simsuite.solvers.gbm.portfolio.portfolio import PAYOFFS_CHUNK, Portfolio
from simsuite.solvers.gbm.random_numbers import moment_matching
from simsuite.solvers.gbm.random_numbers.numbering import sharing_of
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK, PRECISIONS
from simsuite.solvers.gbm.read_options import read_payoffs
from simsuite.solvers.gbm.results import results
from simsuite.solvers.gbm.results.layout import denominated, gbm_layout
from simsuite.solvers.gbm.schedule.batches import batches_of
from simsuite.solvers.gbm.schedule.limits import SEEN_BYTES, paths_together, require_countable, require_schedules
from simsuite.solvers.gbm.schedule.timeline import Timeline
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import BINS, NO_FAULT
from simsuite.solvers.gbm.unseen_errors.extreme_points import Rays
from simsuite.solvers.gbm.unseen_errors.payoff_jumps import leaps_of
from simsuite.solvers.schedule import frame_steps

_MOST_WATCHED = 1024  # frames in a stretch, each a layer of a launch
_KEPT_BYTES = 1 << 26  # of statistics of frames that are not needed any more, but by a run that goes on from this one
_STORED_PATHS = 64
USUAL_CPU = {"float64": 5e8, "mixed": 1e9, "float32": 1.5e9}  # path-steps/s on two cores of an AMD EPYC (Zen 4)
USUAL_VALUE = 1.4e-8  # s a path there for each price and Greek, by which 1e-8 to 1.8e-8 were seen
USUAL_GPU = {"float64": 2e11, "mixed": 5e11, "float32": 7e11}  # on an H200


@dataclass(frozen=True)
class GbmProblem(Timeline):
    """A validated scenario. frame_steps: time steps of the frames, first 0, last the end."""

    scenario: GbmScenario
    dynamics: Dynamics
    payoffs: Payoffs
    frame_steps: tuple[int, ...]
    batch: int

    solver = "gbm"
    decided: ClassVar[Mapping[str, Any]] = {}
    unbounded: ClassVar[frozenset[str]] = frozenset({"x", "kept"})  # a price of 0, an extreme of no price yet
    rate_unit = "path-steps/s"
    adaptive = False
    multilevel: ClassVar[bool] = False
    summed: ClassVar[int] = 1  # steps of random numbers in one of a path

    @classmethod
    def from_scenario(
        cls, model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
        """base: the scenario file's directory (no file is read). Raises ScenarioError for what cannot be done yet, and
        if the steps of all batches are more than can be counted."""
        missing = not_yet(model)
        if missing:
            raise ScenarioError(missing)
        if model.paths.multilevel and not cls.multilevel:
            from simsuite.solvers.gbm.multilevel.problem import MultilevelProblem  # which is made of such problems

            return MultilevelProblem.from_scenario(model, base, device, decided)
        dynamics = Dynamics.of(model)
        payoffs = read_payoffs(model, dynamics)
        require_schedules(payoffs.functionals, dynamics.n_steps)
        frames = frame_steps(model.output, model.time.steps, model.time.end / model.time.steps)
        batch = paths_together(model, len(payoffs.functionals), len(frames))
        problem = cls(model, dynamics, payoffs, frames, batches_of(model, batch).size)
        if problem.target > 0 and device is not None and decided is None:
            rehearse(problem, base, device())
        require_countable(problem)
        return problem

    def usual_seconds(self, gpu: bool) -> float | None:
        """As measured for one asset and an Asian option (docs/performance.md), in proportion to the assets, and what
        values of options take, which is known of a CPU. How many paths reach a target is not known before."""
        if self.multilevel or self.target > 0:
            return None
        rates = USUAL_GPU if gpu else USUAL_CPU
        steps = self.work(self.clock.end)
        stepping = self.n_assets * steps / rates[self.scenario.run.precision]
        values = len(self.payoffs.prices) + sum(map(len, self.payoffs.greek_means))
        return stepping if gpu else stepping + USUAL_VALUE * values * steps / self.n_steps

    @property
    def method(self) -> Mapping[str, str]:
        return {"stepper": self.scenario.time.scheme, "precision": self.scenario.run.precision}

    @property
    def warnings(self) -> list[str]:
        """What is probably not meant, although it can be run: one sentence each."""
        return warnings_of(self.scenario)

    @property
    def remedies(self) -> list[str]:
        """What to change in the scenario where a run comes to NaN or Inf."""
        return remedies(self.scenario)

    @property
    def less_memory(self) -> str:
        return f"take a smaller paths.batch than {self.batch}: results are the same, to the bit"

    def settle(self, stepper: Stepper) -> int:
        """If the target is reached, no path more is made; rows of results are still to come. Else the end of the batch
        that may do is told."""
        assert isinstance(stepper, ExactStepper)
        if self.target == 0:
            stepper.step = self.batches_end + 1
            return self.clock.end
        batch = stepper.step // self.n_steps
        if stepper.paths_done != self.batches.begin(batch):  # an extension begins amid a batch
            return self.clock.end
        with stepper.observe_options() as observed:
            needed = results.paths_needed(self, observed)
            fault = observed.arrays["fault"][0] != NO_FAULT
        if needed <= stepper.paths_done or fault or stepper.step == self.batches_end:
            stepper.step = self.batches_end + 1
            return self.clock.end
        last = self.batches.of(min(needed, self.scenario.paths.count) - 1)
        return self.batches_looked_at(last + 1) * self.n_steps

    def extended(self, before: Problem, end: Snapshot, backend: Backend) -> Snapshot:
        assert isinstance(before, GbmProblem)
        return extended(self, before, end, backend)

    @cached_property
    def layout(self) -> Layout:
        return gbm_layout(self)

    @property
    def denominated(self) -> Mapping[str, str]:
        return denominated(self.layout)

    # ---- what the stepper asks

    @property
    def n_assets(self) -> int:
        return len(self.scenario.asset)

    @property
    def dtype(self) -> np.dtype:
        """Of what is added up along a path."""
        return PRECISIONS[self.scenario.run.precision][0]

    @property
    def normal(self) -> np.dtype:
        """Of normals, and of increments made of them."""
        return PRECISIONS[self.scenario.run.precision][1]

    @property
    def block(self) -> int:
        """Time steps whose normals are drawn together."""
        return NORMALS_PER_BLOCK[self.normal]

    def work(self, step: int) -> float:
        """The steps of a block are taken at once."""
        k = step % self.n_steps
        return super().work(step - k + min(-(-k // self.block) * self.block, self.n_steps))

    @property
    def seed(self) -> np.uint64:
        return np.uint64(self.scenario.run.seed)

    @property
    def antithetic(self) -> bool:
        return self.scenario.paths.antithetic

    sharing = cached_property(sharing_of)
    leaps = cached_property(leaps_of)
    rays = cached_property(Rays)

    @property
    def width(self) -> int:
        """Paths that make one independent observation."""
        return self.scenario.paths.width

    @property
    def stored(self) -> int:
        """Paths kept whole: the first ones."""
        asked = self.scenario.output.store_paths
        return min(_STORED_PATHS, self.batch) if asked is None else asked

    @cached_property
    def most_watched(self) -> int:
        """Frames that are looked at in one stretch: those of a block at least, of several as long as there is room."""
        counts = Counter((step - 1) // self.block for step in self.frame_steps[1:])
        if not self.keeps_frames:
            return max(counts.values())
        room = min(SEEN_BYTES // (self.n_assets * self.batch * self.dtype.itemsize), _MOST_WATCHED)
        return max(min(len(self.frame_steps) - 1, room), *counts.values())

    def farthest(self, step: int) -> int:
        """The time step up to which a stretch may go that begins at `step`."""
        begin = -(-step // self.block) * self.block
        first = bisect.bisect_right(self.frame_steps, begin)
        beyond = first + self.most_watched
        if beyond >= len(self.frame_steps):
            return self.n_steps
        return (self.frame_steps[beyond] - 1) // self.block * self.block  # the blocks before that of the next frame

    def slot(self, frame: int) -> int:
        """Where the statistics of a frame are."""
        return frame if self.keeps_frames else frame % self.block

    @cached_property
    def keeps_frames(self) -> bool:
        """Whether the statistics of all frames are kept to the end. If not, frames of a block share the room in turn;
        more paths can then not be added."""
        frames = len(self.frame_steps)
        kept = frames * (self.n_assets * (BINS + (2 + (self.width > 1)) * LIMBS) * 8 + self.portfolio.bytes_per_frame)
        return self.n_batches > 1 or self.target > 0 or frames <= self.block or kept <= _KEPT_BYTES

    @property
    def slots(self) -> int:
        return len(self.frame_steps) if self.keeps_frames else self.block

    @cached_property
    def functional_codes(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """(kind, asset, bit, row, partner) of each functional; see `paths/stepper.py`."""
        return tuple(codes(self.payoffs.functionals, self.n_steps))

    @cached_property
    def holders(self) -> list[Holder]:
        """Of American options."""
        return holders(self.payoffs.functionals, self.n_steps)

    @cached_property
    def end_growth(self) -> np.ndarray:
        """[asset]: 2^centre at the end."""
        with np.errstate(over="ignore"):
            return np.exp2(self.dynamics.centre(np.array([self.n_steps]))[:, 0])

    @cached_property
    def shifts(self) -> np.ndarray:
        """[value]: what is subtracted from each before it is added up."""
        with np.errstate(all="ignore"):
            path = expected_path(self.payoffs.functionals, self.dynamics)
            found = np.array([float(value) for value in evaluate_each(self.payoffs.values, path)])
        return np.where(np.isfinite(found), found, 0.0)

    @cached_property
    def summands(self) -> np.ndarray:
        """[value]: how large the numbers are that each is the sum of."""
        path = expected_path(self.payoffs.functionals, self.dynamics)
        return np.array(magnitudes(self.payoffs.values, path))

    @cached_property
    def portfolio(self) -> Portfolio:
        return Portfolio(self)

    def initial(self) -> Snapshot:
        arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in self._shapes().items()}
        arrays["fault"][0] = NO_FAULT
        if "policy" in arrays:
            arrays["policy"][...] = unlearnt_policy(self)
        return Snapshot(0, arrays)

    def along_paths(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the arrays that mean nothing between two batches."""
        n, functionals = self.n_assets, len(self.payoffs.functionals)
        shapes = {"x": ((n, self.batch), self.dtype), "kept": ((functionals, self.batch), self.dtype)}
        return {name: spec for name, spec in shapes.items() if math.prod(spec[0])}

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        n, slots = self.n_assets, self.slots
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {
            "moments": ((slots, n, 2 + (self.width > 1), LIMBS), np.int64),
            "histogram": ((slots, n, BINS), np.int64),
            "paths": ((len(self.frame_steps), n, self.stored), self.dtype),
            "options": ((self.sharing[0], len(self.payoffs.products), LIMBS), np.int64),
            "policy": (policy_shape(self.payoffs.functionals), np.float64),
            "fault": ((1,), np.int64),
            "done": ((1,), np.int64),
        } | self.portfolio.shapes()
        return {name: spec for name, spec in shapes.items() if math.prod(spec[0])}

    @cached_property
    def passing_arrays(self) -> int:
        """Arrays of float64 that exist while payoffs of some paths are computed: variables, and values on the way."""
        return 2 * self.n_assets + len(self.payoffs.functionals) + values_at_once(self.payoffs.values)

    def device_bytes(self) -> int:
        """What the stepper allocates, and `passing_arrays`."""
        shapes = self._shapes() | self.along_paths()
        del shapes["done"]  # known on the host
        state = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())
        seen = self.most_watched * self.n_assets * self.batch * self.dtype.itemsize
        payoffs = 8 * (len(self.payoffs.values) + self.passing_arrays) * min(PAYOFFS_CHUNK, self.batch)
        more = self.portfolio.device_bytes() + learning_bytes(self) + moment_matching.table_bytes(self)
        return state + seen + table_bytes(self) + payoffs + more

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return ExactStepper(self, backend, start)

    # ---- what comes out

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return results.rows(self, observed)

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return results.totals(self, observed)

    def results(self, observed: Snapshot) -> dict[str, Any]:
        return results.results(self, observed)

    def shortcomings(self, results: Mapping[str, Any]) -> Sequence[str]:
        return missed_means(self.scenario, results)

    def fault(self, observed: Snapshot) -> str | None:
        code = int(observed.arrays["fault"][0])
        if code == NO_FAULT:
            return None
        path, asset = divmod(code, self.n_assets)
        return f"path {path} of asset {self.scenario.asset_names[asset]!r}"

    @property
    def discount(self) -> float:
        """What 1, paid at the end, is worth at the start."""
        return math.exp(-self.scenario.market.rate.integral(0.0, self.scenario.time.end))
