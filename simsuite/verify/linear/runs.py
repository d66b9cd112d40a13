"""A run of a linear system on a backend, without files, and the largest error that rounding may cause in it."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.errors import LibraryMissing, Mistake, NumericalFailure, ScenarioError
from simsuite.scenario.common import Run
from simsuite.scenario.linear import LinearScenario, Time
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.matmul.sparse import filled

Note = Callable[[str], None]
FRAMES = 5  # Every run has so many frames, or fewer if it has fewer steps.
SAMPLES = 9  # The exact propagator is sampled so many times, over the run and within a step.
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24}  # half a unit in the last place of 1, by precision
# The norm up to which exponentials are Pade approximants, N(A/2)/N(-A/2), and beyond which they are squared: N. J.
# Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. 26 (2005) 1179-1193
PADE = 5.4
LARGEST = {"float64": 1e-7, "float32": 1e-2}  # Limits larger than these would let mistakes pass.


@dataclass(frozen=True)
class Case:
    """A system whose solution is known.

    system: the table of a scenario. steps, dt: those of the run; dt is None if the system is discrete. start: X_0 (n,
    m). propagator(k): exactly A^k, or exp(A k dt), for whole k and, if the system is continuous, fractions as well.
    forced(k): exactly X_k (n,) from X_0 = 0. inputs: the largest |u|. whole: whether every number that occurs fits into
    float32, so that there is no rounding at all. kept: weights (n,) of a sum over components, or a matrix (n, n) of a
    quadratic form, that is conserved in every column. observed: C, for systems without rounding.
    """

    name: str
    kind: str
    system: Mapping[str, Any]
    steps: int
    start: np.ndarray
    propagator: Callable[[float], np.ndarray]
    dt: float | None = None
    forced: Callable[[int], np.ndarray] | None = None
    inputs: float = 0.0
    whole: bool = False
    precisions: Sequence[str] = ("float64", "float32")
    kept: np.ndarray | None = None
    observed: np.ndarray | None = None

    @property
    def sparse(self) -> bool:
        """Whether A is stored as a sparse matrix."""
        matrix = self.system["matrix"]
        return isinstance(matrix, dict) and (matrix.get("format") == "csr" or matrix.get("generator") == "lattice_walk")

    def state(self, k: int) -> np.ndarray:
        """The exact X_k (n, m), or C X_k (q, m)."""
        X = self.propagator(k) @ self.start
        X = X if self.forced is None else X + self.forced(k)[:, None]
        observed: np.ndarray = X if self.observed is None else self.observed @ X
        return observed

    def scenario(self, **run: str) -> dict[str, Any]:
        """The scenario of this case. run: keys of `[run]`, and `method`."""
        time: dict[str, Any] = {"steps": self.steps, "method": run.pop("method", "step")}
        output = {} if self.observed is None else {"output_matrix": self.observed.tolist()}
        return {
            "solver": "linear",
            "run": run,
            "system": {"kind": "discrete" if self.dt is None else "continuous", **self.system, **output},
            "initial": {"state": self.start.tolist()},
            "time": time if self.dt is None else {**time, "dt": self.dt},
            "output": {"frames": min(FRAMES, self.steps + 1)},
        }

    def limit(self, precision: str, norm: float, method: str = "step") -> float:
        """The largest error that rounding may cause in the state, relative to its largest Frobenius norm. norm: |[A
        B]|_F, in 1/s. Steps of whole numbers must be exact; other methods may go through numbers that are not whole.

        A step of n products in every row, of entries that have been rounded themselves, is off by (n + 3) u |A|_F |X|;
        so is a power of A that stands for many. Complex products count as two. The exponential of A dt, whose entries
        are rounded in float64, is off by 2 n u c |A|_F dt max |exp(A (dt - s))| |exp(A s)|, by its integral over
        perturbations of A: C. Van Loan, The sensitivity of the matrix exponential, SIAM J. Numer. Anal. 14 (1977)
        971-981. c = exp(|A|_F dt), up to exp(PADE), is the condition of the equations for a Pade approximant, whose
        matrix is close to exp(-A dt/2).

        The propagator carries each step's error to a frame; the frame where their sum is largest counts. The first
        state, and the exact ones, are rounded as well.
        """
        if self.whole and method == "step":
            return 0.0
        one = self.propagator(1)
        terms = int(np.max(np.count_nonzero(one, axis=1))) * (2 if np.iscomplexobj(one) else 1) + 3
        step = UNIT[precision] * terms * float(np.linalg.norm(one))
        if self.dt is not None:
            within = [_size(self.propagator(s)) for s in np.linspace(0.0, 1.0, SAMPLES)]
            hump = max(a * b for a, b in zip(within, reversed(within)))
            condition = math.exp(min(norm * self.dt, PADE))
            step += UNIT["float64"] * 2 * len(one) * condition * norm * self.dt * hump
        carried = max(self._carried(int(k)) for k in np.linspace(0, self.steps, FRAMES)[1:] if k >= 1)
        return step * carried / self.scale + 2 * UNIT[precision]

    def _carried(self, k: int) -> float:
        """The sum over j < k of |A^(k - 1 - j)| (|X_j| + |u|), estimated from some of its terms."""
        terms = [_size(self.propagator(k - 1 - j)) * (self._size_of(j) + self.inputs) for j in self.sampled(k - 1)]
        return k * float(np.mean(terms))

    def sampled(self, last: int) -> list[int]:
        """Some steps from 0 to `last`."""
        return sorted({int(k) for k in np.linspace(0, last, SAMPLES)})

    @cached_property
    def scale(self) -> float:
        """The largest Frobenius norm of the state."""
        return max(self._size_of(k) for k in self.sampled(self.steps))

    def _size_of(self, k: int) -> float:
        return float(np.linalg.norm(self.state(k)))


def _size(P: np.ndarray) -> float:
    return float(np.linalg.norm(P, 2))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run. states: X as the frames hold it, (q, m), by step. results: what `run --json` prints under
    "results".
    """

    problem: LinearProblem
    states: Mapping[int, np.ndarray]
    results: Mapping[str, Any]

    @property
    def last(self) -> np.ndarray:
        return self.states[self.problem.clock.end]

    @property
    def norm(self) -> float:
        """The norm |[A B]|_F of the system as the scenario states it."""
        stated = self.problem.system.stated
        return float(np.hypot(np.linalg.norm(filled(stated.A)), 0.0 if stated.B is None else np.linalg.norm(stated.B)))


