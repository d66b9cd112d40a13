"""The heat equation in space: cell-centred finite volumes on a uniform grid.

    ρc_i dT_i/dt = gx_w (T_w - T_i) + gx_e (T_e - T_i) + gy_s (T_s - T_i) + gy_n (T_n - T_i) + q_i

A face conducts with the harmonic mean of the conductivities on both sides, gx = 2 k_a k_b / (k_a + k_b) / Δx²: it is
exact for layers and second-order for smooth k (S. V. Patankar, Numerical Heat Transfer and Fluid Flow, 1980, section
4.2-3). Where k depends on T, both are taken at the mean temperature of the two cells, or of a cell and its wall of a
given temperature, so that fronts of degenerate diffusion (k = 0 where T = 0) move. Edges: see `edges`.

Cells of a region that is held at a temperature have no surface of their own: their neighbours conduct over half a cell,
gx = 2k/Δx², and they themselves have an infinite capacity, 1/ρc = 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat.heating import Heating
from simsuite.solvers.heat.grid.edges import FLUX, TEMPERATURE, Edges, at_points
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.grid.spans import extreme_times, most_given

# the numbers of times and of temperatures at which sources that depend on these are looked at, for the reach of
# temperatures
LOOKS_AT_SOURCES = 5
LOOKS_AT_T = 33  # the number of temperatures at which a conductivity that depends on T is looked at before a run


@dataclass(frozen=True, eq=False)
class Law:
    """Conductivities that depend on T, as expressions in x, y, T, k, which: along x and along y.

    The variable k is the conductivity of cells that have a fixed one. which: the number of the case that holds in each
    cell, (ny, nx), int64."""

    along_x: Expression
    along_y: Expression
    which: np.ndarray


@dataclass(frozen=True, eq=False)
class Discretisation:
    """A heat problem in space. Arrays are (ny, nx), float64, broadcast where they are one number.

    kx, ky: conductivity, W/(m K), at the initial temperature where it depends on T. rho_c: J/(m³ K). held: which cells
    are held at their initial temperature. T0: the initial temperature, K. sources: expressions in x, y, t, T, W/m³.
    empty: the numbers of the regions that contain no cell, from 0 on. heating: what the first sources come from, in the
    same order; one that is derived from a reference comes after these."""

    kx: np.ndarray
    ky: np.ndarray
    rho_c: np.ndarray
    held: np.ndarray
    T0: np.ndarray
    edges: Edges
    wrap_x: bool
    wrap_y: bool
    law: Law | None
    sources: tuple[Expression, ...]
    empty: tuple[int, ...] = ()
    heating: tuple[Heating, ...] = ()

    @property
    def whole(self) -> Discretisation:
        """The plate of which this one is a slab, see `slabs`."""
        return self

    @property
    def place(self) -> tuple[int, int]:
        """The number of the first row in the whole plate, negative beyond a periodic edge, and of all rows of that."""
        return 0, self.ny

    @property
    def ny(self) -> int:
        return self.edges.ny

    @property
    def nx(self) -> int:
        return self.edges.nx

    @property
    def dx(self) -> float:
        return self.edges.dx

    @property
    def dy(self) -> float:
        return self.edges.dy

    @cached_property
    def centres(self) -> tuple[np.ndarray, np.ndarray]:
        """x (nx,) and y (ny, 1) of the cell centres, m."""
        return (np.arange(self.nx) + 0.5) * self.dx, ((np.arange(self.ny) + 0.5) * self.dy)[:, None]

    @cached_property
    def any_held(self) -> bool:
        return bool(distinct(self.held).any())

    @cached_property
    def held_cells(self) -> np.ndarray:
        """(n, 2): y and x of the cells that are held."""
        return np.argwhere(self.held) if self.any_held else np.zeros((0, 2), np.int64)

    @cached_property
    def uniform(self) -> bool:
        """Whether the coefficients are the same numbers everywhere."""
        one = all(distinct(a).size == 1 for a in (self.kx, self.ky, self.rho_c))
        return one and self.law is None and not self.any_held

    @property
    def static(self) -> tuple[bool, ...]:
        """For each source, whether it depends on neither t nor T."""
        return tuple(not f.names & {"t", "T"} for f in self.sources)

    @property
    def nonlinear(self) -> bool:
        """Whether conductivities, edges or sources depend on T in more than a linear way."""
        return self.law is not None or self.edges.radiates or any(f.depends_on("T") for f in self.sources)

    @cached_property
    def static_source(self) -> np.ndarray:
        """The sum of all sources that are static, W/m³, 0 in held cells."""
        total = sum((self.source(i, 0.0) for i, static in enumerate(self.static) if static), np.zeros((1, 1)))
        return np.broadcast_to(total, self.kx.shape)

    def source(self, i: int, t: float, T: np.ndarray | float = 0.0) -> np.ndarray:
        """A source at time t, W/m³; none in cells that are held."""
        x, y = self.centres
        return np.where(self.held, 0.0, np.broadcast_to(self.sources[i](x=x, y=y, t=t, T=T), self.kx.shape))

    def edge_k(self, kx: np.ndarray | None = None, ky: np.ndarray | None = None) -> np.ndarray:
        """The conductivity, across the edge, of the cells at all edge points; 1 where nothing is conducted.

        kx, ky: of all cells, by default at the initial temperature."""
        k = at_points(self.kx if kx is None else kx, self.ky if ky is None else ky)
        return np.where(at_points(self.held, self.held) | (k <= 0.0), 1.0, k)

    def edge_conductivity(self, T: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Two conductivities at all edge points, for T (ny, nx) at time t: that of the cell beside the edge, which is 1
        where nothing is conducted, and that with which the edge conducts, which is 0 there.

        A conductivity that depends on T is taken at the mean of the temperatures of cell and edge at an edge of fixed
        temperature, as between cells; with a given flux through the edge it does not matter."""
        kinds, at = self.edges.kinds, at_points(T, T)
        k = at_points(self.kx, self.ky)
        if self.law is not None:
            at = np.where(kinds == TEMPERATURE, 0.5 * (at + self.edges.data(t)[0]), at)
            x, y, which = (np.broadcast_to(a, T.shape) for a in (*self.centres, self.law.which))
            names = {"x": at_points(x, x), "y": at_points(y, y), "T": at, "k": k, "which": at_points(which, which)}
            sides = np.arange(k.size) < 2 * self.ny
            k = np.where(sides, self.law.along_x(**names), self.law.along_y(**names))
        free = ~at_points(self.held, self.held)
        conducting = np.where(free & (k > 0), k, 1.0)
        return conducting, np.where(free & ((k > 0) | (kinds == FLUX)), conducting, 0.0)

    def conductivity(self, T: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """kx and ky at temperatures T."""
        if self.law is None:
            return self.kx, self.ky
        x, y = self.centres
        values = []
        for f, k in ((self.law.along_x, self.kx), (self.law.along_y, self.ky)):
            few = f(x=x, y=y, T=T, k=distinct(k), which=distinct(self.law.which))
            values.append(np.broadcast_to(few, k.shape))
        return values[0], values[1]

    def conductivities(self, bounds: tuple[float, float]) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
        """(T, kx, ky) at LOOKS_AT_T temperatures T between two bounds; once if they do not depend on T."""
        for T in np.linspace(*bounds, LOOKS_AT_T if self.law is not None else 1):
            yield float(T), *self.conductivity(T)

    def faces(self, kx: np.ndarray | None = None, ky: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """gx (ny, nx+1) and gy (ny+1, nx), W/(m³ K): of faces between cells, and of edge faces with the k of the cell.

        kx, ky: conductivities, by default those at the initial temperature.
        """
        kx, ky = (self.kx if kx is None else kx), (self.ky if ky is None else ky)
        gx = faces(kx, self.held, self.wrap_x) / self.dx**2
        gy = faces(ky.T, self.held.T, self.wrap_y).T / self.dy**2
        return gx, np.ascontiguousarray(gy)

    @cached_property
    def inverse_capacity(self) -> np.ndarray:
        """1/(ρc), 0 in cells that are held."""
        few = np.where(distinct(self.held), 0.0, 1.0 / distinct(self.rho_c))
        return np.broadcast_to(few, self.held.shape)

    def temperatures(self, looks: Sequence[float]) -> tuple[float, float]:
        """The least and the largest of initial, edge and ambient temperatures, K. Edges are looked at at the times
        `looks`."""
        initial = distinct(self.T0)
        bounds = [initial.min(), initial.max()]
        for t in looks:
            for at_edges in self.edges.temperatures(t):
                bounds += [at_edges.min(), at_edges.max()]
        return float(min(bounds)), float(max(bounds))

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the largest coordinates, m."""
        return {"x": (0.0, self.nx * self.dx), "y": (0.0, self.ny * self.dy)}

    def reach(self, looks: Sequence[float], end: float, at: tuple[float, float] | None = None) -> tuple[float, float]:
        """The bounds of `temperatures`, widened by as much as sources and given fluxes could drive a cell until `end`.
        The heat of a source is assumed to stay where it arises. A flux is assumed to enter a half-space of the worst
        conductor (Carslaw & Jaeger, section 2.9) or only the cell beside it, and to fill a closed box; one that comes
        in pulses counts as its largest one for as long as that takes to give all its heat, which is when it heats the
        surface most. at: the temperatures between which sources are looked at, by default those bounds."""
        least, most = self.temperatures(looks)
        capacity = float(np.min(distinct(self.rho_c)))
        k = min(float(np.nanmin(distinct(a))) for _, *pair in self.conductivities((least, most)) for a in pair)
        box = min(self.nx * self.dx, self.ny * self.dy)

        def of_flux(time: float) -> float:
            half_space = 2.0 * math.sqrt(time / (math.pi * k * capacity)) if k > 0 else math.inf
            return min(half_space, time / (capacity * min(self.dx, self.dy))) + 2.0 * time / (capacity * box)

        fluxes = np.concatenate([self.edges.data(t)[0][self.edges.kinds == FLUX] for t in looks])
        seen = np.array([np.max(fluxes, initial=0.0), -np.min(fluxes, initial=0.0)]) * of_flux(end)
        pulsed = [[size * of_flux(time) for size, time in found] for found in self.edges.most_fluxes(end)]
        by_flux = np.max(np.array([seen, *pulsed]), axis=0)
        fall, rise = self._driven(looks, end, (least, most) if at is None else at)
        fall, rise = fall + float(by_flux[1]), rise + float(by_flux[0])
        return least - fall, most + rise

    def _driven(self, looks: Sequence[float], end: float, bounds: tuple[float, float]) -> tuple[float, float]:
        """How far sources could lower and raise the temperature of a cell until `end`, if all their heat stayed there.
        A source that depends on time or temperature counts in every cell with the most that it gives anywhere: for the
        whole time with what it gives at some times, or with the integral of its bounds, if that is more."""
        lowest, highest = np.zeros((1, 1)), np.zeros((1, 1))
        for i, f in enumerate(self.sources):
            moves = f.depends_on("t")
            temperatures = np.linspace(*bounds, LOOKS_AT_SOURCES) if f.depends_on("T") else bounds[:1]
            times = np.linspace(0.0, end, LOOKS_AT_SOURCES) if moves else looks[:1]
            low, high = np.zeros((1, 1)), np.zeros((1, 1))
            for power in (self.source(i, t, T) for t in times for T in temperatures):
                low = np.minimum(low, np.min(power) if moves else power)
                high = np.maximum(high, np.max(power) if moves else power)
            if moves and end > 0:
                (gives, takes), _ = most_given(f, end, {**self.ranges, "T": bounds})
                low, high = np.minimum(low, -takes / end), np.maximum(high, gives / end)
            lowest, highest = lowest + low, highest + high
        c = self.inverse_capacity
        return -end * float(np.min(c * lowest)), end * float(np.max(c * highest))

    def rates(
        self, looks: Sequence[float], end: float = 0.0, within: tuple[float, float] | None = None
    ) -> tuple[float, float]:
        """(fastest, loss), 1/s: a bound on the fastest decay of a mode by Gershgorin's circles, and the largest rate
        at which a cell loses its own temperature, both until `end`. looks: times at which edges that move are looked
        at. within: the temperatures between which conductivities and sources are looked at, by default those that can
        be foreseen."""
        bounds = self.temperatures(looks) if self.law is None else within or self.reach(looks, end)
        looked = [(kx, ky) for _, kx, ky in self.conductivities(bounds)]
        kx, ky = functools.reduce(lambda a, b: (np.fmax(a[0], b[0]), np.fmax(a[1], b[1])), looked)
        beta = np.max([self.edges.steepest(t, self.edge_k(kx, ky), bounds[1]) for t in looks], axis=0)
        c, held = self.inverse_capacity, self.held
        sides = np.split(beta, np.cumsum([self.ny, self.ny, self.nx]))
        if self.uniform:  # here few cells stand for all
            rows, columns = min(self.ny, 3), min(self.nx, 3)
            kx, ky, c, held = (a[:rows, :columns] for a in (kx, ky, c, held))
            sides = [np.full(n, side.max()) for n, side in zip((rows, rows, columns, columns), sides)]
        inner_x, outer_x = _row_sums(kx, held, self.wrap_x, sides[0], sides[1], self.dx)
        inner_y, outer_y = _row_sums(ky.T, held.T, self.wrap_y, sides[2], sides[3], self.dy)
        inner, outer = inner_x + inner_y.T, outer_x + outer_y.T
        feedback = self._largest_feedback(looks, end, bounds)
        return float(np.max(c * (2 * inner + outer))) + feedback, float(np.max(c * (inner + outer))) + feedback

    def _largest_feedback(self, looks: Sequence[float], end: float, bounds: tuple[float, float]) -> float:
        """The largest rate, 1/s, at which a source counteracts a rise in temperature, at some times and
        temperatures."""
        return max(0.0, -min(float(np.min(slopes)) for slopes in self._slopes(looks, end, bounds)))

    def _slopes(self, looks: Sequence[float], end: float, bounds: tuple[float, float]) -> Iterator[np.ndarray]:
        """By how much sources give more for a higher temperature, divided by ρc, 1/s, at some times and
        temperatures."""
        yield np.zeros(1)
        x, y = self.centres
        x, y = x[:: max(1, self.nx // 64)], y[:: max(1, self.ny // 64)]
        h = 1e-6 * max(bounds[1] - bounds[0], abs(bounds[0]), abs(bounds[1]), 1e-3)
        T = np.linspace(*bounds, 9)[:, None, None]
        capacity = float(np.min(distinct(self.rho_c)))
        for f in self.sources:
            if f.depends_on("T"):
                moves = f.depends_on("t") and end > 0
                for t in {*looks, *(self._extremes(f, end, (bounds[0] - h, bounds[1] + h)) if moves else ())}:
                    yield (f(x=x, y=y, t=t, T=T + h) - f(x=x, y=y, t=t, T=T - h)) / (2 * h * capacity)

    def _extremes(self, f: Expression, end: float, temperatures: tuple[float, float]) -> Iterator[float]:
        """The times at which a source gives and takes most at some places, at each of two temperatures."""
        x, y = self.centres
        x, y = np.meshgrid(x[:: max(1, self.nx // 4)], y[:: max(1, self.ny // 4)])
        for T in temperatures:
            yield from extreme_times(f, end, {"x": x.ravel(), "y": y.ravel(), "T": np.full(x.size, T)})


def harmonic(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The harmonic mean of conductivities, 0 where both are 0."""
    total = a + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0)


def faces(k: np.ndarray, held: np.ndarray, wrap: bool) -> np.ndarray:
    """Conductivity of the faces along the last axis, (.., n + 1)."""
    inner = harmonic(k[:, :-1], k[:, 1:])
    first, last = np.where(held[:, :1], 0.0, k[:, :1]), np.where(held[:, -1:], 0.0, k[:, -1:])
    if distinct(held).any():
        inner = _beside_held(inner, k[:, :-1], k[:, 1:], held[:, :-1], held[:, 1:])
    if wrap:
        around = harmonic(k[:, -1:], k[:, :1])
        first = last = _beside_held(around, k[:, -1:], k[:, :1], held[:, -1:], held[:, :1])
    return np.concatenate([first, inner, last], axis=1)


def _beside_held(
    between: np.ndarray, a: np.ndarray, b: np.ndarray, a_held: np.ndarray, b_held: np.ndarray
) -> np.ndarray:
    one = np.where(a_held, 2.0 * b, np.where(b_held, 2.0 * a, between))
    return np.where(a_held & b_held, 0.0, one)


def _row_sums(
    k: np.ndarray, held: np.ndarray, wrap: bool, low: np.ndarray, high: np.ndarray, delta: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each cell, sums along the last axis: of the conductances to its neighbours that are not held, and of those to
    held ones, whose temperatures do not change, and to edges times β (low, high), W/(m³ K)."""
    g = faces(k, held, wrap) / delta**2
    outer = np.zeros(k.shape)
    if not wrap:
        outer[:, 0] += low * g[:, 0]
        outer[:, -1] += high * g[:, -1]
        g[:, 0] = g[:, -1] = 0.0
    elif k.shape[1] == 1:  # in this case a cell is its own neighbour
        g[:] = 0.0
    before, after = g[:, :-1], g[:, 1:]
    if not distinct(held).any():
        return before + after, outer
    held_before, held_after = np.roll(held, 1, axis=1), np.roll(held, -1, axis=1)
    outer += np.where(held_before, before, 0.0) + np.where(held_after, after, 0.0)
    return np.where(held_before, 0.0, before) + np.where(held_after, 0.0, after), outer
