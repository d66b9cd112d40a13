"""From a scenario to its `Discretisation`: materials, regions, edges, sources, initial state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np

from simsuite.errors import Mistake, PackageMissing
from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario.heat import EDGES, Flux, HeatScenario, Insulated, Part
from simsuite.scenario.types import FileRef
from simsuite.solvers.heat.checks.absolute_zero import absolute_zero, too_cold
from simsuite.solvers.heat.checks.not_finite import not_finite_mistakes, why_undefined
from simsuite.solvers.heat.grid import manufactured
from simsuite.solvers.heat.grid.discretisation import Discretisation, Law
from simsuite.solvers.heat.grid.edges import (
    CONVECTION,
    RADIATION,
    TEMPERATURE,
    Edges,
    Piece,
    bad_conditions,
    make_edges,
)
from simsuite.solvers.heat.grid.faces import faces_of
from simsuite.solvers.heat.grid.marked_sources import heating_of
from simsuite.solvers.heat.grid.sampling import Sampler, distinct, once_if_alike
from simsuite.solvers.heat.grid.single_moments import without_moments
from simsuite.words import cell_in_words

Place = tuple[str | int, ...]


def discretise(scenario: HeatScenario, base: Path, mistakes: list[Mistake]) -> Discretisation:
    """The scenario in space. base: where names of data files start from. What is wrong is added to `mistakes`; the
    result is then of no use."""
    if scenario.manufactured:
        PackageMissing.unless(["sympy"], "verify", "[reference] manufactured")
    sampler = Sampler(scenario, base, mistakes)
    inside = [sampler.inside(region, ("region", i)) for i, region in enumerate(scenario.region)]
    held, T0 = _initial(scenario, sampler, inside, mistakes)
    kx, ky, law = _conductivity(scenario, sampler, inside, T0)
    rho_c = _capacity(scenario, sampler, inside)
    edges = make_edges(scenario)
    end = scenario.time.end or 0.0
    heating = heating_of(scenario, sampler)
    sources = tuple(without_moments(each.power, sampler.x, sampler.y, end) for each in heating)
    if scenario.manufactured:
        edges, sources = _manufactured(scenario, edges, sources, mistakes)
    periodic = (scenario.boundary.periodic_x, scenario.boundary.periodic_y)
    empty = tuple(i for i, cells in enumerate(inside) if not cells.any())
    made = Discretisation(kx, ky, rho_c, held, T0, edges, *periodic, law, sources, empty, heating)
    looks = edges.looks(end)
    if not mistakes:
        later = not_finite_mistakes(scenario, made)
        of_faces = any(mistake.path[0] == "surface" for mistake in later)  # these say which of their data it is
        mistakes += [m for m in _bad_sources(scenario, made) if not (of_faces and m.path[0] == "surface")]
        told = {mistake.path for mistake in mistakes}
        mistakes += [mistake for mistake in later if mistake.path not in told]
    if not mistakes:
        coldest = absolute_zero(scenario, edges)
        mistakes += bad_conditions(edges, end, coldest, scenario.manufactured)
        mistakes += _once(bad_conditions(faces_of(scenario), end, coldest))
        mistakes += too_cold(scenario, made, inside, coldest)
        mistakes += _bad_laws(scenario, made, looks)
    return made


def _once(mistakes: Sequence[Mistake]) -> list[Mistake]:
    """The first mistake at each place: an ambient temperature counts for h and for radiation."""
    return list({mistake.path: mistake for mistake in reversed(mistakes)}.values())[::-1]


def _initial(
    scenario: HeatScenario, sampler: Sampler, inside: list[np.ndarray], mistakes: list[Mistake]
) -> tuple[np.ndarray, np.ndarray]:
    """Which cells are held at a temperature, and the initial temperature of all, in the run's precision."""
    given, where = scenario.initial.temperature, ("initial", "temperature")
    if scenario.manufactured:
        assert scenario.reference is not None
        given, where = manufactured.initial(scenario.reference.temperature), ("reference", "temperature")
    if isinstance(given, FileRef):
        T0 = sampler.array(given, (*where, "file"))
    else:
        T0 = np.broadcast_to(given(x=sampler.x, y=sampler.y), sampler.shape)
    free = T0
    held = np.broadcast_to(np.False_, sampler.shape)
    for region, cells in zip(scenario.region, inside):
        if region.temperature is not None:
            T0 = np.where(cells, region.temperature(x=sampler.x, y=sampler.y), T0)
            held = held | cells
        elif distinct(held).any():
            T0 = np.where(cells, free, T0)
            held = held & ~cells
    with np.errstate(over="ignore"):
        T0 = np.ascontiguousarray(T0, scenario.run.dtype)
    bad = np.argwhere(~np.isfinite(T0))
    if len(bad):
        y, x = bad[0]
        mistakes.append(Mistake(where, f"the initial temperature is not finite in {cell_in_words(x, y)}"))
    return held, T0


