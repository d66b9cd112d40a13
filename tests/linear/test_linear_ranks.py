"""Ranks of systems that were built with known ones, in any units, and distances against a search of the whole plane."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import matrix_balance, solve_continuous_are
from scipy.optimize import minimize

from simsuite.solvers.linear.analysis.reachability import reach


def observed_regulator(A, B, C):
    """x' = A x - B K z + B u, z' = L C (x - z) + A z - B K z + B u with the optimal K and L. Inputs act on x and z
    alike, so that x - z is out of their reach."""
    n, p, q = len(A), B.shape[1], len(C)
    K = B.T @ solve_continuous_are(A, B, np.eye(n), np.eye(p))
    L = solve_continuous_are(A.T, C.T, np.eye(n), np.eye(q)) @ C.T
    return np.block([[A, -B @ K], [L @ C, A - B @ K - L @ C]]), np.vstack([B, B])


def hidden(rng, n, rank, inputs, kind):
    """[[A11, A12], [0, A22]] and [B1; 0] with the controllable pair A11, B1, in random orthogonal coordinates."""
    rest = n - rank
    A11, A22 = rng.standard_normal((rank, rank)), rng.standard_normal((rest, rest))
    if kind == "defective":
        A22 = -np.eye(rest) + np.eye(rest, k=1)
    elif kind == "shared":  # eigenvalues that are within reach and out of it
        A11, A22 = np.diag(1.0 + np.arange(rank)), np.diag(1.0 + np.arange(rest))
    elif kind == "stiff":
        A22 = np.diag(-(10.0 ** rng.uniform(-3, 4, rest)))
    A = np.block([[A11, rng.standard_normal((rank, rest))], [np.zeros((rest, rank)), A22]])
    B = np.vstack([rng.uniform(0.5, 2.0, (rank, inputs)), np.zeros((rest, inputs))])
    T = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return T @ A @ T.T, T @ B


def systems(count, seed):
    """(A, B, rank): regulators with their observers, hidden structures, and systems without any."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        if k % 4 == 0:
            n, inputs, outputs = rng.integers(2, 7), rng.integers(1, 3), rng.integers(1, 3)
            plant = [rng.standard_normal(shape) for shape in ((n, n), (n, inputs), (outputs, n))]
            yield *observed_regulator(*plant), int(n)
        elif k % 4 == 3:
            n = int(rng.integers(2, 17))
            yield rng.standard_normal((n, n)), rng.standard_normal((n, 1)), n
        else:
            n = int(rng.integers(3, 15))
            rank = int(rng.integers(1, n))
            kind = ("random", "defective", "shared", "stiff")[rng.integers(4)]
            yield *hidden(rng, n, rank, int(rng.integers(1, 3)), kind), rank


@pytest.mark.parametrize("decades", [0, 6])
def test_a_hundred_systems_of_known_rank(decades):
    """Whose states are in units of 1, or of 1e-6 to 1e6; and what outputs see of the transposed ones."""
    rng = np.random.default_rng(decades)
    wrong = []
    for k, (A, B, rank) in enumerate(systems(100, seed=1)):
        d = 10.0 ** rng.uniform(-decades, decades, len(A))
        found = reach(A * d / d[:, None], B / d[:, None])
        other = 10.0 ** rng.uniform(-decades, decades, len(A))  # of the system whose outputs see what inputs reach here
        seen_A, seen_C = A.T * other / other[:, None], B.T * other
        dual = reach(seen_A.T, seen_C.T)
        if {found.rank, dual.rank} != {rank} or found.of != len(A) or (found.distance > 1e-14) is not (rank == len(A)):
            wrong.append((k, rank, found, dual))
    assert not wrong


def test_a_pendulum_with_its_regulator_and_observer():
    """Cart and pendulum, K by Riccati's equation and L by its dual: 8 states, of which 4 are the error of the estimate,
    that the input does not reach."""
    A = np.array([[0, 1, 0, 0], [0, -0.1, 3, 0], [0, 0, 0, 1], [0, -0.5, 30, 0.0]])
    B, C = np.array([[0.0], [2.0], [0.0], [5.0]]), np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0]])
    closed, both = observed_regulator(A, B, C)
    for d in (np.ones(8), 10.0 ** np.array([-6, 6, 3, -3, 0, 5, -5, 1])):
        found = reach(closed * d / d[:, None], both / d[:, None])
        assert (found.rank, found.of, found.distance) == (4, 8, 0.0)


