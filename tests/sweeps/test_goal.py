"""Searches for the value of a key: against closed forms, stopped and killed anywhere, and what cannot be found."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xarray
from running import call
from scipy.stats import norm

import simsuite
from simsuite.errors import NumericalFailure, ScenarioError, SimsuiteError, UsageError
from simsuite.sweeps.goal import Goal, Search, Trial
from simsuite.sweeps.sweep import Sweep
from simsuite.sweeps.table import result_named, standard_error_of

HOT, AIR, K, WIDTH = 400.0, 300.0, 45.0, 0.12
ROD = f"""\
solver = "heat"
[constants]
h = 25.0
[grid]
nx = 24
ny = 1
lx = {WIDTH}
ly = 0.01
[material]
conductivity = {K}
density = 7800.0
specific_heat = 470.0
[initial]
temperature = {AIR}
[boundary]
left = {{kind = "temperature", value = {HOT}}}
right = {{kind = "convection", h = "h", ambient = {AIR}}}
[[probe]]
name = "middle"
x = {WIDTH / 2}
y = 0.005
[time]
steady = true
[run]
device = "cpu"
"""
CALL = """\
solver = "gbm"
[market]
rate = 0.05
[[asset]]
name = "stock"
spot = 100.0
volatility = 0.2
[time]
end = 1.0
steps = 1
[paths]
count = 16384
sampling = "sobol"
replicates = 16
[[option]]
name = "call"
style = "european"
payoff = "call"
strike = 110.0
[run]
device = "cpu"
"""
CONSTANT = "constants.h=5,500"
SEARCH = ("sweep", "rod.toml", "--goal", "results.probes.middle", "--target", "380")


def middle(h: float) -> float:
    """The temperature in the middle of a rod that is hot at its left and cooled at its right end."""
    flux = (HOT - AIR) / (WIDTH / K + 1 / h)
    return HOT - flux * WIDTH / 2 / K


H = 1 / (100 / (20 * 2 * K / WIDTH) - WIDTH / K)  # with which the middle has 380


def black_scholes(volatility: float) -> float:
    d = (math.log(100 / 110) + 0.05 + volatility**2 / 2) / volatility
    return float(100 * norm.cdf(d) - 110 * math.exp(-0.05) * norm.cdf(d - volatility))


@pytest.fixture
def rod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rod.toml").write_text(ROD, encoding="utf-8")
    (tmp_path / "call.toml").write_text(CALL, encoding="utf-8")
    return tmp_path / "rod.toml"


def test_the_heat_transfer_for_a_temperature(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert middle(H) == pytest.approx(380)
    done = call(capsys, *SEARCH, "--vary", CONSTANT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["value"] == pytest.approx(H, rel=1e-4)
    assert abs(found["result"] - 380) <= found["tolerance"] == pytest.approx(1e-6 * (middle(5) - middle(500)), rel=1e-3)
    low, high = found["bracket"]
    assert low <= found["value"] <= high
    assert (found["goal"], found["unit"], found["standard_error"]) == ("probes.middle", "K", None)
    for run in found["runs"]:
        assert run["result"] == pytest.approx(middle(run["value"]), rel=1e-8)
        assert run["difference"] == run["result"] - 380
    assert [run["value"] for run in found["runs"]][:2] == [5, 500]
    assert len(found["runs"]) <= 12
    assert found["slope"] == pytest.approx(1e-3 * H / (middle(1.001 * H) - middle(H)), rel=0.05)
    with xarray.open_dataset("runs/rod_goal/sweep.h5", engine="h5netcdf") as data:
        assert data["constants.h"].values.tolist() == sorted(run["value"] for run in found["runs"])
        assert (data["status"] == 0).all()
        assert float(data["probes.middle"].sel({"constants.h": found["value"]})) == found["result"]


def test_another_target_takes_the_runs_that_are_there(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Path("runs/rod_goal/members.jsonl")
    table = call(capsys, *SEARCH, "--vary", CONSTANT).stdout
    assert "answer     constants.h = " in table
    assert "less the target" in table.splitlines()[0]
    before = log.read_bytes()
    again = call(capsys, *SEARCH, "--vary", CONSTANT)
    assert again.stdout == table
    assert log.read_bytes() == before
    other = call(capsys, "sweep", "rod.toml", "--vary", CONSTANT, "--goal", "mean", "--target", "390", "--json")
    assert [run["member"] for run in json.loads(other.stdout)["runs"]][:2] == [0, 1]
    assert log.read_bytes().startswith(before)
    wider = call(capsys, *SEARCH, "--vary", "constants.h=5,1000", "--tolerance", "1", "--json")
    assert next(run["member"] for run in json.loads(wider.stdout)["runs"]) == 0
    assert abs(json.loads(wider.stdout)["result"] - 380) <= 1
    changed = call(capsys, *SEARCH, "--vary", CONSTANT, "--set", "grid.nx=12")
    assert changed.returncode == 2
    assert "holds another sweep" in changed.stderr
    plain = call(capsys, "sweep", "rod.toml", "--vary", CONSTANT, "-o", "runs/rod_goal")
    assert "holds another sweep" in plain.stderr
    assert call(capsys, "sweep", "rod.toml", "--vary", CONSTANT, "-o", "plain").returncode == 0
    assert "holds another sweep" in call(capsys, *SEARCH, "--vary", CONSTANT, "-o", "plain").stderr


def test_implied_volatility(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By Sobol points, as close to that of the formula as its standard error says."""
    options = ("--vary", "asset.0.volatility=0.05,0.8", "--goal", "options.call.price")
    target = black_scholes(0.23)
    done = call(capsys, "sweep", "call.toml", *options, "--target", repr(target), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 < found["value_standard_error"] < 0.001
    assert abs(found["value"] - 0.23) < 4 * found["value_standard_error"] + 1e-5
    vega = (black_scholes(0.231) - black_scholes(0.229)) / 0.002
    assert found["value_standard_error"] == pytest.approx(found["standard_error"] / vega, rel=0.05)
    said = call(capsys, "sweep", "call.toml", *options, "--target", repr(target)).stdout
    assert "standard error" in said.splitlines()[0]
    assert "\nerror      the standard error of the result, " in said


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_search_that_is_killed_goes_on(how: signal.Signals, rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = (*SEARCH[1:], "--vary", CONSTANT, "-o", "killed")
    log = Path("killed/members.jsonl")
    for wanted in (1, 3, 5):
        running = subprocess.Popen([sys.executable, "-m", "simsuite", "sweep", *options], stderr=subprocess.PIPE)
        until = time.monotonic() + 120
        while (not log.exists() or len(log.read_bytes().splitlines()) < wanted) and time.monotonic() < until:
            assert running.poll() is None, running.communicate()[1].decode()
            time.sleep(0.002)
        running.send_signal(how)
        running.communicate(timeout=120)
        assert running.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 75, signal.SIGINT: 130}[how]
    found = json.loads(call(capsys, "sweep", *options, "--json").stdout)
    whole = json.loads(call(capsys, *SEARCH, "--vary", CONSTANT, "--json").stdout)
    assert found["runs"] == whole["runs"]
    ended = [json.loads(line)["member"] for line in log.read_text().splitlines()]
    assert sorted(ended) == list(range(len(found["runs"])))


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--target", "500"), 2, "both below the target 500\n  = help: go further beyond 5, where it is nearer"),
        (("--target", "500", "--vary", "constants.h=5,50,500"), 2, "and so it is at 1 value between"),
        (("--goal", "middel"), 2, "did you mean `probes.middle`?"),
        (("--goal", "probe.middle"), 2, "did you mean `probes.middle`?"),
        (("--goal", "middle"), 2, "did you mean `probes.middle`?"),
        (("--goal", "zzz"), 2, "there are `"),
        (("--vary", "constants.h=-1,500"), 2, "must be at least 0"),
        (("--vary", "constants.h=500,-1"), 2, "must be at least 0"),
        (("--vary", "constants.h=5"), 2, "goes between two numbers"),
        (("--vary", "constants.h=5,5"), 2, "goes between two numbers"),
        (("--vary", "constants.h=uniform(5,6)"), 2, "goes between two numbers"),
        (("--vary", "constants.h=5,a"), 2, "goes between two numbers"),
        (("--vary", "grid.nx=8,16"), 2, "must be a whole number"),
        (("--vary", "constants.hh=8,16"), 2, "did you mean `h`?"),
        (("--tolerance", "0"), 2, "tolerance has to be a number above 0"),
        (("--target", "nan"), 2, "target has to be a finite number"),
        (("--zip",), 2, "leave out --zip"),
        (("--workers", "2"), 2, "leave out --workers"),
        (("--random", "3", "--slurm", "job.sh"), 2, "leave out --random and --slurm"),
    ],
)
def test_what_cannot_be_found(
    options: tuple[str, ...], code: int, said: str, rod: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"--vary": CONSTANT, "--goal": "probes.middle", "--target": "380"}
    left = [word for name, value in given.items() if name not in options for word in (name, value)]
    done = call(capsys, "sweep", "rod.toml", *left, *options)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_not_computed_is_asked_for_in_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(
        [
            'solver = "linear"',
            "constants = {k = 1.0}",
            'system = {kind = "continuous", A = [["-k"]], B = [[1.0]], input = [0.0]}',
            "initial = {x0 = [1.0]}",
            "time = {steps = 2, dt = 0.1}",
            "analysis = {poles = true}",
        ]
    )
    Path("s.toml").write_text(text, encoding="utf-8")
    words = ("sweep", "s.toml", "--vary", "constants.k=1,2", "--target", "3", "--goal")
    done = call(capsys, *words, "analysis.margins.gain_margin")
    assert done.returncode == 2
    assert "= help: set margins = true in [analysis]" in done.stderr
    assert "did you mean" not in done.stderr
    done = call(capsys, *words, "analysis.poles.reel.0")
    assert "did you mean `analysis.poles.real.0`" in done.stderr


