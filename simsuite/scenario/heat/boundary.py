"""`[boundary]`: what holds on each edge, or on each piece of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import FieldMistake, NonNegative, Positive, Section
from simsuite.scenario.heat import foreign
from simsuite.scenario.types import NumberOrExpression
from simsuite.scenario.units import FLUX, LENGTH, SHARE, TEMPERATURE, TRANSFER, Unit

EDGES = ("left", "right", "bottom", "top")
TOLERANCE = 1e-9  # the most, as a share of an edge's length, by which ends of neighbouring pieces may differ

_NO_TEMPERATURE = ("T", "write a number or an expression in x, y and t")
_OTHER_KINDS = (
    "T",
    "write a number or an expression in x, y and t; where the heat depends on the temperature of the edge, write "
    'kind = "convection" or "radiation"',
)
Moving: TypeAlias = Annotated[Expression, NumberOrExpression("x", "y", "t", notes=(_NO_TEMPERATURE,))]
Prescribed: TypeAlias = Annotated[Expression, NumberOrExpression("x", "y", "t", notes=(_OTHER_KINDS,))]


_HELD = 'write kind = "temperature" with value, K (or °C)'
_FLUX = 'write kind = "flux" with value, W/m² into the domain, or "insulated" where no heat passes'
_ROBIN = 'write kind = "convection" with h, W/(m²·K), and ambient, K (or °C)'
_NO_FLUX = 'write kind = "insulated"'
_KINDS = {
    **dict.fromkeys(("dirichlet", "fixed", "constant", "isothermal", "held", "value"), _HELD),
    **dict.fromkeys(("neumann", "heatflux", "gradient"), _FLUX),
    **dict.fromkeys(("robin", "mixed", "convective", "newton", "cooling"), _ROBIN),
    **dict.fromkeys(("adiabatic", "noflux", "zeroflux", "symmetry", "symmetric", "mirror"), _NO_FLUX),
    **dict.fromkeys(("radiative", "blackbody", "stefanboltzmann"), 'write kind = "radiation", with emissivity'),
    **dict.fromkeys(("cyclic", "wrap"), 'write kind = "periodic", at the opposite edge too'),
}


class Piece(Section):
    """What conditions of all kinds can say."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"from": LENGTH, "to": LENGTH}
    expected_keys: ClassVar[Mapping[str, str]] = foreign.PIECE
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {"kind": _KINDS}

    start: NonNegative | None = Field(
        None, alias="from", description="where it begins, m along the edge (x or y); in a list only, default 0"
    )
    stop: Positive | None = Field(
        None, alias="to", description="where it ends, m along the edge (x or y); in a list only, default the end"
    )


class Temperature(Piece):
    measured_in: ClassVar[Mapping[str, Unit]] = {"value": TEMPERATURE}
    expected_keys: ClassVar[Mapping[str, str]] = {**foreign.PIECE, **foreign.HELD}

    kind: Literal["temperature"] = Field(description="the edge is held at a temperature")
    value: Prescribed | None = Field(
        None,
        description="temperature of the edge, K (or °C); number or expression in x, y, t; needed unless `manufactured`",
    )


class Flux(Piece):
    measured_in: ClassVar[Mapping[str, Unit]] = {"value": FLUX}
    expected_keys: ClassVar[Mapping[str, str]] = {**foreign.PIECE, **foreign.FLUX}

    kind: Literal["flux"] = Field(description="a given heat flux enters through the edge")
    value: Prescribed | None = Field(
        None,
        description="heat flux into the domain, W/m²; number or expression in x, y, t; needed unless `manufactured`",
    )


class Insulated(Piece):
    kind: Literal["insulated"] = Field(description="no heat goes through the edge")


class Convection(Piece):
    measured_in: ClassVar[Mapping[str, Unit]] = {"h": TRANSFER, "ambient": TEMPERATURE}
    expected_keys: ClassVar[Mapping[str, str]] = {**foreign.PIECE, **foreign.CONVECTION}

    kind: Literal["convection"] = Field(
        description="what flows in is h (ambient - T), T being the temperature of the edge"
    )
    h: Annotated[Expression, NumberOrExpression("x", "y", "t", ge=0, notes=(_NO_TEMPERATURE,))] = Field(
        description="heat transfer coefficient, W/(m²·K), 0 or more whichever way heat flows; "
        "number or expression in x, y, t"
    )
    ambient: Moving | None = Field(
        None,
        description="temperature of the surroundings, K (or °C); number or expression in x, y, t; "
        "needed unless `manufactured`",
    )


