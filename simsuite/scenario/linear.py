"""The scenario of a linear system: X_{k+1} = A X_k + B u_k, or dX/dt = A X + B u."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import Count, NonNegative, Output, Positive, Run, Section, Steps, frame_mistakes
from simsuite.scenario.types import FieldMistake, FileRef, NumberOrExpression, Title, mistake


def _equal_rows(rows: list[list[float]]) -> list[list[float]]:
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise mistake((i,), f"row {i + 1} of the matrix has length {len(row)}, the first {len(rows[0])}")
    return rows


Vector: TypeAlias = Annotated[list[float], Field(min_length=1)]
Rows: TypeAlias = Annotated[list[Vector], Field(min_length=1), AfterValidator(_equal_rows)]
Input: TypeAlias = Annotated[Expression, NumberOrExpression("t")]

SIZE_LIMIT = 65_536  # rows of a generated matrix: 34 GB in float64


class Rotation(Section):
    """Rotation in the plane: discrete, by `angle` each step; continuous, with the angular velocity `angle`."""

    generator: Literal["rotation"]
    angle: float = Field(description="rad (each step) if discrete, rad/s if continuous")


class Markov(Section):
    """Random walk on states in a row, held at both ends: discrete, a chain; continuous, a jump process."""

    generator: Literal["markov"]
    states: Annotated[int, Field(ge=2, le=SIZE_LIMIT)] = Field(description="number of states")
    up: Positive = Field(description="to the next state: probability of a step (discrete), rate in 1/s (continuous)")
    down: Positive = Field(description="to the state before: probability of a step, or rate in 1/s")


class Heat1d(Section):
    """Heat conduction in a rod whose ends are held at 0, by central differences (continuous systems only)."""

    generator: Literal["heat1d"]
    points: Annotated[int, Field(ge=1, le=SIZE_LIMIT)] = Field(description="number of points between the ends")
    length: Positive = Field(1.0, description="length of the rod, m")
    diffusivity: Positive = Field(1.0, description="m²/s")


class Springs(Section):
    """Equal masses in a row between two walls, joined by equal springs (continuous systems only).

    The state is the displacements (m) of all masses, then their velocities (m/s).
    """

    generator: Literal["springs"]
    masses: Annotated[int, Field(ge=1, le=SIZE_LIMIT // 2)] = Field(description="number of masses")
    mass: Positive = Field(1.0, description="of each, kg")
    stiffness: Positive = Field(1.0, description="of each spring, N/m")
    damping: NonNegative = Field(0.0, description="friction of each mass, N·s/m")


class RandomStable(Section):
    """A dense symmetric-orthogonal transform of plane rotations that shrink: random, but with a known spectrum."""

    generator: Literal["random_stable"]
    size: Annotated[int, Field(ge=1, le=SIZE_LIMIT)] = Field(description="number of components")
    radius: Annotated[float, Field(gt=0, le=1)] = Field(
        0.99, description="largest modulus of an eigenvalue; a continuous system has all of them shifted by -1, in 1/s"
    )
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="which of the random matrices")


Generated: TypeAlias = Annotated[Rotation | Markov | Heat1d | Springs | RandomStable, Field(discriminator="generator")]


class System(Section):
    kind: Literal["discrete", "continuous"] = Field(
        description="discrete: X_{k+1} = A X_k + B u_k; continuous: dX/dt = A X + B u, u held constant over each step"
    )
    matrix: Rows | FileRef | Generated = Field(
        description="A: rows of numbers, {file = .npy, .csv or .mtx}, or {generator = ..}; in 1/s if continuous"
    )
    input_matrix: Rows | FileRef | None = Field(None, description="B: one row a component, one column an input")
    input: Annotated[list[Input], Field(min_length=1)] | None = Field(
        None, description="u: one number or expression in t (s) for each column of input_matrix"
    )
    output_matrix: Rows | FileRef | None = Field(None, description="C: the frames hold C X instead of X")

    @model_validator(mode="after")
    def _check(self) -> System:
        if self.input_matrix is not None and self.input is None:
            raise mistake(("input_matrix",), "there is no `input` to multiply", 'add input = ["sin(t)"]', on_key=True)
        if self.input is not None and self.input_matrix is None:
            raise mistake(("input",), "there is no `input_matrix` that says where it acts", on_key=True)
        if self.kind == "discrete" and isinstance(self.matrix, (Heat1d, Springs)):
            message = f"{self.matrix.generator} is a system in continuous time"
            raise mistake(("matrix", "generator"), message, 'write kind = "continuous"')
        if self.kind == "discrete" and isinstance(self.matrix, Markov) and self.matrix.up + self.matrix.down > 1:
            message = f"up + down = {self.matrix.up + self.matrix.down:g}, but probabilities add up to at most 1"
            raise mistake(("matrix", "up"), message)
        return self


class RandomState(Section):
    """Independent random numbers, from the seed in [run]: the same on every device."""

    random: Literal["normal"] = Field(description="normal: mean 0, variance 1")
    batch: Count = Field(1, description="number of states, the columns of X")


class Initial(Section):
    state: Vector | Rows | FileRef | RandomState = Field(
        description="X at time 0: a vector, a matrix (one column a state of the batch), {file = ..}, "
        'or {random = "normal", batch = 4096}'
    )


class Time(Section):
    steps: Steps = Field(description="number of steps")
    dt: Positive | None = Field(None, description="length of a step, s (default 1 if the system is discrete)")
    method: Literal["auto", "step"] = Field("auto", description="step: one product with A a step; auto picks it")


class LinearScenario(Section):
    solver: Literal["linear"]
    title: Title = Field("", description="what is simulated, in words")
    run: Run = Run()
    system: System
    initial: Initial
    time: Time
    output: Output = Output()

    @model_validator(mode="after")
    def _check(self) -> LinearScenario:
        found = []
        if self.system.kind == "continuous" and self.time.dt is None:
            found.append(Mistake(("time",), "a continuous system needs `dt`", "add dt = 0.01 (s)", on_key=True))
        if self.output.samples is not None:
            found.append(Mistake(("output", "samples"), "a linear system has frames only", "use frames", on_key=True))
        found += frame_mistakes(self.output, self.time.steps, self.dt, self.time.steps * self.dt, "s")
        if found:
            raise FieldMistake(*found)
        return self

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        return 1.0 if self.time.dt is None else self.time.dt
