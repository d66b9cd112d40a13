"""Frequency responses, step responses, margins and runs of 50 random systems beside python-control and mpmath.

python-control solves (s I - A) X = B once, in float64, and finds crossings as roots of polynomials. On stiff systems it
is off by up to 1e-3 of a response, so that all systems are compared with mpmath (60 digits) to 1e-10 of each number,
and with python-control those that are not stiff. Crossings are compared with it to 1e-6, as roots of polynomials have
that error where they are close to each other, and are shown to be right to 1e-10 by mpmath.
"""

from __future__ import annotations

import importlib.util
import warnings

import mpmath
import numpy as np
import pytest
from control_systems import exact, frequencies, response, steps, systems

from simsuite.solvers.linear.control.gramians import gramians
from simsuite.solvers.linear.control.margins import Margins, margins
from simsuite.solvers.linear.control.phase import unwrapped
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.control.step_response import step_response
from simsuite.solvers.linear.control.transfer import FrequencyResponse

needs_control = pytest.mark.skipif(
    importlib.util.find_spec("control") is None, reason="python-control is not installed: pip install control"
)
ALL = [pytest.param(plant, id=name) for name, plant in systems()]
LOOPS = [pytest.param(plant, id=name) for name, plant in systems(siso=True)]
MILD = [pytest.param(plant, id=name) for name, plant in systems() if "stiff" not in name]


def theirs(plant: Plant):
    import control

    return control.ss(plant.A, plant.B, plant.C, plant.D, 0 if plant.continuous else plant.dt)


