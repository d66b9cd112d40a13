"""Exact mean and covariance of a linear system with noise, from frame to frame, in float64 on the host.

    mean_{k+1} = A mean_k + B u_k          P_{k+1} = A P_k A' + G G'

A step is a map (A, b, Q): mean -> A mean + b, P -> A P A' + Q; so are two of them one after the other,
(A2 A1, A2 b1 + b2, A2 Q1 A2' + Q2). The map of all steps between two frames is found by doubling, in some log2(k)
products; covariances are sums of positive semidefinite matrices throughout. Inputs that depend on time leave the mean
to be stepped.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simsuite.solvers.linear.system import LinearSystem

_MOST_WORK = 3e10  # The host may take so many multiplications: some seconds.
_CALL = 1e4  # Any product, however small, takes as long as so many multiplications.
_KEPT = 8  # Maps for up to so many different numbers of steps are stored.
_BLOCK = 1024  # The inputs of so many steps are evaluated at once.


class _Map(NamedTuple):
    """The map of mean and covariance over some number of steps: mean -> A mean + b, P -> A P A' + Q."""

    A: np.ndarray
    b: np.ndarray
    Q: np.ndarray

    def after(self, first: _Map) -> _Map:
        Q = self.A @ first.Q @ self.A.T + self.Q
        return _Map(self.A @ first.A, self.A @ first.b + self.b, 0.5 * (Q + Q.T))

    def __call__(self, mean: np.ndarray, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        P = self.A @ P @ self.A.T + self.Q
        return self.A @ mean + self.b, 0.5 * (P + P.T)


class Moments(NamedTuple):
    """The moments at one step: the mean (n,), or None where states do not begin alike, and the covariance (n, n)."""

    mean: np.ndarray | None
    covariance: np.ndarray


class ExactMoments:
    """The exact moments of a system with noise. frames: the steps at which they will be asked for, in order; the last
    one is the end of the run.
    """

    def __init__(self, system: LinearSystem, frames: Sequence[int]) -> None:
        self._given, self._frames = system, frames
        self._moving = system.moves
        self._doubled: list[_Map] = []
        self._maps: dict[int, _Map] = {}
        self._reached: tuple[int, Moments] | None = None

    @cached_property
    def _system(self) -> LinearSystem:
        """The system with a dense A; used only where the moments are affordable."""
        return self._given.dense()

    @property
    def alike(self) -> bool:
        """Whether all states of the batch have the same law: they begin with the same numbers, or with random ones."""
        start = self._given.start
        return self._given.random_start or bool(np.all(start == start[:, :1]))

    @cached_property
    def affordable(self) -> bool:
        """Whether the host can compute the moments in moderate time."""
        n, steps = len(self._given.start), self._frames[-1]
        gaps = [b - a for a, b in itertools.pairwise(self._frames)]
        different = len(set(gaps))
        made = different if different <= _KEPT else len(gaps)
        products = 3 * steps.bit_length() * (1 + made) + 2 * len(gaps)
        stepped = steps * (n * n + _CALL) if self._moving and self.alike else 0
        return products * (n**3 + _CALL) + stepped <= _MOST_WORK

    @property
    def _first(self) -> Moments:
        n, start = self._given.start.shape[0], self._given.start
        if self._given.random_start:
            return Moments(np.zeros(n), np.eye(n))
        return Moments(start[:, 0] if self.alike else None, np.zeros((n, n)))

    def at(self, step: int) -> Moments:
        """The moments at a step, with the same bits whether or not earlier frames have been asked for."""
        reached = self._reached
        at, found = reached if reached is not None and reached[0] <= step else (0, self._first)
        with np.errstate(all="ignore"):
            between = self._frames[bisect.bisect_right(self._frames, at) : bisect.bisect_left(self._frames, step)]
            for begin, end in itertools.pairwise((at, *between, step)):
                found = self._advanced(found, begin, end)
        self._reached = step, found
        return found

    def _advanced(self, now: Moments, step: int, stop: int) -> Moments:
        if stop == step:
            return now
        move = self._map(stop - step)
        mean, P = move(np.zeros(len(move.b)) if now.mean is None else now.mean, now.covariance)
        if now.mean is not None and self._moving:
            mean = self._stepped(now.mean, step, stop)
        return Moments(None if now.mean is None else mean, P)

    def _stepped(self, mean: np.ndarray, step: int, stop: int) -> np.ndarray:
        system = self._system
        for first in range(step, stop, _BLOCK):
            for b in (system.B @ system.inputs.values(range(first, min(first + _BLOCK, stop)))).T:
                mean = system.A @ mean + b
        return mean

    def _map(self, steps: int) -> _Map:
        if steps not in self._maps:
            if len(self._maps) == _KEPT:
                self._maps.clear()
            found: _Map | None = None
            for k in range(steps.bit_length()):
                if steps >> k & 1:
                    found = self._power(k) if found is None else self._power(k).after(found)
            assert found is not None
            self._maps[steps] = found
        return self._maps[steps]

    def _power(self, k: int) -> _Map:
        """The map over 2^k steps."""
        if not self._doubled:
            system = self._system
            assert system.noise is not None
            G = system.noise.G
            b = np.zeros(len(system.A)) if self._moving else system.constant_input()
            self._doubled.append(_Map(system.A, b, G @ G.T))
        while len(self._doubled) <= k:
            self._doubled.append(self._doubled[-1].after(self._doubled[-1]))
        return self._doubled[k]