def run(scenario: Mapping[str, Any], backend: Backend) -> Outcome:
    """The outcome of a scenario that names no files. Raises ScenarioError, also where powers lose too much."""
    try:
        model = LinearScenario.model_validate(scenario)
    except ValueError as refusal:  # The message has a head, "Value error, powers take .. [type=..]", and an address.
        words = str(refusal).splitlines()[-2].strip().removeprefix("Value error, ").partition(" [type=")[0]
        raise ScenarioError([Mistake((), words)]) from None
    problem = LinearProblem.from_scenario(model, Path())
    try:
        stepper = problem.stepper(backend, problem.initial())
    except NumericalFailure as refusal:
        raise ScenarioError([Mistake((), str(refusal))]) from None
    (series,) = problem.layout.series
    states: dict[int, np.ndarray] = {}
    results: Mapping[str, Any] = {}
    for step in series.steps:
        stepper.advance(step - stepper.step)
        with stepper.observe(series.dim) as observed:
            states[step] = _state(problem.rows(series.dim, observed))
            results = problem.results(observed) if step == problem.clock.end else results
    return Outcome(problem, states, results)


def _state(rows: Mapping[str, np.ndarray]) -> np.ndarray:
    """The state of a frame, float64 or complex128."""
    if "state" in rows:
        return np.array(rows["state"], np.float64)
    return np.array(rows["state_real"] + 1j * rows["state_imag"], np.complex128)


def methods() -> list[str]:
    """All methods that a scenario can ask for."""
    return [name for name in typing.get_args(Time.model_fields["method"].annotation) if name != "auto"]


def kernels(backend: Backend, sparse: bool = False) -> list[str]:
    """All kernels that a scenario can ask for on that device. sparse: whether for a matrix that is stored sparse."""
    names = typing.get_args(Run.model_fields["kernel"].annotation)
    there = {"numba": True, "nvrtc": backend.compiles and not sparse, "cublas": not sparse and _has_library(backend)}
    return [name for name in names if there.get(name)]


def _has_library(backend: Backend) -> bool:
    try:
        return backend.compiles and backend.products() is not None
    except LibraryMissing:
        return False


def label(name: str, precision: str = "float64", method: str = "step", kernel: str = "numba") -> str:
    """The name of a check, with the settings that differ from the default ones."""
    ways = ((precision, "float64"), (method, "step"), (kernel, "numba"))
    return ", ".join([name, *(word for word, plain in ways if word != plain)])