def test_what_is_lost_little_by_little():
    """No stair of [B, A B, ..] is below 1e-3, but what an input does to the end of a chain of 15 weak couplings is less
    than rounding."""
    n = 16
    A = np.diag(np.full(n - 1, 0.03), -1) - np.eye(n)
    A[-1, -1] = -2.0
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((n, n)))[0]
    found = reach(Q @ A @ Q.T, Q[:, :1])
    assert found.rank < n
    assert found.distance == 0.0


def test_a_cascade_of_lags_in_any_units():
    """Each in units of 1e6 times those of the one before: in balanced coordinates the input does 1e-18 to the last."""
    found = reach(np.diag([-1.0, -2.0, -3.0, -4.0]) + 1e-6 * np.eye(4, k=-1), np.eye(4)[:, :1])
    assert found.rank == 4
    assert found.distance > 1e-3


def test_a_chain_of_integrators_in_any_units():
    """1e-9 and 1e9 beside each other."""
    d = np.array([1.0, 1e-9, 1e3, 1e9])
    found = reach(np.diag([1.0, 1.0, 1.0], 1) * d / d[:, None], np.array([[0.0], [0.0], [0.0], [1.0]]))
    assert found.rank == 4
    assert found.distance > 1e-3


def test_rounding_in_place_of_zeros_couples_nothing():
    """Plant and error of an estimate, in coordinates that part them but for 1e-17: by scaling that may become 1e-9."""
    A = np.array([[-1.0, 2.0], [1e-17, -3.0]])
    assert reach(A, np.array([[1.0], [0.0]])).rank == 1
    assert reach(A, np.array([[1.0], [1e-17]])).rank == 1


def test_complex_systems():
    rng = np.random.default_rng(5)
    A, T = np.diag([1j, -1j, 2.0, 0.5 + 1j]), np.linalg.qr(rng.standard_normal((4, 4)) * (1 + 1j))[0]
    B = np.array([[1.0], [1j], [0.0], [0.0]])
    assert reach(T @ A @ T.conj().T, T @ B).rank == 2
    assert reach(T @ A @ T.conj().T, T @ (B + 1.0)).rank == 4


def brute_force(A, B):
    """min over s of sigma_min([A - s I, B]): a grid, and downhill from its best points and from eigenvalues."""
    A, B = A / np.linalg.norm(A), B / np.linalg.norm(B, axis=0)

    def least(s):
        return np.linalg.svd(np.hstack([A - (s[0] + 1j * s[1]) * np.eye(len(A)), B]), compute_uv=False)[-1]

    grid = [(x, y) for x in np.linspace(-1, 1, 21) for y in np.linspace(0, 1, 11)]
    starts = sorted(grid, key=least)[:6] + [(s.real, s.imag) for s in np.linalg.eigvals(A)]
    return min(minimize(least, s, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun for s in starts)


@pytest.mark.parametrize("seed", range(8))
def test_distances_are_those_of_a_search_of_the_whole_plane(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    A = matrix_balance(rng.standard_normal((n, n)), permute=False)[0]
    B = rng.standard_normal((n, int(rng.integers(1, 3))))
    assert 0.999 < reach(A, B).distance / brute_force(A, B) < 1.1


@pytest.mark.parametrize("e", [1e-2, 1e-6, 1e-10])
def test_distances_of_pairs_that_are_nearly_uncontrollable(e):
    A, B = np.diag([-1.0, -2.0, -3.0]), np.array([[1.0], [1.0], [e]])
    # To first order in e: y = (a, b, 1), s = -3 and y' [A - s I, B] = (2 a, b, 0, a + b + e) with A and B relative to
    # sqrt(14) and sqrt(2): the least square of 4 a^2/14 + b^2/14 + (a + b + e)^2/2 is e^2 / (14/4 + 14 + 2)
    found = reach(A, B)
    assert found.rank == 3
    assert found.distance == pytest.approx(e / math.sqrt(19.5), rel=1e-2)
