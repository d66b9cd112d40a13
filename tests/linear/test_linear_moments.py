"""Moments of linear systems with noise: exact ones against closed forms, those over a batch against exact ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm
from test_linear_noise import advanced, problem, shrinking, state

from simsuite.backends.cpu import CpuBackend
from simsuite.core import Snapshot
from simsuite.solvers.linear.results.moments import ExactMoments


def last_row(p, **more):
    observed = advanced(p, p.clock.end, **more)
    return p.rows("time", observed), p.results(observed)


def test_stored_frames_change_neither_numbers_nor_exact_moments():
    rows = []
    for frames in (2, 14):
        p = problem(shrinking(3), np.eye(3).tolist(), {"state": [1.0] * 3, "copies": 5}, 90, frames=frames)
        for step in p.frames:
            p.rows("time", Snapshot(step, p.initial().arrays))
        rows.append((state(p, 90), last_row(p)[0]["state_std_exact"]))
    np.testing.assert_array_equal(rows[0][0], rows[1][0])
    np.testing.assert_allclose(rows[0][1], rows[1][1], rtol=1e-13)


def test_what_has_no_noise_stays_exact():
    """A component that nothing reaches decays on its own, and one source gives all copies one direction."""
    A = [[-1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, -2.0]]
    p = problem(A, [[0.0], [1.0], [3.0]], {"state": [1.0, 0.0, 0.0], "copies": 6}, 20, dt=0.1, kind="continuous")
    assert p.system.noise.G.shape == (3, 1)
    X = state(p, 20)
    np.testing.assert_allclose(X[0], math.exp(-2), rtol=1e-14)
    np.testing.assert_allclose(X[2], 3 * X[1], rtol=1e-13)
    assert last_row(p)[1]["noise"]["largest_z"]["compared"] == [2, 3]


def test_ornstein_uhlenbeck_in_closed_form():
    rate, sigma, x0, dt, m = 0.8, 1.3, 2.0, 0.3, 20000
    p = problem([[-rate]], [[sigma]], {"state": [x0], "copies": m}, 12, dt=dt, kind="continuous", frames=13)
    stepper = p.stepper(CpuBackend(), p.initial())
    frames, rows = [], []
    for _ in p.frames:
        with stepper.observe("time") as observed:
            frames.append(observed.arrays["state"][0].copy())
            rows.append(p.rows("time", observed))
        stepper.advance(1)
    t = dt * np.arange(13)
    mean, variance = x0 * np.exp(-rate * t), sigma**2 * -np.expm1(-2 * rate * t) / (2 * rate)
    found = {name: np.array([row[name] for row in rows])[..., 0] for name in rows[0] if name.startswith("state_")}
    np.testing.assert_allclose(found["state_mean_exact"], mean, rtol=1e-13)
    np.testing.assert_allclose(found["state_std_exact"], np.sqrt(variance), rtol=1e-13)
    np.testing.assert_allclose(found["state_std"], np.std(frames, axis=1, ddof=1), rtol=1e-12)
    np.testing.assert_array_equal(found["state_mean_standard_error"], found["state_std"] / math.sqrt(m))
    for name in ("state_mean", "state_std"):
        errors = found[f"{name}_standard_error"][1:]
        assert np.all(np.abs(found[name] - found[f"{name}_exact"])[1:] < 4.5 * errors)
    for i, k in ((2, 4), (5, 12)):  # cov(X_s, X_t) = var(X_s) exp(-rate (t - s))
        exact = variance[i] * math.exp(-rate * (t[k] - t[i]))
        error = math.sqrt((variance[i] * variance[k] + exact**2) / m)
        assert abs(np.cov(frames[i], frames[k])[0, 1] - exact) < 4.5 * error
    results = p.results(Snapshot(12, {"state": frames[-1][None]}))
    assert "residual" not in results
    assert results["noise"]["stationary_covariance"] == [[pytest.approx(sigma**2 / (2 * rate), rel=1e-14)]]


@pytest.mark.parametrize("random", [False, True])
def test_autoregression_in_closed_form(random):
    a, g, k, m = -0.7, 0.4, 9, 5000
    initial = {"state": {"random": "normal", "batch": m}} if random else {"state": [1.5], "copies": m}
    p = problem([[a]], [[g]], initial, k, input_matrix=[[1.0]], input=[2.0])
    row, results = last_row(p)
    mean = (0.0 if random else 1.5 * a**k) + 2.0 * (1 - a**k) / (1 - a)
    variance = (a ** (2 * k) if random else 0.0) + g**2 * (1 - a ** (2 * k)) / (1 - a**2)
    noise = results["noise"]
    assert row["state_mean_exact"][0] == noise["mean_exact"][0] == pytest.approx(mean, rel=1e-13)
    assert row["state_std_exact"][0] ** 2 == pytest.approx(noise["covariance_exact"][0][0], rel=1e-13)
    assert noise["covariance_exact"] == [[pytest.approx(variance, rel=1e-13)]]
    assert noise["stationary_covariance"] == [[pytest.approx(g**2 / (1 - a**2), rel=1e-13)]]
    assert noise["mean"][0] == row["state_mean"][0]
    assert noise["covariance"][0][0] == pytest.approx(row["state_std"][0] ** 2, rel=1e-13)
    z = noise["largest_z"]
    assert z["mean"] == pytest.approx(abs(noise["mean"][0] - mean) / math.sqrt(variance / m), rel=1e-6)
    assert z["covariance"] == pytest.approx(
        abs(noise["covariance"][0][0] / variance - 1) / math.sqrt(2 / (m - 1)), rel=1e-6
    )
    assert z["mean"] < 4.5
    assert z["covariance"] < 4.5
    assert noise["samples"] == m


def test_random_walk_has_as_much_variance_as_steps():
    """Doubling gets to a thousand million steps at once."""
    p = problem([[1.0]], [[1.0]], {"state": [0.0]}, 10**9, frames=4)
    found = [p.rows("time", Snapshot(k, p.initial().arrays))["state_std_exact"][0] ** 2 for k in p.frames]
    np.testing.assert_allclose(found, p.frames, rtol=1e-13)


def test_moving_inputs_and_any_frames_against_a_plain_loop():
    A, G = np.array(shrinking(5)), np.random.default_rng(1).standard_normal((5, 2))
    B = np.random.default_rng(2).standard_normal((5, 2))
    p = problem(
        A.tolist(), G.tolist(), {"state": [1.0] * 5}, 2500, dt=0.01, input_matrix=B.tolist(), input=["sin(3*t)", 0.7]
    )
    mean, P, exact = np.ones(5), np.zeros((5, 5)), ExactMoments(p.system, p.frames)
    for k in range(2500):
        if k in (0, 13, 250, 1300):
            found = exact.at(k)
            np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-13)
            np.testing.assert_allclose(found.covariance, P, rtol=0, atol=1e-12)
        mean = A @ mean + B @ [math.sin(3 * 0.01 * k), 0.7]
        P = A @ P @ A.T + G @ G.T
    np.testing.assert_allclose(exact.at(2500).mean, mean, rtol=0, atol=1e-13)
    again = ExactMoments(p.system, p.frames).at(2500)
    np.testing.assert_array_equal(again.covariance, exact.at(2500).covariance)
    assert exact.at(250).mean == pytest.approx(ExactMoments(p.system, p.frames).at(250).mean, abs=0)


def test_continuous_systems_have_the_same_law_whatever_the_step():
    A = [[0.0, 1.0], [-4.0, -0.3]]
    found = []
    for steps in (1, 7, 64):
        p = problem(A, [[0.0], [0.5]], {"state": [1.0, 0.0]}, steps, dt=3.0 / steps, kind="continuous")
        found.append(p.results(Snapshot(steps, p.initial().arrays))["noise"])
    for other in found[1:]:
        np.testing.assert_allclose(other["covariance_exact"], found[0]["covariance_exact"], rtol=1e-12)
        np.testing.assert_allclose(other["mean_exact"], found[0]["mean_exact"], rtol=1e-12)
    P = np.diag([0.25 / (2 * 0.3 * 4.0), 0.25 / (2 * 0.3)])  # equipartition
    np.testing.assert_allclose(found[0]["stationary_covariance"], P, rtol=0, atol=1e-13)


@pytest.mark.parametrize("hold", ["zero", "first"])
def test_exact_means_are_those_of_the_held_input(hold):
    """Against Duhamel's integral with the input as it is held, by quadrature: with order 0 the value at the beginning
    of a step acts over all of it, a jump within a step from the next one on, one at a beginning at once."""
    A, B, dt, steps = np.array([[-0.3, 1.0], [-1.0, -0.2]]), np.array([[1.0, 0.2], [0.0, 1.0]]), 0.25, 11
    texts, inputs = ["sin(t)", "where(t >= 1, 2, t > 0.6)"], (math.sin, lambda t: 2.0 if t >= 1 else float(t > 0.6))

    def driven(s, now, slope):
        return expm(A * (dt - s)) @ B @ (now + slope * s)

    p = problem(
        A.tolist(), [[1e-3], [0.0]], {"state": [1.0, -0.5], "copies": 2}, steps, dt=dt, kind="continuous",
        input_matrix=B.tolist(), input=texts, hold=hold, frames=4,
    )  # fmt: skip
    mean = np.array([1.0, -0.5])
    for k in range(steps):
        now, then = (np.array([u(t) for u in inputs]) for t in (k * dt, (k + 1) * dt))
        slope = (then - now) / dt if hold == "first" else 0.0 * now
        mean = expm(A * dt) @ mean + quad_vec(driven, 0.0, dt, epsabs=1e-14, args=(now, slope))[0]
    row, results = last_row(p)
    np.testing.assert_allclose(row["state_mean_exact"], mean, rtol=0, atol=1e-13)
    np.testing.assert_allclose(results["noise"]["mean_exact"], mean, rtol=0, atol=1e-13)


def test_outputs_have_moments_of_their_own():
    A, G, C = np.array(shrinking(4)), np.eye(4)[:, :2], np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    p = problem(A.tolist(), G.tolist(), {"state": [1.0] * 4, "copies": 4000}, 5, output_matrix=C.tolist())
    observed = advanced(p, 5)
    row, noise = p.rows("time", observed), p.results(observed)["noise"]
    P = sum(np.linalg.matrix_power(A, k) @ G @ G.T @ np.linalg.matrix_power(A, k).T for k in range(5))
    np.testing.assert_allclose(noise["covariance_exact"], C @ P @ C.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(row["state_mean_exact"], C @ np.linalg.matrix_power(A, 5) @ np.ones(4), atol=1e-13)
    np.testing.assert_allclose(noise["covariance"], np.cov(C @ observed.arrays["state"]), rtol=0, atol=1e-12)
    series = sum(np.linalg.matrix_power(A, k) @ G @ G.T @ np.linalg.matrix_power(A, k).T for k in range(400))
    np.testing.assert_allclose(noise["stationary_covariance"], C @ series @ C.T, rtol=0, atol=1e-12)
    assert max(noise["largest_z"]["mean"], noise["largest_z"]["covariance"]) < 4.5


def test_scores_have_their_law_over_seeds():
    """Squares of standard normal numbers: mean 1, variance 2 (and a little more, batches being finite)."""
    scores = []
    for seed in range(150):
        p = problem([[0.5]], [[1.0]], {"state": [0.0], "copies": 400}, 3, seed=seed)
        z = last_row(p)[1]["noise"]["largest_z"]
        scores.append([z["mean"], z["covariance"]])
    for name, squares in zip(("mean", "covariance"), np.square(scores).T):
        assert abs(np.mean(squares) - 1) < 4.5 * math.sqrt(2.1 / len(squares)), name


@pytest.mark.parametrize(
    ("initial", "names"),
    [
        ({"state": [1.0, 2.0]}, {"mean_exact", "std_exact"}),
        ({"state": [[1.0, 2.0], [0.0, 0.0]]}, {"std_exact"}),
        ({"state": [1.0, 2.0], "copies": 3}, {"mean", "std", "mean_exact", "std_exact"}),
        ({"state": {"random": "normal", "batch": 1}}, {"mean_exact", "std_exact"}),
        ({"state": {"random": "normal", "batch": 2}}, {"mean", "std", "mean_exact", "std_exact"}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_moments_are_given_where_they_are_defined(initial, names):
    p = problem([[0.5, 0.1], [0.0, 0.5]], [[1.0], [0.0]], initial, 4)
    row, results = last_row(p)
    stored = {v.name for v in p.layout.variables if v.dims[:1] == ("time",)}
    assert stored | {"time"} == set(row)
    assert {name for name in row if name.endswith(("mean", "std", "exact"))} == {f"state_{name}" for name in names}
    noise = results["noise"]
    assert ("note" in noise) == (names == {"std_exact"})
    assert ("largest_z" in noise) == ("mean" in names)
    assert ("covariance" in noise) == ("mean" in names)
    assert {"covariance_exact", "stationary_covariance", "samples"} <= noise.keys()


def test_many_components_are_not_printed():
    p = problem(shrinking(20), np.eye(20).tolist(), {"state": [0.0] * 20, "copies": 500}, 3)
    noise = last_row(p)[1]["noise"]
    assert "covariance" not in noise
    assert noise["largest_z"]["compared"] == [20, 20]
    assert noise["largest_z"]["covariance"] < 5
    assert len(noise["mean"]) == 20


def test_what_takes_too_long_is_left_out():
    p = problem([[0.5]], [[1.0]], {"state": [0.0]}, 10**9, input_matrix=[[1.0]], input=["sin(t)"])
    observed = Snapshot(10**9, p.initial().arrays)
    assert set(p.rows("time", observed)) == {"time", "state", "norm"}
    assert "too long" in p.results(observed)["noise"]["exact_note"]


def test_growth_beyond_all_numbers_leaves_no_number_that_is_none():
    p = problem([[1e200]], [[1.0]], {"state": [0.0], "copies": 3}, 3)
    row, results = p.rows("time", Snapshot(3, p.initial().arrays)), p.results(Snapshot(3, p.initial().arrays))
    assert not np.isfinite(row["state_std_exact"][0])
    assert "covariance_exact" not in results["noise"]
    assert "largest_z" not in results["noise"]
    assert "stationary_covariance" not in results["noise"]
