"""What people read in the terminal: lengths of steps, units, short answers, warnings, errors of --json."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import running
from typer.testing import CliRunner

import simsuite
from simsuite.cli import app
from simsuite.core import Clock
from simsuite.io.directory import RunDirectory
from simsuite.pictures.heat import subtitle as heat_subtitle
from simsuite.pictures.recording import Recording
from simsuite.scenario import load
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.summaries.lines import MOST_LINES, _why_unknown, short_stepper, summary_lines
from simsuite.summaries.numbers import tree
from simsuite.words import counted, duration, measured, steps_in_words

ROOT = Path(__file__).parents[2]
PLATE = """
solver = "heat"
title = "Plate"
grid = {nx = 12, ny = 8, lx = 0.3, ly = 0.2}
material = {conductivity = 45.0, density = 7800.0, specific_heat = 470.0}
initial = {temperature = "20 + 100*x"}
boundary = {left = {kind = "temperature", value = 20.0}}
probe = [{name = "P", x = 0.1, y = 0.1}]
time = {end = 30.0}
output = {frames = 3}
"""
Say = Callable[..., Any]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """`simsuite ARGS` in a directory with a plate."""
    monkeypatch.chdir(tmp_path)
    Path("plate.toml").write_text(PLATE, encoding="utf-8")
    return lambda *args: running.call(capsys, *args)


def settings(*pairs: str) -> list[str]:
    return ["plate.toml", "--device", "cpu", *(word for pair in pairs for word in ("--set", pair))]


# ---- lengths of steps

UNEVEN = ("time.stepper=explicit", "output={times = [0.0, 0.001, 3.0, 30.0]}")


def test_lengths_of_steps_are_those_of_the_clock() -> None:
    clock = Clock((0, 4, 5, 15), (0.0, 1.0, 3.0, 4.0))
    assert clock.lengths(0) == clock.lengths(15) == (0.1, 2.0)
    assert clock.lengths(4) == clock.lengths(2) == (0.25, 0.25)
    assert clock.lengths(5) == (0.25, 2.0)


def test_steps_of_several_lengths_are_told_from_the_shortest_to_the_longest(say: Say) -> None:
    """Not with the length of the first, which times the number of steps is far from the end of the run."""
    checked = json.loads(say("check", *settings(*UNEVEN), "--json").stdout)
    shortest, longest = checked["dt_range"]
    assert shortest == checked["dt"] == 0.001
    assert longest > 1.0
    done = say("run", *settings(*UNEVEN), "--json")
    found = json.loads(done.stdout)
    assert found["dt"] == [shortest, longest]
    assert found["steps"] * shortest < 30.0 < found["steps"] * longest
    told = f"{found['steps']} steps of 0.001 to {longest:.4g} s"
    assert told in done.stderr, "at the start"
    assert told in say("run", *settings(*UNEVEN)).stdout
    assert told in say("info", "runs/plate").stdout
    assert told in Path("runs/plate/log.txt").read_text()
    assert told in say("check", *settings(*UNEVEN)).stdout
    assert json.loads(Path("runs/plate/summary.json").read_text())["dt"] == [shortest, longest]


def test_steps_that_control_their_error_are_told_as_they_were_taken(say: Say) -> None:
    plate = settings("time.stepper=rkl2")
    checked = json.loads(say("check", *plate, "--json").stdout)
    assert checked["dt_range"] is None, "a mean of what is expected is no range"
    assert checked["dt"] * checked["steps"] == pytest.approx(30.0)
    found = json.loads(say("run", *plate, "--json").stdout)
    assert found["dt"] == found["results"]["dt"]
    shortest, longest = found["dt"]
    assert shortest < longest
    assert found["steps"] * shortest < 30.0 < found["steps"] * longest
    assert f"{found['steps']} steps of {shortest:.4g} to {longest:.4g} s, to t = 30 s" in say("run", *plate).stdout


def test_how_many_steps_find_out_their_lengths_is_told_as_roughly_as_it_is_known(say: Say) -> None:
    plate = settings("time.stepper=rkl2")
    found = json.loads(say("check", *plate, "--json").stdout)
    digits = [str(steps) for steps in found["steps_range"]]
    few, many = (int(text[0]) * 10 ** (len(text) - 1) for text in digits)
    many += 10 ** (len(digits[1]) - 1) if many < int(digits[1]) else 0
    assert few <= found["steps_range"][0] < found["steps"] < found["steps_range"][1] <= many
    assert f"some {few} to {many}, as long as" in say("check", *plate).stdout
    assert f"some {few} to {many} steps to t = 30 s" in say("run", *plate).stderr


def test_where_nobody_knows_how_many_steps_there_will_be_that_is_said(say: Say) -> None:
    burning = settings("time.stepper=rkl2", 'source=[{power = "1e3*(T - 20)**2"}]', "time.end=1.0")
    found = json.loads(say("check", *burning, "--json").stdout)
    assert found["steps_range"][1] is None
    least = str(found["steps_range"][0])
    few = int(least[0]) * 10 ** (len(least) - 1)
    shown = say("check", *burning).stdout
    assert f"some {few} or many more (that depends on temperatures), as long as" in shown
    assert re.search(r"time       some \S+ m?s or much longer at", shown)
    assert f"some {few} or many more steps to t = 1 s" in say("run", *burning).stderr


def test_of_a_run_that_stopped_the_steps_so_far_count(say: Say) -> None:
    assert say("run", *settings(*UNEVEN), "--max-minutes", "0", "-q").returncode == 75
    first, last = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["dt"]
    assert first == last
    assert f"1 step of {first:.4g} s, to t = {first:.6g} s" in say("info", "runs/plate").stdout


def test_steps_in_words() -> None:
    assert steps_in_words(404, (0.0122, 0.5), "s") == "404 steps of 0.0122 to 0.5 s"
    assert steps_in_words(240, (0.5, 0.5000000000000142), "s") == "240 steps of 0.5 s"
    assert steps_in_words(1, (2.0, 2.0), "") == "1 step of 2"
    assert steps_in_words(0, None, "s") == "0 steps"
    assert steps_in_words(4, (0.25, 0.25), "year") == "4 steps of 0.25 years"
    assert [measured(number, "year") for number in ("1", "2", "0.5")] == ["1 year", "2 years", "0.5 years"]
    assert [measured(number, unit) for number, unit in (("2", "s"), ("2", ""))] == ["2 s", "2"]
    assert [counted(n, "entry", "entries") for n in (0, 1, 2)] == ["0 entries", "1 entry", "2 entries"]
    for seconds, words in ((0.42, "0.42 s"), (7500, "2 h 05 min"), (5 * 86400, "5 days"), (1e10, "317 years")):
        assert duration(seconds) == words


# ---- units


def test_every_number_has_a_unit(say: Say) -> None:
    shown = say("run", *settings()).stdout
    for words in ("temperature, K", "probes, K", "heat since the start, J per metre of depth", "to t = 30 s"):
        assert words in shown
    alone = settings("material={diffusivity = 1e-5}", "output.directory=alone")
    assert "heat since the start, K·m², as ρc counts as 1" in say("run", *alone).stdout
    steady = settings("time={steady = true}", "output.directory=steady")
    shown = say("run", *steady).stdout
    assert "heat flow, W per metre of depth" in shown
    assert "comes in through the edges" in shown
    assert "came in" not in shown
    table = {row[0]: row[2] for row in csv.reader(say("info", "steady", "--csv").stdout.splitlines())}
    assert (table["energy.boundary"], table["steady.residual"]) == ("W m-1", "1")
    with h5py.File("steady/results.h5") as file:
        assert file["energy_left"].attrs["long_name"] == b"heat flow in through the left edge"
    assert say("info", ".").stdout.split()[-4:] == ["complete", "heat,", "steady", "state"]


def test_degrees_celsius_are_called_so_everywhere(say: Say) -> None:
    degrees = settings("units=degC", "reference={temperature = 20.0}")
    plain = settings("reference={temperature = 20.0}", "output.directory=plain")
    shown = say("run", *degrees).stdout
    assert "temperature, °C" in shown
    assert "probes, °C" in shown
    assert "error against the reference, K" in shown, "a difference"
    assert not re.search(r"temperature, K|probes, K", shown + say("info", "runs/plate").stdout)
    found, other = (json.loads(say("run", *words, "--json").stdout) for words in (degrees, plain))
    assert found["results"] == other["results"]
    assert (found["units"]["temperature"], other["units"]["temperature"]) == ("degC", "K")
    with h5py.File("runs/plate/results.h5") as file:
        for name in ("temperature", "probe_temperature"):
            assert file[name].attrs["units"] == b"degC"
        assert file["error_l2"].attrs["units"] == b"K"
    assert load("plate.toml", ["units=degC"]).resolved_toml().count('units = "degC"') == 1


def test_pictures_have_the_units_of_the_run(say: Say) -> None:
    assert say("run", *settings("units=degC", "reference={temperature = 20.0}")).returncode == 0
    assert say("plot", "runs/plate", "-o", "out.svg").returncode == 0
    from simsuite.io.reading import open_results
    from simsuite.pictures.heat import heat_figure
    from simsuite.pictures.recording import Recording

    with open_results(Path("runs/plate/results.h5")) as file:
        figure = heat_figure(Recording(Path("runs/plate"), file)).figure
    labels = [axis.get_label().get_text() for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    labels += [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    assert {label for label in labels if "Temperature (" in label} == {"Temperature (°C)"}
    assert "Error (K)" in labels
    assert not any("degC" in label for label in labels)
    assert any(label.endswith("°C") for label in labels), "the range of the first frame"


# ---- few words


def many_probes(n: int) -> str:
    return "probe=[" + ", ".join(f'{{name = "p{i}", x = {0.3 * i / n}, y = 0.1}}' for i in range(n)) + "]"


def test_a_run_takes_forty_lines_at_most(say: Say) -> None:
    sources = "source=[{power=1.0},{power=2.0},{power=3.0}]"
    crowded = settings(many_probes(60), sources, "reference={temperature=20.0}", "time.stepper=rkl2")
    done = say("run", *crowded)
    lines = done.stdout.splitlines()
    assert len(lines) == MOST_LINES
    assert any(re.search(r"\.\. and \d+ lines more: simsuite info -v runs/plate", line) for line in lines)
    for words in ("residual", "time error", "results    runs/plate/results.h5", "relative_l2"):
        assert words in done.stdout
    whole = say("info", "-v", "runs/plate").stdout
    assert all(f" p{i} " in whole for i in range(60))
    assert "lines more" not in whole


def test_the_stepper_takes_one_short_line_and_its_reasons_are_elsewhere(say: Say) -> None:
    done = say("run", *settings())
    reason = json.loads(Path("runs/plate/summary.json").read_text())["stepper_reason"]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  stepper")]
    assert len(line) < 80
    assert reason not in done.stdout + done.stderr + say("info", "runs/plate").stdout
    assert reason in say("info", "-v", "runs/plate").stdout
    assert reason in say("run", "-v", *settings()).stdout
    assert reason in Path("runs/plate/log.txt").read_text()


def option(price: float, error: float, **greeks: Any) -> dict[str, Any]:
    return {"price": price, "standard_error": error, "ci95": [0.0, 1.0], **greeks}


def test_options_are_a_table() -> None:
    results = {
        "paths": 1000,
        "options": {
            f"call {k}": option(10.39892751 + k, 0.0735, delta=[0.63844, 0.1], delta_standard_error=[0.00145, 0.1])
            for k in range(12)
        }
        | {
            "put": option(
                1.0,
                0.0,
                delta=[None, None],
                delta_standard_error=[None, None],
                gamma=[0.018],
                gamma_standard_error=[0.00023],
            )
        },
        "assets": {
            "A": {
                "mean": 105.1136,
                "mean_standard_error": 0.0295,
                "std": 21.16,
                "std_standard_error": None,
                "quantiles": {"0.05": 74.3, "0.95": 142.95},
            }
        },
    }
    summary = {
        "solver": "gbm", "status": "complete", "steps": 252, "dt": [1 / 252] * 2, "time": 1.0, "units": {},
        "device": "cpu", "device_name": "CPU", "precision": "float64", "kernel": "numba", "stepper": "exact",
        "wall_seconds": 1.0, "compile_seconds": 0.5, "rate": 1e6, "rate_unit": "path-steps/s", "directory": "runs/x",
        "results": results,
    }  # fmt: skip
    lines = summary_lines(summary)
    assert lines[0] == "gbm complete: 252 steps of 0.003968, to t = 1"
    (head,) = [i for i, line in enumerate(lines) if "price" in line and "delta" in line]
    assert lines[head].split() == ["price", "delta", "gamma"]
    assert "11.399 ± 0.073" in lines[head + 2]
    assert "0.6384 ± 0.0014 (+1)" in lines[head + 2]
    assert any("(+1): for one more asset" in line for line in lines)
    assert "none" in lines[head + 13]
    assert "0.01800 ± 0.00023" in lines[head + 13]
    assert any("105.114 ± 0.029" in line and "142.95" in line for line in lines)
    assert not any("delta_standard_error" in line for line in lines)
    assert sum("delta_standard_error" in line for line in summary_lines(summary, verbose=True)) == 13


def test_risk_is_a_row_for_each_level() -> None:
    levels = {
        "0.95": {
            "value_at_risk": 838.5385, "value_at_risk_ci95": [826.75, 852.66],
            "expected_shortfall": 1126.76, "expected_shortfall_standard_error": 6.957,
        },
        "0.9999": {
            "value_at_risk": 1900.5, "value_at_risk_ci95": [1800.25, None],
            "expected_shortfall": 1950.25, "expected_shortfall_standard_error": None,
        },
    }  # fmt: skip
    risk = {"horizon": 0.04, "value": 3255.183, "value_standard_error": 1.59, "levels": levels, "confidence": 0.95}
    summary = {
        "solver": "gbm", "status": "complete", "steps": 10, "dt": [0.004] * 2, "time": 0.04, "units": {},
        "device": "cpu", "device_name": "CPU", "precision": "float64", "kernel": "numba", "stepper": "exact",
        "wall_seconds": 1.0, "compile_seconds": 0.5, "rate": 1e6, "rate_unit": "path-steps/s", "directory": "runs/x",
        "results": {"paths": 1000, "assets": {}, "options": {}, "risk": risk},
    }  # fmt: skip
    lines = summary_lines(summary)
    (head,) = [i for i, line in enumerate(lines) if "value at risk (95 % interval)" in line]
    assert lines[head - 1].split(maxsplit=4)[-1] == "3255.2 ± 1.6"
    assert "    95 %" in lines[head + 1]
    assert "838.5385 (826.75 .. 852.66)" in lines[head + 1]
    assert lines[head + 1].endswith("1126.8 ± 7.0")
    assert "99.99 %" in lines[head + 2]
    assert "1900.5 (1800.25 .. none)" in lines[head + 2]
    assert not any("value_at_risk" in line for line in lines)
    assert sum("value_at_risk " in line for line in summary_lines(summary, verbose=True)) == 2


def test_exposure_is_a_table_of_a_few_times() -> None:
    """The start, the peak and the end among them; all of the run on one screen."""

    def at(i: int) -> dict[str, Any]:
        expected = 10.0 + i if i < 38 else 40.0
        return {
            "time": i / 100, "expected": expected, "expected_standard_error": 0.1 * bool(i),
            "negative": 0.0, "negative_standard_error": 0.0 if i < 99 else None,
        }  # fmt: skip

    profile = [at(i) for i in range(101)]
    potential = {"0.95": {"value": 80.0, "ci95": [79.0, 81.5]}, "0.99": {"value": 95.0, "ci95": [93.0, None]}}
    exposure = {
        "end": profile[-1] | {"potential": potential}, "peak": profile[37], "profile": profile, "confidence": 0.95,
        "reasons": {"negative_standard_error": "nobody knows", "potential": "too few paths to bound it"},
    }  # fmt: skip
    options = {f"call {k}": option(10.0, 0.1, delta=[0.5], delta_standard_error=[0.01]) for k in range(9)}
    summary = {
        "solver": "gbm", "status": "complete", "steps": 100, "dt": [0.01] * 2, "time": 1.0, "units": {},
        "device": "cpu", "device_name": "CPU", "precision": "float64", "kernel": "numba", "stepper": "exact",
        "wall_seconds": 1.0, "compile_seconds": 0.5, "rate": 1e6, "rate_unit": "path-steps/s", "directory": "runs/x",
        "results": {"paths": 1000, "assets": {}, "options": options, "exposure": exposure},
    }  # fmt: skip
    lines = summary_lines(summary)
    assert len(lines) <= 40
    (head,) = [i for i, line in enumerate(lines) if "expected exposure" in line]
    rows = [line.split() for line in lines[head + 1 : head + 8]]
    assert [row[2] for row in rows] == ["0", "0.2", "0.37", "0.4", "0.6", "0.8", "1"]
    assert rows[0][3:] == ["10", "(exact)", "0", "(exact)"]
    assert rows[2][3:] == ["47.00", "±", "0.10", "0", "(exact)", "peak"]
    assert rows[-1][3:] == ["40.00", "±", "0.10", "0", "±", "unknown"]
    assert lines[head + 8].split(maxsplit=2)[:2] == ["potential", "80"]
    assert "(79 .. 81.5, 95 % interval), 95 % quantile of max(V, 0) at the end" in lines[head + 8]
    assert "unknown: negative standard error: nobody knows" in lines[head + 10]
    assert not any("expected_standard_error" in line for line in lines)
    verbose = summary_lines(summary, verbose=True)
    assert sum("t = " in line for line in verbose) == 1 + 21 + 1
    assert sum("expected_standard_error" in line for line in verbose) == 2


def test_what_is_unknown_is_none_in_a_list_and_by_itself() -> None:
    assert list(tree({"theta": None, "delta": [None]}, "")) == [f"{name:<22} none" for name in ("theta", "delta")]


def test_a_greek_is_that_of_the_asset_that_an_option_depends_on() -> None:
    deltas = {"delta": [0.0, 0.5, 0.0], "delta_standard_error": [0.0, 0.01, 0.0]}
    summary = {
        "solver": "gbm", "status": "complete", "steps": 1, "time": 1.0, "device": "cpu", "device_name": "CPU",
        "precision": "float64", "stepper": "exact", "wall_seconds": 1.0, "compile_seconds": 0.5, "rate": 0.0,
        "rate_unit": "path-steps/s", "directory": "runs/x",
        "results": {"paths": 10, "options": {f"on B {k}": option(1.0, 0.1, **deltas) for k in range(15)}, "assets": {}},
    }  # fmt: skip
    (line,) = [line for line in summary_lines(summary) if "on B 3" in line]
    assert line.split("  ")[-1] == "0.500 ± 0.010"


def test_results_as_comma_separated_values(say: Say) -> None:
    plate = settings("units=degC", "reference={temperature = 20.0}", "time.stepper=rkl2")
    assert say("run", *plate, "-q").returncode == 0
    results = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]
    lines = say("info", "runs/plate", "--csv").stdout.splitlines()
    assert lines[0] == "name,value,unit"
    found = {name: (value, unit) for name, value, unit in csv.reader(lines[1:])}
    assert found["probes.P"] == (repr(results["probes"]["P"]), "degC")
    assert found["energy.edges.left"] == (repr(results["energy"]["edges"]["left"]), "J m-1")
    assert found["error.linf"] == (repr(results["error"]["linf"]), "K")
    assert found["dt.1"] == (repr(results["dt"][1]), "s")
    assert {found[name][1] for name in ("time_error", "rounding_error", "tolerance", "error.relative_l2")} == {"1"}
    assert {found[name][1] for name in ("steps", "rejected_steps", "rkl2_stages")} == {""}
    assert found["time"] == ("30.0", "s")
    assert say("run", *plate, "--fresh", "--max-minutes", "0", "-q").returncode == 75
    RunDirectory("runs/plate").summary.unlink()
    refused = say("info", "runs/plate", "--csv")
    assert (refused.returncode, "has no results yet" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (("time.stepper=rkl2",), r"steps taken          (\d+) +by rkl2, (\d+) stages in all"),
        (("time.stepper=rkl2", "time.dt=3.0"), r"steps taken          (10) +by rkl2, (\d+)0 stages in all"),
        (("time.stepper=adi",), r"steps taken          (\d+) +by adi$"),
        (("time.stepper=explicit",), None),
    ],
)
def test_all_numbers_of_a_run_tell_steps_and_stages(say: Say, pairs: tuple[str, ...], told: str | None) -> None:
    assert say("run", *settings(*pairs), "-q").returncode == 0
    every = say("info", "runs/plate", "-v").stdout
    found = re.search(told or "steps taken", every, re.MULTILINE)
    assert (found is None) is (told is None)
    if found is None:
        return
    summary = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]
    assert int(found[1]) == summary["steps"]
    refused = re.search(r"taken again +(\d+) steps? +that missed the tolerance, shorter", every)
    assert (refused is None) is ("time.dt=3.0" in pairs)
    assert refused is None or int(refused[1]) == summary["results"]["rejected_steps"]
    assert "steps taken" not in say("info", "runs/plate").stdout


# ---- what is probably not meant


@pytest.mark.parametrize(("dt", "words"), [(0.3, "T: settled"), (30.0, "T: not settled: set a smaller time.dt")])
def test_what_a_last_iteration_changed_is_a_share_of_a_step(say: Say, dt: float, words: str) -> None:
    """It was printed in K, and without saying what of."""
    source = "source=[{power = '1e5*exp(T/10)'}]"
    stiff = ("time.stepper=adi", f"time.dt={dt}", source, "initial={temperature=20.0}", "time.tolerance=1e-2")
    done = say("run", *settings(*stiff), "-q")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in say("info", "runs/plate", "-v").stdout.splitlines() if "last iteration" in line]
    said = f" what a step changes, at most, came by its last iteration for data that depend on {words}"
    assert line.endswith(said)
    share = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]["iteration_change"]
    assert re.search(rf" {share:.2g} +{'of' if share < 1 else 'times'} what", line)
    table = list(csv.reader(say("info", "runs/plate", "--csv").stdout.splitlines()))
    assert ["iteration_change", f"{share!r}", "1"] in table


def test_a_plate_of_metres_that_were_meant_to_be_millimetres(say: Say) -> None:
    far = settings("grid.lx=300.0", "grid.ly=200.0", "probe=[]")
    checked = say("check", *far)
    assert checked.returncode == 0
    reach = np.sqrt(4 * 45.0 / (7800 * 470) * 30.0)
    assert f"heat conducts over about {reach:.2g} m in the 30 s of this run, less than a cell (25 m)" in checked.stdout
    begun = say("run", *far, "--max-minutes", "0")
    assert begun.stderr.count("warning: heat conducts over") == 1
    assert "warning" not in say("run", *far).stderr, "said once"
    assert "warning" not in say("check", *settings()).stdout
    fine = settings("grid={nx = 12, ny = 8, lx = 100.0, ly = 100.0}", "probe=[]", "time.end=1e7")
    assert "warning" not in say("check", *fine).stdout
    steady = settings("grid.lx=300.0", "probe=[]", "time={steady = true}", "output={}")
    assert json.loads(say("check", *steady, "--json").stdout)["warnings"] == []


def test_results_larger_than_the_disk_are_refused_before_the_run(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    foretold = json.loads(say("check", *settings(), "--json").stdout)
    assert foretold["disk_free_bytes"] > foretold["disk_bytes"] > 3 * 12 * 8 * 8
    monkeypatch.setattr("simsuite.execution.free_bytes", lambda path: foretold["disk_bytes"] - 1)
    monkeypatch.setattr("simsuite.io.disk.free_bytes", lambda path: foretold["disk_bytes"] - 1)
    refused = say("run", *settings())
    assert (refused.returncode, refused.stdout) == (2, "")
    assert re.search(r"the results of this run take \S+ kB, but \S+ kB are free in runs/plate", refused.stderr)
    assert "-o DIR" in refused.stderr
    assert not Path("runs/plate/results.h5").exists()
    assert "the run would not begin" in say("check", *settings()).stdout
    monkeypatch.setattr("simsuite.execution.free_bytes", lambda path: foretold["disk_bytes"])
    assert say("run", *settings()).returncode == 0
    monkeypatch.setattr("simsuite.execution.free_bytes", lambda path: 0)
    assert say("run", *settings()).returncode == 0, "it is finished and takes no more"


def test_check_says_that_a_plate_without_a_start_begins_at_0(say: Say) -> None:
    bare = Path("bare.toml")
    bare.write_text("\n".join(line for line in PLATE.splitlines() if "initial" not in line), encoding="utf-8")
    line = r"^  start +at 0 {} everywhere: there is no \[initial\]$"
    assert re.search(line.format("K"), say("check", bare).stdout, re.MULTILINE)
    assert re.search(line.format("°C"), say("check", bare, "--set", "units=degC").stdout, re.MULTILINE)
    for given in (settings(), ["bare.toml", "--device", "cpu", "--set", "time={steady = true}"]):
        assert "start  " not in say("check", *given).stdout
    assert say("run", bare, "--device", "cpu").returncode == 0
    assert json.loads(Path("runs/bare/summary.json").read_text(encoding="utf-8"))["results"]["min"] < 1e-6


@pytest.mark.parametrize("stepper", ["rkl2", "explicit"])
def test_the_rate_says_that_stages_count_as_steps(stepper: str) -> None:
    """As the work of a run does, of which the rate is a part."""
    steps = {"dt": 1.0} if stepper == "rkl2" else {}
    plan = HeatScenario.model_validate(tomllib.loads(PLATE) | {"time": {"end": 30.0, "stepper": stepper, **steps}})
    problem = HeatProblem.from_scenario(plan, Path())
    assert problem.work(2) == 2 * 96 * (problem.plan.stages if stepper == "rkl2" else 1)
    summary = {
        "solver": "heat", "status": "complete", "steps": 2, "time": 2.0, "wall_seconds": 1.0, "compile_seconds": 0.5,
        "rate": 1e6, "rate_unit": problem.rate_unit, "device": "cpu", "device_name": "x", "precision": "float64",
        "stepper": stepper, "directory": "x",
        "results": {"min": 0.0, "max": 1.0, "mean": 0.5, "probes": {}, "energy": {
            "stored": 0.0, "boundary": 0.0, "edges": {}, "source": 0.0, "residual": 0.0}},
    }  # fmt: skip
    (took,) = [line for line in summary_lines(summary) if line.startswith("  took")]
    assert took.endswith("then 1 Mcell-steps/s" + (", each stage a step" if stepper == "rkl2" else ""))


def test_check_foretells_steps_and_time_once(say: Say) -> None:
    """Also with the reason for the stepper, which foretold both by other rates."""
    varied = settings('material={diffusivity = "1e-5*(1 + x)"}')
    shown = say("check", *varied, "-v").stdout
    assert "  why  " in shown
    assert len(re.findall(r"\b\d+ steps?\b|about \d+\b|some \d+ to \d+\b", shown)) == 1
    assert shown.count("what is usual on two CPU cores, after") == 1
    assert not re.search(r"why .*\d s\b", shown)


def test_check_foretells_no_time_of_the_simulator(say: Say) -> None:
    words = ["plate.toml", "--set", "time.stepper=explicit", "--device", "cudasim"]
    shown = say("check", *words).stdout
    assert "time       not known before: the simulator runs each thread of a GPU in Python" in shown
    assert "usual on" not in shown
    assert json.loads(say("check", *words, "--json").stdout)["seconds"] is None


def test_check_foretells_the_time(say: Say, tmp_path: Path) -> None:
    assert say("new", "gbm").returncode == 0
    words = ["gbm.toml", "--device", "cpu", "--set", "paths.count=1000000000000"]
    found = json.loads(say("check", *words, "--json").stdout)
    values = 12  # two prices, each with five Greeks
    assert found["seconds"] == pytest.approx(1e12 * (252 / 5e8 + values * 1.4e-8))
    assert re.search(r"time +about 7\.78 days at what is usual on two CPU cores", say("check", *words).stdout)
    target = json.loads(say("check", *words, "--set", "paths.target_standard_error=0.01", "--json").stdout)
    assert target["seconds"] is None, "that depends on the paths"
    plate = json.loads(say("check", *settings("time.stepper=explicit"), "--json").stdout)
    assert plate["seconds"] == pytest.approx(plate["steps"] * (0.4e-6 + 0.3e-9 * 96), rel=0.2)


def test_nan_comes_with_advice(say: Say) -> None:
    growing = [
        'source=[{power = "1e9*T**3"}]',
        "time.stepper=explicit",
        "time.dt=0.5",
        'material.conductivity="45+T/99"',
    ]
    failed = say("run", *settings(*growing))
    assert failed.returncode == 3
    assert "NaN or Inf" in failed.stderr
    help = failed.stderr.partition("= help: ")[2]
    for words in ('try dt = "auto"', "the source source1 depends on T", "the conductivity depends on T"):
        assert words in help
    found = json.loads(say("info", "runs/plate", "--json").stdout)
    assert found["status"] == "failed"
    assert found["failure"].startswith("NaN or Inf in ")
    assert found["failure"] in say("info", "runs/plate").stdout


def test_a_seed_that_nothing_needs_is_no_other_scenario(say: Say) -> None:
    stopped = [*settings(), "--max-minutes", "0", "-q"]
    assert say("run", *stopped).returncode == 75
    assert say("run", *settings("run.seed=2"), "-q").returncode == 0
    for solver, seed in (("gbm", True), ("linear", False)):
        assert say("new", solver).returncode == 0
        assert load(f"{solver}.toml").model.random is seed
    noisy = ["system.noise_matrix=[[1.0],[0.0]]", 'initial.state={random = "normal"}']
    assert all(load("linear.toml", [change]).model.random for change in noisy)
    run = ["run", "gbm.toml", "--device", "cpu", "--set", "paths.count=64", "--max-minutes", "0", "-q"]
    assert say(*run).returncode == 75
    other = say(*run, "--set", "run.seed=2")
    assert other.returncode == 2
    assert "differs in run.seed" in other.stderr


def test_a_scenario_of_before_a_key_was_there_is_the_same(say: Say) -> None:
    assert say("run", *settings(), "--max-minutes", "0", "-q").returncode == 75
    path = Path("runs/plate/scenario.toml")
    old = path.read_text(encoding="utf-8")
    assert old.count('units = "K"\n') == 1
    path.write_text(old.replace('units = "K"\n', ""), encoding="utf-8")
    assert say("run", *settings(), "-q").returncode == 0


# ---- errors of --json, short options, completion


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["run", "nowhere.toml"], 2, "ScenarioError"),
        (["run", *settings("grid.nz=3", "time.dt=-1.0")], 2, "ScenarioError"),
        (["info", "nowhere"], 2, "UsageError"),
        (["run", "plate.toml", "--device", "cuda:99"], 4, "DeviceError"),
        (["run", "plate.toml", "--jsn"], 2, "UsageError"),
        (["walk"], 2, "UsageError"),
        (
            ["run", *settings('source=[{power = "1e9*T**3"}]', "time.stepper=explicit", "time.dt=0.1")],
            3,
            "NumericalFailure",
        ),
    ],
)
def test_errors_are_objects_where_objects_are_asked_for(say: Say, words: list[str], code: int, kind: str) -> None:
    done = say(*words, "--json")
    assert done.returncode == code
    assert len(done.stdout.splitlines()) == 1
    found = json.loads(done.stdout)
    assert (found["status"], found["exit_code"], found["error"]["kind"]) == ("error", code, kind)
    assert found["error"]["message"]
    assert "\033" not in done.stdout
    assert done.stderr, "people are told as well"
    if "grid.nz=3" in words:
        assert [mistake["path"] for mistake in found["error"]["mistakes"]] == ["grid.nz", "time.dt"]


def test_a_bug_is_an_object_too(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("simsuite.execution.march", broken)
    done = say("run", *settings(), "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (1, "ZeroDivisionError")


def test_an_object_is_printed_once(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verification that fails has printed its own."""
    rough = settings("reference={temperature = 0.0, within = 1e-9}", "grid={nx = 4, ny = 4, lx = 0.3, ly = 0.2}")
    failed = say("verify", *rough, "--json")
    assert failed.returncode == 5
    assert json.loads(failed.stdout)["passed"] is False