def off(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, each relative to the number itself."""
    return float(np.max(np.abs(found - wanted) / np.where(wanted == 0, 1.0, np.abs(wanted)), initial=0.0))


@pytest.mark.parametrize("plant", ALL)
def test_responses_are_right_to_each_number(plant: Plant) -> None:
    w = frequencies(plant, 13)
    found = FrequencyResponse(plant)(w)
    assert off(found, np.array([response(plant, x) for x in w])) < 1e-10


@needs_control
@pytest.mark.parametrize("plant", MILD)
def test_responses_are_those_of_python_control(plant: Plant) -> None:
    """Relative to the largest response of the frequency: where outputs cancel, python-control loses digits; at low
    frequencies of a discrete system, too, as exp(i w dt) is close to 1."""
    w = np.geomspace(1.0, 60.0, 40)
    found = FrequencyResponse(plant)(w)
    wanted = np.moveaxis(np.atleast_3d(theirs(plant).frequency_response(w, squeeze=False).frdata), -1, 0)
    size = np.max(np.abs(wanted), axis=(1, 2), keepdims=True)
    assert np.max(np.abs(found - wanted) / size) < 1e-10


@pytest.mark.parametrize("plant", LOOPS)
def test_a_phase_is_continuous(plant: Plant) -> None:
    """On a fine grid, unwrapping point by point is right, too; where the phase jumps, it may go either way round."""
    w = np.geomspace(1e-3, 1e3 if plant.continuous else np.pi / plant.dt, 3000)
    G = FrequencyResponse(plant)(w)[:, 0, 0]
    found = unwrapped(plant, w, G)
    np.testing.assert_allclose(found, np.unwrap(np.angle(G)), atol=1e-9)
    coarse = slice(None, None, 500)
    np.testing.assert_array_equal(unwrapped(plant, w[coarse], G[coarse]), found[coarse])


def test_a_sharp_resonance_between_two_points_turns_the_phase_once() -> None:
    A, B = np.array([[0.0, 1.0], [-1.0, -1e-6]]), np.array([[0.0], [1.0]])
    plant = Plant(A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1)), True, 1.0)
    w = np.array([0.01, 0.5, 2.0, 100.0])
    phase = unwrapped(plant, w, FrequencyResponse(plant)(w)[:, 0, 0])
    np.testing.assert_allclose(phase, [0, 0, -np.pi, -np.pi], atol=1e-4)


@pytest.mark.parametrize("plant", ALL)
def test_step_responses_are_right_to_each_number(plant: Plant) -> None:
    """Also over strides that are much longer than the fastest time constants."""
    stride = 0.25 if plant.continuous else 7
    found, wanted = step_response(plant, stride, 30), steps(plant, stride, 30)
    assert off(found, wanted) < 1e-10


@needs_control
@pytest.mark.parametrize("plant", MILD)
def test_step_responses_are_those_of_python_control(plant: Plant) -> None:
    """Relative to the largest number of the response."""
    import control

    samples, stride = 30, 0.25 if plant.continuous else 1
    t = np.arange(samples) * (stride if plant.continuous else plant.dt)
    wanted = np.moveaxis(control.step_response(theirs(plant), t, squeeze=False).outputs, -1, 0)
    found = step_response(plant, stride, samples)
    assert np.max(np.abs(found - wanted)) < 1e-10 * np.max(np.abs(wanted))


def value(plant: Plant, w: float) -> complex:
    return complex(response(plant, w)[0, 0])


def gained(plant: Plant) -> Plant:
    """The loop with such a gain that it crosses 1 somewhere, if it can."""
    L = np.abs(FrequencyResponse(plant)(np.geomspace(1e-2, 10, 30))[:, 0, 0])
    return Plant(plant.A, plant.B / float(np.median(L)), plant.C, plant.D, plant.continuous, plant.dt)


def require_right(plant: Plant, found: Margins) -> None:
    for w, angle, delay in zip(found.gain_crossings, found.phase_margins, found.delay_margins):
        L = value(plant, w)
        slope = abs(abs(value(plant, w * (1 + 1e-7))) - abs(L)) / 1e-7
        assert abs(abs(L) - 1) < 1e-10 * max(slope, 1.0)
        assert abs(np.exp(1j * angle) + L) < 1e-9
        assert abs(L * np.exp(-1j * w * delay) + 1) < 1e-9
    for w, gain in zip(found.phase_crossings, found.gain_margins):
        L = value(plant, w)
        slope = abs(value(plant, w * (1 + 1e-7)) - L) / 1e-7
        assert abs(L * gain + 1) < 1e-10 * max(slope * gain, 1.0)


@pytest.mark.parametrize("plant", LOOPS)
def test_margins_are_right_and_none_is_missed(plant: Plant) -> None:
    """All that changes sign on a grid of 20 000 frequencies is found."""
    plant = gained(plant)
    found = margins(plant)
    require_right(plant, found)
    w = np.geomspace(1e-5, 1e6 if plant.continuous else np.pi / plant.dt * (1 - 1e-9), 20_000)
    L = FrequencyResponse(plant)(w)[:, 0, 0]
    passing = np.flatnonzero(np.sign(np.abs(L[1:]) - 1) != np.sign(np.abs(L[:-1]) - 1))
    inside = found.gain_crossings[(found.gain_crossings > w[0]) & (found.gain_crossings < w[-1])]
    assert np.all(np.isin(passing, np.searchsorted(w, inside) - 1))
    real = (np.abs(L.imag) > 1e-12 * np.abs(L)) & (L.real < 0)
    turning = np.flatnonzero((np.sign(L.imag[1:]) != np.sign(L.imag[:-1])) & real[1:] & real[:-1])
    assert np.all(np.isin(turning, np.searchsorted(w, found.phase_crossings) - 1))
    assert found.modulus <= np.min(np.abs(1 + L)) * (1 + 1e-12)
    if 0 < found.modulus_frequency < np.inf:
        assert abs(abs(1 + value(plant, found.modulus_frequency)) - found.modulus) < 1e-10 * found.modulus


@needs_control
@pytest.mark.parametrize("plant", LOOPS)
def test_margins_are_those_of_python_control(plant: Plant) -> None:
    """Every crossing of python-control's that mpmath confirms is found; it leaves out half a turn a step."""
    import control

    plant = gained(plant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gains, _, moduli, at_phase, at_gain, _ = control.stability_margins(theirs(plant), returnall=True, method="poly")
    found = margins(plant)
    for w in at_gain:
        if w > 1e-8 and abs(abs(value(plant, w)) - 1) < 1e-8:
            assert np.min(np.abs(found.gain_crossings / w - 1), initial=1.0) < 1e-6
    for w, gain in zip(at_phase, gains):
        if 1e-8 < w < 1e6 and abs(value(plant, w) * gain + 1) < 1e-8:
            k = int(np.argmin(np.abs(found.phase_crossings / w - 1)))
            assert abs(found.phase_crossings[k] / w - 1) < 1e-6
            assert abs(found.gain_margins[k] / gain - 1) < 1e-6
    assert found.modulus <= np.min(moduli, initial=np.inf) * (1 + 1e-7)


def test_margins_that_are_known() -> None:
    """1/(s (s + 1)^2) has the gain margin 2 at 1 rad/s; k/s has a phase margin of 90 degrees at k."""
    A = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, -1.0]])
    loop = Plant(A, np.array([[0.0], [0.0], [1.0]]), np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 1)), True, 1.0)
    found = margins(loop)
    np.testing.assert_allclose(found.gain_margins, [2.0], rtol=1e-14)
    np.testing.assert_allclose(found.phase_crossings, [1.0], rtol=1e-14)
    assert found.closed_loop_stable
    integrator = Plant(np.zeros((1, 1)), np.array([[3.0]]), np.eye(1), np.zeros((1, 1)), True, 1.0)
    found = margins(integrator)
    np.testing.assert_allclose(found.gain_crossings, [3.0], rtol=1e-14)
    np.testing.assert_allclose(found.phase_margins, [np.pi / 2], rtol=1e-14)
    np.testing.assert_allclose(found.delay_margins, [np.pi / 6], rtol=1e-14)
    assert len(found.phase_crossings) == 0
    assert found.modulus == pytest.approx(1.0, abs=1e-12)


