"""The exact propagators of the generated systems, computed a second time, from their normal modes.

Each function has the parameters of its generator, and returns a function k or t -> A^k or exp(A t), (n, n). None of
them uses a matrix that the solver has made.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Propagator: TypeAlias = Callable[[float], np.ndarray]


def rotation(angle: float) -> Propagator:
    """The propagator of the rotation by the angle `angle` t."""
    return lambda t: np.array([[math.cos(angle * t), -math.sin(angle * t)], [math.sin(angle * t), math.cos(angle * t)]])


def rabi(frequency: float, detuning: float) -> Propagator:
    """The propagator exp(-i H t) of H = [[0, W/2], [W/2, D]] rad/s = D/2 + [[-D, W], [W, D]]/2, whose second term
    squares to (W^2 + D^2)/4.
    """
    whole, H = math.hypot(frequency, detuning), np.array([[-detuning, frequency], [frequency, detuning]])

    def exact(t: float) -> np.ndarray:
        turn = np.eye(2) * math.cos(whole * t / 2) - 1j * math.sin(whole * t / 2) / whole * H
        return cmath.exp(-0.5j * detuning * t) * turn

    return exact


def lattice_walk(nx: int, ny: int, move: float) -> Propagator:
    """The propagator of a lattice walk: each product of cosines decays by 1 - 2 move (2 - cos(pi k/nx) - cos(pi l/ny))
    a step.
    """
    Q = np.kron(cosines(ny), cosines(nx))
    k, l = np.arange(nx), np.arange(ny)[:, None]
    rate = 1 - 2 * move * (2 - np.cos(math.pi * k / nx) - np.cos(math.pi * l / ny)).ravel()
    return lambda t: (Q * rate**t) @ Q.T


def cosines(n: int) -> np.ndarray:
    """The orthogonal matrix whose columns are the modes between two reflecting ends, cos(pi k (i + 1/2)/n)."""
    k = np.arange(n)
    return np.where(k == 0, math.sqrt(1 / n), math.sqrt(2 / n)) * np.cos(math.pi * np.outer(k + 0.5, k) / n)


def sines(points: int) -> np.ndarray:
    """The orthogonal matrix of the modes between two fixed ends, sqrt(2/(n + 1)) sin(pi i k/(n + 1)), symmetric."""
    i = np.arange(1, points + 1)
    return math.sqrt(2 / (points + 1)) * np.sin(math.pi * np.outer(i, i) / (points + 1))


def heat1d(points: int, length: float, diffusivity: float) -> Propagator:
    """The propagator of a rod: each sine decays at the rate 4 (diffusivity/h^2) sin^2(pi k/(2(n + 1)))."""
    Q, k = sines(points), np.arange(1, points + 1)
    rate = 4 * diffusivity * ((points + 1) / length) ** 2 * np.sin(math.pi * k / (2 * (points + 1))) ** 2
    return lambda t: (Q * np.exp(-rate * t)) @ Q


def rc_ladder(sections: int, resistance: float, capacitance: float) -> Propagator:
    """The propagator of an RC ladder: each mode sin(pi (2k - 1) i/(2n + 1)) decays at 4/(RC) sin^2(pi (2k - 1)/(2(2n +
    1))).
    """
    n, i = sections, np.arange(1, sections + 1)
    Q = 2 / math.sqrt(2 * n + 1) * np.sin(math.pi * np.outer(i, 2 * i - 1) / (2 * n + 1))
    rate = 4 / (resistance * capacitance) * np.sin(math.pi * (2 * i - 1) / (2 * (2 * n + 1))) ** 2
    return lambda t: (Q * np.exp(-rate * t)) @ Q.T


def springs(masses: int, mass: float, stiffness: float, damping: float) -> Propagator:
    """The propagator of masses on springs.

    Each sine is an oscillator of its own, x'' + 2 g x' + w^2 x = 0, w = 2 sqrt(stiffness/mass) sin(pi k/(2(n + 1))) and
    g = damping/(2 mass); it may be overdamped or critically damped.
    """
    Q, g = sines(masses), damping / (2 * mass)
    ws = frequencies(masses, mass, stiffness)

    def at(t: float) -> np.ndarray:
        parts = np.array([_oscillator(w, g, t) for w in ws])
        return np.block([[(Q * parts[:, 2 * i + j]) @ Q for j in (0, 1)] for i in (0, 1)])

    return at


def frequencies(masses: int, mass: float, stiffness: float) -> np.ndarray:
    """The angular frequencies of the undamped modes, rad/s, increasing."""
    return 2 * math.sqrt(stiffness / mass) * np.sin(math.pi * np.arange(1, masses + 1) / (2 * (masses + 1)))


def _oscillator(w: float, g: float, t: float) -> tuple[float, float, float, float]:
    """The entries of an oscillator's propagator over the time t: (x from x, x from v, v from x, v from v)."""
    W = cmath.sqrt(w * w - g * g)
    c = cmath.cos(W * t).real
    s = (cmath.sin(W * t) / W).real if abs(W) * t > 1e-9 else t
    e = math.exp(-g * t)
    return e * (c + g * s), e * s, -e * w * w * s, e * (c - g * s)


