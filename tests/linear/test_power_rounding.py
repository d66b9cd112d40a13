"""`power_error` of systems in continuous time, which has the rounding of exp(A dt) in it, against 50 digits."""

from __future__ import annotations

import itertools
from pathlib import Path

import mpmath
import numpy as np
import pytest
from linear_problems import begun
from scipy.linalg import expm

from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.discretisation import discretise as discretisation
from simsuite.solvers.linear.discretisation.discretise import discretisation_error, discretise, discretise_between
from simsuite.solvers.linear.discretisation.exponential import exponential
from simsuite.solvers.linear.powers import power_course, powers
from simsuite.solvers.linear.problem import LinearProblem

KINDS = ("oscillating", "stiff", "not normal", "decaying", "growing", "chain")
LONGEST = 600.0  # time constants that a state decays for: far from underflow


def random_system(rng, kind):
    """(A, dt, steps)."""
    n = int(rng.integers(2, 7))
    G = rng.standard_normal((n, n))
    if kind == "oscillating":
        A = (G - G.T) * 10.0 ** rng.uniform(-1, 1)
    elif kind == "stiff":
        Q = np.linalg.qr(G)[0]
        A = Q @ np.diag(-(10.0 ** rng.uniform(-2, 4, n))) @ Q.T
    elif kind == "not normal":
        A = np.triu(G * 10.0 ** rng.uniform(0, 2), 1) - np.diag(10.0 ** rng.uniform(-2, 1, n))
    elif kind == "decaying":
        A = G - np.eye(n) * (np.max(np.linalg.eigvals(G).real) + 0.01)
    elif kind == "growing":
        A = 0.1 * G
    else:
        A = np.abs(G) - np.diag(np.diag(np.abs(G)))
        A -= np.diag(np.sum(A, axis=0))
    dt, steps = float(10.0 ** rng.uniform(-4, 0)), int(10.0 ** rng.uniform(2, 5))
    rate = abs(float(np.max(np.linalg.eigvals(A).real))) * dt
    return A, dt, max(min(steps, int((100.0 if kind == "growing" else LONGEST) / max(rate, 1e-30))), 3)


def run(A, dt, steps, X, **system):
    model = LinearScenario.model_validate(
        {
            "solver": "linear",
            "system": {"kind": "continuous", "matrix": A.tolist(), **system},
            "initial": {"state": X.tolist()},
            "time": {"steps": steps, "dt": dt, "method": "power", "tolerance": 1e300},
            "output": {"frames": 2},
        }
    )
    stepper = begun(LinearProblem.from_scenario(model, Path(".")))
    stepper.advance(steps)
    with stepper.snapshot() as snapshot:
        return stepper._powers, snapshot.arrays["state"][:, 0]


def in_fifty_digits(A, dt, steps, X, b=None):
    """exp(A dt steps) X, and what the constant b adds, by squaring exp(A dt)."""
    n = len(X)
    with mpmath.workdps(50):
        block = mpmath.zeros(n + 1)
        block[:n, :n] = mpmath.matrix(A.tolist()) * mpmath.mpf(dt)
        for i, value in enumerate(np.zeros(n) if b is None else b):
            block[i, n] = mpmath.mpf(float(value)) * mpmath.mpf(dt)
        P, x = mpmath.expm(block), mpmath.matrix([*X.tolist(), 1.0])
        while steps:
            x, P, steps = P * x if steps & 1 else x, P * P, steps >> 1
        return x[:n]


def off_by(found, wanted):
    with mpmath.workdps(50):
        return float(mpmath.norm(mpmath.matrix(found.tolist()) - mpmath.matrix(wanted)) / mpmath.norm(wanted))


@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_covered_in_random_systems(seed):
    """26 of each: none below the error, and half of them within three times that."""
    rng = np.random.default_rng(seed)
    ratios = []
    for k in range(26):
        A, dt, steps = random_system(rng, KINDS[k % len(KINDS)])
        X = rng.standard_normal(len(A))
        used, found = run(A, dt, steps, X)
        ratios.append(used.error / off_by(found, in_fifty_digits(A, dt, steps, X)))
    assert min(ratios) > 1.0
    assert np.median(ratios) < 3.0
    assert np.quantile(ratios, 0.9) < 50.0


def test_constant_inputs_are_part_of_it():
    rng = np.random.default_rng(9)
    for k in range(12):
        A, dt, steps = random_system(rng, KINDS[k % len(KINDS)])
        X, B, u = rng.standard_normal(len(A)), rng.standard_normal((len(A), 2)), rng.standard_normal(2)
        used, found = run(A, dt, steps, X, input_matrix=B.tolist(), input=u.tolist())
        assert used.error > off_by(found, in_fifty_digits(A, dt, steps, X, B @ u))


