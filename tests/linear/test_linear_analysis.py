"""What is said about a linear system, against closed forms, textbook systems and cases that are hard."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import xarray
from scipy.sparse import csr_array
from typer.testing import CliRunner

from simsuite.cli import app
from simsuite.expressions import Expression
from simsuite.solvers.linear.analysis.chain import chain, nearly, stochastic
from simsuite.solvers.linear.analysis.magnitudes import magnitudes
from simsuite.solvers.linear.analysis.reachability import reach
from simsuite.solvers.linear.analysis.report import LARGEST, Analysis
from simsuite.solvers.linear.analysis.spectrum import spectrum
from simsuite.solvers.linear.analysis.steady import steady_state
from simsuite.solvers.linear.generators.heat1d import heat1d
from simsuite.solvers.linear.generators.leslie import leslie
from simsuite.solvers.linear.generators.markov import markov
from simsuite.solvers.linear.generators.quantum_walk import quantum_walk
from simsuite.solvers.linear.generators.random_stable import random_stable
from simsuite.solvers.linear.generators.rc_ladder import rc_ladder, voltage_source
from simsuite.solvers.linear.generators.rotation import rotation
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.linear.state_space import StateSpace

STABLE, MARGINAL, UNSTABLE, UNDETERMINED = "stable", "marginally stable", "unstable", "undetermined"
TURN = rotation(0.3, False)


def jordan(value: float, size: int) -> np.ndarray:
    return value * np.eye(size) + np.eye(size, k=1)


def hidden(A: np.ndarray, orthogonal: bool = True) -> np.ndarray:
    """A in other coordinates, so that rounding falls on every entry."""
    S = np.random.default_rng(len(A)).standard_normal(A.shape)
    S = np.linalg.qr(S)[0] if orthogonal else S
    return S @ A @ np.linalg.inv(S)


def analysis(A, B=None, u=(), C=None, continuous=False) -> dict:
    arrays = [None if M is None else np.asarray(M, np.float64) for M in (A, B, C)]
    inputs = tuple(Expression.parse(f, ("t",)) if isinstance(f, str) else Expression.constant(f, ("t",)) for f in u)
    return Analysis(StateSpace(arrays[0], arrays[1], inputs, arrays[2], continuous)).results()


def reached(A, B):
    return reach(np.asarray(A, np.float64), np.asarray(B, np.float64))


# --- stability --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        (np.zeros((3, 3)), STABLE),
        (np.eye(4), MARGINAL),
        (-np.eye(2), MARGINAL),
        (TURN, MARGINAL),
        (0.999 * TURN, STABLE),
        (1.001 * TURN, UNSTABLE),
        (np.diag([1 - 1e-12, 0.3]), STABLE),
        (np.diag([1 + 1e-12, 0.3]), UNSTABLE),
        (np.diag([1 - 1e-15, 0.3]), MARGINAL),
        (quantum_walk(20).toarray(), MARGINAL),
        (random_stable(31, 1.0, 1, False), MARGINAL),
        (leslie([0.0, 0.0, 6.0], [0.5, 1 / 3]), MARGINAL),
        (markov(200, 0.1, 0.8, False).toarray(), MARGINAL),
        ([[1.0, 1e8], [0.0, 0.5]], MARGINAL),
        # semisimple: as many eigenvectors as eigenvalues, in coordinates where neither is obvious
        (hidden(np.diag([1.0, 1.0, 1.0, 0.5, 0.2]), False), MARGINAL),
        (hidden(np.diag([1.0] * 10 + [0.5] * 10), False), MARGINAL),
        (hidden(scipy.linalg.block_diag(TURN, TURN, 0.5 * np.eye(2)), False), MARGINAL),
        # defective
        *((f(jordan(1.0, p)), UNSTABLE) for p in (2, 3, 5, 10) for f in (np.array, hidden)),
        (hidden(jordan(1.0, 3), False), UNSTABLE),
        (hidden(np.block([[TURN, np.eye(2)], [np.zeros((2, 2)), TURN]])), UNSTABLE),
        (hidden(scipy.linalg.block_diag(TURN, TURN, jordan(1.0, 2))), UNSTABLE),
        (scipy.linalg.block_diag(jordan(1.0, 2), [[0.96]]), UNSTABLE),
        ([[1.0, 1e-10], [0.0, 1.0]], UNSTABLE),
        ([[1.0, 1e-16], [0.0, 1.0]], MARGINAL),
        # defective, but inside or outside; the eigenvalues that LAPACK finds are up to 0.03 off
        *((f(jordan(0.95, p)), STABLE) for p in (2, 3, 5, 10) for f in (np.array, hidden)),
        *((f(jordan(1.05, p)), UNSTABLE) for p in (2, 3, 5, 10) for f in (np.array, hidden)),
        # nobody can know: computed eigenvalues are up to 0.4 off
        (hidden(jordan(0.95, 20)), UNDETERMINED),
        (hidden(np.triu(np.ones((60, 60))) - 0.5 * np.eye(60)), UNDETERMINED),
    ],
)
def test_stability_of_discrete_systems(A: np.ndarray, expected: str) -> None:
    assert spectrum(np.asarray(A, np.float64), False).verdict == expected


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        (np.zeros((3, 3)), MARGINAL),
        (rotation(2.0, True), MARGINAL),
        ([[0.0, 1.0], [0.0, 0.0]], UNSTABLE),
        ([[0.0, 1e8], [0.0, -0.5]], MARGINAL),
        (springs(30, 1.0, 4e6, 0.0).toarray(), MARGINAL),
        (springs(30, 1.0, 4e6, 1e-3).toarray(), STABLE),
        (heat1d(100, 1.0, 1.0).toarray(), STABLE),
        (markov(200, 0.3, 0.31, True).toarray(), MARGINAL),
        (random_stable(30, 1.0, 2, True), STABLE),
        *((f(jordan(0.0, p)), UNSTABLE) for p in (2, 3, 10) for f in (np.array, hidden)),
        *((f(jordan(-1.0, p)), STABLE) for p in (2, 3, 10) for f in (np.array, hidden)),
        (hidden(scipy.linalg.block_diag(rotation(1.0, True), rotation(1.0, True), [[-1.0]]), False), MARGINAL),
        (hidden(np.kron(jordan(0.0, 2), np.eye(2)) + np.kron(np.eye(2), rotation(1.0, True))), UNSTABLE),
        (1e-12 * jordan(0.0, 2) - 1e-12 * np.eye(2), STABLE),
    ],
)
def test_stability_of_continuous_systems(A: np.ndarray, expected: str) -> None:
    assert spectrum(np.asarray(A, np.float64), True).verdict == expected


def unimodular(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of small whole numbers, and its inverse, which is one too."""
    lower = np.eye(n) + np.tril(rng.integers(-1, 2, (n, n)), -1)
    upper = np.eye(n) + np.triu(rng.integers(-1, 2, (n, n)), 1)
    S = (lower @ upper)[rng.permutation(n)]
    return S, np.rint(np.linalg.inv(S))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("continuous", [False, True])
