"""The matrices of a linear scenario: read from it, checked, and discretised in time if the scenario is continuous."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse

from simsuite.errors import DeviceError, Mistake, ScenarioError
from simsuite.expressions import Expression
from simsuite.scenario.linear import LinearScenario, MatrixFile, RandomState, UnitStates
from simsuite.scenario.linear.generators import RcLadder
from simsuite.scenario.types import FileRef
from simsuite.solvers.linear.discretisation.discretise import discretise, discretise_between
from simsuite.solvers.linear.discretisation.noise import ProcessNoise
from simsuite.solvers.linear.discretisation.noise_covariance import noise_covariance, noise_factor
from simsuite.solvers.linear.discretisation.series import Series, series_of
from simsuite.solvers.linear.generators import generate, generate_input
from simsuite.solvers.linear.generators.random_normal import random_normal
from simsuite.solvers.linear.inputs.held import MOST, HeldInputs, held_inputs
from simsuite.solvers.linear.inputs.input_file import read_inputs
from simsuite.solvers.linear.inputs.input_values import Inputs, bad_inputs
from simsuite.solvers.linear.inputs.recorded import Input
from simsuite.solvers.linear.matrices.embedding import embedded, stacked
from simsuite.solvers.linear.matrices.fitting import check_names, check_shapes
from simsuite.solvers.linear.matrices.matrices import matrix_from, read_system_matrix
from simsuite.solvers.linear.state_space import StateSpace
from simsuite.solvers.matmul.sparse import Matrix, filled, stored
from simsuite.words import counted

KeyPath: TypeAlias = tuple[str | int, ...]
# The exponential of a sparse matrix of up to so many rows is formed, unless the scenario keeps the matrix sparse.
EXPONENTIAL = 1024
MOST_RECORDED = 10**8  # Inputs of a file are kept for all steps of a run: at most so many numbers.
LARGEST = 709.0  # exp(x) is finite for x up to this number.
FILLED = 4096  # `auto` may form powers of a sparse matrix of up to so many rows.


@dataclass(frozen=True)
class LinearSystem:
    """The system X_{k+1} = A X_k + B u(t_k) + G w_k, observed as C X + D u(t_k); all float64, complex systems as in
    `embedding`.

    A (n, n): dense or sparse. B (n, p). inputs: u, of the width p; a system without inputs has one that is always 0. C
    (q, n): None if X itself is observed. D (q, p), or None: what inputs add to it. start: X_0 (n, m). stated: the
    system as the scenario states it, in continuous time if it does so, with its complex numbers. noise: G and w, or
    None. random_start: whether X_0 is drawn from independent standard normal numbers. series: where exp(A dt) is not
    formed, how a step is made of products with a sparse A; A and B are then those of `stated` times the `dt` of the
    series. is_complex: whether the lower half of the rows holds imaginary parts. held: when inputs change; None if they
    do so too often for powers of A. input_places (n, p): where rows of B have inputs of their own, which of the inputs
    each entry of B multiplies. blocks (s, k, k): those that a block diagonal A has, where they are dense; a C is sparse
    in such a system alone, see `joined.system`.
    """

    A: Matrix
    B: np.ndarray
    inputs: Inputs
    C: Matrix | None
    start: np.ndarray
    stated: StateSpace
    noise: ProcessNoise | None = None
    random_start: bool = False
    series: Series | None = None
    is_complex: bool = False
    held: HeldInputs | None = None
    D: np.ndarray | None = None
    input_places: np.ndarray | None = None
    blocks: np.ndarray | None = None

    @property
    def sparse(self) -> bool:
        return issparse(self.A)

    @property
    def multiplications(self) -> int:
        """How many multiplications a step takes with each state of the batch."""
        noise = 0 if self.noise is None else self.noise.G.size
        return stored(self.A) * (1 if self.series is None else self.series.products) + noise

    @property
    def share(self) -> float | None:
        """The multiplications of a step as a share of those with a dense A; None if A is dense."""
        return self.multiplications / self.A.shape[0] ** 2 if self.sparse else None

    @property
    def kept(self) -> str:
        """How A is stored, in words, for a system that was stated with a sparse A."""
        if not self.sparse:
            return f"dense: exp(A dt) of {stored(self.stated.A)} numbers by rows"
        numbers = f"csr, {stored(self.A)} numbers"
        if self.series is None:
            return numbers
        s, m = self.series.substeps, self.series.degree
        return f"{numbers}; exp(A dt) by series: {s} times {counted(m, 'product')} a step"

    def dense(self) -> LinearSystem:
        """This system with a dense A in place of a sparse one or a series."""
        if self.series is None:
            return dataclasses.replace(self, A=filled(self.A))
        A = filled(self.stated.A)
        A, B = discretise(embedded(A) if self.is_complex else A, self.B / self.series.dt, self.series.length)
        return dataclasses.replace(self, A=A, B=B, series=None)

    def following(self, X: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The state a step after X (n, m), without noise, while inputs have the values u (p,)."""
        b = (self.B @ u)[:, None]
        return self.A @ X + b if self.series is None else self.series.applied(self.A, X, b)

    @property
    def moves(self) -> bool:
        """Whether inputs depend on time."""
        return self.inputs.move

    @property
    def steps_only(self) -> str | None:
        """Why no power of A takes several steps at once; None if one does."""
        if self.noise is not None:
            return "every step has noise of its own"
        if self.held is None:
            return "inputs depend on time and change too often"
        large = self.sparse and self.A.shape[0] > FILLED
        return f"powers of a sparse matrix of more than {FILLED} rows are not filled up" if large else None

    def stops(self, frames: tuple[int, ...]) -> tuple[int, ...]:
        """The steps at which powers of A compute the state: those of frames, and those at which inputs change."""
        return frames if self.held is None else tuple(sorted({*frames, *self.held.steps.tolist()}))

    def direct(self, step: int) -> np.ndarray:
        """D u (q,) at the beginning of a step, or at the end of the last one. Only of systems with a D."""
        assert self.D is not None
        return np.asarray(self.D @ self.inputs.at(np.array([step]))[:, 0])

    def constant_input(self) -> np.ndarray:
        """B u (n,) of inputs that do not depend on time."""
        return self.B @ self.inputs.constant