@pytest.mark.parametrize("command", [[], ["run"], ["info"], ["verify"], ["doctor"]])
def test_help_has_a_short_name(command: list[str]) -> None:
    short, long = (CliRunner().invoke(app, [*command, flag]) for flag in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.output == long.output


def test_the_version_has_short_names(say: Say) -> None:
    assert say("-V").stdout == say("-v").stdout == say("--version").stdout


def test_shells_complete_commands(tmp_path: Path) -> None:
    asked = {"_SIMSUITE_COMPLETE": "complete_bash", "COMP_WORDS": "simsuite re", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "simsuite"],
        env=os.environ | asked,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["resume", "repair", "report"]


def test_doctor_as_an_object(say: Say) -> None:
    done = say("doctor", "--json")
    found = json.loads(done.stdout)
    assert found["devices"].keys() == {"cpu", "cudasim", "cuda"}
    assert found["devices"]["cpu"]["state"] == "ok"
    assert {"simsuite", "python", "system", "packages", "driver", "memory"} <= found.keys()


def test_old_summaries_are_still_read(say: Say) -> None:
    """Of runs that ended before summaries had units and lengths of steps."""
    assert say("run", *settings(), "-q").returncode == 0
    path = Path("runs/plate/summary.json")
    summary = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in summary.items() if key not in ("units", "dt")}))
    shown = say("info", "runs/plate").stdout
    assert "temperature, K" in shown
    assert f"{summary['steps']} steps, to t = 30" in shown


