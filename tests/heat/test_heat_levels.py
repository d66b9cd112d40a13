"""When temperatures reach levels, and when and where a plate was hottest: against closed forms and SciPy."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import simsuite
from simsuite.core import Backend
from simsuite.errors import ScenarioError

N, ALPHA = 8, 0.01
H = 1.0 / N
RATE = ALPHA * 8 / H**2 * math.sin(math.pi * H / 2) ** 2  # of the slowest mode of the plate's difference equations, 1/s
COLD = {"kind": "temperature", "value": 0.0}
SINE: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": N, "ny": N},
    "material": {"diffusivity": ALPHA},
    "initial": {"temperature": "sin(pi*x)*sin(pi*y)"},
    "boundary": dict.fromkeys(("left", "right", "bottom", "top"), COLD),
    "event": [
        {"of": "max", "reaches": 0.5, "direction": "down"},
        {"name": "rises", "of": "max", "reaches": 0.5, "direction": "up"},
        {"name": "half of the mean", "of": "mean", "reaches": 0.2},
    ],
    "time": {"end": 10.0, "stepper": "exact"},
}


def modes(start: float, level: float) -> float:
    """The time at which the slowest mode alone falls from `start` to `level`, s."""
    return math.log(start / level) / RATE


def test_a_mode_falls_to_a_level_at_the_time_of_its_closed_form(tmp_path: Path, backend: Backend) -> None:
    """By exact steps only interpolation errs. Largest and mean value of the first state follow from sums of sines."""
    few = {"output.looks": 11} if backend.name == "cudasim" else {}
    run = simsuite.run(SINE, set=few, device=backend.name, directory=tmp_path / "run")
    found = run.results["events"]
    x = (np.arange(N) + 0.5) * H
    expected = {"max reaches 0.5": modes(np.sin(np.pi * x).max() ** 2, 0.5)}
    expected["half of the mean"] = modes(np.sin(np.pi * x).mean() ** 2, 0.2)
    for name, time in expected.items():
        assert found[name]["count"] == 1
        assert found[name]["times"] == [found[name]["first"]]
        assert abs(found[name]["first"] - time) <= found[name]["time_errors"][0] + 1e-9
        assert abs(found[name]["first"] - time) < (1e-2 if few else 1e-8)
    assert (found["rises"]["count"], found["rises"]["first"]) == (0, None)
    assert found["rises"]["max_time"] == 0.0
    with h5py.File(tmp_path / "run" / "results.h5") as file:
        assert list(file["event"].asstr()) == list(found)
        assert file["event_count"][...].tolist() == [1, 0, 1]
        assert file["event_time"][0, 0] == found["max reaches 0.5"]["first"]
        assert np.isnan(file["event_time"][1]).all()


@pytest.mark.parametrize("stepper", ["auto", "adi", "rkl2", "explicit"])
def test_the_error_of_steps_is_all_that_is_added(tmp_path: Path, stepper: str) -> None:
    """Steps as long as their error allows are looked at one by one; a coarse tolerance makes them long."""
    change = {"time.stepper": stepper, "time.tolerance": 1e-4}
    run = simsuite.run(SINE, set=change, device="cpu", directory=tmp_path)
    x = (np.arange(N) + 0.5) * H
    time = modes(np.sin(np.pi * x).max() ** 2, 0.5)
    error = 0.05 if stepper == "explicit" else 3 * 1e-4 / (0.5 * RATE)
    assert abs(run.results["events"]["max reaches 0.5"]["first"] - time) < error


def test_probes_of_a_plate_with_a_switched_source_are_those_of_scipy(tmp_path: Path) -> None:
    """Four cells, of which one is heated until t = 1: probes at their middles against solve_ivp and its events."""
    plate = {
        "solver": "heat",
        "grid": {"nx": 4, "ny": 1, "lx": 4.0, "ly": 1.0},
        "material": {"conductivity": 2.0, "density": 1.0, "specific_heat": 1.0},
        "boundary": {"left": {"kind": "convection", "h": 1.0, "ambient": 0.0}},
        "source": [{"power": "where(x < 1, 8, 0)*where(t < 1, 1, 0)"}],
        "probe": [{"name": f"p{i}", "x": i + 0.5, "y": 0.5} for i in range(4)],
        "event": [{"of": f"p{i}", "reaches": level} for i, level in ((0, 2.5), (1, 1.2), (3, 0.6))],
        "time": {"end": 3.0, "tolerance": 1e-6},
        "output": {"frames": 2},
    }

    def slope(T: np.ndarray, on: bool) -> np.ndarray:
        flow = -2.0 * np.diff(T)
        into = np.concatenate([[-T[0] / (1.0 + 0.5 / 2.0)], flow]) - np.concatenate([flow, [0.0]])
        return into + np.array([8.0 * on, 0, 0, 0])

    def level(i: int, value: float) -> Any:
        return lambda t, T: T[i] - value

    watched = [level(0, 2.5), level(1, 1.2), level(3, 0.6)]
    at, start, times = 0.0, np.zeros(4), [[] for _ in watched]
    peak = (0.0, 0.0)
    for end in (1.0, 3.0):
        solved = solve_ivp(
            lambda t, T, on=end == 1.0: slope(T, on),
            (at, end),
            start,
            events=watched,
            rtol=1e-11,
            atol=1e-12,
        )
        for k, found in enumerate(solved.t_events):
            times[k] += list(found)
        at, start = end, solved.y[:, -1]
        peak = max(peak, (start[0], end))
    run = simsuite.run(plate, device="cpu", directory=tmp_path)
    for found, expected in zip(run.results["events"].values(), times):
        np.testing.assert_allclose(found["times"], expected, atol=2e-4)
    assert sum(map(len, times)) == 5  # two of the probes rise and fall again
    hottest = run.results["extremes"]["hottest"]
    assert (hottest["time"], hottest["x"], hottest["y"]) == (1.0, 0.5, 0.5)  # when the source is switched off
    assert abs(hottest["temperature"] - peak[0]) < 1e-4


def test_a_run_ends_at_the_look_after_a_level_that_stops_it(tmp_path: Path) -> None:
    """What it stores before is that of a run that goes on; it is complete, and has a row for its end."""
    stop = SINE | {"event": [SINE["event"][0] | {"stop": True}]}
    going = simsuite.run(SINE, device="cpu", directory=tmp_path / "whole")
    run = simsuite.run(stop, device="cpu", directory=tmp_path / "run")
    assert (run.summary["status"], run.summary["ended_by"]) == ("complete", "max reaches 0.5")
    first, name = run.results["events"]["max reaches 0.5"]["first"], "max reaches 0.5"
    assert first <= run.summary["time"] <= first + 0.01
    # three looks instead of four are around a crossing that ends the run
    assert abs(first - going.results["events"][name]["first"]) < 1e-8
    with h5py.File(tmp_path / "run" / "results.h5") as file, h5py.File(tmp_path / "whole" / "results.h5") as whole:
        assert file["time"][-1] == file["sample_time"][-1] == run.summary["time"]
        n = len(file["time"]) - 1
        assert 1 < n < 11
        assert np.array_equal(file["temperature"][:n], whole["temperature"][:n])
        assert file["temperature"][-1].max() == run.results["max"] < 0.5
    again = simsuite.run(stop, device="cpu", directory=tmp_path / "run")
    assert again.summary == run.summary


def test_events_change_no_bits_of_steps_that_control_their_error(tmp_path: Path) -> None:
    plain = {key: value for key, value in SINE.items() if key != "event"}
    for name, scenario in (("plain", plain), ("watched", SINE)):
        simsuite.run(scenario, set={"time.stepper": "rkl2"}, device="cpu", directory=tmp_path / name)
    with h5py.File(tmp_path / "plain" / "results.h5") as one, h5py.File(tmp_path / "watched" / "results.h5") as other:
        assert all(one[name][...].tobytes() == other[name][...].tobytes() for name in ("temperature", "energy_stored"))


def test_the_first_hottest_cell_of_a_row_is_found_by_every_kernel(heat: Any, backend: Backend) -> None:
    """Cells that are equally hot, cold, or NaN, and rows longer than a block of threads."""
    rng = np.random.default_rng(4)
    nx = 12 if backend.name == "cudasim" else 300
    problem = heat(grid={"nx": nx, "ny": 3})
    T = rng.integers(0, 4, (3, nx)).astype(float)
    start = problem.initial()
    stepper = problem.stepper(backend, type(start)(0, {**start.arrays, "temperature": T}))
    with stepper.observe("sample") as observed:
        assert observed.arrays["row_max_at"].tolist() == T.argmax(axis=1).tolist()
        assert observed.arrays["row_min_at"].tolist() == T.argmin(axis=1).tolist()


def test_steady_states_have_neither_course_nor_extremes_of_one(tmp_path: Path) -> None:
    steady = {
        "solver": "heat",
        "grid": {"nx": 4, "ny": 4},
        "material": {"conductivity": 1.0},
        "boundary": {"left": {"kind": "temperature", "value": 5.0}},
        "time": {"steady": True},
    }
    assert "extremes" not in simsuite.run(steady, device="cpu", directory=tmp_path).results
    with pytest.raises(ScenarioError, match="has no times"):
        simsuite.run(steady, set={"event": [{"of": "max", "reaches": 1.0}]}, directory=tmp_path / "other")


def test_what_is_told_of_a_run_is_valid_json_with_names_for_sweeps(tmp_path: Path) -> None:
    from simsuite.sweeps.table import numbers, result_named

    simsuite.run(SINE, set={"time.stepper": "adi"}, device="cpu", directory=tmp_path)
    found = numbers(json.loads((tmp_path / "summary.json").read_text())["results"])
    name = result_named("results.events.max reaches 0.5.first", list(found))
    assert found[name] == pytest.approx(3.4, abs=0.1)
    assert found[result_named("extremes.hottest.time", list(found))] == 0.0