def read_system(model: LinearScenario, base: Path, dtype: Any) -> LinearSystem:
    """The system of `model`. base: the directory that file names start from; dtype: the precision in which all numbers
    must be finite.

    Raises ScenarioError with every mistake, DeviceError if the matrices do not fit into memory.
    """
    try:
        return _Reader(model, base, dtype).read()
    except MemoryError as e:
        raise DeviceError(f"the system's matrices and states do not fit into this machine's memory: {e}") from None


def read_start(model: LinearScenario, base: Path, system: LinearSystem, dtype: Any) -> np.ndarray:
    """The initial state X_0 (n, m) of `model`, whose system is `system`, as `LinearSystem.start`. Raises ScenarioError
    with every mistake, and where it is complex and the system is not.
    """
    reader, n = _Reader(model, base, dtype), system.stated.A.shape[0]
    return reader.start_of(n, system.is_complex)


def _turned(A: Matrix) -> Matrix:
    """The transpose, kept in rows as A is."""
    if isinstance(A, np.ndarray):
        return np.ascontiguousarray(A.T)
    return A.T.tocsr()


class _Reader:
    """Reads the parts of a system one after the other and collects the mistakes in all of them."""

    def __init__(self, model: LinearScenario, base: Path, dtype: Any) -> None:
        self._model = model
        self._base = base
        self._dtype = np.dtype(dtype)
        self._mistakes: list[Mistake] = []

    def read(self) -> LinearSystem:
        system = self._model.system
        A = self._read_matrix()
        n = None if A is None else A.shape[0]
        B = self._optional("input_matrix", system.input_matrix)
        if A is not None and isinstance(system.matrix, RcLadder) and system.input and not system.input_matrix:
            B = generate_input(system.matrix)
        C = self._optional("output_matrix", system.output_matrix)
        G = self._optional("noise_matrix", system.noise_matrix)
        start = self._read_start(n)
        D = self._optional("feedthrough", system.feedthrough)
        given = self._read_inputs(B)
        check_shapes(self._wrong, n, B, None if given is None else len(given), C, D, G)
        check_names(self._wrong, self._model, n, B, C)
        given = given or ()
        lines = system.hold == "first" and any(u.depends_on("t") for u in given)
        inputs = Inputs(given, self._model.dt, ahead=lines)
        self._mistakes += bad_inputs(inputs, self._model.time.steps, self._dtype, seen=D is not None)
        is_complex = any(part is not None and np.iscomplexobj(part) for part in (A, B, C, D, G, start))
        if is_complex and G is not None:
            self._wrong(("system", "noise_matrix"), "complex systems take no noise")
        if self._mistakes or A is None or start is None:
            raise ScenarioError(self._mistakes)
        random_start = isinstance(self._model.initial.state, RandomState)
        stated = StateSpace(A, B, given, C, system.kind == "continuous", G, D)
        if B is None:
            B, inputs = np.zeros((A.shape[0], 1)), Inputs((Expression.constant(0.0),), self._model.dt)
        if is_complex:
            A, B, C, start = embedded(A), stacked(B), None if C is None else embedded(C), stacked(start)
            D = None if D is None else stacked(D)
        series = self._series(A)
        if series is not None:
            A, B = A * series.dt, B * series.dt
            held = self._held(inputs)
            return LinearSystem(A, B, inputs, C, start, stated, None, random_start, series, is_complex, held, D)
        noise = None if G is None else ProcessNoise(self._noise_of_a_step(A, G), self._model.run.seed)
        A, B = self._discrete(A, B, inputs.ahead)
        held = self._held(inputs)
        return LinearSystem(A, B, inputs, C, start, stated, noise, random_start, None, is_complex, held, D)

    def start_of(self, n: int, is_complex: bool) -> np.ndarray:
        """The initial state of a system of n components, which may be complex."""
        start = self._read_start(n)
        if start is None:
            raise ScenarioError(self._mistakes)
        if np.iscomplexobj(start) and not is_complex:
            raise ScenarioError([Mistake(("initial", "state"), "is complex, and the system is not")])
        return stacked(start) if is_complex else start

    def _held(self, inputs: Inputs) -> HeldInputs | None:
        """When the inputs change, if powers may be taken. Raises ScenarioError where powers are asked for and inputs
        change too often, and where an input is not finite at a change.
        """
        time = self._model.time
        if inputs.recorded and time.method == "spectral":
            message = "modes take many steps at once, but the inputs of the file depend on time"
            raise ScenarioError([Mistake(("time", "method"), message, 'write method = "step", or "auto"')])
        if inputs.move and (time.method == "step" or self._model.system.noise_matrix is not None):
            return None
        held = held_inputs(inputs, time.steps)
        if held is None and time.method == "power":
            changing = [
                u for u in inputs.given if held_inputs(Inputs((u,), inputs.dt, inputs.ahead), time.steps) is None
            ]
            which = f"the input {changing[0]} changes" if changing else "inputs change"
            often = f"more than {MOST} times" if time.steps > 2 * MOST else "more often than at every other step"
            message = f"powers take many steps at once, but {which} {often}, as far as can be told"
            raise ScenarioError([Mistake(("time", "method"), message, 'write method = "step", or "auto"')])
        bad = [] if held is None else list(held.bad(inputs, time.steps, self._dtype))
        if bad:
            raise ScenarioError(bad)
        return held

    def _series(self, A: Matrix) -> Series | None:
        """How a step is made of products with a sparse A, where exp(A dt) is not formed; None where it is. Raises
        ScenarioError where the system cannot do without exp(A dt).
        """
        system = self._model.system
        if system.kind == "discrete" or not issparse(A):
            return None
        if getattr(system.matrix, "format", None) is None and A.shape[0] <= EXPONENTIAL:
            return None
        help = 'write format = "dense" in `matrix`'
        try:
            series = series_of(A, self._model.dt, self._dtype)
        except ValueError as e:
            raise ScenarioError([Mistake(("time", "dt"), str(e), f"take shorter steps, or {help}")]) from None
        found = []
        if system.hold == "first":
            message = "a sparse matrix in continuous time takes inputs that are constant over a step"
            found.append(Mistake(("system", "hold"), message, help))
        if system.noise_matrix is not None:
            message = "the noise of a step needs exp(A dt), which is not formed of a sparse matrix"
            found.append(Mistake(("system", "noise_matrix"), message, help))
        if found:
            raise ScenarioError(found)
        return series

    def _read_inputs(self, B: np.ndarray | None) -> tuple[Input, ...] | None:
        """The inputs; None, after noting a mistake, if their file cannot be read."""
        system, time = self._model.system, self._model.time
        if not isinstance(system.input, FileRef):
            return system.expressions
        names = None if self._model.names is None else self._model.names.input
        path, width = system.input.path(self._base), None if B is None else B.shape[1]
        try:
            found = read_inputs(path, width, names, system.hold == "first", self._model.dt)
        except (OSError, ValueError) as e:
            self._wrong(("system", "input", "file"), str(e))
            return None
        if len(found) * time.steps > MOST_RECORDED:
            message = (
                f"{counted(len(found), 'input')} of a file at {time.steps} steps are more than {MOST_RECORDED} numbers"
            )
            self._wrong(("system", "input", "file"), message, "write them as expressions, or take longer steps")
            return None
        return found

    def _wrong(self, path: KeyPath, message: str, help: str | None = None) -> None:
        self._mistakes.append(Mistake(path, message, help))

    def _read(self, path: KeyPath, source: Sequence[Sequence[complex]] | FileRef) -> np.ndarray | None:
        """A matrix from its values or its file; None, after noting a mistake at `path`, if it cannot be read."""
        place = (*path, "file") if isinstance(source, FileRef) else path
        return self._read_by(place, lambda: matrix_from(source, self._base))

    def _read_by(self, place: KeyPath, read: Callable[[], Matrix]) -> Any:
        try:
            matrix = read()
        except ValueError as e:
            self._wrong(place, str(e))
            return None
        return self._finite(place, matrix)

    def _finite(self, path: KeyPath, matrix: Any) -> Any:
        """`matrix`, dense or sparse; None, after noting a mistake at `path`, if an entry is not finite."""
        values = matrix.data if issparse(matrix) else matrix
        with np.errstate(over="ignore"):
            good = np.isfinite(values.real.astype(self._dtype, copy=False))
            good &= np.isfinite(values.imag.astype(self._dtype, copy=False))
        if good.all():
            return matrix
        at = int(np.argmin(good))
        if issparse(matrix):
            i, j = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
        else:
            i, j = (int(k) for k in np.unravel_index(at, good.shape))
        self._wrong(path, f"row {i + 1}, column {j + 1} is {values.flat[at]:g}, not a finite {self._dtype}")
        return None

    def _optional(self, key: str, source: Sequence[Sequence[complex]] | FileRef | None) -> np.ndarray | None:
        return None if source is None else self._read(("system", key), source)

    def _read_matrix(self) -> Matrix | None:
        path, source = ("system", "matrix"), self._model.system.matrix
        if not isinstance(source, (list, MatrixFile)):
            with np.errstate(all="ignore"):
                A = self._finite(path, generate(source, self._model.system.kind == "continuous"))
        elif isinstance(source, list):
            A = self._read(path, source)
        else:
            A = self._read_by((*path, "file"), lambda: read_system_matrix(source, self._base))
        if A is not None and A.shape[0] != A.shape[1]:
            self._wrong(path, f"is {A.shape[0]} x {A.shape[1]}, but A must be square")
            return None
        return A if A is None or not self._model.system.transpose else _turned(A)

    def _read_start(self, n: int | None) -> np.ndarray | None:
        """X_0; n: how many rows it must have, if that is known."""
        path, source = ("initial", "state"), self._model.initial.state
        if isinstance(source, RandomState):
            return None if n is None else random_normal(n, source.batch, self._model.run.seed)
        if isinstance(source, UnitStates):
            start = None if n is None else self._unit_states(n, source.unit)
            return None if start is None else np.repeat(start, self._model.initial.copies, axis=1)
        if isinstance(source, FileRef) or isinstance(source[0], list):
            start = self._read(path, source)
        else:
            start = self._finite(path, np.array(source)[:, None])
        if n is not None and start is not None and len(start) != n:
            help = "each state is a column" if start.shape[1] == n else None
            self._wrong(path, f"`state` has {counted(len(start), 'component')}, but the matrix is {n} x {n}", help)
            return None
        return None if start is None else np.repeat(start, self._model.initial.copies, axis=1)

    def _unit_states(self, n: int, places: list[int]) -> np.ndarray | None:
        for k, place in enumerate(places):
            if place >= n:
                message = f"there is no component {place}: the last of {n} is {n - 1}"
                self._wrong(("initial", "state", "unit", k), message)
                return None
        start = np.zeros((n, len(places)))
        start[places, np.arange(len(places))] = 1.0
        return start

    def _discrete(self, A: Matrix, B: np.ndarray, ahead: bool) -> tuple[Matrix, np.ndarray]:
        """A and B of a discrete step. ahead: whether inputs at the end of a step count as well, as in `Inputs`."""
        dt = self._model.dt
        if self._model.system.kind == "discrete":
            return A, B
        A = filled(A)
        try:
            return discretise_between(A, B, dt) if ahead else discretise(A, B, dt)
        except ValueError as e:
            most = float(np.max(np.linalg.eigvals(A).real))
            help = f"it grows like exp({most:.3g} t): take dt below {LARGEST / most:.2g} s" if most > 0 else None
            raise ScenarioError([Mistake(("time", "dt"), f"{e} with so long a step", help)]) from None

    def _noise_of_a_step(self, A: Matrix, G: np.ndarray) -> np.ndarray:
        if self._model.system.kind == "discrete":
            return G
        try:
            return noise_factor(noise_covariance(filled(A), G, self._model.dt))
        except ValueError as e:
            raise ScenarioError([Mistake(("time", "dt"), f"{e} with so long a step")]) from None
