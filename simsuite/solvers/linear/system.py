"""What a linear scenario says, as matrices: read, checked, and discretised if it is continuous."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from simsuite.errors import DeviceError, Mistake, ScenarioError
from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario.linear import LinearScenario, RandomState
from simsuite.scenario.linear_generators import RcLadder
from simsuite.scenario.types import FileRef
from simsuite.solvers.linear.discretise import discretise, discretise_between
from simsuite.solvers.linear.generators import generate, generate_input
from simsuite.solvers.linear.generators.random_normal import random_normal
from simsuite.solvers.linear.matrices import matrix_from
from simsuite.solvers.linear.noise import ProcessNoise
from simsuite.solvers.linear.noise_covariance import noise_covariance, noise_factor
from simsuite.solvers.linear.state_space import StateSpace

KeyPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class LinearSystem:
    """X_{k+1} = A X_k + B u(t_k) + G w_k, observed as C X; all float64.

    A (n, n); B (n, p); inputs: p expressions in t; C (q, n), or None if X itself is observed; start: X_0 (n, m).
    A system without inputs has one that is always 0. stated: the system of the scenario, in continuous time if that is.
    noise: G w, or None; random_start: whether X_0 is drawn from independent standard normal numbers.
    """

    A: np.ndarray
    B: np.ndarray
    inputs: tuple[Expression, ...]
    C: np.ndarray | None
    start: np.ndarray
    stated: StateSpace
    noise: ProcessNoise | None = None
    random_start: bool = False

    @property
    def moves(self) -> bool:
        """Whether inputs depend on time."""
        return any(u.depends_on("t") for u in self.inputs)

    @property
    def steps_only(self) -> str | None:
        """Why no power of A takes several steps at once; None if one does."""
        if self.noise is not None:
            return "every step has noise of its own"
        return "inputs depend on time" if self.moves else None

    def constant_input(self) -> np.ndarray:
        """B u (n,) of inputs that do not depend on time."""
        return self.B @ np.array([u.value for u in self.inputs])


def read_system(model: LinearScenario, base: Path, dtype: Any) -> LinearSystem:
    """The system of `model`. base: the directory that file names start from; dtype: what it must be finite in.

    Raises ScenarioError with every mistake, DeviceError if the matrices do not fit into memory.
    """
    try:
        return _Reader(model, base, dtype).read()
    except MemoryError as e:
        raise DeviceError(f"the system's matrices do not fit into this machine's memory: {e}") from None


class _Reader:
    """Reads one part after the other and collects what is wrong with each."""

    def __init__(self, model: LinearScenario, base: Path, dtype: Any) -> None:
        self._model = model
        self._base = base
        self._dtype = np.dtype(dtype)
        self._mistakes: list[Mistake] = []

    def read(self) -> LinearSystem:
        system = self._model.system
        A = self._read_matrix()
        n = None if A is None else len(A)
        B = self._optional("input_matrix", system.input_matrix)
        if A is not None and isinstance(system.matrix, RcLadder) and system.input and not system.input_matrix:
            B = generate_input(system.matrix)
        C = self._optional("output_matrix", system.output_matrix)
        G = self._optional("noise_matrix", system.noise_matrix)
        start = self._read_start(n)
        inputs = tuple(system.input or ())
        self._check_shapes(n, B, len(inputs), C, G)
        if self._mistakes or A is None or start is None:
            raise ScenarioError(self._mistakes)
        stated = StateSpace(A, B, inputs, C, system.kind == "continuous", G)
        if B is None:
            B, inputs = np.zeros((len(A), 1)), (Expression.constant(0.0),)
        steps = self._discrete(A, B, inputs)
        noise = None if G is None else ProcessNoise(self._noise_of_a_step(A, G), self._model.run.seed)
        random_start = isinstance(self._model.initial.state, RandomState)
        return LinearSystem(*steps, C, start, stated, noise, random_start)

    def _check_shapes(
        self, n: int | None, B: np.ndarray | None, inputs: int, C: np.ndarray | None, G: np.ndarray | None
    ) -> None:
        """n: components of the state, if known."""
        if n is not None and G is not None and len(G) != n:
            rows = _count(len(G), "row")
            self._wrong(("system", "noise_matrix"), f"`noise_matrix` has {rows}, but the state has {n} components")
        if n is not None and B is not None and len(B) != n:
            rows = _count(len(B), "row")
            self._wrong(("system", "input_matrix"), f"`input_matrix` has {rows}, but the state has {n} components")
        if n is not None and C is not None and C.shape[1] != n:
            width = _count(C.shape[1], "column")
            self._wrong(("system", "output_matrix"), f"`output_matrix` has {width}, but the state has {n} components")
        if B is not None and B.shape[1] != inputs:
            width, entries = _count(B.shape[1], "column"), _count(inputs, "entry", "entries")
            self._wrong(("system", "input"), f"`input` has {entries}, but `input_matrix` has {width}")

    def _wrong(self, path: KeyPath, message: str, help: str | None = None) -> None:
        self._mistakes.append(Mistake(path, message, help))

    def _read(self, path: KeyPath, source: list[list[float]] | FileRef) -> np.ndarray | None:
        """A matrix from its values or file; None, with a mistake at its place, if there is none."""
        place = (*path, "file") if isinstance(source, FileRef) else path
        try:
            matrix = matrix_from(source, self._base)
        except ValueError as e:
            self._wrong(place, str(e))
            return None
        return self._finite(place, matrix)

    def _finite(self, path: KeyPath, matrix: np.ndarray) -> np.ndarray | None:
        with np.errstate(over="ignore"):
            good = np.isfinite(matrix.astype(self._dtype, copy=False))
        if good.all():
            return matrix
        i, j = np.unravel_index(int(np.argmin(good)), good.shape)
        self._wrong(path, f"row {i + 1}, column {j + 1} is {matrix[i, j]:g}, not a finite {self._dtype}")
        return None

    def _optional(self, key: str, source: list[list[float]] | FileRef | None) -> np.ndarray | None:
        return None if source is None else self._read(("system", key), source)

    def _read_matrix(self) -> np.ndarray | None:
        path, source = ("system", "matrix"), self._model.system.matrix
        if not isinstance(source, (list, FileRef)):
            with np.errstate(all="ignore"):
                return self._finite(path, generate(source, self._model.system.kind == "continuous"))
        A = self._read(path, source)
        if A is not None and A.shape[0] != A.shape[1]:
            self._wrong(path, f"is {A.shape[0]} x {A.shape[1]}, but A must be square")
            return None
        return A

    def _read_start(self, n: int | None) -> np.ndarray | None:
        """X_0; n: how many rows it must have, if that is known."""
        path, source = ("initial", "state"), self._model.initial.state
        if isinstance(source, RandomState):
            return None if n is None else random_normal(n, source.batch, self._model.run.seed)
        if isinstance(source, FileRef) or isinstance(source[0], list):
            start = self._read(path, source)
        else:
            start = self._finite(path, np.array(source, np.float64)[:, None])
        if n is not None and start is not None and len(start) != n:
            help = "each state is a column" if start.shape[1] == n else None
            self._wrong(path, f"`state` has {_count(len(start), 'component')}, but the matrix is {n} x {n}", help)
            return None
        return None if start is None else np.repeat(start, self._model.initial.copies, axis=1)

    def _discrete(
        self, A: np.ndarray, B: np.ndarray, inputs: tuple[Expression, ...]
    ) -> tuple[np.ndarray, np.ndarray, tuple[Expression, ...]]:
        """A, B and inputs of the steps. Inputs between whose values lines are drawn are there twice: at the beginning
        of a step and at its end."""
        system, dt = self._model.system, self._model.dt
        if system.kind == "discrete":
            return A, B, inputs
        try:
            if system.hold == "zero":
                return *discretise(A, B, dt), inputs
            end = Expression.parse(f"t + {dt!r}", ("t",))
            return *discretise_between(A, B, dt), inputs + tuple(u.substitute(t=end) for u in inputs)
        except ExpressionError as e:
            raise ScenarioError([Mistake(("system", "input"), f"{e}, as it is for lines through its values")]) from None
        except ValueError as e:
            raise ScenarioError([Mistake(("time", "dt"), f"{e} with so long a step")]) from None

    def _noise_of_a_step(self, A: np.ndarray, G: np.ndarray) -> np.ndarray:
        if self._model.system.kind == "discrete":
            return G
        try:
            return noise_factor(noise_covariance(A, G, self._model.dt))
        except ValueError as e:
            raise ScenarioError([Mistake(("time", "dt"), f"{e} with so long a step")]) from None


def _count(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n} {noun if n == 1 else plural or noun + 's'}"