def test_stability_of_matrices_with_known_jordan_forms(continuous: bool) -> None:
    """Exactly known: eigenvalues are eighths, so that no rounding falls on the making of the matrix. Repeated ones, of
    the same place and another kind among them, are what is hard."""
    rng = np.random.default_rng(20)
    places = [0.0, 0.0, 0.0, -0.25, -0.75, 0.125] if continuous else [1.0, 1.0, -1.0, 0.5, -0.875, 1.125]
    verdicts = [STABLE, MARGINAL, UNSTABLE]
    seen = []
    for _ in range(300):
        blocks, worst = [], 0
        while len(blocks) < 3 or rng.random() < 0.5:
            place, size = rng.choice(places, p=[0.3, 0.15, 0.15, 0.2, 0.15, 0.05]), int(rng.integers(1, 4))
            block = np.array([[place]])
            if rng.random() < 0.3:
                turn = np.array([[0.0, -1.0], [1.0, 0.0]])
                block = place * np.eye(2) + turn if continuous else place * turn
            defective = rng.random() < 0.3
            off = np.eye(size, k=1) if defective else np.zeros((size, size))
            blocks.append(np.kron(np.eye(size), block) + np.kron(off, np.eye(len(block))))
            beyond = place if continuous else abs(place) - 1
            worst = max(worst, 2 if beyond > 0 or (beyond == 0 and defective and size > 1) else int(beyond == 0))
            if sum(map(len, blocks)) > 7:
                break
        J = scipy.linalg.block_diag(*blocks)
        S, inverse = unimodular(rng, len(J))
        np.testing.assert_array_equal(S @ inverse, np.eye(len(J)))
        seen.append((verdicts[worst], spectrum(S @ J @ inverse, continuous).verdict))
    wrong = [pair for pair in seen if pair[0] != pair[1]]
    assert {found for _, found in wrong} <= {UNDETERMINED}
    assert len(wrong) <= 3
    assert {truth for truth, _ in seen} == set(verdicts)


