"""What users of linear systems are told: before a run, at its end, and of mistakes that textbooks suggest."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import tomli_w
from running import call

from simsuite.assembly import make_problem
from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.solvers.linear.problem import LinearProblem

CHAIN = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
BOTH = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])


def problem(tmp_path: Path, matrix: object, kind: str = "discrete", **more: object) -> LinearProblem:
    n = 3
    given = {
        "solver": "linear",
        "system": {"kind": kind, "matrix": matrix, **more},
        "initial": {"state": [1.0] * n},
        "time": {"steps": 10, "dt": 0.1},
    }
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    return make_problem(load(path))


def saved(path: Path, A: np.ndarray) -> str:
    match path.suffix:
        case ".npy":
            np.save(path, A)
        case ".csv":
            np.savetxt(path, A, delimiter=",", fmt="%.17g")
        case ".mtx":
            scipy.io.mmwrite(path, scipy.sparse.coo_array(A), precision=17)
        case ".npz":
            scipy.sparse.save_npz(path, scipy.sparse.csr_array(A))
    return path.name


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".mtx", ".npz"])
def test_a_chain_whose_rows_sum_to_one_is_warned_of_and_what_is_proposed_does(tmp_path, suffix):
    name = saved(tmp_path / f"P{suffix}", CHAIN)
    (text,) = problem(tmp_path, {"file": name}).warnings
    assert text.startswith("the rows of `matrix` sum to 1, its columns do not, as in a Markov chain")
    assert text.endswith("p <- A^T p, add transpose = true to [system]")
    turned = problem(tmp_path, {"file": name}, transpose=True)
    assert turned.warnings == ()
    np.testing.assert_array_equal(turned.system.dense().A, CHAIN.T)


def test_chains_in_continuous_time_and_of_few_digits(tmp_path):
    (text,) = problem(tmp_path, (CHAIN - np.eye(3)).tolist(), "continuous").warnings
    assert text.startswith("the rows of `matrix` sum to 0")
    assert text.endswith("dp/dt = A^T p, add transpose = true to [system]")
    (text,) = problem(tmp_path, (CHAIN - np.eye(3)).T.tolist(), "continuous", transpose=True).warnings
    assert text.endswith("add transpose = false to [system]")


RATES = np.array([[-0.6667, 0.3333, 0.3333], [0.5, -1.0, 0.5], [0.0, 1.0, -1.0]])
FEW = np.array([[0.33, 0.33, 0.34], [0.333, 0.333, 0.333], [0.1, 0.2, 0.7]])


def test_rows_of_few_digits_are_to_be_divided_by_their_sums(tmp_path):
    """Then the transpose, as proposed, is a chain, and nothing is left to say."""
    (text,) = problem(tmp_path, FEW.tolist()).warnings
    assert text.startswith("the rows of `matrix` sum to 1 (only up to 0.001: divide each row by its sum), its columns")
    turned = (FEW / FEW.sum(axis=1)[:, None]).T
    assert problem(tmp_path, turned.tolist()).warnings == ()
    (text,) = problem(tmp_path, RATES.tolist(), "continuous").warnings
    assert "(only up to 0.00015 of what leaves a state: make each entry of the diagonal minus the sum of" in text


@pytest.mark.parametrize("suffix", [".npy", ".mtx", ".npz"])
def test_columns_of_few_digits_are_warned_of_too(tmp_path, suffix):
    (text,) = problem(tmp_path, {"file": saved(tmp_path / f"P{suffix}", FEW.T)}).warnings
    assert text.startswith(
        "the columns of `matrix` sum to 1 only up to 0.001, as in a Markov chain with rounded entries"
    )
    assert text.endswith("drifts: divide each column by its sum")
    assert problem(tmp_path, {"file": saved(tmp_path / "Q.npy", FEW.T / FEW.T.sum(axis=0))}).warnings == ()


def test_columns_of_few_digits_in_continuous_time(tmp_path):
    A = RATES.T.copy()
    (text,) = problem(tmp_path, A.tolist(), "continuous").warnings
    assert text.startswith("the columns of `matrix` sum to 0 only up to 0.0001")
    assert text.endswith("make each entry of the diagonal minus the sum of the others in its column")
    np.fill_diagonal(A, 0.0)
    assert problem(tmp_path, (A - np.diag(A.sum(axis=0))).tolist(), "continuous").warnings == ()


def test_what_decays_slowly_is_no_chain_of_few_digits(tmp_path):
    leaks = CHAIN.T - 0.0009 * np.eye(3)  # more than rounding to four decimals
    for A in (0.9995 * np.eye(3), np.diag([0.9999, 1.0, 0.9991]), leaks, 0.9999999999 * CHAIN.T):
        assert problem(tmp_path, A.tolist()).warnings == ()


@pytest.mark.parametrize("A", [CHAIN.T, BOTH, np.eye(3), -CHAIN, 2 * CHAIN, CHAIN - 0.1, np.zeros((3, 3))])
def test_of_all_else_there_is_no_word(tmp_path, A):
    assert problem(tmp_path, A.tolist()).warnings == ()
    assert problem(tmp_path, {"file": saved(tmp_path / "A.mtx", A)}).warnings == ()


def test_generated_chains_and_complex_matrices_are_meant_as_they_are(tmp_path):
    assert problem(tmp_path, {"generator": "markov", "states": 3, "up": 0.3, "down": 0.35}).warnings == ()
    assert problem(tmp_path, [["1j", 0.0, 0.0], [0.0, "1j", 0.0], [0.0, 0.0, "1j"]]).warnings == ()


def test_a_nearly_singular_lyapunov_equation_is_said_in_words(tmp_path, capfd):
    """A is stable by 1e-15 only. SciPy's warning stays where it is."""
    given = {
        "solver": "linear",
        "system": {
            "kind": "discrete",
            "matrix": [[1 - 4e-15, 0.0, 0.0], [0.0, 0.5, 1e3], [0.0, 0.0, 0.2]],
            "noise_matrix": [[1.0], [1.0], [1.0]],
        },
        "initial": {"state": [0.0, 0.0, 0.0]},
        "time": {"steps": 3},
        "run": {"device": "cpu"},
    }
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    from simsuite.solvers.linear.results.noise_outcome import NoiseOutcome

    made = make_problem(load(path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = NoiseOutcome(made.system, made.frames)._stationary()
    assert found == {
        "stationary_note": "Lyapunov's equation is too ill conditioned: the system is too close to instability"
    }


KEYS = {
    "A = [[1.0]]": ("`A` and `matrix` are two names of one key in [system]", "keep one of them"),
    "G = [[1.0]]": ("unknown key `G` in [system]", "here that is `noise_matrix`"),
    "u = [1.0]": ("unknown key `u` in [system]", "here that is `input`"),
    "B = [[1.0]]": ("there is no `input` to multiply", "add input"),
    "x0 = [1.0]": ("unknown key `x0` in [system]", "the initial state is `state` in [initial]"),
    "D = [[1.0]]": ("there is no `output_matrix`, but `feedthrough` asks for the outputs C X + D u", "of all states"),
    "noise = [[1.0]]": ("unknown key `noise` in [system]", "here that is `noise_matrix`"),
    'input = {file = "u.csv"}': ("no such file: 'u.csv'", "looked for"),
    'input = ["u.csv"]': ("'u.csv' is the name of a file, not an expression", "a file holds all inputs"),
}


@pytest.mark.parametrize("line", KEYS)
def test_what_textbooks_call_things_is_answered(tmp_path, line):
    path = tmp_path / "s.toml"
    path.write_text(
        f'solver = "linear"\n[system]\nkind = "discrete"\nmatrix = [[0.5]]\n{line}\n'
        "[initial]\nstate = [1.0]\n[time]\nsteps = 1\n"
    )
    with pytest.raises(ScenarioError) as caught:
        load(path)
    message, help = KEYS[line]
    found = [(m.message, m.help or "") for m in caught.value.mistakes]
    assert any(m == message and h.startswith(help) for m, h in found), found


def test_csv_where_only_npy_is_read(tmp_path, capsys):
    np.savetxt(tmp_path / "T0.csv", np.ones((8, 8)), delimiter=",")
    path = tmp_path / "s.toml"
    path.write_text(
        'solver = "heat"\n[grid]\nnx = 8\nny = 8\nlx = 1.0\nly = 1.0\n[material]\ndiffusivity = 1.0\n'
        '[initial]\ntemperature = {file = "T0.csv"}\n[time]\nend = 0.1\n'
    )
    found = call(capsys, "check", path)
    assert found.returncode == 2
    assert "only .npy files are read here" in found.stderr
    code = found.stderr.partition("in Python, ")[2].partition(" makes one of it")[0]
    assert code == 'numpy.save("T0.npy", numpy.loadtxt("T0.csv", delimiter=","))'
    assert "magic" not in found.stderr
