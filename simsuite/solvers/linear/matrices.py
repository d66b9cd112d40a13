"""Where the matrices of a linear system come from: values in the scenario, files, and generators.

The generators use elementary operations only, so that a matrix is the same on every machine.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from simsuite.scenario.linear import Generated, Heat1d, Markov, Rotation, Springs
from simsuite.scenario.types import FileRef
from simsuite.solvers.arrays import read_npy, real_numbers

READABLE = ".npy, .csv and .mtx"


def read_matrix(path: Path) -> np.ndarray:
    """The matrix in a file, float64; a vector becomes one column.

    .npy: NumPy's format. .csv: numbers separated by commas, a line a row. .mtx: Matrix Market, dense or sparse.
    Raises ValueError, with the reason, for anything else.
    """
    values = read_npy(path) if path.suffix.lower() == ".npy" else real_numbers(lambda: _read(path))
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"holds an array of shape {values.shape}, not a matrix")
    return np.ascontiguousarray(values, np.float64)


def _read(path: Path) -> np.ndarray:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return np.loadtxt(path, delimiter=",", ndmin=2)
    if suffix == ".mtx":
        import scipy.io

        matrix = scipy.io.mmread(path)
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    raise ValueError(f"files named {path.suffix or 'without suffix'} are not known, only {READABLE}")


def matrix_from(source: list[list[float]] | FileRef, base: Path) -> np.ndarray:
    """A matrix written out in the scenario or in a file. Raises ValueError, with the reason."""
    if isinstance(source, FileRef):
        return read_matrix(source.path(base))
    return np.array(source, np.float64)


def generate(source: Generated, continuous: bool) -> np.ndarray:
    """The matrix A of a generator, float64: of dX/dt = A X if `continuous`, else of X_{k+1} = A X_k."""
    if isinstance(source, Rotation):
        return rotation(source.angle, continuous)
    if isinstance(source, Markov):
        return markov(source.states, source.up, source.down, continuous)
    if isinstance(source, Heat1d):
        return heat1d(source.points, source.length, source.diffusivity)
    if isinstance(source, Springs):
        return springs(source.masses, source.mass, source.stiffness, source.damping)
    return random_stable(source.size, source.radius, source.seed, continuous)


def rotation(angle: float, continuous: bool) -> np.ndarray:
    """Rotation of the plane. Exact: after k steps, or the time t, the state has turned by angle k, or angle t."""
    if continuous:
        return np.array([[0.0, -angle], [angle, 0.0]])
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def markov(states: int, up: float, down: float, continuous: bool) -> np.ndarray:
    """A birth-death chain; A[i, j] is the probability (rate) of going from j to i, so columns sum to 1 (to 0).

    Exact: the stationary distribution is proportional to (up/down)^i, by detailed balance; the eigenvalues of the
    chain are 1 and 1 - up - down + 2 sqrt(up down) cos(pi k/n), k = 1 .. n-1, those of the process less by 1.
    Feller, An Introduction to Probability Theory I (1968), XVI.3.
    """
    A = np.diag(np.full(states - 1, up), -1) + np.diag(np.full(states - 1, down), 1)
    leave = np.full(states, up + down)
    leave[0], leave[-1] = up, down
    return A + np.diag(-leave if continuous else 1.0 - leave)


def heat1d(points: int, length: float, diffusivity: float) -> np.ndarray:
    """Second differences at the points i h, h = length/(points + 1), with 0 at both ends.

    Exact: eigenvalues -4 diffusivity/h^2 sin^2(pi k/(2(n + 1))) with eigenvectors sin(pi k i/(n + 1)), k = 1 .. n.
    """
    h = length / (points + 1)
    beside = np.ones(points - 1)
    return diffusivity / h**2 * (np.diag(np.full(points, -2.0)) + np.diag(beside, 1) + np.diag(beside, -1))


def springs(masses: int, mass: float, stiffness: float, damping: float) -> np.ndarray:
    """[[0, I], [K, D]]: masses between walls, displacements above velocities.

    Exact: angular frequencies 2 sqrt(stiffness/mass) sin(pi k/(2(n + 1))), k = 1 .. n. Without damping the energy
    mass/2 v.v + stiffness/2 (sum of squared spring extensions) is constant.
    """
    n = masses
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = heat1d(n, n + 1.0, stiffness / mass)
    A[n:, n:] = -damping / mass * np.eye(n)
    return A


def random_stable(size: int, radius: float, seed: int, continuous: bool) -> np.ndarray:
    """H D H, with D block-diagonal, one shrinking rotation a block, and H the reflection I - 2 v v'/(v'v), v normal.

    Exact: A is normal, with eigenvalues r_j exp(+-i a_j), r_j evenly spaced from `radius` down to radius/pairs, a_j
    uniform in (0, pi), and `radius` itself if the size is odd. In continuous time -1 is added to all of them, so
    every state decays at least like exp(-(1 - radius) t).
    """
    rng = np.random.Generator(np.random.Philox(seed))
    pairs = size // 2
    r = radius * (1.0 - np.arange(pairs) / max(pairs, 1))
    angle = math.pi * rng.random(pairs)
    v = rng.standard_normal(size)
    D = np.zeros((size, size))
    i = 2 * np.arange(pairs)
    D[i, i] = D[i + 1, i + 1] = r * np.cos(angle)
    D[i + 1, i] = r * np.sin(angle)
    D[i, i + 1] = -D[i + 1, i]
    if size % 2:
        D[-1, -1] = radius
    if continuous:
        D[np.arange(size), np.arange(size)] -= 1.0
    w = 2.0 * v / np.sum(v * v)
    D -= w[:, None] * np.sum(v[:, None] * D, axis=0)
    D -= np.sum(D * v, axis=1)[:, None] * w
    return D


def random_normal(rows: int, columns: int, seed: int) -> np.ndarray:
    """Independent standard normal numbers, from NumPy's counter-based Philox: the same wherever they are used."""
    return np.random.Generator(np.random.Philox(seed)).standard_normal((rows, columns))