def test_growth_like_a_power_is_said() -> None:
    found = analysis([[1.0, 1.0], [0.0, 1.0]])
    assert (found["verdict"], found["spectral_radius"]) == (UNSTABLE, 1.0)
    assert "power of time" in found["verdict_note"]
    assert "verdict_note" not in analysis([[1.1, 1.0], [0.0, 1.0]])


@pytest.mark.filterwarnings("error")
def test_what_has_no_eigenvalues_is_said() -> None:
    found = analysis([[1e308, 1e308], [1e308, 1e308]], [[1e300], [1e-300]], [1e300])
    assert found == {"verdict": "unknown", "verdict_note": "the entries of the matrix are too large"}


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("slope", [1, 2, 4])
def test_the_bound_is_as_right_as_it_says(slope: int, continuous: bool) -> None:
    """Of matrices that floating-point numbers hold exactly, with eigenvectors that are far from orthogonal."""
    exact = np.array([7.0, 5.0, 2.0, -3.0, -6.0]) / 8
    S = np.eye(5) + slope * np.eye(5, k=-1)
    inverse = np.array([[(-float(slope)) ** max(i - j, 0) * (i >= j) for j in range(5)] for i in range(5)])
    np.testing.assert_array_equal(S @ inverse, np.eye(5))
    turned = np.linalg.multi_dot([inverse.T, S, np.diag(exact), inverse, S.T])
    s = spectrum(turned, continuous)
    assert s.tolerance <= s.error < 1.0
    assert abs(s.bound - 7 / 8) <= s.error
    assert (s.verdict == STABLE) is (not continuous)


def test_slowest_modes() -> None:
    damped = analysis(springs(3, 2.0, 3.0, 0.4).toarray(), continuous=True)["slowest"]
    rate = 0.1
    w = np.sqrt(4 * 1.5 * np.sin(np.pi * np.arange(1, 4) / 8) ** 2 - rate**2)
    np.testing.assert_allclose(damped["real"], -rate, rtol=1e-12)
    np.testing.assert_allclose(damped["imag"], w, rtol=1e-12)
    np.testing.assert_allclose(damped["time_constant"], 10.0, rtol=1e-12)
    np.testing.assert_allclose(damped["frequency"], w / (2 * math.pi), rtol=1e-12)
    found = analysis(scipy.linalg.block_diag(0.9 * TURN, [[1.0]], [[-0.5]], [[0.0]]))["slowest"]
    assert found["time_constant"][0] is None
    np.testing.assert_allclose(found["time_constant"][1:], [-1 / math.log(0.9), 1 / math.log(2), 0], rtol=1e-12)
    np.testing.assert_allclose(found["frequency"], [0.0, 0.3 / (2 * math.pi), 0.5, 0.0], atol=1e-15)
    assert analysis([[2.0]])["slowest"]["time_constant"] == [pytest.approx(-1 / math.log(2))]


