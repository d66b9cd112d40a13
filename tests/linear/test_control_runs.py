"""Runs with D, names, other names of keys and `[analysis]`: results, files, pictures, and what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from running import call
from scipy.signal import StateSpace

import simsuite
from simsuite.assembly import make_problem
from simsuite.errors import ScenarioError
from simsuite.scenario.load import load_table
from simsuite.solvers.linear.problem import LinearProblem

MOTOR: dict[str, Any] = {
    "solver": "linear",
    "run": {"device": "cpu"},
    "system": {
        "kind": "continuous",
        "A": [[0.0, 1.0, 0.0], [0.0, -1.0, 10.0], [0.0, -0.02, -200.0]],
        "B": [[0.0], [0.0], [100.0]],
        "C": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        "D": [[0.5], [0.0]],
        "input": ["sin(3*t)"],
    },
    "names": {"state": ["angle", "speed", "current"], "input": ["voltage"], "output": ["angle", "speed"]},
    "initial": {"x0": [0.0, 0.5, 0.0]},
    "time": {"steps": 50, "dt": 0.02},
    "output": {"frames": 11},
    "analysis": {"bode": True, "step_response": True, "poles": True, "gramians": True},
}
ALL = {"bode": True, "step_response": True, "poles": True, "gramians": True, "margins": True}


def changed(**sections: Any) -> dict[str, Any]:
    """The motor with further keys in sections; a section that is None is left out."""
    table = copy.deepcopy(MOTOR)
    for name, keys in sections.items():
        table[name] = {**table.get(name, {}), **keys} if keys is not None else None
        if keys is None:
            del table[name]
    return table


def problem(table: dict[str, Any]) -> LinearProblem:
    made: LinearProblem = make_problem(load_table(table, Path("case.toml")))
    return made


def mistakes(table: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        problem(table)
    return [f"{'.'.join(map(str, m.path))}: {m.message}" for m in caught.value.mistakes]


def test_inputs_act_on_outputs_at_once(tmp_path: Path) -> None:
    with_D = simsuite.run(MOTOR, directory=tmp_path / "a").dataset["state"]
    system = {key: value for key, value in MOTOR["system"].items() if key != "D"}
    without = simsuite.run({**MOTOR, "system": system}, directory=tmp_path / "b").dataset["state"]
    u = np.sin(3 * with_D["time"].values)
    np.testing.assert_allclose(with_D[:, 0, 0], without[:, 0, 0] + 0.5 * u, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(with_D[:, 1, 0], without[:, 1, 0])


@pytest.mark.parametrize("more", [{"method": "power"}, {"method": "step"}, {"method": "spectral"}])
def test_every_method_and_a_batch_have_D(more: dict[str, Any], tmp_path: Path) -> None:
    table = changed(system={"input": [2.0]}, initial={"x0": [[0.0, 1.0], [0.5, 0.0], [0.0, 0.0]]}, time=more)
    found = simsuite.run(table, directory=tmp_path / "a").dataset["state"].values
    del table["system"]["D"]
    plain = simsuite.run(table, directory=tmp_path / "b").dataset["state"].values
    np.testing.assert_allclose(found - plain, np.broadcast_to([[[1.0], [0.0]]], plain.shape), atol=1e-13)


def test_steady_states_and_means_have_D(tmp_path: Path) -> None:
    system = {
        "kind": "discrete",
        "A": [[0.5]],
        "B": [[1.0]],
        "C": [[2.0]],
        "D": [[3.0]],
        "input": [1.0],
        "noise_matrix": [[0.01]],
    }
    table = {
        "solver": "linear",
        "run": {"device": "cpu"},
        "system": system,
        "initial": {"x0": [2.0], "copies": 64},
        "time": {"steps": 5},
    }
    run = simsuite.run(table, directory=tmp_path)
    assert run.results["analysis"]["steady_state"] == pytest.approx([7.0])
    np.testing.assert_allclose(run.dataset["state_mean_exact"].values, 7.0, rtol=1e-14)
    assert run.results["noise"]["mean"][0] == pytest.approx(7.0, abs=0.1)


def test_D_may_be_complex(tmp_path: Path) -> None:
    system = {"kind": "discrete", "A": [["1j"]], "B": [[0.0]], "C": [[1.0]], "D": [["0.5-2j"]], "input": [2.0]}
    table = {
        "solver": "linear",
        "run": {"device": "cpu"},
        "system": system,
        "initial": {"x0": [1.0]},
        "time": {"steps": 2},
    }
    data = simsuite.run(table, directory=tmp_path).dataset
    assert data["state_real"].values.ravel().tolist() == [2.0, 1.0, 0.0]
    assert data["state_imag"].values.ravel().tolist() == [-4.0, -3.0, -4.0]


def test_other_names_of_keys_say_the_same(tmp_path: Path) -> None:
    table = copy.deepcopy(MOTOR)
    keys = {"A": "matrix", "B": "input_matrix", "C": "output_matrix", "D": "feedthrough"}
    table["system"] = {keys.get(key, key): value for key, value in MOTOR["system"].items()}
    table["initial"] = {"state": MOTOR["initial"]["x0"]}
    runs = [simsuite.run(t, directory=tmp_path / name) for name, t in (("a", MOTOR), ("b", table))]
    np.testing.assert_array_equal(*(run.dataset["state"].values for run in runs))
    texts = [(tmp_path / name / "scenario.toml").read_text().replace(f'/{name}"', "") for name in "ab"]
    assert texts[0] == texts[1]


def test_other_names_go_together_with_overrides(tmp_path: Path, capsys: Any) -> None:
    """An override by one name takes the place of the key by the other."""
    (tmp_path / "s.toml").write_text(tomli_w.dumps(MOTOR))
    for key in ("initial.x0", "initial.state"):
        done = call(capsys, "run", tmp_path / "s.toml", "-o", tmp_path / key, "--set", f"{key}=[1.0, 2.0, 3.0]")
        assert done.returncode == 0, done.stderr
        assert "state = [" in (tmp_path / key / "scenario.toml").read_text()
    explained = call(capsys, "explain", "system.A")
    assert "system.matrix" in explained.stdout


def test_results_and_files_hold_what_was_asked_for(tmp_path: Path) -> None:
    run = simsuite.run(MOTOR, directory=tmp_path)
    data, found = run.dataset, run.results["analysis"]
    assert data["component_name"].values.tolist() == run.results["components"] == ["angle", "speed"]
    system = StateSpace(*(np.array(MOTOR["system"][key]) for key in "ABCD"))
    w = data["frequency"].values
    for k, name in enumerate(("angle", "speed")):
        _, wanted = StateSpace(system.A, system.B, system.C[[k]], system.D[[k]]).freqresp(w)
        one = data.sel(output=name, input="voltage")
        G = one["bode_magnitude"].values * np.exp(1j * one["bode_phase"].values)
        np.testing.assert_allclose(G, wanted, rtol=1e-6)
    t = data["response_time"].values
    assert data["step_response"].dims == ("output", "input", "response_time")
    np.testing.assert_allclose(data["step_response"].sel(output="speed", input="voltage")[0], 0.0)
    assert t[-1] == pytest.approx(1.0), "of a system that is not stable, as long as the run"
    assert found["gramians_note"].endswith("the system is marginally stable")
    assert found["bode"]["voltage -> angle"]["static_gain"] is None
    assert found["bode"]["voltage -> speed"]["static_gain"] == pytest.approx(1000 / 200.2)
    assert found["poles"]["natural_frequency"] == pytest.approx([0.0, 1.001005, 199.998995])
    json.dumps(run.results, allow_nan=False)


LOOP = changed(
    system={"C": [[1.0, 0.0, 0.0]], "D": [[0.0]]}, names={"output": ["angle"]}, analysis={**ALL, "bode": {"points": 50}}
)


def test_a_loop_of_which_all_is_asked_is_told_and_drawn(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "s.toml").write_text(tomli_w.dumps(LOOP))
    done = call(capsys, "run", tmp_path / "s.toml", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    told = call(capsys, "info", "-v", tmp_path / "run").stdout
    for line in ("gain_margin ", "phase_margin ", "degrees", "voltage -> angle", "closed_loop", "(output C X: angle)"):
        assert line in told
    listed = call(capsys, "info", "--csv", tmp_path / "run").stdout
    assert "analysis.margins.phase_margin," in listed
    assert "components.0,angle," in listed
    drawn = call(capsys, "plot", tmp_path / "run", "-o", tmp_path / "picture.png")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "picture.png").stat().st_size > 20_000


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_a_stable_system_has_gramians_and_a_final_value(kind: str, tmp_path: Path) -> None:
    A = [[-1.0, 0.0], [1.0, -2.0]] if kind == "continuous" else [[0.5, 0.0], [0.25, 0.2]]
    system = {"kind": kind, "A": A, "B": [[1.0], [0.0]], "C": [[0.0, 1.0]], "D": [[0.0]], "input": [0.0]}
    table = changed(system=system, names=None, initial={"x0": [0.0, 0.0]}, time={"dt": 0.1}, analysis=ALL)
    run = simsuite.run(table, directory=tmp_path)
    found = run.results["analysis"]
    static = found["bode"]["u0 -> y0"]["static_gain"]
    assert static == pytest.approx(0.5 if kind == "continuous" else 0.25 / 0.5 / 0.8)
    assert found["step_response"]["u0 -> y0"]["final_value"] == static
    assert found["step_response"]["u0 -> y0"]["last"] == pytest.approx(static, rel=1e-2)
    hankel = found["gramians"]["hankel_singular_values"]
    assert hankel[0] - hankel[1] == pytest.approx(abs(static) / 2, rel=0.5)
    W = run.dataset["controllability_gramian"].values
    A, B = np.array(A), np.array([[1.0], [0.0]])
    rest = A @ W + W @ A.T + B @ B.T if kind == "continuous" else A @ W @ A.T - W + B @ B.T
    np.testing.assert_allclose(rest, 0, atol=1e-15)
    if kind == "discrete":
        assert run.dataset["frequency"].values[-1] == pytest.approx(np.pi / 0.1)


def test_without_outputs_and_inputs_what_is_asked_is_of_the_state(tmp_path: Path) -> None:
    """A Markov chain: its poles are told, it has no zeros."""
    table = {
        "solver": "linear",
        "run": {"device": "cpu"},
        "system": {"kind": "discrete", "A": [[0.9, 0.2], [0.1, 0.8]]},
        "names": {"state": ["sunny", "rainy"]},
        "initial": {"x0": [1.0, 0.0]},
        "time": {"steps": 10},
        "analysis": {"poles": True},
    }
    run = simsuite.run(table, directory=tmp_path)
    assert run.results["components"] == ["sunny", "rainy"]
    assert run.results["analysis"]["poles"]["real"] == pytest.approx([1.0, 0.7])
    assert run.results["analysis"]["poles"]["time_constant"] == [None, pytest.approx(-1 / np.log(0.7))]
    assert run.results["analysis"]["poles"]["natural_frequency"][0] == 0.0
    assert "zero_real" not in run.dataset


def test_a_run_that_is_continued_has_the_same_file(tmp_path: Path) -> None:
    table = changed(time={"steps": 5000})
    whole = simsuite.run(table, directory=tmp_path / "whole").dataset
    again = simsuite.run(table, directory=tmp_path / "whole").dataset
    for name in whole:
        np.testing.assert_array_equal(whole[name].values, again[name].values)


def test_members_of_a_sweep_may_have_different_crossings(tmp_path: Path, capsys: Any) -> None:
    """k/(s + 1) crosses 1 only if k is more than 1."""
    system = {"kind": "continuous", "A": [[-1.0]], "B": [["k"]], "C": [[1.0]], "input": [0.0]}
    table = {
        "solver": "linear",
        "run": {"device": "cpu"},
        "constants": {"k": 2.0},
        "system": system,
        "initial": {"x0": [1.0]},
        "time": {"steps": 10, "dt": 0.1},
        "analysis": {"margins": True},
    }
    (tmp_path / "s.toml").write_text(tomli_w.dumps(table))
    done = call(capsys, "sweep", tmp_path / "s.toml", "--vary", "constants.k=0.5,2", "-o", tmp_path / "sweep", "--json")
    assert done.returncode == 0, done.stderr
    assert "modulus_margin" in done.stdout


REFUSED = {
    "two outputs": (
        changed(analysis={"margins": True}),
        "analysis.margins: margins are those of a loop with one input",
    ),
    "large": (
        changed(
            system={
                "A": {"generator": "random_stable", "size": 600},
                "B": [[1.0]] * 600,
                "C": [[1.0] * 600],
                "D": [[0.0]],
            },
            initial={"x0": [0.0] * 600},
            names=None,
        ),
        "analysis.bode: the matrix has 600 rows; `bode` is computed of up to 512",
    ),
    "complex": (changed(system={"D": [["1j"], [0.0]]}), "analysis.bode: is for real systems"),
    "beyond half a turn": (
        changed(system={"kind": "discrete"}, analysis={"bode": {"to": 200.0}}),
        "analysis.bode.to: is more than half a turn a step, pi/dt = 157.07963",
    ),
    "names": (changed(names={"state": ["a"]}), "names.state: has 1 name, but the system has 3 components"),
    "more names": (
        changed(names={"output": ["a", "b", "c"]}),
        "names.output: has 3 names, but the system has 2 outputs",
    ),
    "D": (changed(system={"D": [[1.0, 2.0]]}), "system.feedthrough: `feedthrough` is 1 x 2, but there are 2 outputs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_computed_is_refused_before_the_run(name: str) -> None:
    table, text = REFUSED[name]
    assert any(found.startswith(text) for found in mistakes(table)), mistakes(table)
