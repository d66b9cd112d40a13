"""An independent ADI step: dense matrices, straight from the equations in `simsuite.solvers.heat.adi.adi`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Data = Callable[[float], tuple[np.ndarray, np.ndarray]]


def conductances(k: np.ndarray, held: np.ndarray, delta: float, wrap: bool) -> np.ndarray:
    """Of the faces along the first axis, (n + 1, m), divided by delta²."""
    n, m = k.shape
    g = np.zeros((n + 1, m))
    for j in range(m):
        for i in range(n + 1):
            a, b = i - 1, i
            if i in (0, n):
                if not wrap:
                    cell = min(i, n - 1)
                    g[i, j] = 0.0 if held[cell, j] else k[cell, j]
                    continue
                a, b = n - 1, 0
            if held[a, j] and held[b, j]:
                continue
            if held[a, j] or held[b, j]:
                g[i, j] = 2 * (k[b, j] if held[a, j] else k[a, j])
            else:
                g[i, j] = 2 / (1 / k[a, j] + 1 / k[b, j])
    return g / delta**2


@dataclass(frozen=True, eq=False)
class Plate:
    """k, rho_c, held: (ny, nx). edges: (β, γ) at all edge points as a function of time. q: sources likewise."""

    k: np.ndarray
    rho_c: np.ndarray
    held: np.ndarray
    delta: tuple[float, float]
    wrap: tuple[bool, bool]
    edges: Data
    q: Callable[[float], np.ndarray]

    @cached_property
    def gx(self) -> np.ndarray:
        return conductances(self.k.T, self.held.T, self.delta[0], self.wrap[0])

    @cached_property
    def gy(self) -> np.ndarray:
        return conductances(self.k, self.held, self.delta[1], self.wrap[1])

    def along_x(self, T: np.ndarray, beta: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        ny = self.k.shape[0]
        return fluxes(T.T, self.gx, self.wrap[0], beta[: 2 * ny], gamma[: 2 * ny]).T

    def along_y(self, T: np.ndarray, beta: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        ny = self.k.shape[0]
        return fluxes(T, self.gy, self.wrap[1], beta[2 * ny :], gamma[2 * ny :])

    def step(self, T: np.ndarray, t: float, dt: float) -> np.ndarray:
        c = np.where(self.held, 0.0, 1 / self.rho_c)
        a, ny = dt / 2, T.shape[0]
        (beta0, gamma0), (beta1, gamma1) = self.edges(t), self.edges(t + dt)
        at_edges = np.concatenate([T[:, 0], T[:, -1], T[0], T[-1]])
        beta, change = (beta0 + beta1) / 2, gamma1 - gamma0 - (beta1 - beta0) * at_edges
        begin = (gamma0 + gamma1) / 2 - change / 2
        along_x = change.copy()
        along_x[: 2 * ny] -= a * self.second(beta, change)
        none, zero = np.zeros_like(change), np.zeros_like(T)
        rate = c * (self.along_x(T, beta, begin) + self.along_y(T, beta, begin) + self.q(t + dt / 2))
        right = dt * rate + a * c * self.along_x(zero, beta, along_x)
        V = solve(lambda X: X - a * c * self.along_x(X, beta, none), right)
        return T + solve(
            lambda X: X - a * c * self.along_y(X, beta, none), V + a * c * self.along_y(zero, beta, change)
        )

    def second(self, beta: np.ndarray, change: np.ndarray) -> np.ndarray:
        """γ of W at the left and right edge: β c (A_y e + b_y) for the outer temperatures e of the edge."""
        ny, nx = self.k.shape
        c = np.where(self.held, 0.0, 1 / self.rho_c)
        found = np.zeros(2 * ny)
        for far, x, inwards in ((0, 0, 1), (1, nx - 1, -1)):
            b, d = (v[far * ny : (far + 1) * ny] for v in (beta, change))
            if np.any(b == 0):  # an edge without temperatures of its own
                continue
            ends = []
            for first in (2 * ny + x, 2 * ny + nx + x):
                near = [first + i * inwards for i in range(min(nx, 3))]
                alike = next((i for i, p in enumerate(near) if beta[p] != beta[first]), len(near))
                fit = np.polyfit(np.arange(alike) + 0.5, change[near[:alike]], alike - 1)
                ends.append(np.polyval(fit, 0.0))
            e, columns = (d / b)[:, None], slice(x, x + 1)
            outer = beta[[2 * ny + x, 2 * ny + nx + x]]
            along = fluxes(e, self.gy[:, columns], self.wrap[1], outer, np.array(ends))
            w = c[:, x] * along[:, 0]
            if np.any(b < 2) and not self.wrap[1]:
                w = w[np.clip(np.arange(ny), 1, ny - 2)] if ny > 2 else 0 * w
            found[far * ny : (far + 1) * ny] = b * w
        return found


def fluxes(T: np.ndarray, g: np.ndarray, wrap: bool, beta: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """What comes into cells along the first axis; β, γ at its beginning for all lines, then at its end."""
    m = T.shape[1]
    below, above = np.roll(T, 1, axis=0) - T, np.roll(T, -1, axis=0) - T
    if not wrap:
        below[0] = gamma[:m] - beta[:m] * T[0]
        above[-1] = gamma[m:] - beta[m:] * T[-1]
    return g[:-1] * below + g[1:] * above


def solve(operator: Callable[[np.ndarray], np.ndarray], right: np.ndarray) -> np.ndarray:
    """The X with operator(X) = right, by the dense matrix of the operator."""
    shape, n = right.shape, right.size
    matrix = np.stack([operator(unit.reshape(shape)).ravel() for unit in np.eye(n)], axis=1)
    return np.linalg.solve(matrix, right.ravel()).reshape(shape)