# --- Markov chains ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("n", [2, 12, 300])
def test_birth_and_death_is_in_detailed_balance(n: int, continuous: bool) -> None:
    up, down = 0.1, 0.6
    found = chain(markov(n, up, down, continuous).toarray(), continuous)
    exact = (up / down) ** np.arange(n)
    assert (found.sums, found.period) == ("columns", 1)
    np.testing.assert_allclose(found.stationary, exact / np.sum(exact), rtol=1e-13)  # down to 1e-233
    rows = chain(markov(n, up, down, continuous).toarray().T, continuous)
    assert rows.sums == "rows"
    np.testing.assert_array_equal(rows.stationary, found.stationary)


def test_nearly_decoupled_chain() -> None:
    """Two halves that are hardly ever left: eigenvectors lose all digits, this keeps them. By detailed balance."""
    e = 1e-14
    A = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5 - e, 3 * e, 0], [0, e, 0.7 - 3 * e, 0.3], [0, 0, 0.3, 0.7]])
    np.testing.assert_allclose(chain(A, False).stationary, [3 / 8, 3 / 8, 1 / 8, 1 / 8], rtol=1e-14)


def test_dense_chain_against_its_eigenvector() -> None:
    A = np.random.default_rng(3).random((40, 40))
    A /= np.sum(A, axis=0)
    found = chain(A, False)
    np.testing.assert_allclose(A @ found.stationary, found.stationary, rtol=1e-14)
    assert np.sum(found.stationary) == pytest.approx(1.0, rel=1e-14)


def test_chains_that_can_be_split() -> None:
    absorbed = analysis([[1.0, 0.3, 0.0], [0.0, 0.2, 0.5], [0.0, 0.5, 0.5]])
    assert (absorbed["stochastic"], absorbed["stationary"], absorbed["period"]) == ("columns", [1.0, 0.0, 0.0], 1)
    ruin = np.zeros((5, 5))  # the gambler's: two states that are never left
    ruin[0, 0] = ruin[4, 4] = 1.0
    for k in (1, 2, 3):
        ruin[k + 1, k] = ruin[k - 1, k] = 0.5
    found = analysis(ruin)
    assert (found["verdict"], found["stationary_note"]) == (MARGINAL, "2 sets of states are never left: {0}, {4}")
    assert "stationary" not in found
    with pytest.raises(ValueError, match="2 sets"):
        chain(ruin, False).stationary  # noqa: B018
    transient = np.zeros((5, 5))  # 0 -> 1 -> {2, 3, 4}, in which the chain turns round
    transient[[1, 2, 3, 4, 2], [0, 1, 2, 3, 4]] = 1.0
    found = chain(transient, False)
    np.testing.assert_allclose(found.stationary, [0, 0, 1 / 3, 1 / 3, 1 / 3], rtol=1e-15)
    assert found.period == 3


