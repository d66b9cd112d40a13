"""What is told of a Monte Carlo run that was stopped before its paths were made."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from gbm_problems import tables
from running import call
from test_resume import stop_at as stop_at
from test_resume import write

from simsuite.io.checkpoint import read_checkpoint

StopAt = Callable[[Path, int], None]
STEPS, COUNT, BATCH = 100, 8192, 2048


@pytest.fixture
def path(tmp_path: Path) -> Path:
    scenario = tables(time={"end": 1.0, "steps": STEPS}, run={"device": "cpu"}, output={"frames": 3})
    stretches = {"output.checkpoint_every": STEPS // 4}  # at whose ends a run can stop
    return write(tmp_path / "s.toml", scenario, {"paths.count": COUNT, "paths.batch": BATCH} | stretches)


def test_a_run_in_batches_tells_the_paths_made_and_no_law_of_the_end(
    tmp_path: Path, path: Path, stop_at: StopAt, capsys: pytest.CaptureFixture[str]
) -> None:
    """It told all paths, and 100 (exact) for the mean of the prices at the end."""
    stop_at(path, STEPS + 1)
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    step = found.snapshot.step
    batch, k = divmod(step, STEPS)
    assert 1 <= batch < COUNT // BATCH
    info = json.loads(call(capsys, "info", tmp_path / "run", "--json").stdout)
    results = info["summary"]["results"]
    assert (results["paths"], results["options"], results["assets"]) == (batch * BATCH, {}, {})
    assert info["percent"] == info["summary"]["percent"] == pytest.approx(100 * step / (STEPS * COUNT / BATCH), abs=1)
    shown = call(capsys, "info", tmp_path / "run").stdout
    percent = f"{info['percent']:.1f} %"
    assert f"gbm run, stopped at {percent}, on cpu" in shown
    assert f"gbm stopped at {percent}\n" in shown
    assert "exact)" not in shown
    assert "prices at the end" not in shown
    stage = f"{batch * BATCH} of {COUNT} paths" + (f", and step {k} of {STEPS} of the next {BATCH}" if k else "")
    assert info["checkpoint"]["stage"] == stage
    assert f"checkpoint at {stage}\n" in shown
    assert f"checkpoint at {stage} is whole\n" in call(capsys, "check", tmp_path / "run").stdout
    assert f"gbm, {percent}" in call(capsys, "info", tmp_path).stdout

    done = call(capsys, "run", path, "-o", tmp_path / "run")
    assert f"continuing {tmp_path / 'run'} from {stage}\n" in done.stderr
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json")
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["results"] == json.loads(whole.stdout)["results"]


def test_a_run_in_one_batch_tells_its_step_and_the_law_at_the_last_frame(
    tmp_path: Path, path: Path, stop_at: StopAt, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which it told as that at the end."""
    path.write_text(path.read_text().replace(f"batch = {BATCH}\n", ""))
    stop_at(path, 1)
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert 0 < found.snapshot.step < STEPS // 2
    results = json.loads(call(capsys, "info", tmp_path / "run", "--json").stdout)["summary"]["results"]
    assert (results["paths"], results["assets"]) == (COUNT, {})
    assert f"from step {found.snapshot.step}, time " in _continued(tmp_path, path, stop_at, capsys)
    results = json.loads(call(capsys, "info", tmp_path / "run", "--json").stdout)["summary"]["results"]
    assert results["assets_time"] == 0.5
    assert results["assets"]["A"]["mean_exact"] == pytest.approx(100.0 * math.exp(0.05 * 0.5))
    shown = call(capsys, "info", tmp_path / "run").stdout
    assert "prices at t = 0.5 years, not discounted" in shown
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    step = found.snapshot.step
    assert f"checkpoint at step {step} (t = {step / STEPS:.6g} year" in shown
    done = call(capsys, "run", path, "-o", tmp_path / "run")
    assert f"from step {step}, time {step / STEPS:.9g} year\n" in done.stderr


def _continued(tmp_path: Path, path: Path, stop_at: StopAt, capsys: pytest.CaptureFixture[str]) -> str:
    """What is logged of a run that goes on past its second frame, and stops again."""
    stop_at(path, STEPS // 2 + 1)
    return (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
