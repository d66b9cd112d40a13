"""The scenario of a linear system: X_{k+1} = A X_k + B u_k, or dX/dt = A X + B u."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import (
    MOST_STEPS,
    Count,
    FieldMistake,
    Output,
    Positive,
    Run,
    Section,
    Steps,
    frame_mistakes,
)
from simsuite.scenario.complex_numbers import RealOrComplex
from simsuite.scenario.constants import Constants
from simsuite.scenario.linear.analysis import AnalysisKeys, NamesOf
from simsuite.scenario.linear.generators import CONTINUOUS_ONLY, DISCRETE_ONLY, Format, Generated, Markov, RcLadder
from simsuite.scenario.reaching import LinearReaching, reaching_mistakes
from simsuite.scenario.types import FileRef, NumberOrExpression, Title, mistake
from simsuite.scenario.units import SECONDS, Unit
from simsuite.words import counted

Number = TypeVar("Number", float, complex)


def _equal_rows(rows: list[list[Number]]) -> list[list[Number]]:
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise mistake((i,), f"row {i + 1} of the matrix has length {len(row)}, the first {len(rows[0])}")
    return rows


Vector: TypeAlias = Annotated[list[RealOrComplex], Field(min_length=1)]
Rows: TypeAlias = Annotated[list[Vector], Field(min_length=1), AfterValidator(_equal_rows)]
RealVector: TypeAlias = Annotated[list[float], Field(min_length=1)]
_NO_FILE = 'a file holds all inputs, a column each: write input = {file = "u.csv"}, without brackets around it'
_FEEDBACK = "inputs are numbers or expressions in t; what depends on the state belongs into A"
_NO_STATE = tuple((name, _FEEDBACK) for name in ("x", "X", "u"))
RealRows: TypeAlias = Annotated[list[RealVector], Field(min_length=1), AfterValidator(_equal_rows)]
Input: TypeAlias = Annotated[Expression, NumberOrExpression("t", notes=_NO_STATE, of_file=_NO_FILE)]


class MatrixFile(FileRef):
    """A matrix in a file."""

    format: Format | None = Field(
        None,
        description="how A is kept: csr, without its zeros, or dense (default: csr for .npz and .mtx by coordinates)",
    )


def _called(**names: str) -> dict[str, str]:
    """What to answer to letters, and other names, that textbooks have for keys."""
    return {letter: f"here that is `{key}`" for letter, key in names.items()}


_LETTERS = {"A": "matrix", "B": "input_matrix", "C": "output_matrix", "D": "feedthrough"}
_MATRICES = {**_LETTERS, "G": "noise_matrix", "u": "input"}
_START = "the initial state is `state` in [initial]"


class InputFile(FileRef):
    """A table of inputs in a file."""

    expected_keys: ClassVar[Mapping[str, str]] = {"hold": "`hold` is a key of [system]: `system.hold`, beside `input`"}


class System(Section):
    other_names: ClassVar[Mapping[str, str]] = _LETTERS
    expected_keys: ClassVar[Mapping[str, str]] = {
        **_called(G="noise_matrix", u="input", inputs="input", P="matrix", noise="noise_matrix"),
        **_called(direct="feedthrough", feedthrough_matrix="feedthrough", feed_through="feedthrough"),
        **dict.fromkeys(("x0", "X0", "initial_state"), _START),
        "transposed": "did you mean `transpose`?",
    }
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "kind": {
            **dict.fromkeys(("ode", "sde", "differential"), 'write "continuous", for dX/dt = A X + B u'),
            **dict.fromkeys(("map", "difference", "recurrence"), 'write "discrete", for X_{k+1} = A X_k + B u_k'),
        },
        "hold": {
            **dict.fromkeys(("zoh", "constant", "zeroorder"), 'write "zero"'),
            **dict.fromkeys(("foh", "linear", "firstorder"), 'write "first"'),
        },
    }

    kind: Literal["discrete", "continuous"] = Field(
        description="discrete: X_{k+1} = A X_k + B u_k; continuous: dX/dt = A X + B u, exact at the ends of steps"
    )
    matrix: Rows | MatrixFile | Generated = Field(
        description='A (`A = ..` says the same): rows of numbers, complex ones as "0.5-0.25j", {file = .npy, .csv, '
        ".mtx or .npz}, or {generator = ..}; in 1/s if continuous"
    )
    transpose: bool = Field(
        False,
        description="whether `matrix` has the transpose of A, as Markov chains are often written: row i what leaves "
        "state i",
    )
    input_matrix: Rows | FileRef | None = Field(
        None, description="B (`B = ..` says the same): one row a component, one column an input"
    )
    input: Annotated[list[Input], Field(min_length=1)] | InputFile | None = Field(
        None,
        description="u: one number or expression in t (s) for each column of input_matrix (rc_ladder brings an "
        'input_matrix of its own); or {file = "u.csv"}, with a header, a column of times in s, and a column an input',
    )
    hold: Literal["zero", "first"] = Field(
        "zero",
        description="what u is within a step of a continuous system: zero: constant, as at its beginning; first: a "
        "straight line to its value at the end. Between the rows of a file u is held, or a straight line, likewise",
    )
    noise_matrix: RealRows | FileRef | None = Field(
        None,
        description="G: adds G w_k to every step, or G dW to dX (then in 1/sqrt(s)), w_k independent standard normal "
        "numbers for each state and column of G, from the seed in [run]",
    )
    output_matrix: Rows | FileRef | None = Field(
        None, description="C (`C = ..` says the same): the frames hold C X instead of X"
    )
    feedthrough: Rows | FileRef | None = Field(
        None,
        description="D (`D = ..` says the same): the frames hold C X + D u, with u at the time of the frame; one "
        "row an output, one column an input",
    )

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The inputs that are written out; () if they are in a file."""
        return tuple(self.input) if isinstance(self.input, list) else ()

    @model_validator(mode="after")
    def _check(self) -> System:
        if self.input_matrix is not None and self.input is None:
            raise mistake(("input_matrix",), "there is no `input` to multiply", 'add input = ["sin(t)"]', on_key=True)
        if self.input is not None and self.input_matrix is None:
            if not isinstance(self.matrix, RcLadder):
                raise mistake(("input",), "there is no `input_matrix` that says where it acts", on_key=True)
            if isinstance(self.input, list) and len(self.input) != 1:
                message = f"has {len(self.input)} entries, but an rc_ladder has one voltage source"
                raise mistake(("input",), message, "an `input_matrix` of your own may have more columns")
        for needed in ("output_matrix", "input") if self.feedthrough is not None else ():
            if getattr(self, needed) is None:
                message = f"there is no `{needed}`, but `feedthrough` asks for the outputs C X + D u"
                help = "of all states C is the identity" if needed == "output_matrix" else 'add input = ["sin(t)"]'
                raise mistake(("feedthrough",), message, help, on_key=True)
        if self.hold == "first" and (self.kind == "discrete" or self.input is None):
            missing = "there is no `input`" if self.input is None else "a discrete system has nothing between its steps"
            raise mistake(("hold",), f"{missing} to draw a line through", "leave it out")
        if self.kind == "discrete" and isinstance(self.matrix, CONTINUOUS_ONLY):
            message = f"{self.matrix.generator} is a system in continuous time"
            raise mistake(("matrix", "generator"), message, 'write kind = "continuous"')
        if self.kind == "continuous" and isinstance(self.matrix, DISCRETE_ONLY):
            message = f"{self.matrix.generator} is a system in discrete time"
            raise mistake(("matrix", "generator"), message, 'write kind = "discrete"')
        if self.kind == "discrete" and isinstance(self.matrix, Markov) and self.matrix.up + self.matrix.down > 1:
            message = f"up + down = {self.matrix.up + self.matrix.down:g}, but probabilities add up to at most 1"
            raise mistake(("matrix", "up"), message)
        return self