def test_a_stiff_chain_is_marginally_stable_though_rounding_moves_its_eigenvalues() -> None:
    """Rates of 1e6, 1 and 1e-3 a second, one after the other: all ends in the last state."""
    rates = (1e6, 1.0, 1e-3)
    A = np.zeros((4, 4))
    for k, rate in enumerate(rates):
        A[k, k], A[k + 1, k] = -rate, rate
    assert spectrum(A, True).verdict == UNDETERMINED
    found = analysis(A, continuous=True)
    assert (found["verdict"], found["stochastic"], found["stationary"]) == (MARGINAL, "columns", [0.0, 0.0, 0.0, 1.0])
    assert "verdict_note" not in found
    np.testing.assert_allclose(found["slowest"]["real"], [0.0, *(-rate for rate in reversed(rates))], atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_chain_of_few_digits_is_not_taken_for_one_and_said_to_be_nearly(axis: int) -> None:
    A = np.random.default_rng(5).random((6, 6))
    A /= np.sum(A, axis=axis, keepdims=True)
    found = analysis(np.round(A, 5))
    off = np.max(np.abs(np.sum(np.round(A, 5), axis=axis) - 1))
    which = ("columns", "rows")[axis]
    assert found["stochastic_note"] == f"{which} sum to 1 up to {off:.2g} only, so A is not taken for a Markov chain"
    assert "stochastic" not in found
    rates = np.round(1e3 * (A - np.eye(6)), 3)
    assert analysis(rates, continuous=True)["stochastic_note"].startswith(f"{which} sum to 0 up to ")
    for other in (A, 0.9 * A, A - 0.5):
        assert "stochastic_note" not in analysis(other)


def test_ehrenfests_urn_turns_round_in_two_steps() -> None:
    """Between two urns with n balls; the number in one of them is binomial in the end. Feller (1968), XV.2."""
    n = 10
    k = np.arange(n)
    A = np.zeros((n + 1, n + 1))
    A[k + 1, k], A[k, k + 1] = (n - k) / n, (k + 1) / n
    found = chain(A, False)
    np.testing.assert_allclose(found.stationary, [math.comb(n, j) / 2**n for j in range(n + 1)], rtol=1e-13)
    assert found.period == 2


@pytest.mark.parametrize(
    ("A", "continuous", "expected"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], False, "columns and rows"),
        ([[0.5, 0.6], [0.5, 0.4]], False, "columns"),
        ([[0.5, 0.6], [0.5, 0.4 + 1e-9]], False, None),
        ([[1.5, 0.6], [-0.5, 0.4]], False, None),
        ([[-0.5, 0.5], [0.5, -0.5]], True, "columns and rows"),
        ([[-0.5, 2.0], [0.5, -2.0]], True, "columns"),
        ([[0.5, -2.0], [-0.5, 2.0]], True, None),
        ([[0.5, 0.5], [0.5, 0.5]], True, None),
        ([[0.0, 1.0], [-1.0, 0.0]], True, None),
    ],
)
def test_what_is_a_chain(A: list, continuous: bool, expected: str | None) -> None:
    found = chain(np.array(A), continuous)
    assert (found and found.sums) == expected


# --- steady states ----------------------------------------------------------------------------------------------------


def test_steady_states() -> None:
    n, R, C = 30, 1e3, 1e-6
    found = analysis(rc_ladder(n, R, C).toarray(), voltage_source(n, R, C), [5.0], continuous=True)
    np.testing.assert_allclose(found["steady_state"], 5.0, rtol=found["steady_state_error"])
    assert found["steady_state_error"] < 1e-11
    observed = analysis([[0.5, 0.2], [0.0, 0.4]], [[1.0, 0.0], [0.0, 3.0]], [2.0, 0.5], C=[[1.0, 1.0]])
    assert observed["steady_state"] == [pytest.approx((2 + 0.2 * 2.5) / 0.5 + 2.5, rel=1e-14)]


@pytest.mark.parametrize(
    ("A", "u"),
    [([[1.0, 0.0], [0.0, 0.5]], [1.0]), ([[0.5, 0.0], [0.0, 0.5]], ["sin(t)"]), ([[0.5, 0.0], [0.0, 0.5]], [])],
)
def test_no_steady_state(A: list, u: list) -> None:
    assert "steady_state" not in analysis(A, [[1.0], [1.0]] if u else None, u)


def test_a_steady_state_that_rounding_destroys_is_refused() -> None:
    with pytest.raises(ValueError, match="rounding"):
        steady_state(np.array([[1.0 - 1e-15, 0.0], [0.0, 0.5]]), np.ones(2), False)


# --- controllability and observability --------------------------------------------------------------------------------


def companion(*roots: float) -> np.ndarray:
    A = np.eye(len(roots), k=1)
    A[-1] = -np.poly(roots)[:0:-1]
    return A


