"""Monte Carlo simulation of correlated geometric Brownian motions, as a problem for the loop: what `paths/stepper.py`
makes steps of, and the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, Device, Layout, Problem, Snapshot, Stepper
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.add_paths import with_added_paths
from simsuite.solvers.gbm.checks.advice import blamed, remedies, warnings_of
from simsuite.solvers.gbm.checks.feasibility import require_feasible
from simsuite.solvers.gbm.checks.rare_prices import missed_means
from simsuite.solvers.gbm.checks.unsupported import require_supported
from simsuite.solvers.gbm.joint.joint import Joint
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.shared_state import cut, join
from simsuite.solvers.gbm.paths.stepper import OPTIONS, PathStepper
from simsuite.solvers.gbm.read_joint import read_joint
from simsuite.solvers.gbm.read_parts import joined, joined_payoffs, read_parts
from simsuite.solvers.gbm.results import results
from simsuite.solvers.gbm.results.layout import denominated, gbm_layout
from simsuite.solvers.gbm.schedule.batches import batches_of
from simsuite.solvers.gbm.schedule.limits import paths_together, require_countable, require_schedules
from simsuite.solvers.gbm.statistics.statistics import NO_FAULT
from simsuite.solvers.schedule import frame_steps

# path-steps per second on two cores of an AMD EPYC (Zen 4)
USUAL_CPU = {"float64": 5e8, "mixed": 1e9, "float32": 1.5e9}
USUAL_VALUE = 1.4e-8  # seconds for each path and each price or Greek on the same CPU; 1e-8 to 1.8e-8 were measured
USUAL_GPU = {"float64": 2e11, "mixed": 5e11, "float32": 7e11}  # path-steps per second on an H200


@dataclass(frozen=True)
class GbmProblem(PathPlan):
    """A validated scenario, as the loop sees it."""

    solver = "gbm"
    decided: ClassVar[Mapping[str, Any]] = {}
    # the noise of a price of 0, and an extreme before the first price, are infinite or huge
    unbounded: ClassVar[frozenset[str]] = frozenset({"x", "kept", "joint_x", "joint_kept"})
    rate_unit = "path-steps/s"
    adaptive = False
    multilevel: ClassVar[bool] = False
    stepper_kind: ClassVar[Callable[..., Stepper]] = PathStepper

    @classmethod
    def from_scenario(
        cls, model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
        """base: the scenario file's directory (no file is read). Raises ScenarioError for what cannot be done yet, and
        if the steps of all batches are more than can be counted."""
        require_supported(model)
        dynamics = Dynamics.of(model)
        read = read_parts(model, dynamics)
        paths = joined(read, dynamics.n_steps)
        require_schedules(paths.functionals, dynamics.n_steps)
        frames = frame_steps(model.output, model.time.steps, model.time.end / model.time.steps)

        def stated(joint: Joint | None = None) -> GbmProblem:
            beside = joint.kept_beside if joint else 0
            batch = batches_of(model, paths_together(model, len(paths.functionals), len(frames), beside)).size
            payoffs = read[0][2] if read[0][0] is model else joined_payoffs(read, paths, model, batch)
            return cls(model, dynamics, payoffs, frames, batch, joint)

        problem = stated()
        joint = read_joint(problem)
        if joint is not None:  # what other markets keep of a path decides about batches as well
            problem = stated(joint)
        if problem.target > 0 and device is not None and decided is None:
            require_feasible(problem, lambda few: cls.from_scenario(few, base), device())
        require_countable(problem)
        return problem

    def usual_seconds(self, gpu: bool) -> float | None:
        """An estimate of the run's duration: from measurements for one asset and an Asian option
        (docs/notes/gbm_paths.md), in proportion to the number of assets; on a CPU with the time for the values of
        options. None if there is a target, as the number of paths is then not known before."""
        if self.multilevel or self.target > 0:
            return None
        rates = USUAL_GPU if gpu else USUAL_CPU
        steps = self.work(self.clock.end)
        stepping = self.n_assets * steps / rates[self.scenario.run.precision]
        values = len(self.payoffs.prices) + sum(map(len, self.payoffs.greek_means))
        values += len(self.joint.payoffs.values) if self.joint else 0
        return stepping if gpu else stepping + USUAL_VALUE * values * self.scenario.paths.count

    @property
    def method(self) -> Mapping[str, str]:
        made = {"bumped_markets": str(self.joint.made)} if self.joint and self.joint.made else {}
        return {"stepper": self.scenario.time.scheme, "precision": self.scenario.run.precision, **made}

    @property
    def warnings(self) -> list[str]:
        """Sentences about what is probably not meant, although it can be run."""
        return warnings_of(self.scenario)

    @property
    def remedies(self) -> list[str]:
        """Sentences about what to change in the scenario if a run comes to NaN or Inf."""
        return remedies(self.scenario)

    @property
    def less_memory(self) -> str:
        return f"take a smaller paths.batch than {self.batch}: results are the same, to the bit"

    def settle(self, stepper: Stepper) -> int:
        """Ends the making of paths if the target is reached, so that only rows of results are still to come. Otherwise
        returns the step at the end of the batch that may reach the target."""
        assert isinstance(stepper, PathStepper)
        if self.target == 0:
            stepper.step = self.batches_end + 1
            return self.clock.end
        batch = stepper.step // self.n_steps
        if stepper.paths_done != self.batches.begin(batch):  # a run with added paths begins within a batch
            return self.clock.end
        with stepper.observe(OPTIONS) as observed:
            needed = results.paths_needed(self, observed)
            fault = observed.arrays["fault"][0] != NO_FAULT
        if needed <= stepper.paths_done or fault or stepper.step == self.batches_end:
            stepper.step = self.batches_end + 1
            return self.clock.end
        last = self.batches.of(min(needed, self.scenario.paths.count) - 1)
        return self.batches_looked_at(last + 1) * self.n_steps

    def extended(self, before: Problem, end: Snapshot, backend: Backend) -> Snapshot:
        assert isinstance(before, GbmProblem)
        return with_added_paths(self, before, end, backend)

    @cached_property
    def layout(self) -> Layout:
        return gbm_layout(self)

    @property
    def denominated(self) -> Mapping[str, str]:
        return denominated(self.layout)

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return self.stepper_kind(self, backend, start)

    # ---- shares of several processes

    def indivisible(self, processes: int) -> str | None:
        return None

    def part_bytes(self, processes: int) -> int:
        return replace(self, share=(0, processes)).device_bytes()

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        return cut(self, state, process, processes)

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        return join(self, parts)

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        own = replace(self, share=(communicator.rank, communicator.size))
        return self.stepper_kind(own, backend, start, communicator)

    # ---- what comes out

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return results.rows(self, observed)

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return results.totals(self, observed)

    def results(self, observed: Snapshot) -> dict[str, Any]:
        return results.results(self, observed)

    def shortcomings(self, results: Mapping[str, Any], complete: bool = True) -> Sequence[str]:
        return missed_means(self.scenario, results)

    def fault(self, observed: Snapshot) -> str | None:
        for name, assets in (("fault", self.n_assets), ("joint_fault", self.joint_assets)):
            code = int(observed.arrays[name][0]) if name in observed.arrays else NO_FAULT
            if code != NO_FAULT:
                path, asset = divmod(code, assets)
                return f"path {path} of {blamed(self.scenario, asset)}"
        return None
