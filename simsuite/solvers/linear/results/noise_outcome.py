"""What is reported of a linear system with noise: moments over the batch beside exact ones.

All of them are moments of the observed components: those of C X, or of X. Moments over the batch are given where all
its states have the same law: they begin with the same numbers, or with random ones, whose covariance is the identity at
the beginning. States that begin with different numbers have different means but the same covariance, that of the noise;
then only the exact covariance is given.

Standard errors are those of samples of normal numbers, which these are: of a mean s/sqrt(m), of a standard deviation
s/sqrt(2(m - 1)), and of the entry (i, j) of a covariance, by Wishart's law, sqrt((P_ii P_jj + P_ij^2)/(m - 1)): T. W.
Anderson, An Introduction to Multivariate Statistical Analysis, 3rd edition (2003), chapter 7.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve_continuous_lyapunov, solve_discrete_lyapunov

from simsuite.core import Variable
from simsuite.libraries import decomposing
from simsuite.solvers.linear.results.moments import ExactMoments, Moments
from simsuite.solvers.linear.system import LinearSystem

COVARIANCE_LIMIT = 16  # The covariance of up to so many components is printed.
MEAN_LIMIT = 64  # The mean of up to so many components is printed.
_LYAPUNOV_LIMIT = 512  # Lyapunov equations of up to so many rows are solved, which takes some seconds.
_LYAPUNOV_ERROR = 1e-6  # A solution with a larger relative residual is not given.
_ROUNDING = 100  # A state may have lost so many units in the last place by rounding.


@dataclass(frozen=True)
class NoiseOutcome:
    """What is reported of a system with noise. frames: the steps that are stored."""

    system: LinearSystem
    frames: tuple[int, ...]

    @cached_property
    def _exact(self) -> ExactMoments:
        return ExactMoments(self.system, self.frames)

    @property
    def _sampled(self) -> bool:
        return self._exact.alike and self.system.start.shape[1] > 1

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the result file that have a row for each frame."""
        found = []
        if self._sampled:
            found += [
                _along("state_mean", "mean of `state` over the batch"),
                _along("state_mean_standard_error", "standard error of state_mean"),
                _along("state_std", "standard deviation of `state` over the batch"),
                _along("state_std_standard_error", "standard error of state_std"),
            ]
        if self._exact.affordable:
            if self._exact.alike:
                found.append(_along("state_mean_exact", "exact mean of `state`"))
            found.append(_along("state_std_exact", "exact standard deviation of `state`"))
        return tuple(found)

    def rows(self, step: int, Y: np.ndarray) -> Mapping[str, np.ndarray]:
        """The rows of these variables for one frame. Y (components, m): the stored states."""
        found: dict[str, np.ndarray] = {}
        if self._sampled:
            m = Y.shape[1]
            deviation = np.sqrt(_variance(Y))
            found["state_mean"] = _mean(Y)
            found["state_mean_standard_error"] = deviation / math.sqrt(m)
            found["state_std"] = deviation
            found["state_std_standard_error"] = deviation / math.sqrt(2 * (m - 1))
        if self._exact.affordable:
            exact = self._observed(self._exact.at(step), step)
            if exact.mean is not None:
                found["state_mean_exact"] = exact.mean
            found["state_std_exact"] = np.sqrt(np.diag(exact.covariance))
        return found

    def _observed(self, exact: Moments, step: int) -> Moments:
        C = self.system.C
        if C is None:
            return exact
        with np.errstate(all="ignore"):
            mean = None if exact.mean is None else C @ exact.mean
            mean = mean if mean is None or self.system.D is None else mean + self.system.direct(step)
            return Moments(mean, C @ exact.covariance @ C.T)

    def results(self, step: int, Y: np.ndarray, stable: bool) -> dict[str, Any]:
        """The results for the last frame; docs/linear.md explains them. Y (components, m): the stored states. stable:
        whether the system is known to be stable.
        """
        few, printed = len(Y) <= COVARIANCE_LIMIT, len(Y) <= MEAN_LIMIT
        found: dict[str, Any] = {"samples": Y.shape[1]}
        exact = self._observed(self._exact.at(step), step) if self._exact.affordable else None
        mean, S = _mean(Y), None
        if self._sampled:
            S = np.atleast_2d(np.cov(Y, dtype=np.float64)) if few else None
            if printed:
                found |= _finite(mean=mean, mean_standard_error=np.sqrt(_variance(Y) / Y.shape[1]))
        if exact is None:
            found["exact_note"] = "left out: so many steps of so large a system would take the host too long"
        elif exact.mean is not None and printed:
            found |= _finite(mean_exact=exact.mean)
        if S is not None:
            found |= _finite(covariance=S)
        if exact is not None and few:
            found |= _finite(covariance_exact=exact.covariance)
        if not self._exact.alike:
            found["note"] = "states that begin with different numbers have no common mean"
        if exact is not None and self._sampled:
            found |= _scores(Y, mean, S, exact)
        return found | (self._stationary() if stable and few else {})

    def _stationary(self) -> dict[str, Any]:
        """The stationary covariance of the observed components, from A P A' + G G' = P or, in continuous time, A P + P
        A' + G G' = 0.
        """
        n = self.system.A.shape[0]
        if n > _LYAPUNOV_LIMIT:
            return {"stationary_note": f"the matrix has {n} rows, more than {_LYAPUNOV_LIMIT}"}
        stated = self.system.stated.dense()
        assert stated.G is not None
        A, Q = stated.A, stated.G @ stated.G.T
        ill = {"stationary_note": "Lyapunov's equation is too ill conditioned: the system is too close to instability"}
        with np.errstate(all="ignore"), warnings.catch_warnings(), decomposing(n):
            warnings.simplefilter("error", LinAlgWarning)
            try:
                P = solve_continuous_lyapunov(A, -Q) if stated.continuous else solve_discrete_lyapunov(A, Q)
            except (LinAlgWarning, LinAlgError):
                return ill
            left = A @ P + P @ A.T + Q if stated.continuous else A @ P @ A.T + Q - P
            size = np.max(np.abs(Q), initial=0.0)
            C = self.system.C
            observed = P if C is None else C @ P @ C.T
        if not np.max(np.abs(left)) <= _LYAPUNOV_ERROR * size:
            return ill
        return {"stationary_covariance": observed.tolist()}