def test_steps_of_a_given_length_have_no_estimate(say: Say) -> None:
    given = ("time.stepper=rkl2", "time.dt=1.0")
    assert "not estimated" in say("run", *settings(*given)).stdout
    assert "not estimated" not in say("run", *settings("time.stepper=rkl2"), "--fresh").stdout


@pytest.mark.parametrize("stepper", ["rkl2", "adi", "auto"])
def test_data_that_change_too_often_are_why_no_error_is_told(
    say: Say, monkeypatch: pytest.MonkeyPatch, stepper: str
) -> None:
    """No length of steps was given, so that is not why."""
    monkeypatch.setattr("simsuite.solvers.heat.time_scales.data_changes.MOST", 5)
    source = 'source=[{power="1e5*(t % 0.5 < 0.1)*x"}]'
    shown = say("run", *settings(source, f"time.stepper={stepper}", "time.end=5"), "--fresh").stdout
    (line,) = [line for line in shown.splitlines() if "time error" in line]
    assert "unknown" in line
    assert "data change too often" in line


def test_explicit_steps_without_a_bound_of_their_error_are_said_to_have_none(say: Say) -> None:
    """A bound that comes to more than the range of temperatures is none either."""
    for unbounded in ('source=[{power = "1 - T"}]', 'boundary.left={kind = "convection", h = "1 + t", ambient = 1}'):
        shown = say("run", *settings("time.stepper=explicit", unbounded), "--fresh").stdout
        (line,) = (line for line in shown.splitlines() if "time error" in line)
        assert "unknown" in line
        assert "explicit steps ignore time.tolerance" in line
    shown = say("run", *settings("time.stepper=explicit"), "--fresh").stdout
    assert "time error" in shown
    assert "unknown" not in shown


