"""Signals that come again and again, and too little time: a run stops with a checkpoint, and gets on."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from running import assert_same_bits, call, finish, start, wait_for_step
from test_resume import ENDING, HEAT, OFTEN, SCENARIOS, SHORT, write

from simsuite import stopping as stopping_module
from simsuite.io.checkpoint import read_checkpoint
from simsuite.stopping import PATIENCE, Stopping


def test_a_storm_of_signals_stops_with_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also while the checkpoint is written, and until the process is gone."""
    path, chance = write(tmp_path / "plate.toml", HEAT, SHORT), random.Random(3)
    process = start("run", path, "-o", "run", "--json", "--set", OFTEN, "--set", "time.end=1e6", cwd=tmp_path)
    assert wait_for_step(process, tmp_path / "run", 20)
    sent = 0
    while process.poll() is None:
        process.send_signal(signal.Signals[chance.choice(ENDING)])
        sent += 1
        time.sleep(chance.choice((0.0, 1e-4, 2e-3)))
    stopped = finish(process)
    assert stopped.returncode in (75, 130), stopped.stderr
    assert sent > 3
    summary = json.loads(stopped.stdout)
    assert summary["status"] == "stopped"
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert found.snapshot.step == summary["steps"] >= 20
    assert stopped.stderr.count("\n") <= 4, stopped.stderr


@pytest.mark.parametrize("name", ENDING)
def test_only_keys_that_are_pressed_after_some_time_end_at_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ended: list[int] = []
    now = [100.0]
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(stopping_module.time, "monotonic", lambda: now[0])
    number = signal.Signals[name]
    with Stopping() as stopping:
        for _ in range(5):
            signal.raise_signal(number)
            assert stopping() == name
        assert not ended
        now[0] += PATIENCE
        signal.raise_signal(number)
        assert ended == ([128 + number] if name in ("SIGINT", "SIGQUIT") else [])


def test_a_process_that_is_about_to_end_hears_nothing_more() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        with Stopping(last=True):
            pass
        assert signal.getsignal(signal.SIGTERM) is before
        with Stopping(last=True):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    finally:
        for name in ENDING:
            default = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            signal.signal(signal.Signals[name], default)


@pytest.mark.parametrize("solver", SCENARIOS)
def test_a_run_gets_on_although_its_time_is_over_when_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], solver: str
) -> None:
    short: dict[str, Any] = SHORT if solver == "heat" else {"run.device": "cpu"}
    path, reached = write(tmp_path / "s.toml", SCENARIOS[solver], short), -1.0
    for _ in range(3):
        part = call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0, "--json")
        if part.returncode == 0:
            break
        assert part.returncode == 75
        assert json.loads(part.stdout)["stopped_by"] == "max-minutes"
        found = read_checkpoint(tmp_path / "run")
        assert found is not None
        assert found.snapshot.step > reached
        reached = found.snapshot.step
    assert reached > 0
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    assert call(capsys, "run", path, "-o", tmp_path / "whole").returncode == 0
    assert_same_bits(tmp_path / "run/results.h5", tmp_path / "whole/results.h5")
