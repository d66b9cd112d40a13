"""`simsuite bench start`: whole runs in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import running

from simsuite.bench.start import measure

SCENARIO = """
solver = "linear"
system = {kind = "discrete", matrix = [[0.5, 0.1], [0.0, 0.9]]}
initial = {state = [1.0, 2.0]}
time = {steps = 20}
"""


def test_first_and_later_runs_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "WARM_RUNS", 2)
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    done = running.call(capsys, "bench", "start", path, "--cold", "--device", "cpu", "--json", "-o", tmp_path)
    whole = json.loads(done.stdout)
    assert whole == json.loads((tmp_path / "bench.json").read_text())
    first, later = whole["rows"]
    assert [(row["scenario"], row["cache"], row["runs"]) for row in (first, later)] == [
        ("small", "empty", 1),
        ("small", "full", 2),
    ]
    assert first["compiled"] > later["compiled"]
    for row in (first, later):
        assert 0 < row["interpreter"] < row["first_step"] <= row["wall"]
        assert row["imports"] + row["compiling"] < row["wall"]


def test_a_scenario_that_does_not_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = running.call(capsys, "bench", "start", tmp_path / "none.toml")
    assert missing.returncode == 2
    assert "none.toml" in missing.stderr
    path = tmp_path / "bad.toml"
    path.write_text(SCENARIO.replace("20", "-1"))
    failed = running.call(capsys, "bench", "start", path, "--device", "cpu")
    assert failed.returncode == 1
    assert "bad.toml does not run" in failed.stderr


def test_options_of_start_belong_to_start(capsys: pytest.CaptureFixture[str]) -> None:
    refused = running.call(capsys, "bench", "heat", "--cold")
    assert refused.returncode == 2
    assert "bench start" in refused.stderr