def stationary(states: int, up: float, down: float) -> np.ndarray:
    """The stationary distribution (n,) of a birth-death chain, proportional to (up/down)^i."""
    p = (up / down) ** np.arange(states)
    return p / math.fsum(p)


def markov(states: int, up: float, down: float, continuous: bool) -> Propagator:
    """The propagator of a birth-death chain: W. Feller, An Introduction to Probability Theory and Its Applications I
    (1968), XVI.3.

    With D the stationary distribution, D^-1/2 A D^1/2 is symmetric, with the eigenvector sqrt(D) and others v_i =
    sin((i + 1) a) - sqrt(down/up) sin(i a), a = pi k/n.
    """
    n, i = states, np.arange(states)[:, None]
    a = math.pi * np.arange(1, n) / n
    p = stationary(n, up, down)
    V = np.column_stack([np.sqrt(p), np.sin((i + 1) * a) - math.sqrt(down / up) * np.sin(i * a)])
    V /= np.linalg.norm(V, axis=0)
    eigenvalues = np.append(1.0, 1 - up - down + 2 * math.sqrt(up * down) * np.cos(a))
    root = np.sqrt(p)

    def at(t: float) -> np.ndarray:
        powers = np.exp((eigenvalues - 1) * t) if continuous else eigenvalues**t
        matrix: np.ndarray = (root[:, None] * V * powers) @ (V.T / root)
        return matrix

    return at


def quantum_walk(sites: int) -> Propagator:
    """The propagator of a quantum walk, in momentum space.

    For k = 2 pi j/N, the eigenvalues of M = diag(e^-ik, e^ik) H are e^-iw and -e^iw with sin w = sin(k)/sqrt(2), called
    a and b, so M^t = (a^t (M - b) - b^t (M - a))/(a - b).
    """
    N = sites
    wave = 2 * math.pi * np.arange(N) / N
    w = np.arcsin(np.sin(wave) / math.sqrt(2))
    a, b = np.exp(-1j * w)[:, None, None], -np.exp(1j * w)[:, None, None]
    coin = np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2)
    M = np.exp(-1j * wave[:, None, None] * np.array([[[1], [-1]]])) * coin
    one = np.eye(2)
    x = np.arange(N)
    waves = np.exp(1j * (x[:, None, None] - x[:, None]) * wave)  # The axes of `waves` are (to, from, j).

    def at(t: float) -> np.ndarray:
        powers = (a**t * (M - b * one) - b**t * (M - a * one)) / (a - b)
        spread: np.ndarray = np.einsum("xyj,jcd->xcyd", waves, powers).real / N
        return spread.reshape(2 * N, 2 * N)

    return at


def jordan(eigenvalue: float, size: int) -> Propagator:
    """The propagator of a Jordan block with ones above the diagonal: binom(k, j) l^(k - j) on the
    j-th diagonal above.
    """

    def at(k: float) -> np.ndarray:
        p = int(k)
        values = [math.comb(p, j) * eigenvalue ** (p - j) if j <= p else 0.0 for j in range(size)]
        return sum((value * np.eye(size, k=j) for j, value in enumerate(values)), np.zeros((size, size)))

    return at
