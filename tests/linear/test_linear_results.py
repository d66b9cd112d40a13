"""What the terminal says of the results of a linear system: every number with its unit, and all of them with -v."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import running

from simsuite.summaries.numbers import number, tree

NOISY = """
solver = "linear"
[system]
kind = "continuous"
matrix = [[-1.0, 0.5], [0.0, -2.0]]
input_matrix = [[0.0], [1.0]]
input = [0.0]
noise_matrix = [[1.0, 0.0], [0.0, 0.5]]
output_matrix = [[1.0, 1.0], [0.0, 1.0]]
[initial]
state = [1.0, 2.0]
copies = 30
[time]
steps = 20
dt = 0.1
[run]
device = "cpu"
"""
TURNS = """
solver = "linear"
[system]
kind = "discrete"
matrix = [[0.0, 0.9], [-0.9, 0.0]]
input_matrix = [[1.0], [0.0]]
input = [0.0]
[initial]
state = [1.0, 2.0]
[time]
steps = 4
[run]
device = "cpu"
"""
Say = Callable[..., Any]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """`simsuite ARGS` in a directory with both systems."""
    monkeypatch.chdir(tmp_path)
    Path("noisy.toml").write_text(NOISY, encoding="utf-8")
    Path("turns.toml").write_text(TURNS, encoding="utf-8")
    return lambda *args: running.call(capsys, *args)


def line(shown: str, name: str) -> str:
    """What stands behind a name, or where that is not printed, nothing."""
    return next((text.split(None, 1)[1] for text in shown.splitlines() if text.split()[:1] == [name]), "")


def test_all_numbers_are_printed_if_they_are_asked_for(say: Say) -> None:
    shown = say("run", "noisy.toml", "-v").stdout
    results = json.loads(say("info", "runs/noisy", "--json").stdout)["summary"]["results"]
    P = results["noise"]["stationary_covariance"]
    rows = [text for text in shown.splitlines() if ", ".join(number(p) for p in P[1]) in text]
    assert line(shown, "stationary_covariance") == ", ".join(number(p) for p in P[0])
    assert len(rows) == 1
    for name in ("covariance", "covariance_exact"):
        assert line(shown, name) == ", ".join(number(p) for p in results["noise"][name][0])
    assert line(shown, "compared") == "2, 3"
    assert line(shown, "state") == ", ".join(number(x) for x in results["state"][0]) + " (output C X)"
    assert line(say("info", "runs/noisy").stdout, "stationary_covariance") == ""


def test_states_are_printed_or_said_to_be_elsewhere(say: Say) -> None:
    shown = say("run", "turns.toml", "-v").stdout
    assert line(shown, "state") == "0.6561, 1.3122"
    wide = say("run", "turns.toml", "-v", "--fresh", "--set", "initial.copies=33").stdout
    assert line(wide, "state") == "more than 64 numbers: the last frame in results.h5"


def test_numbers_say_what_they_are_of(say: Say) -> None:
    shown = say("run", "noisy.toml").stdout
    assert line(shown, "norm").endswith(" (Frobenius norm of X, the whole state, not of C X)")
    distances = [text for text in shown.splitlines() if text.split()[0] == "distance"]
    assert [text.rpartition("relative to ")[2] for text in distances] == [
        "A, balanced, and to each column of B)",
        "A, balanced, and to each row of C)",
    ]
    assert line(say("run", "turns.toml").stdout, "norm").endswith(" (Frobenius norm of X, the whole state)")


def test_arrays_that_are_not_named_are_not_called_smaller(say: Say) -> None:
    assert say("run", "noisy.toml", "-q").returncode == 0
    assert line(say("info", "runs/noisy").stdout, "holds").endswith("more arrays")


def test_discrete_systems_count_steps(say: Say) -> None:
    shown = say("run", "turns.toml").stdout
    assert line(shown, "time_constant").endswith(" steps")
    assert line(shown, "frequency") == "0.25 1/step"
    assert line(shown, "steady_state") == "0, 0", "not -0"


@pytest.mark.parametrize(
    ("name", "units"),
    [
        (
            "noisy",
            {
                "analysis.spectral_abscissa": "1/s",
                "analysis.abscissa_error": "1/s",
                "analysis.slowest.real.0": "1/s",
                "analysis.slowest.imag.1": "rad/s",
                "analysis.slowest.time_constant.1": "s",
                "analysis.slowest.frequency.0": "Hz",
                "analysis.controllability.rank": "",
                "noise.covariance.0.1": "",
                "time": "s",
            },
        ),
        ("turns", {"analysis.slowest.time_constant.0": "steps", "analysis.slowest.frequency.0": "1/step", "norm": ""}),
    ],
)
def test_units_of_csv_are_those_of_the_text(say: Say, name: str, units: dict[str, str]) -> None:
    assert say("run", f"{name}.toml", "-q").returncode == 0
    rows = {
        row["name"]: row["unit"] for row in csv.DictReader(say("info", f"runs/{name}", "--csv").stdout.splitlines())
    }
    assert {key: rows[key] for key in units} == units


def test_matrices_are_printed_up_to_so_many_numbers() -> None:
    values: dict[str, Any] = {"a": [[1.0, -0.0], [3.0, None]], "b": [[1.0]] * 5, "c": [[0.5] * 9] * 9, "d": [[1.0], []]}
    assert list(tree(values, "", {"a": "m"}, 64))[:2] == [f"{'a':<22} 1, 0 m", f"{'':<22} 3, none"]
    assert list(tree(values, "", {}, 64))[2:] == [
        f"{'b':<22} 1, 1, 1, 1, 1",
        f"{'c':<22} 9 x 9 numbers, printed by --json",
    ]
    assert list(tree(values, "")) == []
