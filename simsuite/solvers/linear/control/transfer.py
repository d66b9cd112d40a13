"""The frequency response of a linear system, G = C (s I - A)^-1 B + D, to nearly all digits of float64.

A is balanced and brought to Hessenberg form H = Q' A Q once, so that a frequency takes n^2 operations: A. J. Laub,
Efficient multivariable frequency response computations, IEEE Trans. Automatic Control 26 (1981) 407-408. On a system
whose rates differ by many powers of ten s I - A is ill conditioned, and so is the sum C X where outputs cancel. So the
solution X is kept as the sum of two matrices and refined: its residual is computed with the given A to twice the digits
(see `sliced`), and H serves to correct it. What is lost is then the square of what one solution loses. J. Demmel et
al., Error bounds from extra-precise iterative refinement, ACM Trans. Mathematical Software 32 (2006) 325-351.

A discrete system is solved with z - 1 and A - I, as the slow frequencies lie close to z = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import hessenberg

from simsuite.libraries import decomposing
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.discretisation.exponential import added, times
from simsuite.solvers.linear.discretisation.sliced import Twofold, remainder_twofold

_TOGETHER = 1 << 22  # So many numbers of factored matrices are held at once.
_ROUNDS = 6  # X is corrected at most so many times.
_ENOUGH = 2.0**-80  # A correction that is this small, relative to X, is the last.


class FrequencyResponse:
    """G of a plant, as a function of frequencies."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant = plant.balanced
        with decomposing(len(plant.A)):
            self._H, self._Q = hessenberg(plant.A, calc_q=True)

    def __call__(self, frequencies: np.ndarray) -> np.ndarray:
        """G (frequencies, q, p), complex128, at frequencies in rad/s, which may be 0; Inf at a pole."""
        plant, w = self._plant, np.asarray(frequencies, np.float64).reshape(-1)
        (n, p), q = plant.B.shape, len(plant.C)
        some = max(1, _TOGETHER // max(n * (n + p), 1))
        found = [self._some(w[k : k + some]) for k in range(0, len(w), some)]
        return np.concatenate(found) if found else np.empty((0, q, p), np.complex128)

    def at(self, frequency: float) -> complex:
        """G at a single frequency, rad/s, of a plant with a single input and output."""
        return complex(self(np.array([frequency]))[0, 0, 0])

    def _some(self, w: np.ndarray) -> np.ndarray:
        plant = self._plant
        real, imag = _place(plant, w)
        with np.errstate(all="ignore"), decomposing(len(plant.A)):
            factors = _Factors(self._H, real + (0.0 if plant.continuous else 1.0) + 1j * imag)
            X = self._solved(factors, real, imag)
            return self._observed(X, len(w))

    def _solved(self, factors: _Factors, real: np.ndarray, imag: np.ndarray) -> tuple[Twofold, Twofold]:
        """Real and imaginary parts (n, F p) of X = (s I - A)^-1 B."""
        plant, Q, F = self._plant, self._Q, len(real)
        (n, p), zero = plant.B.shape, np.zeros((plant.B.shape[0], F * plant.B.shape[1]))
        B = np.tile(plant.B, F)
        X: tuple[Twofold, Twofold] = (zero, zero), (zero, zero)
        rest, before = B + 0j, np.full(F, np.inf)
        for _ in range(_ROUNDS):
            right = (Q.T @ rest.real + 1j * (Q.T @ rest.imag)).reshape(n, F, p).transpose(1, 0, 2)
            step = factors.solved(right).transpose(1, 0, 2).reshape(n, F * p)
            step = Q @ step.real + 1j * (Q @ step.imag)
            size = np.max(np.abs(step).reshape(n, F, p), axis=(0, 2), initial=0.0)
            whole = np.max(np.abs(X[0][0] + 1j * X[1][0] + step).reshape(n, F, p), axis=(0, 2), initial=0.0)
            # Where corrections no longer shrink, as at a pole, X stays as it is.
            use = np.repeat(size <= 0.5 * before, p) | ~np.isfinite(np.repeat(size, p))
            X = _plus(X[0], np.where(use, step.real, 0.0)), _plus(X[1], np.where(use, step.imag, 0.0))
            before = np.minimum(before, size)
            if not np.any(size > _ENOUGH * whole) or not use.any():
                break
            rest = self._remainder(X, B, np.repeat(real, p), np.repeat(imag, p))
        return X

    def _remainder(self, X: tuple[Twofold, Twofold], B: np.ndarray, real: np.ndarray, imag: np.ndarray) -> np.ndarray:
        """B - (s I - A) X, from twice the digits."""
        A, (re, im) = self._plant.A, X
        parts = []
        for mine, other, sign, start in ((re, im, 1.0, B), (im, re, -1.0, np.zeros(B.shape))):
            total = remainder_twofold(start, -A, mine[0])
            if not self._plant.continuous:
                total = added(total, (-mine[0], -mine[1]))
            for factor, number in ((-real, mine), (sign * imag, other)):
                total = added(total, _times(factor, number))
            parts.append(total[0] + (total[1] + A @ mine[1]))
        return parts[0] + 1j * parts[1]

    def _observed(self, X: tuple[Twofold, Twofold], F: int) -> np.ndarray:
        plant = self._plant
        q, p = plant.D.shape
        parts = []
        for part, direct in zip(X, (np.tile(plant.D, F), np.zeros((q, F * p)))):
            high, low = remainder_twofold(direct, -plant.C, np.where(np.isfinite(part[0]), part[0], 0.0))
            parts.append(high + (low + plant.C @ np.where(np.isfinite(part[1]), part[1], 0.0)))
        G = parts[0] + 1j * parts[1]
        lost = ~np.isfinite(X[0][0] + X[1][0]).all(axis=0)
        G[:, lost] = np.inf
        return G.reshape(q, F, p).transpose(1, 0, 2)


def _place(plant: Plant, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Real and imaginary parts of s = i w, or of z - 1 with z = exp(i w dt), without cancellation."""
    if plant.continuous:
        return np.zeros(len(w)), w
    angle = w * plant.dt
    at_end = angle >= np.pi
    return np.where(at_end, -2.0, -2.0 * np.sin(angle / 2) ** 2), np.where(at_end, 0.0, np.sin(angle))


class _Factors:
    """Factors of s I - H for many s at once, by elimination with row exchanges; H (n, n) in Hessenberg form."""

    def __init__(self, H: np.ndarray, s: np.ndarray) -> None:
        n = len(H)
        M = np.tile(-H.astype(np.complex128), (len(s), 1, 1))
        M[:, np.arange(n), np.arange(n)] += s[:, None]
        self._swap, self._share = np.zeros((n, len(s)), bool), np.zeros((n, len(s)), np.complex128)
        for k in range(n - 1):
            above, below = M[:, k, k:], M[:, k + 1, k:]
            swap = np.abs(below[:, 0]) > np.abs(above[:, 0])
            top, bottom = np.where(swap[:, None], below, above), np.where(swap[:, None], above, below)
            share = np.where(bottom[:, 0] == 0, 0.0, bottom[:, 0] / top[:, 0])
            M[:, k, k:], M[:, k + 1, k:] = top, bottom - share[:, None] * top
            self._swap[k], self._share[k] = swap, share
        self._upper = M

    def solved(self, right: np.ndarray) -> np.ndarray:
        """(s I - H)^-1 `right`, for each s its own; right (F, n, p)."""
        X, n = np.array(right), right.shape[1]
        for k in range(n - 1):
            swap = self._swap[k][:, None]
            top, bottom = np.where(swap, X[:, k + 1], X[:, k]), np.where(swap, X[:, k], X[:, k + 1])
            X[:, k], X[:, k + 1] = top, bottom - self._share[k][:, None] * top
        for k in range(n - 1, -1, -1):
            rest = X[:, k] - np.matmul(self._upper[:, k : k + 1, k + 1 :], X[:, k + 1 :])[:, 0]
            X[:, k] = rest / self._upper[:, k, k][:, None]
        return X


def _plus(X: Twofold, step: np.ndarray) -> Twofold:
    """X + step; a number that is not finite makes that sum so, too."""
    return added(X, (step, np.zeros(step.shape)))


def _times(factor: np.ndarray, X: Twofold) -> Twofold:
    """The products of the columns of X (n, m) with the factors (m,)."""
    high, low = times(factor, X[0])
    return high, low + factor * X[1]