def test_where_it_cannot_be_followed_it_is_estimated(monkeypatch):
    """Of more rows than that takes, with the exponential computed in another way: as rough, but never below."""
    monkeypatch.setattr(powers, "LARGEST", 0)
    rng = np.random.default_rng(3)
    ratios = []
    for k in range(30):
        A, dt, steps = random_system(rng, KINDS[k % len(KINDS)])
        X = rng.standard_normal(len(A))
        used, found = run(A, dt, steps, X)
        ratios.append(used.error / off_by(found, in_fifty_digits(A, dt, steps, X)))
    assert min(ratios) > 1.0
    assert np.median(ratios) < 40.0


def test_the_rounding_of_the_exponential_does_not_make_steps_of_powers():
    """As steps lose it too. It is said."""
    model = {
        "solver": "linear",
        "system": {"kind": "continuous", "matrix": [[-4000.0, 3000.0], [3000.0, -2250.001]]},
        "initial": {"state": [1.0, 0.0]},
        "time": {"steps": 10**5, "dt": 0.1, "method": "power", "tolerance": 1e-11},
        "output": {"frames": 2},
    }
    stepper = begun(LinearProblem.from_scenario(LinearScenario.model_validate(model), Path(".")))
    assert stepper._powers.rounding > 1e-10
    assert "most of it by the rounding of exp(A dt), which steps would lose as well" in stepper.chosen["stepper_reason"]


# --- inputs that change -----------------------------------------------------------------------------------------------


def plant(rng):
    """(A, B, dt, steps, input) of a chain: integrators, slow and fast poles, that are fed from the last component on,
    pushed one way and back again, many times, in steps of a hundredth to a hundred of its time constants."""
    n = int(rng.integers(1, 7))
    rates = 10.0 ** rng.uniform(-3, 1, n)
    rates[: int(rng.integers(0, min(n, 2) + 1))] = 0.0
    A = np.diag(-rates) + np.diag(rng.uniform(0.1, 1.0, n - 1), 1)
    A += np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.2), 2)
    dt, steps = float(10.0 ** rng.uniform(-2, 2) / np.median(rates[rates > 0] if rates.any() else 1.0)), 20_000
    period, on = int(rng.integers(200, 2000)), int(rng.integers(4, 100))
    k = f"floor(t/{dt!r} + 0.5) % {period}"
    pushed = f"0.7*({k} < {on}) - 0.7*({k} >= {period // 2}) * ({k} < {period // 2 + on})"
    return A, np.eye(n)[:, -1:], dt, steps, pushed


def worst_frame(A, B, dt, steps, pushed, kind="continuous", frames=13):
    """(what powers are estimated to lose, what they do lose at the worst frame, at most 1: all of it), from rest,
    beside 50 digits."""
    given = {
        "solver": "linear",
        "system": {"kind": kind, "matrix": A.tolist(), "input_matrix": B.tolist(), "input": [pushed]},
        "initial": {"state": [0.0] * len(A)},
        "time": {"steps": steps, "dt": dt, "method": "power", "tolerance": 1e300},
        "output": {"frames": frames},
    }
    problem = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."))
    stepper, held, n, worst = begun(problem), problem.system.held, len(A), 0.0
    with mpmath.workdps(50):
        block = mpmath.zeros(n + 1)
        block[:n, :n], block[:n, n] = mpmath.matrix(A.tolist()), mpmath.matrix(B.tolist())
        if kind == "continuous":
            block = mpmath.expm(block * mpmath.mpf(dt))
        else:
            block[n, n] = 1
        over: dict[int, mpmath.matrix] = {}
        x, stops = mpmath.zeros(n, 1), sorted({*problem.frames, *held.steps.tolist()})
        for begin, end in itertools.pairwise(stops):
            if end - begin not in over:
                over[end - begin] = block ** (end - begin)
            u = float(held.values[0, held.at(begin)])
            x = (over[end - begin] * mpmath.matrix([*x, u]))[:n, 0]
            stepper.advance(end - begin)
            if end in problem.frames and mpmath.norm(x) > 1e-280:
                worst = max(worst, off_by(stepper.state["state"][:, 0], x))
    return stepper._powers.error, min(worst, 1.0)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_inputs_that_are_switched_many_times(seed):
    """8 plants: none below the error, half of them within ten times, and all that matters within 200."""
    rng = np.random.default_rng(seed)
    found = [worst_frame(*plant(rng)) for _ in range(8)]
    assert all(estimate >= error for estimate, error in found)
    assert np.median([estimate / max(error, 1e-16) for estimate, error in found]) < 10.0
    assert all(estimate < max(200 * error, 1e-9) for estimate, error in found)