def test_warnings_are_in_the_object_too(say: Say) -> None:
    idle = 'source=[{power = "1e5*(x > 9)"}]'
    done = say("run", *settings(idle), "--json")
    (warning,) = json.loads(done.stdout)["warnings"]
    assert f"warning: {warning}" in done.stderr
    assert json.loads(say("run", *settings(), "--fresh", "--json").stdout)["warnings"] == []


def test_steps_that_control_their_error_count_iterations_in_it(say: Say) -> None:
    """What the last iteration changed is then no reason to take shorter steps."""
    stiff = ("time.stepper=adi", "source=[{power = '1e5*exp(T/10)'}]", "initial={temperature=20.0}")
    assert say("run", *settings(*stiff, "time.tolerance=1e-2"), "-q").returncode == 0
    assert "last iteration" not in say("info", "runs/plate", "-v").stdout
    assert json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]["iteration_change"] > 0


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            "source=[]",
            r"its bound, \S+ K, is more than temperatures differ by at the start and now, as data or temperatures",
        ),
        ("source=[{power = '-1e4*(T - 20)'}]", r"no bound is known with \[surface\] or a source that depends on T"),
    ],
)
def test_explicit_steps_without_a_useful_bound_say_so(say: Say, source: str, why: str) -> None:
    """An edge that jumps by all of the range has a bound of more than that; a source in T has none."""
    jump = "boundary.left={kind = 'temperature', value = '20 + 1e3*(t > 15)'}"
    done = say("run", *settings("time.stepper=explicit", source, jump))
    assert done.returncode == 0, done.stderr
    assert re.search(rf"time error +unknown +{why}", done.stdout)
    assert "time_error" not in json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]