@pytest.mark.parametrize(
    ("A", "B", "rank"),
    [
        (companion(-1.0, -2.0, -3.0, -4.0), [[0.0], [0.0], [0.0], [1.0]], 4),  # controllable canonical form
        ([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], 2),  # a cart that is pushed
        ([[0.0, 1.0], [0.0, 0.0]], [[1.0], [0.0]], 1),
        (np.diag([-1.0, -2.0, -3.0]), [[1.0], [1.0], [0.0]], 2),
        (np.diag([-1.0, -1.0, -3.0]), [[1.0], [1.0], [1.0]], 2),  # equal modes move together
        (np.diag([-1.0, -1.0, -3.0]), [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]], 3),
        (np.eye(3), np.zeros((3, 1)), 0),
        (springs(7, 1.0, 400.0, 0.05).toarray(), np.eye(14)[:, [7]], 14),
        # pushed in the middle, only symmetric modes move: 4 of 7, each two-dimensional
        (springs(7, 1.0, 400.0, 0.05).toarray(), np.eye(14)[:, [10]], 8),
        (heat1d(9, 1.0, 1.0).toarray(), np.eye(9)[:, [4]], 5),
        # linearised satellite in its orbit, with both thrusters, the radial and the tangential one alone: R. W.
        # Brockett, Finite Dimensional Linear Systems (1970)
        (SATELLITE := [[0, 1, 0, 0], [3, 0, 0, 2], [0, 0, 0, 1], [0, -2, 0, 0]], [[0, 0], [1, 0], [0, 0], [0, 1]], 4),
        (SATELLITE, [[0], [1], [0], [0]], 3),
        (SATELLITE, [[0], [0], [0], [1]], 4),
        # units that differ by 12 decades
        (np.diag([1.0, 1e12]) @ np.array([[-1.0, 1.0], [1.0, -2.0]]) @ np.diag([1.0, 1e-12]), [[0.0], [1e-9]], 2),
    ],
)
def test_controllability_of_textbook_systems(A: list, B: list, rank: int) -> None:
    found = reached(A, B)
    assert (found.rank, found.of) == (rank, len(A))
    assert (found.distance > 0) is (rank == len(A))


def test_a_long_chain_is_controllable_from_its_end() -> None:
    """Where the raw matrix [B, A B, A^2 B, ..] has a numerical rank of a few."""
    n = 60
    A, B = rc_ladder(n, 1.0, 1.0).toarray(), voltage_source(n, 1.0, 1.0)
    raw = np.hstack([np.linalg.matrix_power(A, k) @ B for k in range(n)])
    assert np.linalg.matrix_rank(raw) < n / 2
    assert reached(A, B).rank == n


@pytest.mark.parametrize("e", [1e-2, 1e-6, 1e-10, 1e-13])
def test_nearly_uncontrollable_pairs(e: float) -> None:
    """The distance is at least the true one, and here not much more: by what undoes the pair."""
    same = reached([[-1.0, 0.0], [0.0, -1.0 - e]], [[1.0], [1.0]])
    assert same.rank == 2
    assert same.distance == pytest.approx(e / 2 / math.sqrt(2), rel=2e-2)


@pytest.mark.parametrize("e", [1e-17, 0.0])
def test_pairs_that_rounding_makes_uncontrollable(e: float) -> None:
    assert reached(np.diag([-1.0, -2.0, -3.0]), [[1.0], [1.0], [e]]).rank == 2


def test_two_inputs_that_are_nearly_one_are_no_danger() -> None:
    A = np.random.default_rng(2).standard_normal((6, 6))
    b = np.random.default_rng(3).standard_normal((6, 1))
    alone, twice = reached(A, b), reached(A, np.hstack([b, b + 1e-9]))
    assert twice.rank == 6
    assert twice.distance > 0.5 * alone.distance > 1e-4


@pytest.mark.filterwarnings("error")
def test_sizes_of_inputs_do_not_count() -> None:
    for size in (1e-300, 1.0, 1e300):
        found = analysis([[0.5, 1.0], [0.0, 0.25]], [[0.0], [size]], [size])
        assert found["controllability"]["rank"] == 2
        assert found["controllability"]["distance"] == pytest.approx(0.5905973, rel=1e-5)  # by a search over all s
    assert not any(math.isfinite(x) for x in found["steady_state"])