def _along(name: str, long_name: str) -> Variable:
    return Variable(name, ("time", "component"), attrs={"units": "1", "long_name": long_name})


def _mean(Y: np.ndarray) -> np.ndarray:
    return np.asarray(np.mean(Y, axis=1, dtype=np.float64))


def _variance(Y: np.ndarray) -> np.ndarray:
    return np.asarray(np.var(Y, axis=1, ddof=1, dtype=np.float64))


def _finite(**arrays: np.ndarray) -> dict[str, Any]:
    return {name: a.tolist() for name, a in arrays.items() if np.all(np.isfinite(a))}


def _scores(Y: np.ndarray, mean: np.ndarray, S: np.ndarray | None, exact: Moments) -> dict[str, Any]:
    """The largest distances of sample moments from exact ones, in exact standard errors (`largest_z`), and how many
    were compared (`compared`).

    S: the sample covariance; where it is None, variances are compared instead. Components without noise, or with so
    little that rounding may be larger, are left out.
    """
    m, P = Y.shape[1], exact.covariance
    assert exact.mean is not None
    V = np.diag(P)
    with np.errstate(all="ignore"):
        counted = np.sqrt(V) > _ROUNDING * np.finfo(Y.dtype).eps * np.max(np.abs(Y), axis=1)
        if not (np.all(np.isfinite(P)) and np.all(np.isfinite(mean)) and counted.any()):
            return {}
        of_means = ((mean - exact.mean) / np.sqrt(V / m))[counted]
        if S is None:
            of_covariances = ((_variance(Y) - V) / (V * math.sqrt(2 / (m - 1))))[counted]
        else:
            errors = np.sqrt((np.outer(V, V) + P**2) / (m - 1))
            pairs = np.triu(np.outer(counted, counted))
            of_covariances = ((S - P) / errors)[pairs]
    return {
        "largest_z": {
            "mean": float(np.max(np.abs(of_means))),
            "covariance": float(np.max(np.abs(of_covariances))),
            "compared": [len(of_means), len(of_covariances)],
        }
    }