class Radiation(Piece):
    """σε(ambient⁴ − T⁴) into the domain: temperatures are absolute, K."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"emissivity": SHARE, "ambient": TEMPERATURE}
    expected_keys: ClassVar[Mapping[str, str]] = {**foreign.PIECE, **foreign.RADIATION}

    kind: Literal["radiation"] = Field(
        description="what flows in is ε σ (ambient⁴ - T⁴), T being the temperature of the edge, K"
    )
    emissivity: Annotated[Expression, NumberOrExpression("x", "y", "t", ge=0, le=1, notes=(_NO_TEMPERATURE,))] = Field(
        description="ε, from 0 to 1; number or expression in x, y, t"
    )
    ambient: Moving | None = Field(
        None,
        description="temperature of the surroundings, K; number or expression in x, y, t; needed unless `manufactured`",
    )


class Periodic(Piece):
    kind: Literal["periodic"] = Field(
        description="heat that leaves here enters at the opposite edge, which has to be periodic too"
    )


Condition: TypeAlias = Annotated[
    Temperature | Flux | Insulated | Convection | Radiation | Periodic, Field(discriminator="kind")
]
Edge: TypeAlias = Condition | Annotated[list[Condition], Field(min_length=1)]


@dataclass(frozen=True)
class Segment:
    """A piece of an edge, from `start` to `stop` in m along it; path: of its condition from the scenario's root."""

    start: float
    stop: float
    condition: Condition
    path: tuple[str | int, ...]


_LISTS = (
    "; or a list of such tables, each with from and to in m, such as [{to = 0.5, kind = ..}, {from = 0.5, kind = ..}]"
)


def derived_keys(condition: Condition) -> tuple[str, ...]:
    """The keys of a condition that follow from the solution where that is known, and are needed where it is not."""
    return tuple(key for key in ("value", "ambient") if key in type(condition).model_fields)


def fixes_level(condition: Condition) -> bool:
    """Whether heat through the edge depends on its temperature, so that the temperature has a level to settle at."""
    if isinstance(condition, (Convection, Radiation)):
        passing = condition.h if isinstance(condition, Convection) else condition.emissivity
        return bool(passing.names) or passing.value > 0
    return isinstance(condition, Temperature)


# the path of a condition, and where its piece starts and stops
_Span: TypeAlias = tuple[tuple[str | int, ...], float, float]


