"""A linear system as a `Problem`: checked once, then frozen."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from simsuite.core import Clock, Device, JsonObject, Layout, Series, Snapshot, Variable
from simsuite.crossings.looks import Looks, Reading
from simsuite.errors import DeviceError, NumericalFailure, ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.linear.analysis import AnalysisKeys
from simsuite.solvers.equal_steps import EqualSteps
from simsuite.solvers.linear.analysis.report import Analysis
from simsuite.solvers.linear.batch import Batch
from simsuite.solvers.linear.checks.advice import warnings_of
from simsuite.solvers.linear.checks.overflow import find_overflow, overflow_help, overflow_message
from simsuite.solvers.linear.control.names import Parts, parts_of
from simsuite.solvers.linear.control.plant import plant_of
from simsuite.solvers.linear.control.refusal import analysis_mistakes
from simsuite.solvers.linear.inputs.clock import UniformClock
from simsuite.solvers.linear.matrices.embedding import index_variable, largest, parts, state_variables
from simsuite.solvers.linear.method_choice.method import Plan, make_plan
from simsuite.solvers.linear.method_choice.on_device import lack_of_memory, timed_pace
from simsuite.solvers.linear.powers.jumps import Jumps, unlike
from simsuite.solvers.linear.powers.power import ANCHOR, ERROR
from simsuite.solvers.linear.results.frobenius import norm_of
from simsuite.solvers.linear.results.noise_outcome import NoiseOutcome
from simsuite.solvers.linear.results.not_finite import first_not_finite
from simsuite.solvers.linear.results.residual import residual
from simsuite.solvers.linear.results.watched import WatchedEntries, largest_entry
from simsuite.solvers.linear.spectral.prepare import ERROR as SPECTRAL_ERROR
from simsuite.solvers.linear.system import LinearSystem, read_system
from simsuite.solvers.matmul.blocks import MOST_ROWS
from simsuite.solvers.schedule import frame_steps

if TYPE_CHECKING:
    from simsuite.solvers.linear.control.report import ControlReport

STATE_LIMIT = 64  # States of up to so many entries are printed among the results.
CHECK_LIMIT = 10**9  # Checking a result on the host may take so many multiplications.
# The name under which observations have the estimated error of each of these methods.
_ERRORS = {"power": ERROR, "spectral": SPECTRAL_ERROR}


@dataclass(frozen=True)
class LinearProblem(Batch, EqualSteps):
    """The linear system X_{k+1} = A X_k + B u_k + G w_k with a batch of states as columns of X.

    system: A, B, u, C and X_0 in float64. dtype: the precision of the arithmetic. dt: the length of a step, s. frames:
    the steps at which the state is stored, first and last included. kernel: the kernel that the scenario asks for.
    plan: the method that takes the state from frame to frame. tolerance: the largest relative error that powers and
    modes may have. names: what states, inputs and outputs are called. watched: the entries that are to reach levels.
    asked: what of control theory is computed.
    warnings, remedies: sentences on what is probably not meant, and on what to do if a run reaches NaN or Inf.
    """

    system: LinearSystem
    dtype: Any
    dt: float
    frames: tuple[int, ...]
    kernel: str
    plan: Plan
    tolerance: float
    names: Parts
    watched: WatchedEntries | None = None
    asked: AnalysisKeys | None = None
    warnings: Sequence[str] = ()
    remedies: Sequence[str] = ("look at the eigenvalues in `analysis` of a shorter run", "take fewer steps")

    solver = "linear"
    of_whole_run: ClassVar[frozenset[str]] = frozenset({SPECTRAL_ERROR})

    @classmethod
    def from_scenario(
        cls,
        model: LinearScenario,
        base: Path,
        device: Device | None = None,
        decided: Mapping[str, Any] | None = None,
        foresee: bool = True,
    ) -> LinearProblem:
        """See `Problem.from_scenario`; what is `decided` is the plan. foresee: whether a state that will overflow is
        looked for.

        Raises ScenarioError with every mistake in matrices and states, DeviceError if they do not fit into memory, and
        NumericalFailure if the state will overflow, where that can be told before the run.
        """
        dtype = np.dtype(model.run.precision)
        frames = frame_steps(model.output, model.time.steps, model.dt)
        system = read_system(model, base, dtype)
        wrong = list(analysis_mistakes(model, system.stated))
        if wrong:
            raise ScenarioError(wrong)
        names = parts_of(model, system.stated)
        make = functools.partial(
            cls,
            system,
            dtype,
            model.dt,
            frames,
            model.run.kernel,
            tolerance=model.tolerance,
            names=names,
            watched=WatchedEntries.of(model, system, names),
            asked=model.analysis,
        )
        warnings = warnings_of(model.system, system.stated, system.inputs, frames[-1])
        if decided:
            return make(plan=Plan.remembered(decided), warnings=warnings)
        overflow = find_overflow(system, frames[-1], float(np.finfo(dtype).max)) if foresee else None
        if overflow is not None:
            found = overflow_message(dtype, f"step {overflow.step}", frames[-1])
            raise NumericalFailure(found + overflow_help(overflow.growth))
        jumps = Jumps.between(system.stops(frames), *system.start.shape)
        lacking = functools.partial(lack_of_memory, device, system, jumps, dtype)
        method = model.time.method
        lack = lacking(method) if method in _ERRORS and system.sparse else None
        if lack is not None:
            help = '\n  = help: write method = "step" in [time]'
            raise DeviceError(f"powers and modes of a sparse matrix are dense: {lack}{help}")
        timed = functools.partial(timed_pace, device, jumps, dtype, model.run.kernel)
        plan = make_plan(method, system, jumps, lacking, timed)
        return make(plan=plan, warnings=warnings)

    @property
    def decided(self) -> Mapping[str, Any]:
        return self.plan.to_remember()

    @property
    def joined_by(self) -> Sequence[str]:
        """See `Joining`. A large system is joined with others by its initial states alone, and only kernels are taken
        whose bits do not depend on what else is in the batch.
        """
        if not self._by_steps or self.system.noise is not None or self.kernel == "cublas":
            return ()
        small = self.system.A.shape[0] <= MOST_ROWS and self.system.series is None and self.kernel != "nvrtc"
        return ("constants", "system", "initial") if small else ("initial",)

    def by_steps_from(self, start: np.ndarray) -> LinearProblem:
        """The same problem from another initial state, taking steps; what is known of the system is shared."""
        system, plan = dataclasses.replace(self.system, start=start), Plan("step", self.plan.reason, asked=True)
        other = dataclasses.replace(self, system=system, plan=plan)
        vars(other).update(analysis=self.analysis, _control=self._control)  # where cached properties are kept
        return other

    @cached_property
    def clock(self) -> Clock:
        return UniformClock.of(self.dt, self.frames)

    @property
    def method(self) -> Mapping[str, str]:
        method = {"stepper": self.plan.method, "stepper_reason": self.plan.reason, "precision": str(self.dtype)}
        if self.system.is_complex:
            method["numbers"] = str(np.result_type(self.dtype, np.complex64))
        return method | {"matrix": self.system.kept} if issparse(self.system.stated.A) else method

    @property
    def _by_steps(self) -> bool:
        return self.plan.method == "step"

    @property
    def rate_unit(self) -> str:
        return "FLOP/s" if self._by_steps else "steps/s"

    def work(self, step: int) -> float:
        """The floating-point operations up to a step or, where steps are not taken one by one, the number of steps."""
        m = self.system.start.shape[1]
        return 2.0 * self.system.multiplications * m * step if self._by_steps else float(step)

    @cached_property
    def analysis(self) -> Analysis:
        return Analysis(self.system.stated)

    @cached_property
    def _control(self) -> ControlReport | None:
        if self.asked is None or not self.asked.asked:
            return None
        from simsuite.solvers.linear.control.report import ControlReport  # rarely needed, and many modules

        plant, driven, run = (
            plant_of(self.system.stated, self.dt),
            self.system.stated.B is not None,
            self.clock.times[-1],
        )
        stable, verdict = (lambda: self.analysis.stable), (lambda: self.analysis.verdict)
        return ControlReport(self.asked, plant, self.names.input, self.names.observed, driven, stable, verdict, run)

    @cached_property
    def _noise(self) -> NoiseOutcome | None:
        return None if self.system.noise is None else NoiseOutcome(self.system, self.frames)

    @cached_property
    def layout(self) -> Layout:
        components, samples = self._observed_shape
        direct = "" if self.system.D is None else " + D u"
        what = "state" if self.system.C is None else f"output C X{direct} of the state"
        time = Variable("time", ("time",), attrs={"units": "s", "long_name": "time", "axis": "T"})
        return Layout(
            sizes={
                "component": components,
                "sample": samples,
                **self.analysis.sizes,
                **self._control_sizes,
                **({} if self.looks is None else self.looks.sizes),
            },
            series=(Series("time", time, self.frames),),
            variables=(
                index_variable("component", components, "component of the state, from 0"),
                index_variable("sample", samples, "state of the batch, from 0"),
                *state_variables(what, self.dtype, self.system.is_complex),
                Variable("norm", ("time",), attrs={"units": "1", "long_name": "Frobenius norm of the whole state"}),
                *(self._noise.variables if self._noise is not None else ()),
                *self.analysis.variables,
                *self.names.variables,
                *(self._control.variables if self._control is not None else ()),
                *(() if self.looks is None else self.looks.variables),
            ),
        )

    @property
    def _control_sizes(self) -> Mapping[str, int]:
        return {} if self._control is None else self._control.sizes

    @property
    def _observed_shape(self) -> tuple[int, int]:
        n, m = self.system.start.shape
        rows = n if self.system.C is None else len(self.system.C)
        return (rows // 2 if self.system.is_complex else rows), m

    @property
    def looks(self) -> Looks | None:
        return None if self.watched is None else self.watched.looks

    def unlike(self, shorter: LinearProblem) -> str | None:
        if shorter.plan.method != self.plan.method:
            mine, its = self.plan.method, shorter.plan.method
            return f"it is taken by method {its}, a run to that end by {mine}; write the method into [time]"
        return unlike(self._jumps, shorter._jumps) if self.plan.method == "power" else None

    def readings(self, observed: Snapshot) -> Sequence[Reading]:
        assert self.watched is not None
        X = observed.arrays["state"]
        output = observed.arrays.get("output", X)
        return self.watched.readings(self.system, X, output, self._stored(observed), observed.step)

    def peaks(self, observed: Snapshot) -> Mapping[str, tuple[float, JsonObject]]:
        stored = [*parts(self._stored(observed), self.system.is_complex).values()]
        return largest_entry(stored, self.names, self.clock.time(observed.step))

    def initial(self) -> Snapshot:
        X = self.system.start.astype(self.dtype)
        return Snapshot(0, {"state": X} if self._by_steps else {"state": X, ANCHOR: X})

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return {
            "time": np.array(self.clock.time(observed.step)),
            **parts(self._stored(observed), self.system.is_complex),
            "norm": np.array(norm_of(observed.arrays["state"])),
            **(self._noise.rows(observed.step, self._stored(observed)) if self._noise is not None else {}),
        }

    def _stored(self, observed: Snapshot) -> np.ndarray:
        """The frame to store: C X where the stepper has computed it, with D u if there is a D, else X."""
        found = observed.arrays.get("output", observed.arrays["state"])
        return (
            found if self.system.D is None else (found + self.system.direct(observed.step)[:, None]).astype(found.dtype)
        )

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return self.analysis.totals()

    def results(self, observed: Snapshot) -> dict[str, Any]:
        """The results to print and to store.

        norm: the Frobenius norm of X. state (or state_real and state_imag): the stored frame, if small. method: how A
        was applied. power_error, spectral_error: an estimate of the largest error made by powers of A, or by its modes,
        relative to the state.

        Without noise, and where the host can check in moderate time, there are also: change: max |A X + B u - X| in
        float64, which says how far the state is from a steady state; residual: how far it is from the state found in
        another way, relative to its largest entry, see `residual`. At the end of the run: analysis, see
        `Analysis.results`, and noise, see `NoiseOutcome.results`.
        """
        X = observed.arrays["state"]
        method = next((name for name, error in _ERRORS.items() if error in observed.arrays), "step")
        results: dict[str, Any] = {"norm": norm_of(X), "method": method}
        if method in _ERRORS:
            results[_ERRORS[method]] = float(observed.arrays[_ERRORS[method]][0])
        stored = parts(self._stored(observed), self.system.is_complex)
        results |= {name: part.tolist() for name, part in stored.items() if part.size <= STATE_LIMIT}
        if self.names.given and len(self.names.observed) <= STATE_LIMIT:
            results["components"] = list(self.names.observed)
        if self.system.noise is None and self.system.multiplications * X.shape[1] <= CHECK_LIMIT:
            checks = {
                "change": self._change(X, observed.step),
                "residual": residual(self.system, X, observed.step, method != "step", CHECK_LIMIT),
            }
            results |= {name: value for name, value in checks.items() if value is not None and math.isfinite(value)}
        if observed.step == self.clock.end or self.looks is not None:  # a level may end the run at any step
            results["analysis"] = self.analysis.results() | ({} if self._control is None else self._control.results())
            if self._noise is not None:
                results["noise"] = self._noise.results(observed.step, self._stored(observed), self.analysis.stable)
        return results

    def _change(self, X: np.ndarray, step: int) -> float:
        u = self.system.inputs.values(np.array([step]))[:, 0]
        with np.errstate(all="ignore"):
            return largest(self.system.following(X.astype(np.float64), u) - X, self.system.is_complex)

    def fault(self, observed: Snapshot) -> str | None:
        arrays = {"": observed.arrays["state"], " of C X": self._stored(observed)}
        return first_not_finite(arrays, self.system.is_complex)
