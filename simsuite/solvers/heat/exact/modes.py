"""Eigenvectors of the second difference along one axis of the grid.

    (M v)_j = (v_j - v_{j-1}) + (v_j - v_{j+1}),   j = 0 .. n-1,

with ghosts v_{-1} = (1 - β₀) v_0 and v_n = (1 - β₁) v_{n-1}, 0 ≤ β ≤ 2 (see `edges`), or periodic. M is symmetric and
its eigenvalues are µ = (2 sin(θ/2))². Between two edges

    v_j = cos(θ (j + ½) - φ₀),   φ = atan2(β cos(θ/2), (2 - β) sin(θ/2)) at each edge,
    n θ = kπ + φ₀ + φ₁,          k = 0 .. n-1:

which solves the ghost conditions. The right side decreases in θ, so each k has one root, in [kπ/n, (k+1)π/n]. For β of
0 and 2 these are the bases of the discrete cosine and sine transforms (G. Strang, The discrete cosine transform, SIAM
Review 41 (1999) 135-147); periodic axes have those of Hartley's, cos + sin. A numerical eigensolver would have errors
of an ulp of the largest eigenvalue, 4. These eigenvalues are each right to a few of their own ulps; the smallest one
decides how fast an insulated body cools."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_BISECTIONS = 60
_NEWTON = 4  # the number of Newton steps after that, each of which squares the relative error
_SMALLEST = 1e-30  # a smaller β counts as 0
_BLOCK = 256  # the number of rows that are computed together


@dataclass(frozen=True)
class Axis:
    """n cells in a row. begin, end: β of the first and the last edge, which mean nothing if it is periodic."""

    n: int
    periodic: bool
    begin: float
    end: float

    @cached_property
    def _betas(self) -> tuple[float, float]:
        first, last = (beta if beta > _SMALLEST else 0.0 for beta in (self.begin, self.end))
        return first, last

    @property
    def kind(self) -> str:
        """The transform whose basis the modes are: hartley, cosine2, sine2, cosine4, sine4, or an empty text if there
        is none."""
        if self.periodic:
            return "hartley"
        names = {(0.0, 0.0): "cosine2", (2.0, 2.0): "sine2", (0.0, 2.0): "cosine4", (2.0, 0.0): "sine4"}
        return names.get(self._betas, "")

    @cached_property
    def _phases(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(θ, φ₀, φ₀ + φ₁) of each mode that is not periodic."""
        begin, end = self._betas
        low, high = np.zeros(self.n), np.full(self.n, math.pi)
        for _ in range(_BISECTIONS):
            total = 0.5 * (low + high)
            theta = self._theta(total)
            above = total > _phase(begin, theta) + _phase(end, theta)
            low, high = np.where(above, low, total), np.where(above, total, high)
        for _ in range(_NEWTON):
            theta = self._theta(total)
            excess = total - _phase(begin, theta) - _phase(end, theta)
            slope = 1.0 - (_slope(begin, theta) + _slope(end, theta)) / self.n
            total = np.clip(total - excess / slope, 0.0, math.pi)
        theta = self._theta(total)
        return theta, _phase(begin, theta), total

    def _theta(self, total: np.ndarray) -> np.ndarray:
        """θ from φ₀ + φ₁; rounding must not take it beyond π, where phases jump."""
        return np.minimum((np.arange(self.n) * math.pi + total) / self.n, math.pi)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """µ of each mode, (n,), from 0 to 4."""
        if self.periodic:
            k = np.arange(self.n)
            theta = 2.0 * math.pi * np.minimum(k, self.n - k) / self.n
        else:
            theta = self._phases[0]
        return (2.0 * np.sin(0.5 * theta)) ** 2

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """The given rows j of the orthonormal matrix whose columns are the modes: (rows, n)."""
        if self.periodic:
            angle = 2.0 * math.pi / self.n * ((rows[:, None] * np.arange(self.n)) % self.n)
            return (np.cos(angle) + np.sin(angle)) / math.sqrt(self.n)
        return self._cosines(rows) / self._norm

    def _cosines(self, rows: np.ndarray) -> np.ndarray:
        n, j, k = self.n, rows[:, None], np.arange(self.n)
        _, first, total = self._phases
        # This is kπ(j + ½)/n without whole turns, so that high modes keep all their digits.
        turned = (k * (2 * j + 1)) % (4 * n) * (math.pi / (2 * n))
        return np.cos(turned + (total * ((2 * j + 1) / (2 * n)) - first))

    @cached_property
    def _norm(self) -> np.ndarray:
        """The norm of each mode before it is normalised; for nearly all modes the sum of squares is n/2."""
        if self.kind:
            square = np.full(self.n, 0.5 * self.n)
            square[{"cosine2": 0, "sine2": -1}.get(self.kind, slice(0, 0))] = self.n
        else:
            square = np.zeros(self.n)
            for start in range(0, self.n, _BLOCK):
                square += np.sum(self._cosines(np.arange(start, min(start + _BLOCK, self.n))) ** 2, axis=0)
        return np.sqrt(square)

    @cached_property
    def matrix(self) -> np.ndarray:
        """V (n, n), orthonormal: Vᵀ M V has the eigenvalues on its diagonal."""
        return self.vectors(np.arange(self.n))


def _phase(beta: float, theta: np.ndarray) -> np.ndarray:
    return np.arctan2(beta * np.cos(0.5 * theta), (2.0 - beta) * np.sin(0.5 * theta))


def _slope(beta: float, theta: np.ndarray) -> np.ndarray:
    """The derivative dφ/dθ."""
    size = (beta * np.cos(0.5 * theta)) ** 2 + ((2.0 - beta) * np.sin(0.5 * theta)) ** 2
    return np.divide(-0.5 * beta * (2.0 - beta), size, out=np.zeros_like(theta), where=size > 0)