def _conductivity(
    scenario: HeatScenario, sampler: Sampler, inside: list[np.ndarray], T0: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Law | None]:
    key = "diffusivity" if scenario.material.alone else "conductivity"
    everywhere = np.broadcast_to(np.True_, sampler.shape)
    parts: list[tuple[np.ndarray, tuple[Part, Part], Place]]
    parts = [(everywhere, scenario.material.k_parts, ("material", key))]
    for i, (region, cells) in enumerate(zip(scenario.region, inside)):
        if region.k_parts is not None:
            parts.append((cells, region.k_parts, ("region", i, key)))
    # The number of the part that a cell belongs to if its conductivity depends on T; 0 where it is fixed. x and y count
    # separately.
    which = np.broadcast_to(np.int64(0), sampler.shape)
    fields: list[np.ndarray] = []
    laws: list[Expression | None] = []
    for axis in (0, 1):
        k = np.broadcast_to(np.float64(1.0), sampler.shape)
        cases: list[tuple[int, Expression]] = []
        for number, (cells, pair, path) in enumerate(parts, 1):
            part = pair[axis]
            place: Place = path if pair[0] is pair[1] else (*path, axis)
            whole = distinct(cells).all()
            if isinstance(part, Expression) and part.depends_on("T"):
                cases.append((number, part))
                with np.errstate(all="ignore"):
                    values = np.broadcast_to(part(x=sampler.x, y=sampler.y, T=T0), sampler.shape)
            elif axis == 0 or pair[0] is not pair[1]:
                values = sampler.values(part, place, cells)
            else:
                values = fields[0]
            k = values if whole else np.where(cells, values, k)
            if axis == 0:
                which = np.broadcast_to(np.int64(number), sampler.shape) if whole else np.where(cells, number, which)
        fields.append(k)
        laws.append(_law(cases))
    law = Law(laws[0] or _FIXED, laws[1] or _FIXED, which) if any(laws) else None
    if law is None:
        kx = once_if_alike(fields[0])
        return kx, kx if fields[1] is fields[0] else once_if_alike(fields[1]), None
    return fields[0], fields[1], law


_VARIABLES = ("x", "y", "T", "k", "which")
_FIXED = Expression.parse("k", _VARIABLES)
_CHOICE = Expression.parse("where(which == number, part, law)", ("which", "number", "part", "law"))


def _law(cases: list[tuple[int, Expression]]) -> Expression | None:
    """One expression for all cases, which selects the case by the number of the part that a cell belongs to; None if
    there are no cases."""
    if not cases:
        return None
    law = _FIXED
    for number, part in cases:
        law = _CHOICE.substitute(number=Expression.constant(number), part=part, law=law)
    return law


def _capacity(scenario: HeatScenario, sampler: Sampler, inside: list[np.ndarray]) -> np.ndarray:
    everywhere = np.broadcast_to(np.True_, sampler.shape)
    factors = [np.broadcast_to(np.float64(1.0), sampler.shape)]
    for part, key in zip(scenario.material.rho_c_parts, scenario.material.rho_c_keys, strict=True):
        values = sampler.values(part, ("material", key), everywhere)
        for i, (region, cells) in enumerate(zip(scenario.region, inside)):
            for special in region.material_parts(key):
                values = np.where(cells, sampler.values(special, ("region", i, key), cells), values)
        factors.append(values)
    product = reduce(np.multiply, (distinct(values) for values in factors))
    return once_if_alike(np.broadcast_to(product, sampler.shape))


def _manufactured(
    scenario: HeatScenario, edges: Edges, given: Sequence[Expression], mistakes: list[Mistake]
) -> tuple[Edges, tuple[Expression, ...]]:
    """Edges and sources with which the reference is the solution."""
    assert scenario.reference is not None
    T = scenario.reference.temperature
    kx, ky = (_expression(part) for part in scenario.material.k_parts)
    factors = [_expression(part) for part in scenario.material.rho_c_parts]
    rho_c = reduce(lambda a, b: Expression.combine("*", a, b), factors, Expression.constant(1.0))
    try:
        derived = manufactured.source(T, kx, ky, rho_c, given)
        flux = {edge: manufactured.flux_in(T, kx, ky, edge) for edge in EDGES}
        pieces = [_derived_piece(piece, T, flux[str(piece.path[1])]) for piece in edges.pieces]
    except ExpressionError as error:
        mistakes.append(Mistake(("reference", "temperature"), f"cannot be differentiated: {error.message}", error.help))
        return edges, tuple(given)
    for piece in edges.pieces:
        if isinstance(piece.condition, Insulated):
            given_edges = scenario.boundary.model_fields_set
            mistakes += _not_insulated(
                piece, flux[str(piece.path[1])], edges.looks(scenario.time.end or 0.0), given_edges
            )
    mistakes += _not_periodic(scenario, T)
    return replace(edges, pieces=tuple(pieces)), (*given, derived)


