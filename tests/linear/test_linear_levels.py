"""When outputs of linear systems reach levels: against closed forms, and against SciPy for random systems."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import simsuite
from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.summaries.linear import linear_lines

CIRCLE: dict[str, Any] = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[0.0, 1.0], [-1.0, 0.0]]},
    "initial": {"state": [1.0, 0.0]},
    "names": {"state": ["position", "speed"]},
    "time": {"dt": 0.05, "end": 20.0},
    "event": [
        {"of": "position", "reaches": 0.0},
        {"name": "rising", "of": "position", "reaches": 0.0, "direction": "up"},
        {"of": 1, "reaches": -0.5, "direction": "down"},
        {"of": "speed", "reaches": 1.5},
    ],
}


@pytest.mark.parametrize("method", ["step", "power", "spectral"])
def test_an_oscillator_passes_zero_at_odd_multiples_of_a_quarter_turn(
    tmp_path: Path, backend: Backend, method: str
) -> None:
    few = {"time.end": 2.0} if backend.name == "cudasim" else {}
    run = simsuite.run(CIRCLE, set={"time.method": method, **few}, device=backend.name, directory=tmp_path)
    found, quarter = run.results["events"], math.pi / 2
    assert run.summary["stepper"] == method
    times = found["position reaches 0"]["times"]
    np.testing.assert_allclose(times, quarter * np.arange(1, 2 * len(times), 2), atol=1e-8)
    assert len(times) == (1 if few else 6)
    assert found["rising"]["times"] == times[1::2]
    assert abs(found["1 reaches -0.5"]["first"] - math.pi / 6) < 1e-6
    assert found["speed reaches 1.5"]["first"] is None
    assert found["speed reaches 1.5"]["min"] < (-0.99 if few else -0.999)


@pytest.mark.parametrize("seed", range(6))
def test_random_systems_pass_levels_when_scipy_says(tmp_path: Path, seed: int) -> None:
    """With an input that jumps and one that is a straight line over each step, an output with D, and batches."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    A = rng.normal(size=(n, n)) - 1.2 * np.eye(n)
    B, C, x = rng.normal(size=(n, 1)), rng.normal(size=(2, n)), rng.normal(size=(n, 2))
    D = rng.normal(size=(2, 1)) if seed % 2 else np.zeros((2, 1))
    level, jump = float(rng.normal(scale=0.3)), 3.0
    u = f"where(t < {jump}, 1, -0.5)"
    scenario = {
        "solver": "linear",
        "system": {
            "kind": "continuous",
            "matrix": A.tolist(),
            "input_matrix": B.tolist(),
            "input": [u],
            "output_matrix": C.tolist(),
            **({"feedthrough": D.tolist()} if seed % 2 else {}),
        },
        "initial": {"state": x.tolist()},
        "time": {"dt": 0.01, "end": 6.0},
        "event": [{"of": "y1", "sample": 1, "reaches": level}],
        "output": {"frames": 3},
    }
    run = simsuite.run(scenario, device="cpu", directory=tmp_path)
    expected, state, last = [], x[:, 1], level
    for begin, end, value in ((0.0, jump, 1.0), (jump, 6.0, -0.5)):
        after = C[1] @ state + D[1, 0] * value
        if (last - level) * (after - level) < 0:
            expected.append(begin)
        solved = solve_ivp(
            lambda t, X, u=value: A @ X + B[:, 0] * u,
            (begin, end),
            state,
            events=lambda t, X, u=value: C[1] @ X + D[1, 0] * u - level,
            rtol=1e-11,
            atol=1e-12,
        )
        expected += list(solved.t_events[0])
        state = solved.y[:, -1]
        last = C[1] @ state + D[1, 0] * value
    found = run.results["events"]["y1 reaches " + f"{level:g}"]
    np.testing.assert_allclose(found["times"], expected, atol=1e-5)