class RandomState(Section):
    """Independent random numbers, from the seed in [run]: the same on every device."""

    random: Literal["normal"] = Field(description="law of every component: normal, of mean 0 and variance 1")
    batch: Count = Field(1, description="number of states, the columns of X")


class UnitStates(Section):
    """States of which a single component is 1 and the others are 0."""

    unit: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = Field(
        description="the component, from 0, that is 1 in each state of the batch"
    )


class Initial(Section):
    other_names: ClassVar[Mapping[str, str]] = {"x0": "state"}
    expected_keys: ClassVar[Mapping[str, str]] = _called(X0="state", x="state", X="state")

    state: Vector | Rows | FileRef | RandomState | UnitStates = Field(
        description="X at time 0 (`x0 = ..` says the same): a vector, a matrix (one column a state of the batch), "
        '{file = ..}, {random = "normal", batch = 4096}, or {unit = [0]}'
    )
    copies: Count = Field(
        1, description="how often each state is in the batch: with noise, every copy goes its own way"
    )

    @model_validator(mode="after")
    def _check(self) -> Initial:
        if self.copies > 1 and isinstance(self.state, RandomState):
            message = "random states are not copied"
            raise mistake(("copies",), message, f"write batch = {self.copies} in `state`", on_key=True)
        return self