class Boundary(Section):
    expected_keys: ClassVar[Mapping[str, str]] = foreign.EDGES
    examples: ClassVar[Mapping[str, str]] = dict.fromkeys(
        EDGES, 'such as {kind = "temperature", value = 300.0} or {kind = "insulated"}'
    )

    left: Edge = Field(Insulated(kind="insulated"), description=f"the edge at x = 0{_LISTS}")
    right: Edge = Field(Insulated(kind="insulated"), description=f"the edge at x = lx{_LISTS}")
    bottom: Edge = Field(Insulated(kind="insulated"), description=f"the edge at y = 0{_LISTS}")
    top: Edge = Field(Insulated(kind="insulated"), description=f"the edge at y = ly{_LISTS}")

    @model_validator(mode="after")
    def _check(self) -> Boundary:
        mistakes = [found for edge in EDGES for found in self._misplaced(edge)]
        if mistakes:
            raise FieldMistake(*mistakes)
        return self

    def pair_mistakes(self) -> Iterator[Mistake]:
        """Mistakes where one of two opposite edges is periodic and the other is not."""
        for a, b in (("left", "right"), ("bottom", "top")):
            if self._is_periodic(a) != self._is_periodic(b):
                one, other = (a, b) if self._is_periodic(a) else (b, a)
                message = f"the {one} edge is periodic but the {other} edge is not"
                yield Mistake(("boundary", one, "kind"), message, f'write {other} = {{kind = "periodic"}} too')

    def _misplaced(self, edge: str) -> Iterator[Mistake]:
        value = getattr(self, edge)
        if isinstance(value, list):
            for i, condition in enumerate(value):
                if isinstance(condition, Periodic):
                    help = f'write {edge} = {{kind = "periodic"}}'
                    yield Mistake((edge, i, "kind"), "only a whole edge can be periodic", help)
            return
        for key, given in (("from", value.start), ("to", value.stop)):
            if given is not None:
                help = f"for a part of the edge write a list: {edge} = [{{..}}, {{..}}]"
                yield Mistake((edge, key), f"`{key}` belongs to the pieces of an edge", help, on_key=True)

    def _is_periodic(self, edge: str) -> bool:
        return isinstance(getattr(self, edge), Periodic)

    @property
    def periodic_x(self) -> bool:
        """Whether the left and the right edge are one."""
        return self._is_periodic("left")

    @property
    def periodic_y(self) -> bool:
        """Whether the bottom and the top edge are one."""
        return self._is_periodic("bottom")

    def conditions(self, edge: str) -> list[tuple[tuple[str | int, ...], Condition]]:
        """The conditions on one edge, each with its path from the scenario's root."""
        value = getattr(self, edge)
        if isinstance(value, list):
            return [(("boundary", edge, i), condition) for i, condition in enumerate(value)]
        return [(("boundary", edge), value)]

    def segments(self, edge: str, length: float) -> tuple[Segment, ...]:
        """The pieces of an edge of some length in m, in order, the end of one being the start of the next."""
        conditions = self.conditions(edge)
        starts = [0.0, *(float(c.start or 0.0) for _, c in conditions[1:]), length]
        return tuple(Segment(a, b, c, path) for a, b, (path, c) in zip(starts, starts[1:], conditions))

    def coverage_mistakes(self, edge: str, length: float) -> list[Mistake]:
        """Mistakes where the pieces of an edge, whose length is in m, leave gaps or overlap."""
        conditions = self.conditions(edge)
        last = len(conditions) - 1
        found = [m for i, (path, c) in enumerate(conditions) for m in _unbounded(path, c, i == 0, i == last)]
        spans = [(path, c.start or 0.0, length if c.stop is None else c.stop) for path, c in conditions]
        found = found or [_disorder(b, a) for a, b in pairwise(spans) if b[1] < a[1]]
        if found:
            return found
        at, slack = 0.0, TOLERANCE * length
        for path, start, stop in spans:
            if stop > length + slack:
                found.append(Mistake((*path, "to"), f"the {edge} edge ends at {length:g} m"))
            if not stop - start > slack:
                message = f"this piece of the {edge} edge has no length: it goes from {start:g} to {stop:g} m"
                found.append(Mistake(path, message))
            elif start > at + slack:
                found.append(_gap(path, edge, at, start))
            elif start < at - slack:
                message = f"two pieces of the {edge} edge overlap from {start:g} to {min(stop, at):g} m"
                found.append(Mistake(path, message, "let each piece begin where the one before it ends"))
            at = max(at, stop)
        if at < length - slack:
            found.append(_gap(conditions[-1][0], edge, at, length))
        return found


def _disorder(piece: _Span, before: _Span) -> Mistake:
    message = f"the pieces of an edge stand in order, but {piece[1]:g} comes after {before[1]:g}"
    return Mistake((*piece[0], "from"), message)


def _gap(path: tuple[str | int, ...], edge: str, start: float, stop: float) -> Mistake:
    message = f"the {edge} edge has no condition from {start:g} to {stop:g} m"
    return Mistake(path, message, f'add {{kind = "insulated", from = {start:g}, to = {stop:g}}}, in order')


def _unbounded(path: tuple[str | int, ...], piece: Condition, first: bool, last: bool) -> Iterator[Mistake]:
    for key, value, only in (("from", piece.start, first), ("to", piece.stop, last)):
        if value is None and not only:
            help = f"m along the edge; only the {'first' if key == 'from' else 'last'} piece goes without"
            yield Mistake((*path, key), f"missing key `{key}` in `{'.'.join(map(str, path))}`", help)