@pytest.mark.parametrize("hold", ["zero", "first"])
@pytest.mark.parametrize(
    ("u", "dt", "steps", "level"),
    [("where(t < 1, 0, 100) + 1e-9*sin(t)", 0.1, 20, 0.5), ("10*sin(40*t)", 0.05, 40, 0.05)],
)
def test_no_curve_goes_over_steps_at_which_inputs_change(
    tmp_path: Path, hold: str, u: str, dt: float, steps: int, level: float
) -> None:
    """dx/dt = u - x, u new at every step: within one, x is an exponential, which passes the level where SciPy says."""

    def given(t: float) -> float:
        return (100.0 * (t >= 1) + 1e-9 * math.sin(t)) if "where" in u else 10 * math.sin(40 * t)

    expected, x = [], 0.0
    for k in range(steps):
        begin = given(k * dt)
        slope = (given((k + 1) * dt) - begin) / dt if hold == "first" else 0.0

        def within(t: float, x: float = x, begin: float = begin, slope: float = slope) -> float:
            return (x - begin + slope) * math.exp(-t) + begin - slope + slope * t

        if (x - level) * (within(dt) - level) < 0:
            expected.append(k * dt + brentq(lambda t, x=within: x(t) - level, 0.0, dt, xtol=1e-15))
        x = within(dt)
    scenario = {
        "solver": "linear",
        "system": {"kind": "continuous", "matrix": [[-1.0]], "input_matrix": [[1.0]], "input": [u], "hold": hold},
        "initial": {"state": [0.0]},
        "time": {"dt": dt, "steps": steps},
        "event": [{"name": "there", "of": 0, "reaches": level}],
    }
    assert expected
    for i, (change, atol) in enumerate(
        [({}, 1e-5), ({"time.method": "step"}, 1e-5), ({"output.looks": steps // 2 + 1}, dt * 2)]
    ):
        found = simsuite.run(scenario, set=change, device="cpu", directory=tmp_path / f"{i}").results["events"]["there"]
        if i < 2 or "where" in u:  # looks at every other step miss some
            np.testing.assert_allclose(found["times"], expected, atol=atol)
        for t, error in zip(found["times"], found["time_errors"], strict=True):
            assert min(abs(t - each) for each in expected) <= error + 1e-13, (change, t, error)


@pytest.mark.parametrize("method", ["step", "auto"])
def test_few_looks_at_an_input_that_rarely_changes_are_those_at_its_changes_too(tmp_path: Path, method: str) -> None:
    """dx/dt = u - x with u = 0 until 1, then 2: x = 2 - 2 exp(1 - t) is 0.1 at 1 + log(2/1.9)."""
    scenario = {
        "solver": "linear",
        "system": {
            "kind": "continuous",
            "matrix": [[-1.0]],
            "input_matrix": [[1.0]],
            "input": ["where(t < 1, 0, 2)"],
        },
        "initial": {"state": [0.0]},
        "time": {"dt": 0.01, "steps": 300, "method": method},
        "event": [{"name": "there", "of": 0, "reaches": 0.1}],
        "output": {"frames": 2, "looks": 26},
    }
    run = simsuite.run(scenario, device="cpu", directory=tmp_path)
    ((t,), (error,)) = (run.results["events"]["there"][name] for name in ("times", "time_errors"))
    assert abs(t - 1 - math.log(2 / 1.9)) < 2e-6
    assert abs(t - 1 - math.log(2 / 1.9)) < error < 1e-3


def test_in_discrete_time_a_level_is_reached_at_a_step(tmp_path: Path) -> None:
    halving = {
        "solver": "linear",
        "system": {"kind": "discrete", "matrix": [[0.5]]},
        "initial": {"state": [1.0]},
        "time": {"steps": 20, "dt": 3.0},
        "event": [{"of": 0, "reaches": 0.1}, {"name": "end", "of": 0, "reaches": 0.003, "stop": True}],
        "output": {"frames": 2},
    }
    run = simsuite.run(halving, device="cpu", directory=tmp_path)
    assert run.results["events"]["0 reaches 0.1"]["times"] == [12.0]
    assert (run.summary["ended_by"], run.summary["steps"]) == ("end", 9)
    assert run.results["state"] == [[0.5**9]]
    assert run.results["extremes"]["largest"] == {"value": 1.0, "component": "x0", "sample": 0, "time": 0.0}
    assert run.dataset["time"].values.tolist() == [0.0, 27.0]


def test_the_largest_entry_is_that_of_looks_too(tmp_path: Path) -> None:
    """x1 = -sin t has its largest magnitude within the run, whose frames are its beginning and its end."""
    change = {"time.end": math.pi / 2 + 0.02, "time.dt": (math.pi / 2 + 0.02) / 40, "initial.state": [0.0, 1e-3]}
    change |= {"output.frames": 2}
    run = simsuite.run(CIRCLE, set=change, device="cpu", directory=tmp_path / "looks")
    alone = simsuite.run(CIRCLE | {"event": []}, set=change, device="cpu", directory=tmp_path / "frames")
    for each, seen in ((run, "frames and looks"), (alone, "frames")):
        (line,) = [line for line in linear_lines(each.results, False) if "the largest entry" in line]
        assert f"of all {seen}: " in line
    assert 0.99e-3 < abs(run.results["extremes"]["largest"]["value"]) <= 1e-3


def test_noise_passes_levels_between_its_steps(tmp_path: Path) -> None:
    """Random paths are joined by straight lines: the times are those of NumPy's interpolation of all frames."""
    walk = {
        "solver": "linear",
        "system": {"kind": "continuous", "matrix": [[-0.5]], "noise_matrix": [[1.0]]},
        "initial": {"state": [0.0], "copies": 3},
        "time": {"steps": 300, "dt": 0.02},
        "event": [{"of": 0, "sample": 2, "reaches": 0.2}],
        "output": {"frames": 301},
    }
    run = simsuite.run(walk, device="cpu", directory=tmp_path)
    t, y = run.dataset["time"].values, run.dataset["state"].values[:, 0, 2]
    k = np.flatnonzero((y[1:] >= 0.2) != (y[:-1] >= 0.2))
    expected = t[k] + (t[k + 1] - t[k]) * (0.2 - y[k]) / (y[k + 1] - y[k])
    found = run.results["events"]["0 reaches 0.2"]
    np.testing.assert_allclose(found["times"], expected[:64], rtol=1e-12)
    assert found["count"] == len(expected) > 3
    largest = run.results["extremes"]["largest"]
    values = run.dataset["state"].values
    assert abs(largest["value"]) == np.abs(values).max()
    assert largest["time"] == t[np.unravel_index(np.abs(values).argmax(), values.shape)[0]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"event": [{"of": "height", "reaches": 1.0}]}, "there is no state `height`"),
        ({"event": [{"of": 2, "reaches": 1.0}]}, "there is no state 2"),
        ({"event": [{"of": 0, "sample": 1, "reaches": 1.0}]}, "there is no state 1 in a batch of 1 state"),
        ({"system.matrix": [["0+1j", 0.0], [0.0, 1.0]], "event": [{"of": 0, "reaches": 1.0}]}, "complex number"),
    ],
)
def test_entries_that_there_are_not_are_mistakes(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        simsuite.run(CIRCLE, set=change, directory=tmp_path)
