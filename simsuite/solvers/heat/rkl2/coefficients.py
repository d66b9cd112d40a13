"""Coefficients of an RKL2 step (see `rkl2`), how far it may go, and what estimates its error.

Meyer, Balsara & Aslam, J. Comput. Phys. 257:594, 2014, equations 16 and 17.

Error of a step. Every stage is a polynomial R_j(z) of z = Δt A with R_s = 1 + z + z²/2 + r z³ + ..., so that a step is
off by (1/6 - r) Δt³ T'''. The numbers d of `defect` combine four of the stages to Σ d_j R_j(z) = (1/6 - r) z³ + ...,
which estimates that error from values that a step has anyway, without a derivative: waves too short for the step, which
stages damp, are not amplified in the estimate. For data that are functions of t, a step is a quadrature, whose error is
another multiple of Δt³. The estimate is right within 2 % for five stages or more. For three stages it would be 3/4 of
the error, so that d is multiplied by 4/3 there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

MOST_STAGES = 999


def stages_for(dt: float, explicit_dt: float) -> int:
    """The least odd number of stages, 3 or more, with which a step of dt is stable; explicit_dt: 2/λ, s."""
    s = math.ceil(0.5 * (math.sqrt(9.0 + 16.0 * dt / explicit_dt * (1.0 - 1e-12)) - 1.0))
    return max(3, s + 1 - s % 2)


def longest_step(stages: int, explicit_dt: float) -> float:
    """The longest step that is stable with so many stages, s."""
    return explicit_dt * (stages * stages + stages - 2) / 4.0


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The coefficients of s stages, by j: μ_j, ν_j, μ̃_j, γ̃_j for j = 0 .. s; the times of the stages Y_0 .. Y_{s-1},
    in steps; the weight w_j of each one's M in the whole step; the first four coefficients of the polynomials R_j,
    (s + 1, 4); and the change of Y_j in a step of length 1 with M = t²/2, for which 1/6 would be right at the end,
    (s + 1)."""

    mu: np.ndarray
    nu: np.ndarray
    mu_tilde: np.ndarray
    gamma_tilde: np.ndarray
    times: np.ndarray
    weights: np.ndarray
    series: np.ndarray
    quadrature: np.ndarray

    @property
    def stages(self) -> int:
        return len(self.weights)


def coefficients(s: int) -> Coefficients:
    """The coefficients of a step of s stages, by the equations of the paper."""
    j = np.arange(s + 1)
    b = np.full(s + 1, 1.0 / 3.0)
    b[2:] = (j[2:] ** 2 + j[2:] - 2) / (2.0 * j[2:] * (j[2:] + 1))
    w1 = 4.0 / (s * s + s - 2)
    mu, nu, mu_tilde, gamma_tilde = np.zeros((4, s + 1))
    mu_tilde[1] = b[1] * w1
    mu[2:] = (2.0 * j[2:] - 1) / j[2:] * b[2:] / b[1:-1]
    nu[2:] = -(j[2:] - 1) / j[2:] * b[2:] / b[:-2]
    mu_tilde[2:] = mu[2:] * w1
    gamma_tilde[2:] = -(1.0 - b[1:-1]) * mu_tilde[2:]
    # Row j contains the weights of each stage's Δt M in Y_j. Stage times are the values of the stages for T = t.
    parts = np.zeros((s + 1, s))
    parts[1, 0] = mu_tilde[1]
    for k in range(2, s + 1):
        parts[k] = mu[k] * parts[k - 1] + nu[k] * parts[k - 2]
        parts[k, k - 1] += mu_tilde[k]
        parts[k, 0] += gamma_tilde[k]
    series = np.zeros((s + 1, 4))
    series[:, 0] = 1.0
    for power in range(1, 4):
        series[:, power] = parts @ series[:s, power - 1]
    times = parts[:s].sum(axis=1)
    return Coefficients(mu, nu, mu_tilde, gamma_tilde, times, parts[s], series, parts @ (times**2 / 2))


def defect(c: Coefficients) -> dict[int, float]:
    """The numbers d_j by j, for three stages behind Y_0 at about 1/3, 2/3 and the end of the step: Σ d_j (Y_j - Y_0)
    estimates the error of Y_s."""
    s, times = c.stages, c.series[:, 1]
    first = max(1, int(np.argmin(np.abs(times - 1 / 3))))
    second = min(max(first + 1, int(np.argmin(np.abs(times - 2 / 3)))), s - 1)
    places = [first, second, s] if s > 3 else [1, 2, 3]
    d = (1 / 6 - c.series[s, 3]) * np.linalg.solve(c.series[places, 1:].T, [0.0, 0.0, 1.0])
    of_data = (1 / 6 - c.quadrature[s]) / float(d @ c.quadrature[places])
    return dict(zip(places, map(float, d * max(of_data, 1.0))))
