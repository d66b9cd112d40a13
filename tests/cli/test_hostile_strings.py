"""Strings in files of others that would steer the terminal of whoever looks at them."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest
from running import call
from test_resume import HEAT, SHORT, write

from simsuite.io.directory import RunDirectory

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202etxt\x7f"


def harmless(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = write(tmp_path / "plate.toml", HEAT, SHORT)
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    return tmp_path / "run"


@pytest.mark.parametrize(
    "command", [("info",), ("info", "-v"), ("info", "--json"), ("info", "--csv"), ("plot",), ("report",)]
)
@pytest.mark.parametrize("summary", [True, False], ids=["finished", "unfinished"])
def test_looking_at_a_run_prints_no_escapes(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], summary: bool
) -> None:
    with h5py.File(run / "results.h5", "r+") as file:
        for name in ("device", "device_name", "title", "stepper", "stepper_reason", "status"):
            file.attrs[name] = HOSTILE
        file[f"array{HOSTILE}"] = [[1.0, 2.0]]
        file["time"].attrs["units"] = HOSTILE
    about = json.loads((run / "summary.json").read_text())
    about |= {"device_name": HOSTILE, "stepper": HOSTILE, "warnings": [HOSTILE], "units": {"time": HOSTILE}}
    about["results"]["probes"] = {HOSTILE: 1.0}
    (run / "summary.json").write_text(json.dumps(about))
    if not summary:
        (run / "summary.json").unlink()
        (run / "log.txt").write_text(f"2026 failed: {HOSTILE}\n")
        RunDirectory(run).write_progress({"host": HOSTILE, "pid": HOSTILE, "device": HOSTILE})
    shown = call(capsys, command[0], run, *command[1:])
    assert "Traceback" not in shown.stderr
    assert harmless(shown.stdout), shown.stdout
    assert harmless(shown.stderr), shown.stderr
    if command[0] == "plot":
        assert shown.returncode == 0
    if "--json" in command:
        assert json.loads(shown.stdout)["device"] == HOSTILE


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_scenario_prints_no_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    text = HEAT | {"title": HOSTILE, "probe": [{"name": HOSTILE, "x": 0.1, "y": 0.1}]}
    path = write(tmp_path / "plate.toml", text, SHORT)
    for more in ((), ("--set", f'initial.temperature={{file="{HOSTILE[2:5]}.npy"}}'), ("--set", f"grid.{HOSTILE}=1")):
        shown = call(capsys, command, path, *more, *(("-o", tmp_path / "run") if command == "run" else ()))
        assert harmless(shown.stdout), shown.stdout
        assert harmless(shown.stderr), shown.stderr
        assert "Traceback" not in shown.stderr
