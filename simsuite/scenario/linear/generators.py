"""Matrices of linear systems that a scenario names instead of writing them out: {generator = .., ..}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from simsuite.scenario.common import NonNegative, Positive, Section
from simsuite.scenario.types import mistake
from simsuite.scenario.units import ANGLE, CAPACITANCE, DIFFUSIVITY, FRICTION, LENGTH, MASS, RESISTANCE, STIFFNESS, Unit

SIZE_LIMIT = 65_536  # rows of a dense matrix: 34 GB in float64
SPARSE_LIMIT = 1 << 26  # rows of a matrix that is stored without its zeros
SIDE_LIMIT = 16_384  # the most sites along a side of a lattice

Format: TypeAlias = Literal["csr", "dense"]


class Generator(Section):
    """A matrix by its name."""

    format: Format | None = Field(
        None,
        description="how A is kept: csr, without its zeros, or dense (default: dense, but csr for lattice_walk)",
    )


class Banded(Generator):
    """A matrix most of whose entries are zeros. counted: the field that says how large it is, and rows for each."""

    counted: ClassVar[tuple[str, int]]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        name, rows = self.counted
        if self.format != "csr" and getattr(self, name) * rows > SIZE_LIMIT:
            message = f"must be at most {SIZE_LIMIT // rows} where A is dense, got {getattr(self, name)}"
            raise mistake((name,), message, 'format = "csr" keeps A without its zeros')
        return self


class Rotation(Generator):
    """Rotation in the plane: discrete, by `angle` each step; continuous, with the angular velocity `angle`."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"angle": ANGLE}

    generator: Literal["rotation"] = Field(description="a rotation in the plane")
    angle: float = Field(description="angle of a step, rad, if discrete; angular velocity, rad/s, if continuous")


class Markov(Banded):
    """Random walk on states in a row, which stays instead of leaving it: discrete, a chain; continuous, a jump
    process."""

    generator: Literal["markov"] = Field(
        description="a random walk on states in a row; at an end it stays instead of leaving"
    )
    counted = ("states", 1)
    states: Annotated[int, Field(ge=2, le=SPARSE_LIMIT)] = Field(description="number of states")
    up: Positive = Field(description="to the next state: probability of a step (discrete), rate in 1/s (continuous)")
    down: Positive = Field(description="to the state before: probability of a step, or rate in 1/s")


class Heat1d(Banded):
    """Heat conduction in a rod whose ends are held at 0, by central differences (continuous systems only)."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"length": LENGTH, "diffusivity": DIFFUSIVITY}

    generator: Literal["heat1d"] = Field(
        description="heat conduction in a rod whose ends are held at 0; continuous systems only"
    )
    counted = ("points", 1)
    points: Annotated[int, Field(ge=1, le=SPARSE_LIMIT)] = Field(description="number of points between the ends")
    length: Positive = Field(1.0, description="length of the rod, m")
    diffusivity: Positive = Field(1.0, description="thermal diffusivity of the rod, m²/s")


class Springs(Banded):
    """Equal masses in a row between two walls, joined by equal springs (continuous systems only).

    The state is the displacements (m) of all masses, then their velocities (m/s).
    """

    measured_in: ClassVar[Mapping[str, Unit]] = {"mass": MASS, "stiffness": STIFFNESS, "damping": FRICTION}

    generator: Literal["springs"] = Field(
        description="equal masses in a row between two walls, joined by equal springs; continuous systems only"
    )
    counted = ("masses", 2)
    masses: Annotated[int, Field(ge=1, le=SPARSE_LIMIT // 2)] = Field(description="number of masses")
    mass: Positive = Field(1.0, description="mass of each, kg")
    stiffness: Positive = Field(1.0, description="stiffness of each spring, N/m")
    damping: NonNegative = Field(0.0, description="friction of each mass, N·s/m")


class RandomStable(Generator):
    """H D H, with a random Householder reflection H and, in D, plane rotations times factors below 1: dense, random,
    and of a known spectrum."""

    generator: Literal["random_stable"] = Field(description="a random dense matrix whose eigenvalues are known")
    size: Annotated[int, Field(ge=1, le=SIZE_LIMIT)] = Field(description="number of components")
    radius: Annotated[float, Field(gt=0, le=1)] = Field(
        0.99, description="largest modulus of an eigenvalue; a continuous system has all of them shifted by -1, in 1/s"
    )
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="which of the random matrices")


class Leslie(Generator):
    """A population by classes of age, counted once a step (discrete systems only)."""

    generator: Literal["leslie"] = Field(description="a population by classes of age; discrete systems only")
    fecundity: Annotated[list[NonNegative], Field(min_length=1, max_length=SIZE_LIMIT)] = Field(
        description="young of one individual in a step, one number for each class of age"
    )
    survival: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        description="share that lives to the next class, for each class but the last, which nobody survives"
    )

    @model_validator(mode="after")
    def _one_fewer(self) -> Leslie:
        classes, given = len(self.fecundity), len(self.survival)
        if given != classes - 1:
            message = f"has length {given}, but `fecundity` has {classes} classes of age, which need {classes - 1}"
            raise mistake(("survival",), message, "from each class to the next; nobody survives the last")
        return self


class RcLadder(Banded):
    """Equal resistors in a row from a voltage source to an open end, a capacitor to ground behind each of them
    (continuous systems only).

    The state is the voltages (V) of the capacitors. `input` is the voltage of the source, and needs no
    `input_matrix`; without it the source holds 0 V.
    """

    measured_in: ClassVar[Mapping[str, Unit]] = {"resistance": RESISTANCE, "capacitance": CAPACITANCE}

    generator: Literal["rc_ladder"] = Field(description="resistors and capacitors in a row; continuous systems only")
    counted = ("sections", 1)
    sections: Annotated[int, Field(ge=1, le=SPARSE_LIMIT)] = Field(description="number of resistors, and of capacitors")
    resistance: Positive = Field(1.0, description="resistance of each resistor, Ω")
    capacitance: Positive = Field(1.0, description="capacitance of each capacitor, F")


class QuantumWalk(Banded):
    """A walker on a cycle who tosses a quantum coin, Hadamard's, before each step (discrete systems only).

    The state is the amplitudes at site 0 with the coin saying up and saying down, at site 1, and so on.
    """

    generator: Literal["quantum_walk"] = Field(description="a walk on a cycle by a quantum coin; discrete systems only")
    counted = ("sites", 2)
    sites: Annotated[int, Field(ge=2, le=SPARSE_LIMIT // 2)] = Field(description="number of sites on the cycle")


class LatticeWalk(Generator):
    """A walker on a rectangular lattice, who stays instead of leaving it (discrete systems only): sparse, five entries
    a row.

    Component y nx + x is the probability that he is at site (x, y).
    """

    generator: Literal["lattice_walk"] = Field(
        description="a random walk on a rectangular lattice; discrete systems only"
    )
    nx: Annotated[int, Field(ge=1, le=SIDE_LIMIT)] = Field(description="number of sites in a row")
    ny: Annotated[int, Field(ge=1, le=SIDE_LIMIT)] = Field(description="number of rows")
    move: Annotated[float, Field(gt=0, le=0.25)] = Field(
        0.25, description="probability of a step to each of the four sites beside; at an edge he stays instead"
    )


Generated: TypeAlias = Annotated[
    Rotation | Markov | Heat1d | Springs | RandomStable | Leslie | RcLadder | QuantumWalk | LatticeWalk,
    Field(discriminator="generator"),
]

CONTINUOUS_ONLY = (Heat1d, Springs, RcLadder)
DISCRETE_ONLY = (Leslie, QuantumWalk, LatticeWalk)
