"""Problems in which the axes of the grid separate: those with the same coefficients everywhere, and with edges and
sources that do not move.

    dT/dt = S - (αx Mx/Δx² + αy My/Δy²) T,

with M of `modes`; S is what edges and sources add: γ g / ρc at each edge point, q / ρc in each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.scenario.heat.material import MATERIAL_KEYS, MaterialKeys
from simsuite.scenario.heat.source import SURFACE
from simsuite.solvers.heat.exact.modes import Axis
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, RADIATION, Piece
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.stepper_record import Obstacle


@dataclass(frozen=True, eq=False)
class Separated:
    """A problem whose axes separate. beta, gamma: at all edge points; rate_x (nx,), rate_y (ny,): αµ/Δ², 1/s; gx, gy:
    k/Δ², W/(m³ K); rho_c: J/(m³ K)."""

    x: Axis
    y: Axis
    rate_x: np.ndarray
    rate_y: np.ndarray
    gx: float
    gy: float
    rho_c: float
    beta: np.ndarray
    gamma: np.ndarray
    source: np.ndarray

    def gamma_above(self, level: float) -> np.ndarray:
        """γ for temperatures measured from a level, K."""
        return self.gamma - self.beta * level

    def heating_above(self, level: float) -> np.ndarray:
        """S (ny, nx), K/s, for temperatures measured from a level, K."""
        S = self.source / self.rho_c
        ny, nx = S.shape
        left, right, bottom, top = np.split(self.gamma_above(level), np.cumsum([ny, ny, nx]))
        S[:, 0] += self.gx / self.rho_c * left
        S[:, -1] += self.gx / self.rho_c * right
        S[0] += self.gy / self.rho_c * bottom
        S[-1] += self.gy / self.rho_c * top
        return S


def axes(d: Discretisation) -> tuple[Axis, Axis]:
    """The axes x and y of a problem for which `obstacle` finds nothing."""
    beta, _ = d.edges.coefficients(0.0, d.edge_k())
    left, right, bottom, top = (float(part[0]) for part in np.split(beta, np.cumsum([d.ny, d.ny, d.nx])))
    return Axis(d.nx, d.wrap_x, left, right), Axis(d.ny, d.wrap_y, bottom, top)


def separate(d: Discretisation) -> Separated:
    """A problem for which `obstacle` finds nothing, with all that is needed to step it."""
    kx, ky, rho_c = (float(distinct(a)[0, 0]) for a in (d.kx, d.ky, d.rho_c))
    beta, gamma = d.edges.coefficients(0.0, d.edge_k())
    x, y = axes(d)
    gx, gy = kx / d.dx**2, ky / d.dy**2
    rates = gx / rho_c * x.eigenvalues, gy / rho_c * y.eigenvalues
    return Separated(x, y, *rates, gx, gy, rho_c, beta, gamma, d.static_source)


def obstacle(scenario: HeatScenario, d: Discretisation) -> Obstacle | None:
    """(path, why): where the first thing in a scenario is that keeps its axes from separating, and the first such
    things of material, sources and edges; None if there are none."""
    each = (_in_material(scenario, d), _in_sources(scenario, d), next(_in_edges(scenario, d), None))
    found = [one for one in each if one is not None]
    return (found[0][0], "; ".join(why for _, why in found)) if found else None


def _in_material(scenario: HeatScenario, d: Discretisation) -> Obstacle | None:
    if d.uniform:
        return None
    places: list[tuple[tuple[str | int, ...], MaterialKeys]] = [(("material",), scenario.material)]
    places += [(("region", i), region) for i, region in enumerate(scenario.region)]
    for i, region in enumerate(scenario.region):
        if region.temperature is not None and d.any_held:
            return ("region", i, "temperature"), "a region is held at a temperature"
    varying = []
    for path, keys in places:
        for key in MATERIAL_KEYS:
            parts, name = keys.material_parts(key), key.replace("_", " ")
            for axis, part in enumerate(parts):
                place = (*path, key, axis) if len(parts) > 1 else (*path, key)
                if isinstance(part, Expression) and part.depends_on("T"):
                    return place, f"the {name} depends on T"
                if not isinstance(part, Expression) or part.names or path != ("material",):
                    varying.append((place, f"the {name} is not the same everywhere"))
    return varying[0] if varying else (("material",), "the material is not the same everywhere")


def _in_sources(scenario: HeatScenario, d: Discretisation) -> Obstacle | None:
    heating = d.heating
    for i, (power, static) in enumerate(zip(d.sources, d.static)):
        if not static:
            name = "t" if power.depends_on("t") else "T"
            if i < len(heating):
                what = "the heat through the faces" if heating[i].name == SURFACE else "a source"
                return heating[i].path, f"{what} depends on {name}"
            return ("reference", "temperature"), f"the source of the manufactured solution depends on {name}"
    return None


def _in_edges(scenario: HeatScenario, d: Discretisation) -> Iterator[Obstacle]:
    for piece in d.edges.pieces:
        if piece.kind == RADIATION:
            yield (*piece.path, "kind"), "an edge radiates"
        for key, data in zip(
            ("h", "ambient") if piece.kind == CONVECTION else ("value", ""), (piece.first, piece.second)
        ):
            if data.depends_on("t"):
                if scenario.manufactured and key != "h":
                    yield ("reference", "temperature"), "the edge values that follow from it depend on t"
                yield (*piece.path, key), f"`{key}` of the {piece.path[1]} edge depends on t"
    beta, _ = d.edges.coefficients(0.0, d.edge_k())
    for edge in EDGES:
        pieces = [piece for piece in d.edges.pieces if piece.path[1] == edge]
        for piece in pieces:
            if np.any(beta[piece.points] != beta[pieces[0].points[0]]):
                yield _uneven(piece, piece is pieces[0])


def _uneven(piece: Piece, alone: bool) -> Obstacle:
    if alone:
        return (*piece.path, "h"), f"`h` varies along the {piece.path[1]} edge"
    return (*piece.path, "kind"), f"the {piece.path[1]} edge takes heat in different ways along its pieces"