_ROUNDING = 1e-9  # share of the end by which it may miss a whole number of steps
_INTEGRATORS = ("euler", "rk4", "rk45", "rungekutta", "cranknicolson", "implicit", "explicit", "tustin", "bilinear")
_EXACT = (
    "continuous systems are discretised exactly by every method, by the exponential of A dt, so that no integrator is "
    'needed: write "step", or "auto"'
)


def _without_default(key: dict[str, Any]) -> None:
    """Take the default from the schema of a key that has none in truth. Any: as JSON has it."""
    key.pop("default")


class Time(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = dict.fromkeys(("dt", "end"), SECONDS)
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "method": {
            **dict.fromkeys(("expm", "exponential", "exact", "zoh", *_INTEGRATORS), _EXACT),
            **dict.fromkeys(("iterate", "iteration", "direct", "product", "matmul"), 'write "step"'),
            **dict.fromkeys(("squaring", "matrixpower", "powers"), 'write "power"'),
            **dict.fromkeys(("eig", "eigen", "eigenvalues", "modal", "modes", "diagonal"), 'write "spectral"'),
        }
    }

    steps: Steps = Field(
        1, description="number of steps; needed unless `end` is given", json_schema_extra=_without_default
    )
    end: Positive | None = Field(None, description="time at which the run ends, s, in place of steps: a multiple of dt")
    dt: Positive | None = Field(None, description="length of a step, s (default 1 if the system is discrete)")
    method: Literal["auto", "step", "power", "spectral"] = Field(
        "auto",
        description="step: one product with A a step; power: powers of A from frame to frame, for inputs "
        "that change now and then at most; spectral: the modes of A, at once to any frame, for inputs that do not "
        "depend on time; auto: what takes less work",
    )
    tolerance: Positive | None = Field(
        None,
        description="the largest error that taking powers or modes may make, relative to the state "
        "(default 1e-8, in float32 1e-4)",
    )

    @model_validator(mode="after")
    def _steps_or_end(self) -> Time:
        if self.end is None:
            if "steps" not in self.model_fields_set:
                raise mistake(("steps",), "missing key `steps` in [time]", "the number of steps; or end = .., s")
            return self
        dt = 1.0 if self.dt is None else self.dt
        if self.end / dt > MOST_STEPS:
            raise mistake(("end",), f"is more than {MOST_STEPS} steps of {dt:g} s away", "take longer steps")
        steps = round(self.end / dt)
        if steps < 1 or abs(steps * dt - self.end) > _ROUNDING * self.end:
            near = max(1, steps) * dt
            raise mistake(("end",), f"must be a whole number of steps of {dt:g} s", f"the nearest is {near:.9g}")
        if "steps" in self.model_fields_set and self.steps != steps:
            message = f"`end` is after {counted(steps, 'step')} of {dt:g} s"
            raise mistake(("steps",), message, "leave one of them out", None, True)
        self.__dict__["steps"] = steps  # the sections do not change from here on
        return self


