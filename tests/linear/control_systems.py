"""Random systems for the tests of `[analysis]`, and what they should come to, by mpmath."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import numpy as np

from simsuite.solvers.linear.control.plant import Plant

DIGITS = 60


def systems(siso: bool | None = None) -> Iterator[tuple[str, Plant]]:
    """50 systems, of which half are discrete, half have a single input and output, and every third is stiff, with rates
    over eight decades, every fourth integrates. siso: only those with a single input and output, or only the others."""
    for k in range(50):
        rng = np.random.default_rng(k)
        n, continuous, single = int(rng.integers(1, 8)), k % 2 == 0, k % 4 < 2
        p, q = (1, 1) if single else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        rates = -np.logspace(-4, 4, n) if k % 3 == 0 else -rng.uniform(0.1, 10.0, n)
        poles = np.diag(rates)
        for i in range(0, n - 1, 2):
            if k % 3 and k % 5:  # pairs of complex poles
                poles[i, i + 1], poles[i + 1, i] = rng.uniform(0.5, 5.0) * np.array([1.0, -1.0])
                poles[i + 1, i + 1] = poles[i, i]
        if k % 4 == 3 or k % 12 == 6:
            poles[0] = poles[:, 0] = 0.0
        dt = 1.0 if continuous else 0.05
        T = rng.standard_normal((n, n)) + 2 * np.eye(n)
        inner = poles if continuous else _exponential(poles * dt)
        A = T @ inner @ np.linalg.inv(T)
        B, C = rng.standard_normal((n, p)), rng.standard_normal((q, n))
        D = rng.standard_normal((q, p)) * (k % 7 == 0)
        if siso is None or siso == single:
            kind = f"{'continuous' if continuous else 'discrete'}{', stiff' if k % 3 == 0 else ''}"
            yield f"{k}: {kind}, {n} states, {p} -> {q}", Plant(A, B, C, D, continuous, dt)


def _exponential(M: np.ndarray) -> np.ndarray:
    return np.array(mpmath.expm(exact(M)).tolist(), float)


def exact(M: np.ndarray) -> mpmath.matrix:
    return mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in M])


def response(plant: Plant, w: float) -> np.ndarray:
    """G (q, p) at a frequency, rad/s, from 60 digits."""
    with mpmath.workdps(DIGITS):
        s = mpmath.mpc(0, w) if plant.continuous else mpmath.expj(mpmath.mpf(w) * mpmath.mpf(plant.dt))
        M = s * mpmath.eye(len(plant.A)) - exact(plant.A)
        found = exact(plant.C) * mpmath.inverse(M) * exact(plant.B) + exact(plant.D)
        return np.array(found.tolist(), complex)


def steps(plant: Plant, stride: float, samples: int) -> np.ndarray:
    """The responses (samples, q, p) to steps, from 60 digits. stride: in s, or in whole steps."""
    n, p = plant.B.shape
    with mpmath.workdps(DIGITS):
        block = mpmath.zeros(n + p)
        block[:n, :n], block[:n, n:] = exact(plant.A), exact(plant.B)
        if plant.continuous:
            jump = mpmath.expm(block * mpmath.mpf(stride))
        else:
            block[n:, n:] = mpmath.eye(p)
            jump = block ** int(stride)
        state, found = mpmath.eye(n + p), []
        for _ in range(samples):
            found.append(np.array((exact(plant.C) * state[:n, n:] + exact(plant.D)).tolist(), float))
            state = jump * state
    return np.array(found)


def frequencies(plant: Plant, points: int) -> np.ndarray:
    high = np.log10(1e6) if plant.continuous else np.log10(np.pi / plant.dt)
    return np.logspace(-6, high, points)
