"""The heat that comes into each cell at given temperatures, and its derivatives with respect to them, on the host in
float64.

    F = gx_w (T_w - T) + gx_e (T_e - T) + gy_s (T_s - T) + gy_n (T_n - T) + q         W/m³, as in `discretisation`

with everything that depends on T at its present value. In a steady state F = 0 in all cells that are not held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from simsuite.expressions import Expression
from simsuite.solvers.heat.grid.discretisation import Discretisation, harmonic
from simsuite.solvers.heat.grid.edges import at_points

_CELLS = 128  # the number of cells along an axis in which sources are evaluated where a rough sum will do
_STEP = 1e-6  # share of the temperatures' size over which differences stand for derivatives


@dataclass(frozen=True, eq=False)
class _Axis:
    """The faces between neighbours along the last axis of all arrays: number i is between the cells i and i + 1, the
    last one joins the last cell to the first. which, k, f: as in `discretisation.Law`."""

    x: np.ndarray
    y: np.ndarray
    k: np.ndarray
    which: np.ndarray
    held: np.ndarray
    f: Expression | None
    wrap: bool
    delta: float

    def conductance(self, mean: np.ndarray) -> np.ndarray:
        """g of each face, W/(m³ K), at the mean temperatures of its two cells."""
        a, b = self._conductivity(0, mean), self._conductivity(-1, mean)
        held_a, held_b = self.held, np.roll(self.held, -1, axis=1)
        one_sided = np.where(held_a, 2.0 * b, np.where(held_b, 2.0 * a, harmonic(a, b)))
        g = np.where(held_a & held_b, 0.0, one_sided) / self.delta**2
        if not self.wrap:
            g[:, -1] = 0.0
        return g

    def _conductivity(self, shift: int, T: np.ndarray) -> np.ndarray:
        """The conductivity of the cells on one side of the faces."""
        fields = (np.roll(a, shift, axis=1) for a in (self.x, self.y, self.k, self.which))
        x, y, k, which = fields
        if self.f is None:
            return k
        return np.broadcast_to(self.f(x=x, y=y, T=T, k=k, which=which), k.shape)


class Balance:
    """The heat balance of a problem at t = 0."""

    def __init__(self, made: Discretisation) -> None:
        self.made = made
        self.free = ~np.asarray(made.held)
        self._number = np.where(self.free, np.cumsum(self.free).reshape(self.free.shape) - 1, -1)
        x, y = (np.broadcast_to(a, self.free.shape) for a in made.centres)
        law = made.law
        which = np.zeros(x.shape) if law is None else np.asarray(law.which)
        along_x, along_y = (None, None) if law is None else (law.along_x, law.along_y)
        self._axes = (
            _Axis(x, y, made.kx, which, made.held, along_x, made.wrap_x, made.dx),
            _Axis(x.T, y.T, made.ky.T, which.T, made.held.T, along_y, made.wrap_y, made.dy),
        )
        self._fixed = None if law else [axis.conductance(axis.k) for axis in self._axes]
        self._open = np.repeat([not made.wrap_x, not made.wrap_y], [2 * made.ny, 2 * made.nx])
        self._open &= at_points(self.free, self.free)

    def flux(self, T: np.ndarray) -> tuple[np.ndarray, float]:
        """F (ny, nx), 0 in held cells, and the size of the largest flux through a face or from a source, W/m³."""
        F = self._sources(T)
        sizes = [np.max(np.abs(F))]
        for i, (into, t) in enumerate(((F, T), (F.T, T.T))):
            flow = self._conductance(i, t) * (np.roll(t, -1, axis=1) - t)
            into += flow - np.roll(flow, 1, axis=1)
            sizes.append(np.max(np.abs(flow)))
        at_edges = self.edge_flux(T)
        _add_at_edges(F, at_edges)
        return np.where(self.free, F, 0.0), float(max(*sizes, np.max(np.abs(at_edges))))

    def fixes_level(self, T: np.ndarray) -> bool:
        """Whether an edge or a held cell fixes the level of temperatures, whatever the sources do."""
        g, beta, _ = self._edges(T)
        return bool(np.any(~self.free)) or bool(np.any(g * beta != 0.0))

    def gain(self, T: np.ndarray) -> float:
        """The sum over all cells of what comes in from sources and at edges, W/m³."""
        return float(np.sum(self._sources(T)[self.free]) + np.sum(self.edge_flux(T)))

    def level_gain(self) -> Callable[[float], float]:
        """A function of one temperature, which estimates what `gain` is if all cells have that temperature and no edge
        depends on it. On a large grid, sources are evaluated in few cells."""
        made = self.made
        rows, columns = (slice(None, None, -(-n // _CELLS)) for n in self.free.shape)
        x, y = made.centres
        few, at_edges = self.free[rows, columns], float(np.sum(self.edge_flux(made.T0)))
        share = float(np.count_nonzero(self.free)) / max(int(np.count_nonzero(few)), 1)

        def gain(level: float) -> float:
            values = (f(x=x[..., columns], y=y[rows], t=0.0, T=level) for f in made.sources)
            return share * float(sum(np.sum(np.broadcast_to(v, few.shape)[few]) for v in values)) + at_edges

        return gain

    def exchange(self, T: np.ndarray) -> tuple[float, float]:
        """The sum of the sizes of what comes in from sources and at edges, W/m³, and by how much, at most, what comes
        in from sources changes if each temperature changes by 1 K, W/(m³ K)."""
        sources, slopes = self._sources(T)[self.free], _slope(self._sources, T)[self.free]
        return float(np.sum(np.abs(sources)) + np.sum(np.abs(self.edge_flux(T)))), float(np.sum(np.abs(slopes)))

    def stiffest(self, T: np.ndarray) -> float:
        """The largest conductance of a face, W/(m³ K)."""
        return float(max(np.max(self._conductance(i, t)) for i, t in enumerate((T, T.T))) or 1.0)

    def edge_flux(self, T: np.ndarray) -> np.ndarray:
        """Heat that comes in at all edge points, W/m³."""
        g, beta, gamma = self._edges(T)
        return g * (gamma - beta * at_points(T, T))

    def response(self, T: np.ndarray, newton: bool) -> scipy.sparse.csc_array:
        """-∂F/∂T between the cells that are not held, in their order. newton: whether the derivatives of conductivities
        and sources are included. Without them the matrix is symmetric, and it is positive definite if an edge or a held
        cell fixes the level of temperatures."""
        diagonal = np.zeros(self.free.shape)
        rows, columns, values = [], [], []
        for i, (here, t, number) in enumerate(((diagonal, T, self._number), (diagonal.T, T.T, self._number.T))):
            g, after = self._conductance(i, t), np.roll(number, -1, axis=1)
            bend = self._bend(i, t) if newton and self._fixed is None else np.zeros_like(g)
            # The heat that flows over a face into cell i is g (T_{i+1} - T_i), and cell i + 1 loses it; g is taken at
            # the mean of both.
            here += g - bend + np.roll(g + bend, 1, axis=1)
            both = (number >= 0) & (after >= 0) & (g != 0)
            rows += [number[both], after[both]]
            columns += [after[both], number[both]]
            values += [-(g + bend)[both], -(g - bend)[both]]
        _add_at_edges(diagonal, self._edge_response(T, newton))
        if newton and any(f.depends_on("T") for f in self.made.sources):
            diagonal -= _slope(self._sources, T)
        own = self._number[self.free]
        places = (np.concatenate([*rows, own]), np.concatenate([*columns, own]))
        entries = np.concatenate([*values, diagonal[self.free]])
        return scipy.sparse.coo_array((entries, places), shape=(own.size, own.size)).tocsc()

    def _conductance(self, i: int, T: np.ndarray) -> np.ndarray:
        """The conductances of the faces along axis i, for T with that axis last."""
        if self._fixed is not None:
            return self._fixed[i]
        return self._axes[i].conductance(0.5 * (T + np.roll(T, -1, axis=1)))

    def _bend(self, i: int, T: np.ndarray) -> np.ndarray:
        """The derivative of the flux over each face with respect to the temperature of either cell, through its
        conductance alone."""
        after = np.roll(T, -1, axis=1)
        return 0.5 * _slope(self._axes[i].conductance, 0.5 * (T + after)) * (after - T)

    def _sources(self, T: np.ndarray) -> np.ndarray:
        made = self.made
        total = sum((made.source(i, 0.0, T) for i in range(len(made.sources))), np.zeros(self.free.shape))
        return np.array(np.broadcast_to(total, self.free.shape))

    def _edges(self, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(g, β, γ) at all edge points; g is 0 where nothing can come in."""
        made = self.made
        k, conducting = made.edge_conductivity(T, 0.0)
        g = np.where(self._open, conducting / made.edges.delta**2, 0.0)
        return g, *made.edges.coefficients(0.0, k, at_points(T, T))

    def _edge_response(self, T: np.ndarray, newton: bool) -> np.ndarray:
        if newton and self._fixed is None:
            return -_slope(self.edge_flux, T)
        g, beta, _ = self._edges(T)
        return g * beta


def _add_at_edges(field: np.ndarray, values: np.ndarray) -> None:
    ny, nx = field.shape
    left, right, bottom, top = np.split(values, np.cumsum([ny, ny, nx]))
    field[:, 0] += left
    field[:, -1] += right
    field[0] += bottom
    field[-1] += top


def _slope(f: Callable[[np.ndarray], np.ndarray], T: np.ndarray) -> np.ndarray:
    """The derivative df/dT of a function that is applied to each temperature by itself."""
    h = _STEP * max(float(np.max(np.abs(T))), 1e-3)
    return (f(T + h) - f(T - h)) / (2.0 * h)
