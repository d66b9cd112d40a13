"""Inputs that stand in a file: what a run does with them, and mistakes in the file."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from control_systems import exact, systems

import simsuite
from simsuite.assembly import make_problem
from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.scenario.load import load_table
from simsuite.solvers.linear.control.plant import Plant

RUN = {"device": "cpu"}
STEPS = 40
ALL = [pytest.param(plant, id=name) for name, plant in systems()]
MILD = [pytest.param(plant, id=name) for name, plant in systems() if "stiff" not in name]


def table(plant: Plant, directory: Path, hold: str, **more: Any) -> tuple[dict[str, Any], np.ndarray]:
    """A scenario that runs a plant with inputs of a file, which change every few steps; and the inputs at steps 0, 1,
    .., STEPS, of shape (STEPS + 1, p)."""
    p = plant.B.shape[1]
    rng = np.random.default_rng(p)
    dt = 0.125 if plant.continuous else plant.dt
    rows = np.unique([0, *rng.integers(1, STEPS, 12), STEPS])
    values = rng.uniform(-1, 1, (len(rows), p)).round(3)
    u = np.array([np.interp(range(STEPS + 1), rows, column) for column in values.T]).T
    if hold == "zero":
        u = values[np.searchsorted(rows, range(STEPS + 1), side="right") - 1]
    lines = [",".join(["time", *(f"in {k}" for k in range(p))])]
    lines += [",".join(map(repr, [float(k * dt), *map(float, row)])) for k, row in zip(rows, values)]
    (directory / "u.csv").write_text("\n".join(lines))
    given = {
        "solver": "linear",
        "run": RUN,
        "system": {
            "kind": "continuous" if plant.continuous else "discrete",
            **{key: getattr(plant, key).tolist() for key in "ABCD"},
            "input": {"file": str(directory / "u.csv")},
            **({"hold": hold} if plant.continuous else {}),
        },
        "initial": {"x0": [1.0] * len(plant.A)},
        "time": {"steps": STEPS, "dt": dt, **more},
        "output": {"every": dt},
    }
    return given, u


def outputs(given: dict[str, Any], directory: Path) -> np.ndarray:
    """(STEPS + 1, q)"""
    found: np.ndarray = simsuite.run(given, directory=directory / "run").dataset["state"].values[:, :, 0]
    return found


def wanted(plant: Plant, u: np.ndarray, dt: float, hold: str) -> np.ndarray:
    """The outputs (STEPS + 1, q) from 60 digits."""
    n, p = plant.B.shape
    with mpmath.workdps(60):
        block = mpmath.zeros(n + 2 * p)
        block[:n, :n], block[:n, n : n + p] = exact(plant.A), exact(plant.B)
        if plant.continuous:
            for k in range(p):
                block[n + k, n + p + k] = 1
            block = mpmath.expm(block * mpmath.mpf(dt))
        x, found = mpmath.ones(n, 1), []
        for k in range(STEPS + 1):
            now = exact(u[k][:, None])
            found.append(np.array((exact(plant.C) * x + exact(plant.D) * now).tolist(), float)[:, 0])
            rise = (exact(u[min(k + 1, STEPS)][:, None]) - now) / mpmath.mpf(dt)
            x = block[:n, :n] * x + block[:n, n : n + p] * now
            if hold == "first":
                x += block[:n, n + p :] * rise
    return np.array(found)


@pytest.mark.parametrize("plant", ALL)
def test_a_run_with_a_file_is_that_of_many_digits(plant: Plant, tmp_path: Path) -> None:
    """To 1e-10 of the largest output of the run; to 1e-6 where A dt is so large that exp(A dt), which runs take in
    float64, loses digits in its squarings: that is one of the stiff systems, with |A| dt = 9e4.
    """
    for hold in ("zero", "first") if plant.continuous else ("zero",):
        given, u = table(plant, tmp_path, hold)
        found, right = outputs(given, tmp_path / hold), wanted(plant, u, given["time"]["dt"], hold)
        large = plant.continuous and np.max(np.abs(plant.A)) * given["time"]["dt"] > 5e4
        assert np.max(np.abs(found - right)) < (1e-6 if large else 1e-10) * np.max(np.abs(right))


@pytest.mark.skipif(importlib.util.find_spec("control") is None, reason="python-control is not installed")
@pytest.mark.parametrize("plant", MILD)
def test_a_run_with_a_file_is_that_of_python_control(plant: Plant, tmp_path: Path) -> None:
    """To 1e-10 of the largest output; python-control joins inputs of continuous systems by straight lines."""
    import control

    given, u = table(plant, tmp_path, "first" if plant.continuous else "zero")
    dt = given["time"]["dt"]
    system = control.ss(plant.A, plant.B, plant.C, plant.D, 0 if plant.continuous else dt)
    start = np.ones(len(plant.A))
    right = control.forced_response(system, np.arange(STEPS + 1) * dt, u.T, start, squeeze=False).outputs.T
    assert np.max(np.abs(outputs(given, tmp_path) - right)) < 1e-10 * np.max(np.abs(right))


def run_of(directory: Path, rows: str, **more: Any) -> np.ndarray:
    """The integral of an input of a file, in steps of 1/4 s to 2 s."""
    (directory / "u.csv").write_text(rows)
    system = {"kind": "continuous", "matrix": [[0.0]], "input_matrix": [[1.0]], **more}
    given = {
        "solver": "linear",
        "run": RUN,
        "system": {**system, "input": {"file": str(directory / "u.csv")}},
        "initial": {"state": [0.0]},
        "time": {"steps": 8, "dt": 0.25},
        "output": {"every": 0.25},
    }
    return outputs(given, directory)[:, 0]


def test_rows_between_steps_count_from_the_next_step_on(tmp_path: Path) -> None:
    """The row at 0.6 counts from 0.75 on; that at 0.7 comes before the same step, and is the one that counts."""
    found = run_of(tmp_path, "t,u\n0,1\n0.6,100\n0.7,2\n")
    np.testing.assert_allclose(np.diff(found) / 0.25, [1, 1, 1, 2, 2, 2, 2, 2])


def test_rows_that_rounding_moved_count_at_their_step(tmp_path: Path) -> None:
    found = run_of(tmp_path, "t,u\n0,1\n0.7500000000000001,2\n")
    np.testing.assert_allclose(np.diff(found) / 0.25, [1, 1, 1, 2, 2, 2, 2, 2])


def test_lines_between_rows_are_taken_at_steps(tmp_path: Path) -> None:
    """After the last row the value stays."""
    found = run_of(tmp_path, "# measured\ntime (s), u\n0,0\n1,4\n\n1.5,4\n", hold="first")
    np.testing.assert_allclose(found, [0, 0.125, 0.5, 1.125, 2, 3, 4, 5, 6])


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("valve,remark,t,load\n1,9,0,10\n2,9,1,20\n")
    given = {
        "solver": "linear",
        "run": RUN,
        "system": {"kind": "discrete", "A": [[0.0]], "B": [[1.0, 0.1]], "input": {"file": str(tmp_path / "u.csv")}},
        "names": {"input": ["load", "valve"], "state": ["level"]},
        "initial": {"state": [0.0]},
        "time": {"steps": 2},
        "output": {"frames": 3},
    }
    run = simsuite.run(given, directory=tmp_path / "run")
    np.testing.assert_allclose(run.dataset["state"].values[:, 0, 0], [0, 10.1, 20.2])
    assert run.dataset["component_name"].values.tolist() == ["level"]


@pytest.mark.parametrize("method", ["power", "step"])
def test_a_file_serves_every_method_and_a_run_that_is_cut(method: str, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("t,u\n0,1\n100,2\n350,-1\n")
    given = {
        "solver": "linear",
        "run": RUN,
        "system": {"kind": "discrete", "A": [[0.99]], "B": [[1.0]], "input": {"file": str(tmp_path / "u.csv")}},
        "initial": {"state": [0.0]},
        "time": {"steps": 500, "method": method},
        "output": {"frames": 6},
    }
    problem = make_problem(load_table(given, Path("case.toml")))
    u = problem.system.inputs.values(np.arange(500))[0]
    x, right = 0.0, [0.0]
    for value in u:
        x = 0.99 * x + value
        right.append(x)
    np.testing.assert_allclose(outputs(given, tmp_path)[:, 0], right[::100], rtol=1e-12)


def test_the_example_of_the_documents_is_as_they_say(tmp_path: Path) -> None:
    """The motor of docs/linear.md with the file that is shown below it: from 0.5 s on it turns, and later back."""
    page = (Path(__file__).parents[2] / "docs" / "linear.md").read_text(encoding="utf-8")
    motor = next(text for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "a DC motor" in text)
    (rows,) = re.findall(r"^```\n(time,voltage\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "u.csv").write_text(rows, encoding="utf-8")
    given = {"solver": "linear", "run": RUN, **tomllib.loads(motor), "output": {"every": 0.25}}
    given["system"]["input"] = {"file": str(tmp_path / "u.csv")}
    speed = outputs(given, tmp_path)[:, 1]
    assert not speed[:3].any()
    assert np.all(np.diff(speed[2:6]) > 0)
    assert np.all(np.diff(speed[5:]) < 0)


def test_modes_take_no_inputs_that_change(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("t,u\n0,1\n2,3\n")
    system = {"kind": "discrete", "A": [[0.5]], "B": [[1.0]], "input": {"file": str(tmp_path / "u.csv")}}
    given = {"solver": "linear", "run": RUN, "system": system, "initial": {"x0": [0.0]}}
    with pytest.raises(ScenarioError) as caught:
        make_problem(load_table({**given, "time": {"steps": 9, "method": "spectral"}}, Path("case.toml")))
    assert caught.value.mistakes[0].path == ("time", "method")
    (tmp_path / "u.csv").write_text("t,u\n0,1\n2,1\n")
    found = outputs({**given, "time": {"steps": 9, "method": "spectral"}, "output": {"frames": 4}}, tmp_path)
    np.testing.assert_allclose(found[:, 0], 2 - 2.0 ** (1 - 3 * np.arange(4.0)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_ladder_takes_its_voltage_from_a_file(kind: str, tmp_path: Path) -> None:
    """As from the expression that says the same, to the bit: by exp(A dt), and by a series of a sparse matrix."""
    (tmp_path / "u.csv").write_text("time,volts\n0,5\n0.004,0\n0.006,2\n")
    ladder = {"generator": "rc_ladder", "sections": 6, "resistance": 1e3, "capacitance": 1e-6, "format": kind}
    found = []
    for k, u in enumerate(({"file": str(tmp_path / "u.csv")}, ["where(t < 0.004, 5, where(t < 0.006, 0, 2))"])):
        given = {
            "solver": "linear",
            "run": RUN,
            "system": {"kind": "continuous", "matrix": ladder, "input": u},
            "initial": {"state": [0.0] * 6},
            "time": {"steps": 20, "dt": 1e-3, "method": "step"},
        }
        found.append(outputs(given, tmp_path / str(k)))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("hold", ["zero", "first"])
def test_every_device_takes_the_values_of_the_file(hold: str, tmp_path: Path, backend: Backend) -> None:
    """In whatever parts the steps are taken."""
    given, _ = table(ALL[4].values[0], tmp_path, hold, method="step")
    problem = make_problem(load_table(given, Path("case.toml")))
    stepper, X = problem.stepper(backend, problem.initial()), problem.system.start
    for part in (7, STEPS - 7):
        stepper.advance(part)
    for u in problem.system.inputs.values(range(STEPS)).T:
        X = problem.system.following(X, u)
    with stepper.snapshot() as snapshot:
        np.testing.assert_allclose(snapshot.arrays["state"], X, rtol=0, atol=1e-12 * np.max(np.abs(X)))


def test_changes_of_files_are_found_as_changes_of_expressions_are() -> None:
    from simsuite.solvers.linear.inputs.recorded import RecordedInput

    for straight in (False, True):
        u = RecordedInput("u", np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0, 2.0]), straight, 0.5)
        first, last = np.meshgrid(np.arange(0, 5, 0.5), np.arange(0, 5, 0.5))
        first, last = first[first < last], last[first < last]
        fine = np.linspace(first, last, 41)
        np.testing.assert_array_equal(u.constant_within(first, last), np.ptp(u(t=fine), axis=0) == 0)


MISTAKES = {
    "": "the file is empty",
    "time,u\n": "line 1 is the last: there are no numbers after the header",
    "0,1\n1,2\n": "line 1 holds numbers, but must be a header such as time,u",
    "x,u\n0,1\n": "line 1: no column is called `time` or `t`, among `x`, `u`",
    "t,time,u\n0,0,1\n": "line 1: more than one column is called `time` or `t`",
    "t [ms],u\n0,1\n": 'line 1, column 1: times must be in s, not in "ms"',
    "t,u,u\n0,1,2\n": "line 1, column 3: there are two columns `u`",
    "t,,u\n0,1,2\n": "line 1, column 2: the name of a column is missing",
    "t,u,v\n0,1,2\n": "line 1 has 2 columns beside `t`, but `input_matrix` has 1 column; [names] can say which",
    "t,u\n0,1\n1,2,3\n": "line 3 has 3 fields, but the header has 2 names",
    "t,u\n0,1\n\n1,two\n": 'line 4, column 2 (`u`): "two" is not a number',
    "t,u\n0,1\n1,\n": "line 3, column 2 (`u`): a number is missing",
    "t,u\n0,1\n1,nan\n": "line 3, column 2 (`u`): nan is not a finite number",
    "t,u\n0,1_0\n": 'line 2, column 2 (`u`): "1_0" is not a number',
    "t,u\n0,1\n1,2\n1,3\n": "line 4, column 1: times must increase, but 1 comes after 1",
    "u,t\n1,0.5\n": "line 2, column 2: the first time is 0.5 s, but the run begins at 0 s",
    "t;u\n0;1\n": "line 1: no column is called `time` or `t`",
}


@pytest.mark.parametrize("rows", MISTAKES, ids=repr)
def test_mistakes_are_said_with_line_and_column(rows: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        run_of(tmp_path, rows)
    (mistake,) = caught.value.mistakes
    assert MISTAKES[rows] in mistake.message
    assert mistake.path == ("system", "input", "file")


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("t,valve\n0,1\n")
    (tmp_path / "s.toml").write_text(
        'solver = "linear"\n[system]\nkind = "discrete"\nA = [[0.5]]\nB = [[1.0]]\ninput = {file = "u.csv"}\n'
        '[names]\ninput = ["vale"]\n[initial]\nx0 = [0.0]\n[time]\nsteps = 3\n'
    )
    with pytest.raises(ScenarioError) as caught:
        make_problem(load(tmp_path / "s.toml"))
    assert "there is no column `vale`, as [names] calls an input; did you mean `valve`?" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "hold", "texts"),
    [
        ("t,u\n0,1\n1,2\n2,1\n", "zero", []),
        ("t,u\n0,1\n1,2\n", "zero", ["ends at 1 s, before the run does at 2 s"]),
        ("t,u\n0,1\n0.6,2\n2,1\n", "zero", ["1 row of the file of inputs lies between two steps (it is at 0.6 s)"]),
        ("t,u\n0,1\n0.6,2\n0.7,3\n2,1\n", "zero", ["and 1 row not at all"]),
        ("t,u\n0,1\n0.6,2\n2,1\n", "first", ["a bend in it is left out"]),
    ],
)
def test_rows_that_are_not_seen_as_they_are_meant_are_warned_of(
    rows: str, hold: str, texts: list[str], tmp_path: Path
) -> None:
    (tmp_path / "u.csv").write_text(rows)
    system = {"kind": "continuous", "A": [[0.0]], "B": [[1.0]], "hold": hold}
    given = {
        "solver": "linear",
        "run": RUN,
        "system": {**system, "input": {"file": str(tmp_path / "u.csv")}},
        "initial": {"state": [0.0]},
        "time": {"steps": 8, "dt": 0.25},
    }
    found = make_problem(load_table(given, Path("case.toml"))).warnings
    assert len(found) == len(texts)
    for text, warning in zip(texts, found):
        assert text in warning