def test_the_range_of_temperatures_is_told_with_its_unit(say: Say) -> None:
    assert say("run", *settings("time.stepper=rkl2"), "-q").returncode == 0
    low, high = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]["range"]
    assert re.search(rf"range +{low:.10g} to {high:.10g} ", say("info", "runs/plate", "-v").stdout)
    table = {row[0]: row[1:] for row in csv.reader(say("info", "runs/plate", "--csv").stdout.splitlines())}
    assert (table["range.0"], table["range.1"]) == ([str(low), "K"], [str(high), "K"])


def test_the_error_of_a_run_that_was_stopped_is_of_the_range_so_far(say: Say) -> None:
    """Here of next to nothing, as temperatures have just begun to rise."""
    slow = "time.stepper=rkl2", "initial.temperature=20.0", "boundary.left.value='20 + t'"
    stopped = say("run", *settings(*slow), "--max-minutes", "0")
    assert stopped.returncode == 75
    low, high = json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["results"]["range"]
    assert f"of the temperatures' range so far ({high - low:.2g} K), by steps in time" in stopped.stdout
    assert json.loads(say("info", "runs/plate", "--json").stdout)["summary"]["rate"] is None
    assert "since it was resumed" not in stopped.stdout
    resumed = say("run", *settings(*slow)).stdout
    assert "so far" not in resumed
    assert re.search(r"took +\S+ s since it was resumed, of which", resumed)
    celsius = say("run", *settings(*slow, "units=degC"), "-o", "celsius", "--max-minutes", "0")
    assert re.search(r"range so far \(\S+ K\)", celsius.stdout), celsius.stderr


