"""A linear system as a `Problem`: checked once, then frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from simsuite.core import Backend, Clock, Device, Layout, Series, Snapshot, Stepper, Variable
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.analysis.report import Analysis
from simsuite.solvers.linear.step import LinearStepper, device_bytes
from simsuite.solvers.linear.system import LinearSystem, read_system
from simsuite.solvers.schedule import frame_steps

STATE_LIMIT = 64  # entries of a state that is printed among the results
CHECK_LIMIT = 10**9  # multiplications that checking a result on the host may take


@dataclass(frozen=True)
class LinearProblem:
    """X_{k+1} = A X_k + B u_k with a batch of states as columns of X.

    system: A, B, u, C and X_0 in float64. dtype: of the arithmetic. dt: length of a step, s. frames: steps at which
    the state is stored, first and last included. kernel: as the scenario asks for it.
    """

    system: LinearSystem
    dtype: Any
    dt: float
    frames: tuple[int, ...]
    kernel: str

    solver = "linear"
    decided: ClassVar[Mapping[str, Any]] = {}
    unbounded: ClassVar[frozenset[str]] = frozenset()
    rate_unit = "FLOP/s"

    @classmethod
    def from_scenario(
        cls, model: LinearScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> LinearProblem:
        """The problem that `model` states. base: the directory that file names start from.

        Raises ScenarioError with every mistake in matrices and states, DeviceError if they do not fit into memory.
        """
        dtype = np.dtype(model.run.precision)
        frames = frame_steps(model.output, model.time.steps, model.dt)
        return cls(read_system(model, base, dtype), dtype, model.dt, frames, model.run.kernel)

    @cached_property
    def clock(self) -> Clock:
        return Clock.uniform(self.dt, self.frames)

    def next_look(self, step: int) -> int | None:
        return None

    def settle(self, stepper: Stepper) -> int:
        return self.clock.end

    @property
    def method(self) -> Mapping[str, str]:
        return {"stepper": "step", "precision": str(self.dtype)}

    def work(self, step: int) -> float:
        n, m = self.system.start.shape
        return 2.0 * n * n * m * step

    @cached_property
    def analysis(self) -> Analysis:
        return Analysis(self.system.stated)

    @cached_property
    def layout(self) -> Layout:
        components, samples = self._observed_shape
        what = "state" if self.system.C is None else "output C X of the state"
        time = Variable("time", ("time",), attrs={"units": "s", "long_name": "time", "axis": "T"})
        return Layout(
            sizes={"component": components, "sample": samples, **self.analysis.sizes},
            series=(Series("time", time, self.frames),),
            variables=(
                _index("component", components, "component of the state, from 0"),
                _index("sample", samples, "state of the batch, from 0"),
                Variable("state", ("time", "component", "sample"), self.dtype, {"units": "1", "long_name": what}),
                Variable("norm", ("time",), attrs={"units": "1", "long_name": "Frobenius norm of the whole state"}),
                *self.analysis.variables,
            ),
        )

    @property
    def _observed_shape(self) -> tuple[int, int]:
        n, m = self.system.start.shape
        return (n if self.system.C is None else len(self.system.C)), m

    def position(self, step: int) -> tuple[int, float]:
        return step, self.clock.time(step)

    def initial(self) -> Snapshot:
        return Snapshot(0, {"state": self.system.start.astype(self.dtype)})

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        return LinearStepper(backend, start, self.system, self.dt, self.frames[-1], self.kernel)

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return {
            "time": np.array(self.clock.time(observed.step)),
            "state": _stored(observed),
            "norm": np.array(_norm(observed.arrays["state"])),
        }

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return self.analysis.totals()

    def results(self, observed: Snapshot) -> dict[str, Any]:
        """norm: Frobenius norm of X. state: what is stored, if small. method: how A was applied.

        Where the host can check in moderate time: change: max |A X + B u - X|, how far the state is from standing
        still; residual: see `_residual`. At the end of the run: analysis, see `Analysis.results`.
        """
        X = observed.arrays["state"]
        results: dict[str, Any] = {"norm": _norm(X), "method": "step"}
        if _stored(observed).size <= STATE_LIMIT:
            results["state"] = _stored(observed).tolist()
        if len(X) ** 2 * X.shape[1] <= CHECK_LIMIT:
            checks = {"change": self._change(X, observed.step), "residual": self._residual(X, observed.step)}
            results |= {name: value for name, value in checks.items() if value is not None and math.isfinite(value)}
        if observed.step == self.clock.end:
            results["analysis"] = self.analysis.results()
        return results

    def _change(self, X: np.ndarray, step: int) -> float:
        u = np.array([float(f(t=self.clock.time(step))) for f in self.system.inputs])
        with np.errstate(all="ignore"):
            return float(np.max(np.abs(self.system.A @ X + (self.system.B @ u)[:, None] - X)))

    def _residual(self, X: np.ndarray, step: int) -> float | None:
        """max |X - Y| / max |Y|, Y the same state in float64 by repeated squaring, [[A, B u], [0, 1]]^step [X_0; 1].

        None if the inputs depend on time or the matrix is too large to be squared here; NaN if Y overflows.
        """
        A, n = self.system.A, len(self.system.A)
        squarings = math.log2(step + 1) + 1
        if any(f.depends_on("t") for f in self.system.inputs) or n**3 * squarings > CHECK_LIMIT:
            return None
        block = np.eye(n + 1)
        block[:n, :n], block[:n, n] = A, self.system.B @ np.array([f.value for f in self.system.inputs])
        with np.errstate(all="ignore"):
            power = np.linalg.matrix_power(block, step)
            Y = power[:n, :n] @ self.system.start + power[:n, n:]
            scale, error = float(np.max(np.abs(Y))), float(np.max(np.abs(X - Y)))
        return error / scale if scale > 0 else error

    def fault(self, observed: Snapshot) -> str | None:
        good = np.isfinite(observed.arrays["state"])
        if good.all():
            return None
        component, sample = np.unravel_index(int(np.argmin(good)), good.shape)
        return f"component {component}, sample {sample}"

    def device_bytes(self) -> int:
        return device_bytes(self.system, self.dtype)


def _index(name: str, size: int, long_name: str) -> Variable:
    return Variable(name, (name,), np.int64, {"units": "1", "long_name": long_name}, np.arange(size))


def _stored(observed: Snapshot) -> np.ndarray:
    """The frame: C X where the stepper has computed it, else X."""
    return observed.arrays.get("output", observed.arrays["state"])


def _norm(X: np.ndarray) -> float:
    """Frobenius norm in float64, scaled so that it overflows only where it has to."""
    largest = float(np.max(np.abs(X)))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * math.sqrt(np.sum(np.square(np.divide(X, largest, dtype=np.float64))))