def test_crossings_that_lie_next_to_each_other_are_told_apart() -> None:
    """A resonance of the width 1e-7 whose peak is just above 1 crosses 1 twice within 1e-8 rad/s."""
    damping = 1e-8
    A, B = np.array([[0.0, 1.0], [-1.0, -2 * damping]]), np.array([[0.0], [2 * damping * (1 + 1e-3)]])
    plant = Plant(A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1)), True, 1.0)
    found = margins(plant)
    assert len(found.gain_crossings) == 2
    require_right(plant, found)
    assert 0 < found.gain_crossings[1] - found.gain_crossings[0] < 1e-8


def lyapunov(A: np.ndarray, Q: np.ndarray, continuous: bool) -> np.ndarray:
    """The solution of A W + W A' + Q = 0, or of A W A' - W + Q = 0, as linear equations of 60 digits."""
    n, M = len(A), exact(A)
    one, equations = mpmath.eye(n), mpmath.zeros(n * n)
    for i, j, k, m in np.ndindex(n, n, n, n):
        term = M[i, k] * one[j, m] + one[i, k] * M[j, m] if continuous else M[i, k] * M[j, m] - one[i, k] * one[j, m]
        equations[i * n + j, k * n + m] = term
    found = mpmath.lu_solve(equations, -mpmath.matrix([Q[i, j] for i in range(n) for j in range(n)]))
    return np.array(found.tolist(), object).reshape(n, n)


@pytest.mark.parametrize("plant", [p for p in ALL if np.all(np.real(p.values[0].rates(p.values[0].poles)) < -1e-6)])
def test_gramians_are_those_of_many_digits(plant: Plant) -> None:
    """To 1e-10 of their largest entries; Hankel singular values to 1e-10 of the largest."""
    found = gramians(plant)
    with mpmath.workdps(60):
        B, C = exact(plant.B), exact(plant.C)
        W, M = lyapunov(plant.A, B * B.T, plant.continuous), lyapunov(plant.A.T, C.T * C, plant.continuous)
        product = mpmath.matrix(W.tolist()) * mpmath.matrix(M.tolist())
        roots = mpmath.eig(product)[0] if len(plant.A) > 1 else [product[0]]
        values = np.sqrt(sorted((abs(complex(root)) for root in roots), reverse=True))
    for mine, theirs in ((found.controllability, W), (found.observability, M)):
        assert np.max(np.abs(mine - theirs.astype(float))) < 1e-10 * np.max(np.abs(mine))
    np.testing.assert_allclose(found.hankel, values, rtol=0, atol=1e-10 * values[0])


@needs_control
@pytest.mark.parametrize("plant", MILD)
def test_zeros_are_those_of_python_control(plant: Plant) -> None:
    if plant.B.shape[1] != plant.C.shape[0]:
        pytest.skip("python-control has zeros of square systems only, without slycot")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = theirs(plant).zeros()
    wanted = wanted[np.abs(wanted) < 1e6]  # those beyond are infinite ones, moved by rounding
    found = plant.zeros[np.abs(plant.zeros) < 1e6]
    assert len(found) == len(wanted)
    for zero in wanted:
        assert np.min(np.abs(found - zero), initial=np.inf) < 1e-6 * max(abs(zero), 1.0)