def test_all_runs_of_a_directory_are_listed_where_one_is_asked_for(say: Say) -> None:
    """As CSV too; and where a picture is wanted of a run that is not there."""
    assert say("run", *settings("time.end=1.0"), "-q").returncode == 0
    assert say("run", *settings("time.end=1.0"), "-o", "runs/other", "-q").returncode == 0
    found = list(csv.DictReader(say("info", "runs", "--csv").stdout.splitlines()))
    assert [(row["directory"], row["status"]) for row in found] == [
        ("runs/other", "complete"),
        ("runs/plate", "complete"),
    ]
    assert {(row["solver"], row["time"], row["time_unit"]) for row in found} == {("heat", "1.0", "s")}
    for command in ("info", "plot", "resume"):
        refused = say(command, "runs/nix")
        assert refused.returncode == 2
        assert "runs/nix holds no run" in refused.stderr
        assert "runs/nix holds no run: there is no such directory" in refused.stderr
        assert "there are runs/other, runs/plate" in refused.stderr


def test_the_scenario_of_no_run_is_to_be_run_first(say: Say) -> None:
    Path("never.toml").write_text(PLATE)
    for command in ("info", "resume"):
        refused = say(command, "never.toml")
        assert refused.returncode == 2
        assert "runs/never holds no run" in refused.stderr
        assert "help: `simsuite run never.toml` first" in refused.stderr