def _expression(part: Part) -> Expression:
    assert isinstance(part, Expression), "files are refused where the solution is manufactured"
    return part


def _derived_piece(piece: Piece, T: Expression, flux: Expression) -> Piece:
    if piece.kind == TEMPERATURE:
        return replace(piece, first=manufactured.edge_value(T))
    if piece.kind == CONVECTION:
        return replace(piece, second=manufactured.ambient_convection(T, flux, piece.first))
    if piece.kind == RADIATION:
        return replace(piece, second=manufactured.ambient_radiation(T, flux, piece.first))
    return replace(piece, first=flux) if isinstance(piece.condition, Flux) else piece


def _not_insulated(
    piece: Piece, flux: Expression, looks: Sequence[float], given_edges: Collection[str]
) -> list[Mistake]:
    largest = max(float(np.max(np.abs(flux(x=piece.x, y=piece.y, t=t)))) for t in looks)
    if largest <= 1e-9:
        return []
    edge = piece.path[1]
    message = f"the reference is not insulated at the {edge} edge: its heat flux reaches {largest:.3g} W/m²"
    kind = 'kind = "flux"' if edge in given_edges else f'{edge} = {{kind = "flux"}} under [boundary]'
    return [Mistake((*piece.path, "kind"), message, f"write {kind}, whose value is derived")]


def _not_periodic(scenario: HeatScenario, T: Expression) -> list[Mistake]:
    g, t = scenario.grid, np.linspace(0.0, scenario.time.end or 0.0, 11)[:, None]
    x, y = np.linspace(0.0, g.lx, 41), np.linspace(0.0, g.ly, 41)
    found = []
    for edge, periodic, first, second in (
        ("left", scenario.boundary.periodic_x, T(x=0.0, y=y, t=t), T(x=g.lx, y=y, t=t)),
        ("bottom", scenario.boundary.periodic_y, T(x=x, y=0.0, t=t), T(x=x, y=g.ly, t=t)),
    ):
        if periodic and not np.allclose(first, second, rtol=1e-9, atol=1e-9 * float(np.max(np.abs(first)))):
            found.append(Mistake(("boundary", edge, "kind"), "the reference is not periodic in this direction"))
    return found


def _bad_laws(scenario: HeatScenario, made: Discretisation, looks: Sequence[float]) -> list[Mistake]:
    """Mistakes for conductivities that depend on T and are negative at a temperature that can come up, which makes the
    problem ill-posed."""
    if made.law is None:
        return []
    key = "diffusivity" if scenario.material.alone else "conductivity"
    regions = [("region", i, key) for i, region in enumerate(scenario.region) if region.k_parts is not None]
    places: list[Place] = [("material", key), *regions]  # numbered as in `Law`
    for T, *fields in made.conductivities(made.temperatures(looks)):
        for k in fields:
            few = np.broadcast_to(distinct(k), distinct(k).shape)
            bad = np.argwhere(~((few >= 0) & (few < np.inf)) & ~_part_of(distinct(made.held), few.shape))
            if len(bad):
                value = few[tuple(bad[0])]
                must = "must not be negative" if value < 0 else "must be a finite number"
                message = f"{must}, but is {value:.4g} at T = {T:.6g}"
                help = "looked at between the least and the largest of initial, edge and ambient temperatures"
                number = int(np.broadcast_to(distinct(made.law.which), few.shape)[tuple(bad[0])])
                return [Mistake(places[number - 1], message, help)]
    return []


def _part_of(held: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """For each of the few cells that stand for all, whether it is held."""
    return np.broadcast_to(held, shape) if held.shape == shape or held.size == 1 else np.zeros(shape, bool)


def _bad_sources(scenario: HeatScenario, made: Discretisation) -> list[Mistake]:
    found = []
    for i, heating in enumerate(made.heating):
        values = made.source(i, 0.0, made.T0)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            y, x = bad[0]
            help = why_undefined(made.sources[i], made, 0.0) or None
            found.append(Mistake(heating.path, f"is not finite at the start in {cell_in_words(x, y)}", help))
    return found