def test_options_that_need_each_other(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        (("--vary", CONSTANT, "--target", "3"), "say what --goal RESULT is to be"),
        (("--vary", CONSTANT, "--goal", "max"), "--target X says what `max` is to be"),
        ((*SEARCH[2:], "--vary", CONSTANT, "--vary", "grid.nx=8,9"), "a search varies one key"),
        (SEARCH[2:], "a search varies one key"),
    ):
        done = call(capsys, "sweep", "rod.toml", *options)
        assert done.returncode == 2
        assert said in done.stderr


def test_points_between_find_what_turns_back(rod: Path) -> None:
    """The heat that a part of the rod gives off is at the same side of the target at both ends."""
    rise = {"boundary.right": {"kind": "temperature", "value": "300 + 100*sin(pi*h)"}}
    ends = {"directory": rod.parent / "turning", "goal": "probes.middle", "target": 380.0, "set": rise}
    with pytest.raises(UsageError, match=r"linspace\(0,1,9\)"):
        simsuite.sweep(rod, {"constants.h": [0.0, 1.0]}, **ends)
    found = simsuite.sweep(rod, {"constants.h": "linspace(0, 1, 5)"}, **ends)
    assert math.sin(math.pi * found.value) == pytest.approx(0.6, rel=1e-4)


