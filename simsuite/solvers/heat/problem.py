"""A heat scenario as a `Problem`: checked once, then frozen."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.core import Backend, Clock, Device, JsonObject, Layout, Snapshot, Stepper
from simsuite.crossings.looks import Looks, Reading
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.scenario.heat.source import SURFACE
from simsuite.solvers.heat.checks.absolute_zero import fallen_below, gone_below
from simsuite.solvers.heat.checks.advice import open_ledger, remedies, warnings
from simsuite.solvers.heat.checks.broken_law import broken_law
from simsuite.solvers.heat.checks.maximum_principle import PossibleRange, gone_beyond, possible_range
from simsuite.solvers.heat.checks.tolerance import missed_tolerance, tolerance_of
from simsuite.solvers.heat.checks.too_hot import too_hot
from simsuite.solvers.heat.checks.unstable import unstable
from simsuite.solvers.heat.error_control.control_state import NAMES, errors_of
from simsuite.solvers.heat.error_control.controlled import CONTROLLED_FIELDS, ControlledStepper
from simsuite.solvers.heat.explicit.explicit import is_plain
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.operator.compensated import LOW
from simsuite.solvers.heat.operator.ledger import empty_ledger
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.plan import Plan, unlike
from simsuite.solvers.heat.results.energy import Energy
from simsuite.solvers.heat.results.extremes import extremes
from simsuite.solvers.heat.results.faults import fault, fault_cell
from simsuite.solvers.heat.results.layout import heat_layout
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.results.reference_error import reference_error
from simsuite.solvers.heat.results.watched import looks_of, peaks, readings
from simsuite.solvers.heat.shared_slabs import SharedSlabs
from simsuite.solvers.heat.statement import discretise
from simsuite.solvers.heat.steady.stepper import STEADY_CLOCK, STEADY_FIELDS, SteadyStepper
from simsuite.solvers.heat.stepper_choice.expected_steps import many_more
from simsuite.solvers.heat.stepper_choice.forecast import usual_seconds
from simsuite.solvers.heat.stepper_choice.method import clock_times, controlled_times, make_plan
from simsuite.solvers.heat.stepper_choice.trials import rates_on
from simsuite.solvers.heat.stepper_record import Ingredients, bytes_of_fields
from simsuite.solvers.heat.steppers import record_or_none, stepper_record
from simsuite.solvers.heat.time_scales.step_shares import Course
from simsuite.solvers.schedule import frame_times, sample_steps, sample_times

# the least number of cells for each thread: fewer do not pay for threads that wait for each other
CELLS_A_THREAD = 8192
STEADY = Plan("steady", STEADY_CLOCK, "asked for")
FORETOLD = 3.0  # Steps that control their error may be more or fewer than expected by this factor.


@dataclass(frozen=True, eq=False)
class HeatProblem(SharedSlabs):
    """ρc ∂T/∂t = ∇·(k∇T) + q on a rectangle.

    scenario: the validated file. made: its discretisation in space. plan: its plan in time."""

    scenario: HeatScenario
    made: Discretisation
    plan: Plan

    solver = "heat"
    unbounded: ClassVar[frozenset[str]] = frozenset({"control"})  # in which Inf stands for what is not known
    of_whole_run: ClassVar[frozenset[str]] = frozenset()
    rate_unit = "cell-steps/s"

    @classmethod
    def from_scenario(
        cls, model: HeatScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> HeatProblem:
        """See `Problem.from_scenario`; `decided` is the stored plan. Raises ScenarioError with all that is wrong: an
        unstable dt, an initial file of another shape, ..."""
        mistakes = _bad_times(model)
        made = discretise(model, base, mistakes)
        if mistakes:
            raise ScenarioError(mistakes)
        if model.time.steady:
            return cls(model, made, STEADY)
        if decided:
            times = controlled_times(model, ()) if "control" in decided else clock_times(model)
            return cls(model, made, Plan.remembered(decided, times))
        plan = make_plan(model, made, mistakes, functools.partial(rates_on, device, model.run))
        if mistakes:
            raise ScenarioError(mistakes)
        return cls(model, made, plan)

    @property
    def T0(self) -> np.ndarray:
        """Initial temperature at the cell centres, (ny, nx), in the run's precision."""
        return self.made.T0

    @property
    def clock(self) -> Clock:
        return self.plan.clock

    @property
    def decided(self) -> Mapping[str, Any]:
        return {} if self.scenario.time.steady else self.plan.to_remember()

    @property
    def method(self) -> Mapping[str, str]:
        return {
            "stepper": self.plan.stepper,
            "stepper_reason": self.plan.reason,
            "precision": self.scenario.run.precision,
        }

    @property
    def threads_fed(self) -> int:
        return max(1, self.made.nx * self.made.ny // CELLS_A_THREAD)

    @property
    def adaptive(self) -> bool:
        return self.plan.control is not None

    @property
    def dt(self) -> float:
        control = self.plan.control
        return self.clock.dt(0) if control is None else self.clock.times[-1] / control.expected

    def lengths(self, step: int) -> tuple[float, float]:
        return self.clock.lengths(step) if self.plan.control is None else (self.dt, self.dt)

    @property
    def warnings(self) -> Sequence[str]:
        return warnings(self.scenario, self.made, self.plan)

    @property
    def remedies(self) -> Sequence[str]:
        return remedies(self.scenario, self.made, self.plan)

    def usual_seconds(self, gpu: bool) -> float | None:
        if self.scenario.time.steady:
            return None
        return usual_seconds(self.plan, self.clock, self.made, self.scenario.time.steady_tolerance > 0, gpu)

    @property
    def steps_expected(self) -> tuple[int, int | None]:
        control = self.plan.control
        if control is None:
            return self.position(self.clock.end)[0], self.position(self.clock.end)[0]
        least, most = control.expected / FORETOLD, control.expected * FORETOLD
        return round(least), None if control.unsure else round(most * many_more(self.made, self.clock.times[-1]))

    def work(self, step: int) -> float:
        cells, control = float(self.made.nx * self.made.ny), self.plan.control
        if control is None:
            return cells * max(1, self.plan.stages) * step
        return cells * control.expected * self._course.share(self._time(step))

    @cached_property
    def _course(self) -> Course:
        assert self.plan.control is not None, "equal steps are known"
        return self.plan.control.course(self.clock.times[-1], self.plan.changes)

    @cached_property
    def layout(self) -> Layout:
        if self.scenario.time.steady:
            return heat_layout(self.scenario, self.energy.names, (1,), (1,))
        step_at = dict(zip(self.clock.times, self.clock.steps))
        frames = tuple(step_at[t] for t in frame_times(self.scenario.output, self.clock.times[-1]))
        if self.plan.control is None:
            samples = sample_steps(self.scenario.output.samples, frames)
        else:
            also = (step_at[t] for t in sample_times(self.scenario.output.samples, clock_times(self.scenario)))
            samples = tuple(sorted({*frames, *also}))
        return heat_layout(self.scenario, self.energy.names, frames, samples, self.looks)

    @cached_property
    def looks(self) -> Looks | None:
        return looks_of(self.scenario, self.plan)

    def unlike(self, shorter: HeatProblem) -> str | None:
        return unlike(self.plan, shorter.plan)

    def readings(self, observed: Snapshot) -> Sequence[Reading]:
        return readings(self.scenario, self.made, observed.arrays)

    def peaks(self, observed: Snapshot) -> Mapping[str, tuple[float, JsonObject]]:
        return {} if self.scenario.time.steady else peaks(observed.arrays, self.made, self._time(observed.step))

    def position(self, step: int) -> tuple[int, float]:
        control, t = self.plan.control, self._time(step)
        if control is None:
            return 0 if self.scenario.time.steady else step, t
        return round(control.expected * t / self.clock.times[-1]), t

    def _time(self, step: int) -> float:
        """The time of a step, s. A steady state has only the time that the scenario gives it."""
        return (self.scenario.time.end or 0.0) if self.scenario.time.steady else self.clock.time(step)

    def initial(self) -> Snapshot:
        low = {LOW: np.zeros_like(self.T0)} if self.scenario.run.compensated else {}
        ledger = empty_ledger(ledger_entries(self.made), self.T0.dtype)
        return Snapshot(0, {"temperature": self.T0, **low, **ledger})

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return self.stepper_of(self.made, backend, start, ALL_ROWS)

    def stepper_of(self, made: Discretisation, backend: Backend, start: Snapshot, beside: NoNeighbours) -> Stepper:
        stepper = self._stepper(made, backend, start, beside)
        if self.scenario.run.kernel == "nvrtc" and stepper.chosen["kernel"] != "nvrtc":
            note = "there are CUDA C++ kernels for explicit steps only, not for this run"
            stepper.chosen = {"kernel_note": note, **stepper.chosen}
        return stepper

    def _stepper(self, made: Discretisation, backend: Backend, start: Snapshot, beside: NoNeighbours) -> Stepper:
        probes, rate = [(p.x, p.y) for p in self.scenario.probe], self.scenario.time.steady_tolerance > 0
        common = made, Wanted(probes, rate, *made.place), self.clock, backend, start
        if self.scenario.time.steady:
            return SteadyStepper(*common, self.scenario)
        if self.plan.control is not None:
            return ControlledStepper(*common, self.plan.control, self.plan.changes, self.scenario.degrees, beside)
        ingredients = Ingredients(*common, self.plan.stages, self.scenario.run.kernel, beside)
        return stepper_record(self.plan.stepper).make(ingredients)

    @cached_property
    def energy(self) -> Energy:
        derived = ("source_manufactured",) if self.scenario.manufactured else ()
        names = (*(each.entry for each in self.scenario.heating), *derived)
        depth = self.scenario.grid.thickness or 1.0
        return Energy(self.made, names, self.clock, self._plain, self.scenario.time.steady, depth)

    @property
    def _plain(self) -> bool:
        """Whether the ledger is in K, see `Energy`. Steps that control their error book heat, since those of adi do."""
        rate, record = self.scenario.time.steady_tolerance > 0, record_or_none(self.plan.stepper)
        if record is None or self.plan.control is not None:
            return False
        return record.has_plain_kernels and is_plain(self.made) and not rate

    def device_bytes(self) -> int:
        return self.bytes_of(self.made)

    def bytes_of(self, made: Discretisation) -> int:
        if self.scenario.time.steady:
            return bytes_of_fields(made, STEADY_FIELDS)
        if self.plan.control is not None:
            return bytes_of_fields(made, CONTROLLED_FIELDS)
        return stepper_record(self.plan.stepper).device_bytes(made, self._plain, self.scenario.run)

    def next_look(self, step: int) -> int | None:
        """The next frame from `step` on, where the run looks whether it has become steady; None where it does not look,
        or after the last frame."""
        if self.scenario.time.steady_tolerance == 0:
            return None
        frames = self.layout.series[0].steps
        following = bisect.bisect_left(frames, step)
        return frames[following] if following < len(frames) else None

    def settle(self, stepper: Stepper) -> int:
        with stepper.observe(self.layout.series[0].dim) as observed:
            return stepper.step if self._settled(observed) else self.clock.end

    def _settled(self, observed: Snapshot) -> bool:
        """Never at the start: a plate in equilibrium that sources or edges begin to warm then still rests."""
        if observed.step == 0:
            return False
        slow = _largest_rate(observed) <= self.scenario.time.steady_tolerance
        return slow and not self.plan.changes_from(self._time(observed.step))

    def fault(self, observed: Snapshot) -> str | None:
        return fault(self.scenario, self.made, observed)

    def fault_cell(self, observed: Snapshot) -> tuple[int, int] | None:
        return fault_cell(self.made, observed)

    def fault_time(self, observed: Snapshot) -> float | None:
        """The time from which on temperatures were not finite, if it is known: steps that control their error look at
        every temperature."""
        if "control" not in observed.arrays:
            return None
        return float(observed.arrays["control"][NAMES.index("lost_at")]) or None

    def doubt(self, observed: Snapshot) -> str | None:
        lowest, highest = float(observed.arrays["row_min"].min()), float(observed.arrays["row_max"].max())
        wrong = gone_below(self.scenario, self.made, lowest, highest) or broken_law(self.scenario, self.made, observed)
        if wrong is not None or self._possible is None:
            return wrong
        return gone_beyond(self.scenario, self.plan, self._possible, lowest, highest, observed.step)

    @cached_property
    def _possible(self) -> PossibleRange | None:
        return possible_range(self.scenario, self.made, self.plan)

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        t = self._time(observed.step)
        if series == "time":
            rows = {"time": np.array(t), "temperature": observed.arrays["temperature"]}
            return rows | {f"error_{name}": np.array(value) for name, value in self._error(observed).items()}
        return {
            "sample_time": np.array(t),
            **({"probe_temperature": observed.arrays["probes"]} if self.scenario.probe else {}),
            **{f"energy_{name}": np.array(value) for name, value in self.energy.of(observed).items()},
        }

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return {}

    def results(self, observed: Snapshot) -> dict[str, Any]:
        a = observed.arrays
        energy = self.energy.of(observed)
        sources = {name.removeprefix("source_"): energy[name] for name in self.energy.sources if name != SURFACE}
        results: dict[str, Any] = {
            **extremes(a, self.made),
            "probes": {p.name: float(v) for p, v in zip(self.scenario.probe, a["probes"])},
            "energy": {
                "stored": energy["stored"],
                "boundary": math.fsum(energy[edge] for edge in EDGES),
                "source": math.fsum(sources.values()),
                **{name: energy[name] for name in (SURFACE, "held") if name in energy},
                "residual": energy["residual"],
                "edges": {edge: energy[edge] for edge in EDGES},
                **({"sources": sources} if sources else {}),
            },
        }
        if self.scenario.time.steady_tolerance > 0:
            results["steady"] = {"largest_rate": _largest_rate(observed), "reached": self._settled(observed)}
        if "steady" in a:
            residual, iterations, growth = (float(number) for number in a["steady"])
            growing = {} if math.isnan(growth) else {"growth_rate": growth}
            results["steady"] = {"residual": residual, "iterations": int(iterations), **growing}
        if "iteration_change" in a:
            results["iteration_change"] = float(a["iteration_change"][0])
        results |= self._time_error(observed) | self._counts(observed)
        tolerance = tolerance_of(self.scenario, self.plan)
        if tolerance is not None:
            results["tolerance"] = tolerance
        error = self._error(observed)
        return results | ({"error": error} if error else {})

    def _time_error(self, observed: Snapshot) -> dict[str, Any]:
        """The estimated error of steps in time, relative to the range of the temperatures; and how long steps were."""
        a = observed.arrays
        if "control" in a:
            control = dict(zip(NAMES, map(float, a["control"])))
            if not control["taken"]:
                return {"time_error": 0.0}
            plan = self.plan.control
            return {
                **(errors_of(control, plan.range_floor) if plan and not plan.unsearched else {}),
                "range": [control["low"], control["high"]],
                "dt": [control["shortest"], control["longest"]],
                "rejected_steps": int(control["rejected"]),
            }
        if self.plan.time_error is None or observed.step == 0:
            return {}
        range_ = float(np.ptp(np.concatenate([a["row_min"], a["row_max"], distinct(self.T0).ravel()])))
        bound = self.plan.time_error
        if bound == 0.0:
            return {"time_error": 0.0}
        return {"time_error": bound / range_} if bound < range_ else {"time_error_bound": bound}

    def _counts(self, observed: Snapshot) -> dict[str, int]:
        """The number of stages of all steps of rkl2, and the number of steps of adi, where there may be any. They are
        not known for runs that began before they were counted."""
        if self.scenario.time.steady:
            return {}
        if "control" in observed.arrays and self.plan.control is not None:
            control = dict(zip(NAMES, map(float, observed.arrays["control"])))
            methods, stages, adi_steps = self.plan.control.methods, control["stages"], control["adi_steps"]
        else:
            methods, taken = (self.plan.stepper,), float(observed.step)
            stages, adi_steps = taken * self.plan.stages, taken
        found = {"rkl2": ("rkl2_stages", stages), "adi": ("adi_steps", adi_steps)}
        counts = dict(found[method] for method in methods if method in found)
        return {name: int(count) for name, count in counts.items() if math.isfinite(count)}

    def shortcomings(self, results: Mapping[str, Any], complete: bool = True) -> Sequence[str]:
        own = self.scenario, self.made, results
        found = [*missed_tolerance(*own, self.plan, complete), *open_ledger(*own), *fallen_below(*own)]
        return [*found, *too_hot(*own), *unstable(*own)]

    def _error(self, observed: Snapshot) -> dict[str, float]:
        if self.scenario.reference is None:  # else what is observed has temperatures
            return {}
        return reference_error(self.scenario, self.made, observed.arrays["temperature"], self._time(observed.step))


def _largest_rate(observed: Snapshot) -> float:
    """The largest |dT/dt|, K/s."""
    return float(observed.arrays["row_rate"].max())


def _bad_times(model: HeatScenario) -> list[Mistake]:
    end = model.time.end
    late = [(i, t) for i, t in enumerate(model.output.times or []) if end is not None and t > end]
    help = f"the run ends at time.end = {end:g} s" if end is not None else ""
    return [Mistake(("output", "times", i), f"a frame at t = {t:g} s is never reached", help) for i, t in late]
