"""Checks of linear systems with noise: their exact moments against closed forms, and the batch's moments against both.

A chain x <- a x + g w has the variance g^2 (1 - a^2k) / (1 - a^2) after k steps, and a damped rotation has that
variance in each component. Ornstein and Uhlenbeck's process has sigma^2 (1 - exp(-2 theta t)) / (2 theta). A particle
that is only pushed has the covariance sigma^2 [[t^3/3, t^2/2], [t^2/2, t]] of place and velocity. A spring in a bath,
of stiffness k and friction c for a unit of mass, tends to the variances sigma^2/(2 c k) and sigma^2/(2 c), whose
energies are equal (C. W. Gardiner, Stochastic Methods, 4th edition, 2009, chapter 4). The stationary covariance P of a
random system solves (I - A x A) vec P = vec G G', with Kronecker's product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.verify.checks import Check, at_most
from simsuite.verify.linear.runs import FRAMES, Outcome, run
from simsuite.verify.z_scores import judged

MOMENTS, LYAPUNOV, DEVICE = "exact moments", "Lyapunov", "CPU and device"
FIRST_SEED = 1000
COPIES = 2000
_CLOSE = 1e-12  # The relative error of moments in float64: some hundred steps of a few components.
_SAME = 1e-12  # The difference of states on two devices, whose logarithms and sines differ in the last bit.


@dataclass(frozen=True)
class Noisy:
    """A system with noise whose law is known. A, G: its matrices as they are stated; dt: in s, None if it is discrete.
    mean(k), covariance(k): the moments after k steps; covariance is None where only the stationary one is known, which
    the run has reached at its end.
    """

    name: str
    A: np.ndarray
    G: np.ndarray
    start: np.ndarray
    steps: int
    dt: float | None
    mean: Callable[[int], np.ndarray]
    covariance: Callable[[int], np.ndarray] | None
    stationary: np.ndarray | None

    def scenario(self, **run: Any) -> dict[str, Any]:
        """The scenario of this system. run: keys of `[run]`."""
        time = {"steps": self.steps} | ({} if self.dt is None else {"dt": self.dt})
        return {
            "solver": "linear",
            "run": run,
            "system": {
                "kind": "discrete" if self.dt is None else "continuous",
                "matrix": self.A.tolist(),
                "noise_matrix": self.G.tolist(),
            },
            "initial": {"state": self.start.tolist(), "copies": COPIES},
            "time": time,
            "output": {"frames": FRAMES},
        }

    @property
    def last(self) -> np.ndarray:
        """The covariance at the end of the run."""
        if self.covariance is not None:
            return self.covariance(self.steps)
        assert self.stationary is not None
        return self.stationary


def noisy_systems() -> list[Noisy]:
    """One system of each kind."""
    a, g = 0.9, 0.5
    r, angle = 0.95, 0.3
    turn = r * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    theta, sigma = 0.7, 1.3
    k, c = 2.0, 1.5
    spring = np.array([[0.0, 1.0], [-k, -c]])

    def grown(rate: float, steps: int) -> float:
        """The sum of rate^2i over i < steps."""
        return -math.expm1(2 * steps * math.log(rate)) / (1 - rate**2)

    def pushed(t: float) -> np.ndarray:
        return sigma**2 * np.array([[t**3 / 3, t**2 / 2], [t**2 / 2, t]])

    return [
        Noisy(
            "autoregression",
            np.array([[a]]),
            np.array([[g]]),
            np.array([2.0]),
            40,
            None,
            lambda n: np.array([2.0 * a**n]),
            lambda n: np.array([[g**2 * grown(a, n)]]),
            np.array([[g**2 / (1 - a**2)]]),
        ),
        Noisy(
            "damped rotation",
            turn,
            g * np.eye(2),
            np.array([1.0, 0.0]),
            60,
            None,
            lambda n: r**n * np.array([math.cos(n * angle), math.sin(n * angle)]),
            lambda n: g**2 * grown(r, n) * np.eye(2),
            g**2 / (1 - r**2) * np.eye(2),
        ),
        Noisy(
            "Ornstein-Uhlenbeck",
            np.array([[-theta]]),
            np.array([[sigma]]),
            np.array([3.0]),
            50,
            0.05,
            lambda n: np.array([3.0 * math.exp(-theta * 0.05 * n)]),
            lambda n: np.array([[-(sigma**2) * math.expm1(-2 * theta * 0.05 * n) / (2 * theta)]]),
            np.array([[sigma**2 / (2 * theta)]]),
        ),
        Noisy(
            "particle, pushed",
            np.array([[0.0, 1.0], [0.0, 0.0]]),
            np.array([[0.0], [sigma]]),
            np.array([0.0, 1.0]),
            40,
            0.1,
            lambda n: np.array([0.1 * n, 1.0]),
            lambda n: pushed(0.1 * n),
            None,
        ),
        Noisy(
            "spring in a bath",
            spring,
            np.array([[0.0], [sigma]]),
            np.array([0.0, 0.0]),
            64,
            1.0,
            lambda n: np.zeros(2),
            None,
            np.diag([sigma**2 / (2 * c * k), sigma**2 / (2 * c)]),
        ),
        _random(),
    ]


def _random() -> Noisy:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((5, 5))
    A *= 0.9 / np.max(np.abs(np.linalg.eigvals(A)))
    G, start = rng.standard_normal((5, 2)), rng.standard_normal(5)
    Q = G @ G.T

    def covariance(n: int) -> np.ndarray:
        P, factor = np.zeros((5, 5), np.longdouble), np.eye(5, dtype=np.longdouble)
        for _ in range(n):
            P, factor = P + factor @ Q @ factor.T, factor @ A
        return np.asarray(P, np.float64)

    stationary = np.linalg.solve(np.eye(25) - np.kron(A, A), Q.reshape(-1)).reshape(5, 5)
    mean = lambda n: np.linalg.matrix_power(A, n) @ start  # noqa: E731
    return Noisy("random, 5 x 5", A, G, start, 30, None, mean, covariance, stationary)


def noise_checks(backend: Backend, cpu: Backend | None, seeds: int) -> Iterator[Check]:
    """Checks of every system: of the moments that runs call exact, and of the stationary covariance; of means and
    covariances over a batch in either precision, for so many seeds; and of the same run on `cpu` where that is another
    device.
    """
    for system in noisy_systems():
        found = run(system.scenario(seed=FIRST_SEED), backend)
        yield from _moments(system, found.results["noise"])
        if cpu is not None:
            other = run(system.scenario(seed=FIRST_SEED), cpu)
            scale = float(np.max(np.abs(other.last)))
            yield at_most(system.name, DEVICE, float(np.max(np.abs(found.last - other.last))) / scale, _SAME)
        for precision in ("float64", "float32"):
            seeded = range(FIRST_SEED, FIRST_SEED + seeds)
            outcomes = [run(system.scenario(seed=seed, precision=precision), backend) for seed in seeded]
            yield from _scores(system, precision, outcomes)


def _moments(system: Noisy, told: Mapping[str, Any]) -> Iterator[Check]:
    def off(found: Any, wanted: np.ndarray) -> float:
        scale = float(np.max(np.abs(wanted))) or 1.0
        return float(np.max(np.abs(np.asarray(found) - wanted))) / scale

    yield at_most(f"{system.name}, mean", MOMENTS, off(told["mean_exact"], system.mean(system.steps)), _CLOSE)
    yield at_most(f"{system.name}, covariance", MOMENTS, off(told["covariance_exact"], system.last), _CLOSE)
    if system.stationary is not None:
        yield at_most(system.name, LYAPUNOV, off(told["stationary_covariance"], system.stationary), _CLOSE)


def _scores(system: Noisy, precision: str, outcomes: Sequence[Outcome]) -> Iterator[Check]:
    """Checks of the mean and variance of the last component, and of its covariance with the first, in units of the
    standard errors that exact moments imply.
    """
    P, mean, m = system.last, system.mean(system.steps), COPIES
    told = [outcome.results["noise"] for outcome in outcomes]
    scores = {"mean": [float(t["mean"][-1] - mean[-1]) / math.sqrt(P[-1, -1] / m) for t in told]}
    for what, i in (("variance", -1), ("covariance", 0)) if len(P) > 1 else (("variance", -1),):
        error = math.sqrt((P[i, i] * P[-1, -1] + P[i, -1] ** 2) / (m - 1))
        scores[what] = [float(t["covariance"][i][-1] - P[i, -1]) / error for t in told]
    for what, found in scores.items():
        yield judged(", ".join((system.name, what, *(() if precision == "float64" else (precision,)))), found)
