"""Members that differ in their options alone run as one, and have the bits that they have alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from running import call

import simsuite
from simsuite.scenario import load
from simsuite.sweeps.plan import Plan, make_plan, parse_axis
from simsuite.sweeps.together import MOST, groups, left_of

MARKET = """\
solver = "gbm"
[constants]
K = 100
[market]
rate = 0.03
[[asset]]
name = "A"
spot = 100
volatility = 0.2
[time]
end = 1.0
steps = 12
[paths]
count = 2048
[[option]]
name = "first"
style = "european"
payoff = "call"
strike = "K"
[[option]]
style = "asian"
payoff = "put"
strike = 100
maturity = 0.5
[output]
frames = 2
[run]
device = "cpu"
"""


@pytest.fixture
def market(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "market.toml"
    path.write_text(MARKET, encoding="utf-8")
    return path


def records(directory: Path) -> dict[int, dict[str, Any]]:
    log = directory / "members.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return {record["member"]: record for record in map(json.loads, lines)}


def plan(*axes: str) -> Plan:
    return make_plan([parse_axis(axis) for axis in axes], False, None, False, 1, 10_000)


def sweep(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return call(capsys, "sweep", "market.toml", *arguments, "-o", "swept")


def test_bits_are_those_of_each_alone(market: Path, capsys: pytest.CaptureFixture[str]) -> None:
    axes = ["option.0.strike=90,100,110", "market.rate=0.01,0.05", "option.1.maturity=0.25,0.5"]
    assert sweep(capsys, *(part for axis in axes for part in ("--vary", axis))).returncode == 0
    found, made = records(market.parent / "swept"), plan(*axes)
    assert sorted(path.name for path in (market.parent / "swept" / "members").iterdir()) == [
        "0000-0009",
        "0002-0011",
        "scenario.toml",
    ]
    for member in (0, 3, 6, 11):
        alone = simsuite.run(market, set=made.settings(member), directory=f"alone{member}").results
        options, results = alone["options"], found[member]["results"]
        assert set(options) == {"first", "option2"}
        for name, option in options.items():
            for key in ("price", "standard_error", "rho", "theta"):
                assert results[f"options.{name}.{key}"] == option[key], (member, name, key)
            assert results[f"options.{name}.vega.0"] == option["vega"][0]
        assert results["options.option2.maturity"] == made.settings(member)["option.1.maturity"]
        assert results["assets.A.mean"] == alone["assets"]["A"]["mean"]


def test_one_that_fails_does_not_stop_those_beside_it(market: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(capsys, "--vary", "option.0.strike=90,-1,110").returncode == 1
    found = records(market.parent / "swept")
    assert [found[i]["status"] for i in range(3)] == ["complete", "failed", "complete"]
    assert "strike" in found[1]["error"]
    assert found[0]["run"] == found[2]["run"] == "0000-0002"
    assert (market.parent / "swept" / "members" / "0000-0002" / "results.h5").exists()


def test_a_changed_book_makes_another_sweep(market: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = market.parent / "trades.csv"
    market.write_text('book = "trades.csv"\n' + MARKET, encoding="utf-8")
    book.write_text("style,payoff,strike\neuropean,call,90\n", encoding="utf-8")
    assert sweep(capsys, "--vary", "option.0.strike=90,100").returncode == 0
    book.write_text("style,payoff,strike\neuropean,call,95\n", encoding="utf-8")
    done = sweep(capsys, "--vary", "option.0.strike=90,100")
    assert done.returncode == 2
    assert "holds another sweep" in done.stderr


def test_what_runs_together() -> None:
    class Scenario:
        def __init__(self, **changes: object) -> None:
            data: dict[str, Any] = {
                "solver": "gbm",
                "market": {"rate": 0.0},
                "asset": [{"spot": 100.0, "volatility": 0.2, "holding": 1.0}],
                "time": {"end": 1.0, "steps": 4},
                "paths": {"count": 1024},
                "option": [{"style": "european", "payoff": "call", "strike": 100.0}] * 2,
            }
            from simsuite.scenario.gbm import GbmScenario

            self.model = GbmScenario.model_validate(data | changes)

    def found(*axes: str, **changes: object) -> list[list[int]]:
        scenario: Any = Scenario(**changes)
        return groups(plan(*axes), scenario)

    assert found("option.0.strike=1,2,3") == [[0, 1, 2]]
    assert found("option[1].strike=1,2", "market.rate=0,1") == [[0, 2], [1, 3]]
    assert found("market.rate=0,1") == [[0], [1]]
    assert found("option.0.strike=1,2", paths={"count": 1024, "target_standard_error": 0.1}) == [[0], [1]]
    assert found("option.0.strike=1,2", output={"risk": {}}) == [[0], [1]]
    assert found("option.0.strike=1,2", option=[]) == [[0], [1]]
    many = found(f"option.0.strike=linspace(1,2,{MOST + 1})")
    assert [len(group) for group in many] == [MOST // 2, MOST // 2, 1]


def test_members_of_a_group_of_which_some_have_ended_run_one_by_one() -> None:
    assert left_of([[0, 1, 2], [3, 4]], {0, 1, 2, 4}) == [[0, 1, 2], [4]]
    assert left_of([[0, 1], [2]], {2}) == [[2]]
    assert left_of([[0, 1]], {0, 1}) == [[0, 1]]


def test_scenarios_that_differ_in_more_are_not_joined(market: Path) -> None:
    models = [load(market, [f"market.rate={rate}"]).model for rate in (0.01, 0.02)]
    assert type(models[0]).join(models) is None
    joined = type(models[0]).join(models[:1] * 3)
    assert [option.name for option in joined.option] == ["o0", "o1", "o2", "o3", "o4", "o5"]


def test_killed_amid_a_run_of_many_it_goes_on(market: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run that members share goes on from its checkpoint, and each member ends once."""
    text = MARKET.replace("count = 2048", "count = 3000000\nbatch = 65536").replace("steps = 12", "steps = 60")
    market.write_text(text.replace("frames = 2", "frames = 2\ncheckpoint_every = 120"), encoding="utf-8")
    command = [sys.executable, "-m", "simsuite", "sweep", "market.toml", "--vary", "option.0.strike=90,100,110"]
    shared = market.parent / "swept" / "members" / "0000-0002"
    for _ in range(2):
        before = {path: path.stat().st_mtime_ns for path in shared.glob("checkpoint*")}
        process = subprocess.Popen([*command, "-o", "swept"], cwd=market.parent, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while {path: path.stat().st_mtime_ns for path in shared.glob("checkpoint*")} == before:
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not records(market.parent / "swept")
    assert sweep(capsys, "--vary", "option.0.strike=90,100,110").returncode == 0
    lines = (market.parent / "swept" / "members.jsonl").read_text("utf-8").splitlines()
    assert sorted(json.loads(line)["member"] for line in lines) == [0, 1, 2]
    alone = simsuite.run(market, set={"option.0.strike": 110}, directory=market.parent / "alone").results
    assert records(market.parent / "swept")[2]["results"]["options.first.price"] == alone["options"]["first"]["price"]


@pytest.mark.gpu
def test_a_thousand_options_on_a_gpu(market: Path, cuda: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vary", "option.0.strike=linspace(80,120,1000)", "--set", "run.device=cuda", "--max-runs", "1000")
    assert sweep(capsys, *options).returncode == 0
    found = records(market.parent / "swept")
    assert len(found) == 1000
    for member in (0, 511, 999):
        strike = found[member]["results"]["options.first.price"]
        alone = simsuite.run(
            market, set={"option.0.strike": 80 + 40 * member / 999, "run.device": "cuda"}, directory=f"alone{member}"
        ).results
        assert strike == alone["options"]["first"]["price"]