class LinearScenario(Section):
    expected_keys: ClassVar[Mapping[str, str]] = {
        **{letter: f"that is `{key}` in [system]" for letter, key in _MATRICES.items()},
        **dict.fromkeys(("x0", "X0"), "that is `state` in [initial]"),
        **{key: f"that goes into [analysis]: {key} = true" for key in AnalysisKeys.model_fields},
    }

    solver: Literal["linear"] = Field(description="the equation: X ← A X + B u + G w, or dX = (A X + B u) dt + G dW")
    title: Title = Field("", description="what is simulated, in words")
    constants: Constants
    run: Run = Field(Run(), description="device, arithmetic and seed")
    system: System = Field(description="the system's matrices and inputs")
    initial: Initial = Field(description="the state at time 0")
    time: Time = Field(description="how many steps, how long, and by what method")
    names: NamesOf | None = Field(None, description="what states, inputs and outputs are called")
    analysis: AnalysisKeys | None = Field(
        None, description="what of control theory is computed of the system, besides what every run has"
    )
    reaching: list[LinearReaching] = Field(
        default_factory=list, alias="event", description="values to be reached, whose times are looked for"
    )
    output: Output = Field(Output(), description="what is stored, where and when")

    _members: tuple[LinearScenario, ...] = PrivateAttr(())

    @property
    def members(self) -> tuple[LinearScenario, ...]:
        """The scenarios that this one runs together, see `join`; () for one of its own."""
        return self._members

    @property
    def can_join(self) -> bool:
        """Whether its states may be those that they are alone in one run with those of scenarios that differ in numbers
        only. Noise is drawn by the places of states in a batch, and powers and modes are made for all states of one.
        Events are looked for in the course of a run, and may end it.
        """
        return self.time.method in ("auto", "step") and self.system.noise_matrix is None and not self.reaching

    @property
    def joined_size(self) -> int:
        """How much it adds to a run of several."""
        return 1

    @staticmethod
    def join(models: Sequence[LinearScenario]) -> LinearScenario | None:
        """One scenario for all of these; None if they differ in more than the system and its initial states. Which of
        them can be run together is found out when it is made a problem of."""
        first = models[0]
        if not all(model.can_join and model._without_numbers() == first._without_numbers() for model in models):
            return None
        joined = first.model_copy()
        joined._members = tuple(models)
        return joined

    @staticmethod
    def divide(results: Mapping[str, Any], models: Sequence[LinearScenario]) -> list[dict[str, Any] | None]:
        """The results of each of the scenarios; None of those that have to run alone. Any: as `run --json` has them."""
        divided, extremes = list(results["members"]), results.get("extremes", {})
        for key, told in extremes.items():
            place, _, name = key.partition(".")
            own = divided[int(place)]
            if own is not None:
                own.setdefault("extremes", {})[name] = told
        return divided

    def _without_numbers(self) -> dict[str, object]:
        ignored = {"constants", "system", "initial", "title"}
        fields = {name: value for name, value in self if name not in ignored}
        return fields | {"output": self.output.model_copy(update={"directory": None})}

    @model_validator(mode="after")
    def _check(self) -> LinearScenario:
        found = []
        if self.system.kind == "continuous" and self.time.dt is None:
            found.append(Mistake(("time",), "a continuous system needs `dt`", "add dt = 0.01 (s)", on_key=True))
        if self.output.samples is not None:
            found.append(Mistake(("output", "samples"), "a linear system has frames only", "use frames", on_key=True))
        found += self._of_analysis()
        moving = [u for u in self.system.expressions if u.depends_on("t") and self.time.method == "spectral"]
        if self.time.method in ("power", "spectral") and (moving or self.system.noise_matrix is not None):
            new = f"the input {moving[0]} depends on time" if moving else "every step has noise of its own"
            what = "powers" if self.time.method == "power" else "modes"
            message = f"{what} take many steps at once, but {new}"
            found.append(Mistake(("time", "method"), message, 'write method = "step", or "auto"'))
        found += frame_mistakes(self.output, self.time.steps, self.dt, self.time.steps * self.dt, "s")
        found += reaching_mistakes(self.reaching, self.output)
        if found:
            raise FieldMistake(*found)
        return self

    def _of_analysis(self) -> Iterator[Mistake]:
        needed = {"bode", "step_response", "gramians", "margins"}
        asked = [] if self.analysis is None else [key for key in self.analysis.asked if key in needed]
        if asked and self.system.input is None:
            message = f"`{asked[0]}` is about inputs, and the system has none"
            help = "add input_matrix = .. and input = [0.0] to [system]"
            yield Mistake(("analysis", asked[0]), message, help, on_key=True)
        for part, key in (("input", "input"), ("output", "output_matrix")):
            names = None if self.names is None else getattr(self.names, part)
            if names is not None and getattr(self.system, key) is None:
                message = f"the system has no `{key}`, so that there are no {part}s to name"
                yield Mistake(("names", part), message, "leave it out", on_key=True)

    @property
    def random(self) -> bool:
        """Whether results depend on run.seed."""
        return isinstance(self.initial.state, RandomState) or self.system.noise_matrix is not None

    @property
    def dt(self) -> float:
        """The length of a step, in s."""
        return 1.0 if self.time.dt is None else self.time.dt

    @property
    def tolerance(self) -> float:
        """The relative error that powers and modes may have."""
        if self.time.tolerance is not None:
            return self.time.tolerance
        return 1e-8 if self.run.precision == "float64" else 1e-4