def test_results_are_printed_in_one_form(say: Say) -> None:
    refused = say("info", "runs/plate", "--csv", "--json")
    assert refused.returncode == 2
    assert "--json and --csv are two forms of the same results" in refused.stderr + refused.stdout


@pytest.mark.parametrize(
    ("steps", "by_adi", "status", "said"),
    [
        (40, 0, "complete", "rkl2 for all steps, adi for none; steps as long as their error allows"),
        (40, 40, "complete", "adi for all steps, rkl2 for none; steps as long as their error allows"),
        (40, 0, "stopped", "rkl2 for all steps so far, adi for none; steps as long as their error allows"),
        (40, 3, "complete", "rkl2 and adi by turns, steps as long as their error allows"),
        (0, 0, "stopped", "rkl2 or adi, whichever is faster, steps as long as their error allows"),
    ],
)
def test_a_method_that_took_no_step_took_no_turns(steps: int, by_adi: int, status: str, said: str) -> None:
    about = {"solver": "heat", "stepper": "rkl2+adi", "steps": steps, "results": {"adi_steps": by_adi}}
    assert short_stepper(about | {"status": status}, True) == said


def test_log_and_picture_name_the_method_that_took_all_steps(tmp_path: Path) -> None:
    """Not the plan of a run that is over, which JSON has as `stepper`."""
    plate = {
        "solver": "heat",
        "grid": {"nx": 8, "ny": 8},
        "material": {"diffusivity": 1e-3},
        "initial": {"temperature": 300.0},
        "boundary": {"left": {"kind": "radiation", "emissivity": 1.0, "ambient": 500.0}},
        "time": {"end": 0.5},
    }
    done = simsuite.run(plate, device="cpu", directory=tmp_path)
    assert done.summary["stepper"] == "rkl2+adi"
    assert done.results["adi_steps"] == 0
    log = (tmp_path / "log.txt").read_text()
    assert re.search(r"complete after \d+ steps? .*, all steps by rkl2$", log, re.MULTILINE)
    with h5py.File(tmp_path / "results.h5") as file:
        assert "   |   rkl2, float64   |   " in heat_subtitle(Recording(tmp_path, file))