def test_a_jump_is_no_solution(rod: Path) -> None:
    jump = {"boundary.right": {"kind": "temperature", "value": "300 + 100*(h > 0.3)"}}
    with pytest.raises(NumericalFailure, match="it jumps there"):
        simsuite.sweep(rod, {"constants.h": [0.0, 1.0]}, goal="probes.middle", target=380.0, set=jump)


def test_a_run_that_fails_ends_the_search(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is tried again with --retry alone."""
    failing = ("--set", "boundary.right.h=(h < 400)*h - (h >= 400)")
    done = call(capsys, *SEARCH, "--vary", CONSTANT, *failing)
    assert done.returncode in (1, 2)
    assert "the run with constants.h=500 failed: " in done.stderr
    lines = len(Path("runs/rod_goal/members.jsonl").read_text().splitlines())
    for retry, more in (((), 0), (("--retry",), 1)):
        assert "--retry runs it again" in call(capsys, *SEARCH, "--vary", CONSTANT, *failing, *retry).stderr
        assert len(Path("runs/rod_goal/members.jsonl").read_text().splitlines()) == lines + more


def test_python(rod: Path) -> None:
    found = simsuite.sweep(rod, {"constants.h": [5, 500]}, goal="probes.middle", target=380.0)
    assert isinstance(found, simsuite.Solution)
    assert found.value == pytest.approx(H, rel=1e-4)
    assert found.result == found.answer.result == pytest.approx(380, abs=1e-4)
    assert {run.value for run in found.runs} >= {5, 500, found.value}
    assert found.value_standard_error is None
    wrong: list[tuple[dict[str, Any], type[SimsuiteError], str]] = [
        ({"goal": "max"}, UsageError, "target="),
        ({"target": 3.0}, UsageError, "goal="),
        ({"goal": "max", "target": 3.0, "random": 3}, UsageError, "none of paired"),
        ({"goal": "maxx", "target": 3.0}, UsageError, "did you mean `max`"),
        ({"goal": "max", "target": 3.0, "set": {"grid.nx": 0}, "directory": "x"}, ScenarioError, "nx"),
    ]
    for given, kind, said in wrong:
        with pytest.raises(kind, match=said):
            simsuite.sweep(rod, {"constants.h": [5, 500]}, **given)


def test_a_result_that_is_not_known(rod: Path) -> None:
    text = CALL.replace('sampling = "sobol"\nreplicates = 16', "").replace("16384", "1")
    Path("one.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SimsuiteError, match=r"asset.0.volatility=0.1 is not known \(null\)"):
        simsuite.sweep("one.toml", {"asset.0.volatility": [0.1, 0.2]}, goal="options.call.standard_error", target=3.0)


def test_the_list_of_runs_tells_whether_a_search_is_over(rod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of its runs have ended whenever it is stopped between two."""

    def listed() -> dict[str, Any]:
        found = json.loads(call(capsys, "list", "runs/rod_goal", "--json").stdout)["runs"]
        return dict(next(each for each in found if each["directory"] == "runs/rod_goal"))

    whole = Sweep(rod, Search.plan_of("constants.h", [5.0, 500.0]), Path("runs/rod_goal"))
    with pytest.raises(KeyboardInterrupt):
        Search(whole, Goal("results.probes.middle", 380.0), [5.0, 500.0], _interrupted_at(3)).run()
    assert listed()["status"] == "stopped"
    assert listed()["brief"] == "search for probes.middle = 380, 3 runs"
    assert call(capsys, *SEARCH, "--vary", CONSTANT).returncode == 0
    assert listed()["status"] == "complete"
    assert call(capsys, "sweep", "rod.toml", "--vary", CONSTANT, "--goal", "mean", "--target", "500").returncode == 2
    assert listed()["status"] == "failed"
    assert call(capsys, *SEARCH, "--vary", CONSTANT).returncode == 0
    assert listed()["status"] == "complete"


def _interrupted_at(count: int) -> Callable[[Trial], None]:
    seen: list[Trial] = []

    def told(trial: Trial) -> None:
        seen.append(trial)
        if len(seen) == count:
            raise KeyboardInterrupt

    return told


def test_names_of_results() -> None:
    names = ["max", "probes.left", "probes.right", "options.call.price", "options.call.delta.0", "assets.A.mean"]
    assert result_named("results.probes.left", names) == "probes.left"
    for asked, said in (
        ("probes", "`probes.left`, `probes.right`?"),
        ("rigth", "`probes.right`?"),
        ("call.price", "`options.call.price`?"),
        ("q", "there are `max`"),
    ):
        with pytest.raises(UsageError) as raised:
            result_named(asked, names)
        assert said in str(raised.value)
    errors = [
        *("options.call.standard_error", "options.call.delta_standard_error.0", "assets.A.mean_standard_error"),
        *("multilevel.standard_error",),
    ]
    assert standard_error_of("options.call.price", errors) == "options.call.standard_error"
    assert standard_error_of("options.call.delta.0", errors) == "options.call.delta_standard_error.0"
    assert standard_error_of("assets.A.mean", errors) == "assets.A.mean_standard_error"
    assert standard_error_of("options.call.ci95.0", errors) is None
    assert standard_error_of("max", errors) is None
