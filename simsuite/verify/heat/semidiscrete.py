"""A second implementation of the heat equation discretised in space alone, with NumPy and SciPy and straight from the
definitions.

It shares nothing with the solver but the scenario. It handles whole edges of one kind and materials given by numbers
and expressions without T, and no regions. That is enough to tell what a time step adds to the error.

    ρc dT/dt = (flux in through the four faces of a cell) / (their distance) + q

with the harmonic mean of k between cells, half a cell of k between centre and edge, and each edge's own law there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from simsuite.expressions import Expression
from simsuite.scenario.heat import (
    EDGES,
    Condition,
    Convection,
    Flux,
    HeatScenario,
    Insulated,
    Periodic,
    Radiation,
    Temperature,
)
from simsuite.scenario.heat.material import Part

STEFAN_BOLTZMANN = 5.670374419e-8  # W/(m²·K⁴), CODATA 2018
TOLERANCE = 1e-12  # the relative tolerance of the integration in time
NEWTON_STEPS = 30  # many more steps than a quartic equation needs


class SemiDiscrete:
    """The right-hand side dT/dt of a scenario and its solution in time, both (ny, nx) in float64.

    Raises ValueError for scenarios that contain anything it cannot handle."""

    def __init__(self, scenario: HeatScenario) -> None:
        if scenario.region or scenario.manufactured or any(each.mask for each in scenario.heating):
            raise ValueError("neither regions nor masks nor manufactured solutions are known here")
        g = scenario.grid
        self._shape = (g.ny, g.nx)
        self._dx, self._dy = g.lx / g.nx, g.ly / g.ny
        self._x, self._y = np.meshgrid((np.arange(g.nx) + 0.5) * self._dx, (np.arange(g.ny) + 0.5) * self._dy)
        self._lengths = (g.lx, g.ly)
        self._kx, self._ky = (self._of(part) for part in scenario.material.k_parts)
        self._rho_c = np.ones(self._shape)
        for part in scenario.material.rho_c_parts:
            self._rho_c = self._rho_c * self._of(part)
        self._edges = {edge: _whole(scenario, edge) for edge in EDGES}
        self._sources = [source.power for source in scenario.heating]
        self.start = self._of(scenario.initial.temperature)

    def _of(self, part: Part) -> np.ndarray:
        if not isinstance(part, Expression) or part.depends_on("T"):
            raise ValueError("only numbers and expressions in x and y are known here")
        return np.broadcast_to(part(x=self._x, y=self._y), self._shape).astype(np.float64)

    def rate(self, t: float, T: np.ndarray) -> np.ndarray:
        """dT/dt, K/s."""
        x_flux = self._fluxes(T, self._kx, self._dx, ("left", "right"), t)
        y_flux = self._fluxes(T.T, self._ky.T, self._dy, ("bottom", "top"), t).T
        q = sum((power(x=self._x, y=self._y, t=t, T=T) for power in self._sources), np.zeros(self._shape))
        return (np.diff(-x_flux, axis=1) / self._dx + np.diff(-y_flux, axis=0) / self._dy + q) / self._rho_c

    def _fluxes(self, T: np.ndarray, k: np.ndarray, delta: float, edges: Sequence[str], t: float) -> np.ndarray:
        """Heat flux in W/m² towards growing index through the faces across the last axis, edges included."""
        flux = np.empty((T.shape[0], T.shape[1] + 1))
        flux[:, 1:-1] = -np.diff(T, axis=1) * _harmonic(k[:, :-1], k[:, 1:]) / delta
        first, last = edges
        if isinstance(self._edges[first], Periodic):
            flux[:, 0] = flux[:, -1] = (T[:, -1] - T[:, 0]) * _harmonic(k[:, -1], k[:, 0]) / delta
        else:
            flux[:, 0] = self._flux_in(first, T[:, 0], k[:, 0], delta, t)
            flux[:, -1] = -self._flux_in(last, T[:, -1], k[:, -1], delta, t)
        return flux

    def _flux_in(self, edge: str, T: np.ndarray, k: np.ndarray, delta: float, t: float) -> np.ndarray:
        """Heat flux in W/m² into the domain, for the temperatures of the cells at an edge."""
        lx, ly = self._lengths
        x: np.ndarray | float = {"left": 0.0, "right": lx}.get(edge, self._x[0])
        y: np.ndarray | float = {"bottom": 0.0, "top": ly}.get(edge, self._y[:, 0])

        def at(value: Expression | None) -> np.ndarray:
            assert value is not None
            return value(x=x, y=y, t=t)

        half = 2 * k / delta  # W/(m²·K), the conductance between centre and edge
        match self._edges[edge]:
            case Temperature() as c:
                flux: np.ndarray = half * (at(c.value) - T)
            case Flux() as c:
                flux = np.broadcast_to(at(c.value), T.shape)
            case Convection() as c:
                h = at(c.h)
                flux = h * half / (h + half) * (at(c.ambient) - T)
            case Radiation() as c:
                flux = half * (_radiating_wall(T, half, STEFAN_BOLTZMANN * at(c.emissivity), at(c.ambient)) - T)
            case Insulated():
                flux = np.zeros_like(T)
            case _:
                raise ValueError(f"a {edge} edge of this kind is not known here")
        return flux

    def at(self, times: Sequence[float], changes: Sequence[float] = ()) -> list[np.ndarray]:
        """T at increasing times, integrated by DOP853 almost exactly (Hairer, Nørsett, Wanner, Solving ODEs I).

        changes: times at which data jump or kink; the times before and after each of them are integrated separately."""
        from scipy.integrate import solve_ivp

        T, found = self.start.ravel(), []
        atol = TOLERANCE * float(np.abs(self.start).max() or 1.0)
        for a, b in itertools.pairwise(sorted({0.0, *times, *(t for t in changes if 0 < t < times[-1])})):
            inside = (b - a) * 1e-12

            def rate(t: float, T: np.ndarray, first: float = a + inside, last: float = b - inside) -> np.ndarray:
                return self.rate(min(max(t, first), last), T.reshape(self._shape)).ravel()

            T = solve_ivp(rate, (a, b), T, method="DOP853", rtol=TOLERANCE, atol=atol).y[:, -1]
            if b in times:
                found.append(T.reshape(self._shape))
        return found

    def propagated(self, t: float) -> np.ndarray:
        """T at a time, by the matrix exponential: for linear problems whose data do not depend on time."""
        from scipy.linalg import expm

        n = self.start.size
        constant = self.rate(0.0, np.zeros(self._shape)).ravel()
        matrix = np.zeros((n + 1, n + 1))
        for j, unit in enumerate(np.eye(n)):
            matrix[:n, j] = self.rate(0.0, unit.reshape(self._shape)).ravel() - constant
        matrix[:n, n] = constant
        propagator: np.ndarray = expm(t * matrix)
        T: np.ndarray = propagator[:n] @ np.append(self.start.ravel(), 1.0)
        return T.reshape(self._shape)


def _whole(scenario: HeatScenario, edge: str) -> Condition:
    conditions = scenario.boundary.conditions(edge)
    if len(conditions) != 1:
        raise ValueError(f"the {edge} edge is in pieces, which is not known here")
    return conditions[0][1]


def _harmonic(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    mean: np.ndarray = 2 * a * b / (a + b)
    return mean


def _radiating_wall(T: np.ndarray, half: np.ndarray, radiance: np.ndarray, ambient: np.ndarray) -> np.ndarray:
    """The wall temperature w at which half·(w - T) = radiance·(ambient⁴ - w⁴), by Newton's method."""
    w = T
    for _ in range(NEWTON_STEPS):
        excess = half * (w - T) - radiance * (ambient**4 - w**4)
        change = excess / (half + 4 * radiance * w**3)
        w = w - change
        if np.all(np.abs(change) <= 1e-15 * np.abs(w)):
            break
    return w