def test_explicit_steps_that_were_chosen_for_the_tolerance_do_not_ignore_it(say: Say) -> None:
    """A plate that stays as it is has an error of 0. A bound that is more than temperatures differ by may be
    one that met the tolerance of what was foreseen that they would."""
    still = ("material={diffusivity=1e-4}", "boundary={}", "initial={temperature=20.0}", "probe=[]")
    shown = say("run", *settings(*still, "time.stepper=explicit"), "--fresh").stdout
    assert re.search(r"time error +0 ", shown)
    results = {"time_error_bound": 3.0, "tolerance": 1e-5}
    assert "ignore" not in _why_unknown(results)
    assert "ignore time.tolerance" in _why_unknown({"time_error_bound": 3.0})


def test_a_start_that_is_steady_is_told(say: Say) -> None:
    held = ("initial={temperature=20.0}", "boundary={left={kind='temperature', value=20.0}}", "source=[]")
    shown = say("run", *settings(*held, "time={steady=true}"), "--fresh").stdout
    assert re.search(r"steady residual +0 +the temperatures at the start are steady", shown)


def test_info_tells_what_a_run_warned_of(say: Say) -> None:
    hot = ("initial={temperature=20.0}", "source=[{power = '1e7*exp(-((x - 0.5)/1e-4)**2)'}]")
    warned = say("run", *settings(*hot)).stderr
    told = [line.removeprefix("warning: ") for line in warned.splitlines() if line.startswith("warning: ")]
    assert told
    shown = say("info", "runs/plate").stdout
    assert all(f"  warning    {text}" in shown for text in told)