def test_a_frame_at_which_the_state_is_back_at_0():
    """But for roundings, of which nobody can say how large they are beside it: no reason against powers."""
    pushed = "where(t % 1000 < 300, 0.7, where(t % 1000 < 600, -0.7, 0))"
    given = {
        "solver": "linear",
        "system": {"kind": "continuous", "matrix": [[0.0]], "input_matrix": [[1.0]], "input": [pushed]},
        "initial": {"state": [0.0]},
        "time": {"steps": 100_000, "dt": 0.1, "method": "power"},
        "output": {"every": 1000},
    }
    problem = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."))
    stepper = begun(problem)
    assert stepper._powers.lost < 1e-12
    stepper.advance(100_000)
    assert abs(stepper.state["state"][0, 0]) < 1e-9 * 0.7 * 300


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_a_wheel_that_is_sped_up_and_stopped_again(kind):
    """A satellite's, a double integrator: an angle of 12 000 comes of pushes that are each undone. 1e11 times the error
    was said where the norms of powers stood for what they make of errors."""
    A, B = np.array([[0.0, 1.0, 0.0], [0.0, -0.001, 0.5], [0.0, 0.0, -0.02]]), np.array([[0.0], [0.0], [1.0]])
    if kind == "discrete":
        A, B = expm(A * 0.1), 0.1 * B
    pushed = "0.01*(t % 3600 < 60) - 0.01*(t % 3600 >= 1800 and t % 3600 < 1860)"
    if kind == "discrete":
        pushed = pushed.replace("t ", "0.1*t ")
    estimate, error = worst_frame(A, B, 0.1 if kind == "continuous" else 1.0, 864_000, pushed, kind)
    assert error < estimate < 1e-11


def test_where_it_cannot_be_followed_through_all_changes_it_is_estimated(monkeypatch):
    """That is rough for a plant like this, but never below."""
    rng = np.random.default_rng(5)
    given = plant(rng)
    followed, error = worst_frame(*given)
    monkeypatch.setattr(power_course, "MOST", 3)
    estimated, _ = worst_frame(*given)
    assert error < followed < estimated


@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_exponentials_to_many_digits(size):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((5, 5))
    A *= size / np.linalg.norm(A)
    high, low = exponential((A, np.zeros((5, 5))))
    with mpmath.workdps(60):
        wanted = mpmath.expm(mpmath.matrix(A.tolist()))
        off = mpmath.matrix(high.tolist()) + mpmath.matrix(low.tolist()) - wanted
        assert mpmath.mnorm(off, "f") < 1e-26 * mpmath.mnorm(wanted, "f")


@pytest.mark.parametrize("ahead", [False, True])
def test_what_a_discretisation_lacks(ahead, monkeypatch):
    """In both ways of computing it: to two digits, and about."""
    rng = np.random.default_rng(2)
    A, B, dt = rng.standard_normal((4, 4)) * 30, rng.standard_normal((4, 2)), 0.37
    Ad, Bd = (discretise_between if ahead else discretise)(A, B, dt)
    with mpmath.workdps(50):
        block = mpmath.zeros(8)
        block[:4, :4], block[:4, 4:6] = (mpmath.matrix(M.tolist()) * mpmath.mpf(dt) for M in (A, B))
        block[4:6, 6:8] = mpmath.eye(2)
        E = mpmath.expm(block)
        inputs = mpmath.matrix(4, Bd.shape[1])
        for i in range(4):
            for j in range(2):
                inputs[i, j] = E[i, 4 + j] - (E[i, 6 + j] if ahead else 0)
                if ahead:
                    inputs[i, 2 + j] = E[i, 6 + j]
        off = [
            np.array((exact - mpmath.matrix(M.tolist())).tolist(), float)
            for exact, M in ((E[:4, :4], Ad), (inputs, Bd))
        ]
    found = discretisation_error(A, B, dt, ahead, Ad, Bd)
    for lacks, wanted in zip(found, off):
        np.testing.assert_allclose(lacks, wanted, rtol=1e-6, atol=1e-9 * np.max(np.abs(wanted)))
    monkeypatch.setattr(discretisation, "_DIGITS", 0)
    rough = discretisation_error(A, B, dt, ahead, Ad, Bd)
    for lacks, wanted in zip(rough, off):
        assert 0.1 < np.linalg.norm(lacks) / np.linalg.norm(wanted) < 10
    assert np.allclose(Ad, expm(A * dt), rtol=1e-10)
