"""Ways to state a linear system: the end of the run, the transpose, tables with a header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import simsuite
from simsuite.assembly import make_problem
from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.scenario.load import load_table

CHAIN = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
RUN = {"device": "cpu"}


def states(table: dict[str, Any], directory: Path) -> np.ndarray:
    run = simsuite.run({"solver": "linear", "run": RUN, **table}, directory=directory)
    found: np.ndarray = run.dataset["state"].values
    return found


def chain(matrix: object, **more: object) -> dict[str, Any]:
    return {
        "system": {"kind": "discrete", "matrix": matrix, **more},
        "initial": {"state": [1.0, 0.0, 0.0]},
        "time": {"steps": 7},
    }


@pytest.mark.parametrize("suffix", ["", ".csv", ".npz"])
def test_a_chain_by_rows_is_that_by_columns(suffix: str, tmp_path: Path) -> None:
    matrix: object = CHAIN.tolist()
    if suffix == ".csv":
        np.savetxt(tmp_path / "P.csv", CHAIN, delimiter=",", header="sunny,cloudy,rain", comments="")
        matrix = {"file": str(tmp_path / "P.csv")}
    elif suffix == ".npz":
        scipy.sparse.save_npz(tmp_path / "P.npz", scipy.sparse.csr_array(CHAIN))
        matrix = {"file": str(tmp_path / "P.npz")}
    found = states(chain(matrix, transpose=True), tmp_path / "a")
    expected = np.linalg.matrix_power(CHAIN.T, 7)[:, 0]
    np.testing.assert_allclose(found[-1, :, 0], expected, atol=1e-15)
    if not suffix:
        np.testing.assert_array_equal(found, states(chain(CHAIN.T.tolist()), tmp_path / "b"))


def test_a_generated_matrix_is_turned_too(tmp_path: Path) -> None:
    given = chain({"generator": "markov", "states": 3, "up": 0.3, "down": 0.1}, transpose=True)
    plain = chain({"generator": "markov", "states": 3, "up": 0.3, "down": 0.1})
    a, b = (simsuite.open_simulation({"solver": "linear", "run": RUN, **table}) for table in (given, plain))
    for each in (a, b):
        each.advance(1)
    assert not np.array_equal(a.state["state"], b.state["state"])


OSCILLATOR = {
    "system": {"kind": "continuous", "matrix": [[0.0, 1.0], [-4.0, -0.2]]},
    "initial": {"state": [1.0, 0.0]},
}


def test_the_end_of_the_run_in_place_of_the_number_of_steps(tmp_path: Path) -> None:
    by_end = states({**OSCILLATOR, "time": {"end": 0.3, "dt": 0.1}}, tmp_path / "a")
    by_steps = states({**OSCILLATOR, "time": {"steps": 3, "dt": 0.1}}, tmp_path / "b")
    np.testing.assert_array_equal(by_end, by_steps)
    text = load_table({"solver": "linear", **OSCILLATOR, "time": {"end": "2 min", "dt": "100 ms"}}, Path("s.toml"))
    assert text.model.time.steps == 1200
    (tmp_path / "again.toml").write_text(text.resolved_toml(), encoding="utf-8")
    assert load(tmp_path / "again.toml").model == text.model


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ({"end": 0.35, "dt": 0.1}, "`end` must be a whole number of steps of 0.1 s"),
        ({"end": 1e9, "dt": 1e-3}, "`end` is more than 1000000000 steps of 0.001 s away"),
        ({"end": 1e300, "dt": 1e-300}, "`end` is more than"),
        ({"end": 1e-3, "dt": 0.1}, "the nearest is 0.1"),
        ({"end": 1.0, "steps": 5, "dt": 0.1}, "`end` is after 10 steps of 0.1 s"),
        ({"dt": 0.1}, "missing key `steps` in [time]"),
        ({"steps": 0, "dt": 0.1}, "`steps` must be at least 1"),
    ],
)
def test_ends_that_do_not_fit(time: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_table({"solver": "linear", **OSCILLATOR, "time": time}, Path("s.toml"))
    assert said in caught.value.report


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("# a comment\n\n\"first state\",'second'\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("junction,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("\ufeffa,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("re,im\n1,2j\n3,4\n", [[1, 2j], [3, 4]]),
    ],
)
def test_tables_with_a_header(text: str, wanted: list[list[complex]], tmp_path: Path) -> None:
    from simsuite.solvers.linear.matrices.csv_matrix import read_csv

    (tmp_path / "A.csv").write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(read_csv(tmp_path / "A.csv"), wanted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,x\n3,4\n", 'line 1: "x" is not a number'),
        ("a,b\nc,d\n1,2\n", 'line 2: "c" is not a number'),
        ("a,b\n1,2\n3\n", "line 3 has 1 number, but line 2 has 2"),
        ("a,b\n", "no numbers|empty|comments only"),
        ("nan,inf\n1,2\n", ""),
    ],
)
def test_faulty_tables(text: str, said: str, tmp_path: Path) -> None:
    from simsuite.solvers.linear.matrices.csv_matrix import read_csv

    (tmp_path / "A.csv").write_text(text, encoding="utf-8")
    if not said:
        assert read_csv(tmp_path / "A.csv").shape == (2, 2)
        return
    with pytest.raises(ValueError, match=said):
        read_csv(tmp_path / "A.csv")


def test_mistakes_have_the_letters_that_are_written(tmp_path: Path) -> None:
    """`C` and `x0`, in the file or by --set, where they stand; the keys themselves where these are written."""
    text = """solver = "linear"
system = {kind = "discrete", A = [[0.5, 0.0], [0.0, 0.5]], C = [[1.0, 0.0, 0.0]]}
initial = {x0 = [1.0, 0.0]}
time = {steps = 3}
"""
    for own, names in ((False, ("C", "x0")), (True, ("output_matrix", "state"))):
        written = text.replace(" C =", f" {names[0]} =").replace("x0", names[1]).replace("A =", "matrix =")
        (tmp_path / "s.toml").write_text(written, encoding="utf-8")
        for name in ("x0", "state"):
            with pytest.raises(ScenarioError) as caught:
                make_problem(load(tmp_path / "s.toml", [f"initial.{name}=[1.0]"]))
            assert f"`{names[0]}` has 3 columns" in caught.value.report
            assert f"`{'x0' if name == 'x0' or not own else 'state'}` has 1 component" in caught.value.report