def test_observability_is_the_controllability_of_the_dual() -> None:
    A, C = np.array(SATELLITE, np.float64), np.array([[0.0, 0.0, 1.0, 0.0]])
    found = analysis(A, C=C, continuous=True)["observability"]
    assert found["rank"] == reached(A.T, C.T).rank == 4
    radius = analysis(A, C=[[1.0, 0.0, 0.0, 0.0]], continuous=True)["observability"]
    assert radius == {"rank": 3, "of": 4, "distance": 0.0}  # from the radius alone nobody knows where in the orbit
    assert "controllability" not in analysis(A, C=C, continuous=True)


# --- what is stored and printed ---------------------------------------------------------------------------------------


def test_large_matrices_are_left_out() -> None:
    A = np.zeros((LARGEST + 1, LARGEST + 1))
    found = Analysis(StateSpace(A, None, (), None, False))
    rows = f"the matrix has {LARGEST + 1} rows, more than {LARGEST}"
    what = "what takes all eigenvalues, stationary distributions, steady states and ranks"
    assert found.results() == {"left_out": f"{what}: {rows}"}
    assert found.totals() == {}
    assert [v.name for v in found.variables] == ["matrix_magnitude"]


def test_magnitudes_of_blocks() -> None:
    A = np.random.default_rng(1).standard_normal((700, 700))
    found = magnitudes(A)
    assert found.shape == (234, 234)
    assert found[2, 5] == np.max(np.abs(A[6:9, 15:18]))
    assert found[-1, 0] == np.max(np.abs(A[699:, 0:3]))
    np.testing.assert_array_equal(magnitudes(A[:5, :5]), np.abs(A[:5, :5]))


CHAIN = """solver = "linear"
system = {kind = "discrete", matrix = {generator = "markov", states = 80, up = 0.3, down = 0.35}}
initial = {state = {random = "normal"}}
time = {steps = 4}
"""


def test_in_the_result_file_and_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CHAIN, encoding="utf-8")
    run = ["run", str(path), "-o", str(tmp_path / "run"), "--device", "cpu"]
    done = CliRunner().invoke(app, [*run, "--json"])
    found = json.loads(done.stdout)["results"]["analysis"]
    assert (found["verdict"], found["stochastic"]) == (MARGINAL, "columns")
    assert found["slowest"]["time_constant"][0] is None  # forever
    assert "stationary" not in found  # 80 numbers are for the file
    with xarray.open_dataset(tmp_path / "run" / "results.h5", engine="h5netcdf") as data:
        exact = (0.3 / 0.35) ** np.arange(80)
        np.testing.assert_allclose(data.stationary_distribution, exact / np.sum(exact), rtol=1e-13)
        values = 0.35 + 2 * math.sqrt(0.3 * 0.35) * np.cos(np.pi * np.arange(1, 80) / 80)
        np.testing.assert_allclose(np.sort(data.eigenvalue_real), np.sort([1.0, *values]), atol=1e-12)
        np.testing.assert_array_equal(data.eigenvalue_imag, 0.0)
        assert int(data.stability) == 2
        assert data.matrix_magnitude.shape == (80, 80)
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "run")]).stdout
    assert "verdict            marginally stable" in shown
    assert "time_constant    none, " in shown


def test_long_lists_are_cut() -> None:
    from simsuite.summaries.numbers import tree

    few, many = tree({"few": [1.0] * 12, "many": [float(k) for k in range(64)]}, "  ")
    assert few.count("1") == 12
    assert many.endswith("0, 1, 2, 3, 4, 5, .. (64 numbers)")


def test_a_slow_loss_beside_fast_exchange_is_no_chain() -> None:
    """The loss is 2e-13 of the largest rate, and all there is of its own column: what is in decays in 1e9 s."""
    A = np.array([[-2000.0, 1000.0, 0.0], [2000.0, -1000.5, 0.0], [0.0, 0.5, -1e-9]])
    assert chain(A, True) is None
    assert nearly(A, True) is None
    A[2, 2] = 0.0
    kept = chain(A, True)
    assert kept is not None
    assert kept.stationary.tolist() == [0.0, 0.0, 1.0]
    for matrix in (A, csr_array(A)):
        assert stochastic(matrix, True) == "columns"
