"""`simsuite watch` in a terminal, beside runs that go on, are killed, stopped or fail, read off the screen's model."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from running import call, finish, polls, start
from terminals import InTerminal, in_terminal

from simsuite.io.directory import RunDirectory
from simsuite.pictures.plates.colours import temperature_colours

LONG = """
solver = "heat"
grid = {nx = 64, ny = 32, lx = 2.0, ly = 1.0}
material = {diffusivity = 1.0}
initial = {temperature = "x*y"}
boundary = {left = {kind = "temperature", value = 0.0}}
time = {end = 1e6, stepper = "explicit"}
output = {times = [0.0, 1e-3, 2e-3, 1e6], checkpoint_every = 100000}
"""
ENDLESS = ("run", "long.toml", "--device", "cpu", "-q")


@pytest.fixture
def under_way(tmp_path: Path) -> Iterator[Any]:
    """A run of hours in a process of its own, which has stored three frames."""
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    process = start(*ENDLESS, cwd=tmp_path)
    run = RunDirectory(tmp_path / "runs/long")
    try:
        for _ in polls(process):
            if (run.read_progress() or {}).get("time", 0.0) > 3e-3:
                break
        yield process
    finally:
        process.kill()
        finish(process)


def picture(program: InTerminal, top: int, left: int, rows: int, columns: int) -> np.ndarray:
    """Colours of the half blocks from a place on the screen, 0 to 255. Returns (2 * rows, columns, 3), from the top."""
    found = np.zeros((2 * rows, columns, 3), int)
    for y in range(rows):
        for x in range(columns):
            cell = program.screen.buffer[top + y][left + x]
            upper, lower = (cell.fg, cell.bg) if cell.data == "▀" else (cell.bg, cell.bg)
            assert cell.data in "▀ "
            for half, colour in enumerate((upper, lower)):
                found[2 * y + half, x] = [int(colour[i : i + 2], 16) for i in (0, 2, 4)]
    return found


def state_of(directory: Path) -> dict[str, tuple[Any, ...]]:
    """Of each file but those that the run itself writes all the time: what it holds, and when it was written to."""
    names = [p for p in sorted(directory.iterdir()) if not p.name.startswith(("progress.json", "results.h5"))]
    return {p.name: (p.stat().st_mtime_ns, p.stat().st_ino, hashlib.sha256(p.read_bytes()).digest()) for p in names}


def test_the_field_has_the_colours_of_the_newest_frame(under_way: Any, tmp_path: Path) -> None:
    """Compared with the colours of pictures for the numbers in results.h5; a terminal of another size shows it anew;
    who leaves can come back; and nothing of the run changes."""
    results = tmp_path / "runs/long/results.h5"
    before, written = state_of(results.parent), results.stat().st_mtime_ns
    with in_terminal("watch", "runs/long", cwd=tmp_path, columns=64, rows=24) as program:
        program.wait_for("temperature, K at t = 0.002 s", "step ", "q leaves")
        with h5py.File(results, "r", locking=False) as file:
            values = file["temperature"][2]
        for columns, rows in ((64, 24), (45, 20)):
            program.resize(columns, rows)
            program.wait_for("q leaves")
            program.wait_until(lambda rows=rows: "q leaves" in program.lines[rows - 1])  # type: ignore[misc]
            program.wait_until(
                lambda: (
                    any(line.startswith("temperature") for line in program.lines)
                    and any(re.match(r"\d\S* .* K$", line) for line in program.lines)
                )
            )
            program.read(1.5)
            top = next(i for i, line in enumerate(program.lines) if line.startswith("temperature")) + 1
            below = next(i for i, line in enumerate(program.lines) if i >= top and re.match(r"\d\S* .* K$", line))
            high = below - top
            wide = min(columns, 4 * high)
            found = picture(program, top, 0, high, wide)
            y = ((np.arange(2 * high) + 0.5) * 32 / (2 * high)).astype(int)
            x = ((np.arange(wide) + 0.5) * 64 / wide).astype(int)
            shown = values[np.ix_(y, x)][::-1]
            share = (shown - values.min()) / (values.max() - values.min())
            expected = np.rint(255 * temperature_colours()(share)[..., :3])
            assert abs(found - expected).max() <= 14, "128 shades, mixed from 17"
            assert abs(found - expected).mean() < 3
            assert max(map(len, program.lines)) <= columns
        program.press("q")
        assert program.end() == 0
        assert program.given_back()
        assert "goes on without you" in program.text
    assert under_way.poll() is None
    with in_terminal("watch", "runs/long", cwd=tmp_path, columns=80) as again:
        again.wait_for("temperature, K at t = 0.002 s", "step ")
        again.process.send_signal(signal.SIGTERM)
        assert again.end() == 128 + signal.SIGTERM
        assert again.given_back()
    assert under_way.poll() is None
    after = state_of(results.parent)
    assert {name: after[name] for name in before if "checkpoint" not in name} == {
        name: state for name, state in before.items() if "checkpoint" not in name
    }
    assert results.stat().st_mtime_ns == written, "no row was due"


def test_a_run_that_is_killed_is_told_and_how_it_goes_on(under_way: Any, tmp_path: Path) -> None:
    with in_terminal("watch", tmp_path / "runs/long", cwd=Path("/"), columns=200, rows=30) as program:
        program.wait_for("temperature, K", "step ")
        progress = RunDirectory(tmp_path / "runs/long").progress
        os.kill(under_way.pid, signal.SIGKILL)
        under_way.wait()
        killed = state_of(tmp_path / "runs/long"), progress.stat().st_mtime_ns
        assert program.end() == 1
        assert program.given_back()
        told = " ".join(program.text.split())
        assert re.search(r"killed at step \d+, [\d.]+ %: continue with `simsuite resume \S+/runs/long`", told)
    assert (state_of(tmp_path / "runs/long"), progress.stat().st_mtime_ns) == killed


def test_what_is_waited_for_begins_and_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    with in_terminal("watch", "long.toml", cwd=tmp_path) as program:
        program.wait_for("runs/long: no run yet, waiting for it to begin")
        process = start(*ENDLESS, cwd=tmp_path)
        try:
            program.wait_for("step ", "%,", "left")
            note = tmp_path / "runs/long/progress.json"
            note.write_text("{broken")
            program.read(0.7)
            assert program.process.poll() is None
            program.wait_for("step ", "left")
            os.kill(process.pid, signal.SIGTERM)
            assert program.end() == 75
        finally:
            process.kill()
            finish(process)
        told = " ".join(program.text.split())
        assert "stopped early (SIGTERM): continue with `simsuite resume runs/long`" in told
        assert program.given_back()


def test_a_run_that_fails_says_why(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.toml").write_text(LONG, encoding="utf-8")
    bad = "source=[{power = 'where(t > 0.002, sqrt(-1 - T*T), 0)'}]"
    assert call(capsys, *ENDLESS, "--set", bad, "--set", "time.end=0.1", "--set", "output={frames=5}").returncode == 3
    done = call(capsys, "watch", "runs/long")
    assert done.returncode == 1
    assert re.search(r"failed: NaN or Inf in cell \d+", done.stdout)
    assert "`simsuite resume runs/long` goes on" in done.stdout


def test_into_a_pipe_go_lines(under_way: Any, tmp_path: Path) -> None:
    """A picture in plain characters, without any escape sequence, then how it ended."""
    watching = start("watch", "runs/long", cwd=tmp_path)
    time.sleep(1.5)
    os.kill(under_way.pid, signal.SIGTERM)
    done = finish(watching)
    assert done.returncode == 75
    assert "\033" not in done.stdout
    assert "temperature, K at t = 0.002 s" in done.stdout
    assert re.search(r"^\|[ .:=+*#%@-]{20,}\|$", done.stdout, re.MULTILINE)
    assert "stopped early (SIGTERM)" in done.stdout


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, rb"\x1b\[[0-9;]*[34]8;2;\d+;\d+;\d+"),
        ({"TERM": "xterm-256color"}, rb"\x1b\[[0-9;]*[34]8;5;\d+"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, None),
        ({"TERM": "vt100"}, None),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONIOENCODING": "ascii"}, None),
    ],
)
def test_colours_are_those_that_a_terminal_has(
    environment: dict[str, str], kind: bytes | None, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.toml").write_text(LONG, encoding="utf-8")
    short = ("--set", "time.end=0.01", "--set", "output={frames=3}")
    assert call(capsys, *ENDLESS, *short).returncode == 0
    with in_terminal("watch", "runs/long", cwd=tmp_path, environment=environment) as program:
        assert program.end() == 0
        assert b"\033[?1049h" not in program.sent, "a run that is over is printed, and stays"
        if kind is None:
            assert not re.search(rb"\x1b\[[0-9;]*[34]8;", program.sent)
            assert "%@" in program.text
        else:
            assert len(re.findall(kind, program.sent)) > 100
        assert "complete: results in runs/long/results.h5" in program.text


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "watch", "runs/none", "--once").returncode == 2
    assert call(capsys, "watch", "none.toml").returncode == 2
    Path("long.toml").write_text(LONG, encoding="utf-8")
    for name in "ab":
        assert call(capsys, *ENDLESS, "--max-minutes", "0", "-o", f"runs/{name}").returncode == 75
    refused = call(capsys, "watch", "runs")
    assert (refused.returncode, "watch one of runs/a, runs/b" in refused.stderr) == (2, True)
    Path("sweep").mkdir()
    Path("sweep/sweep.json").write_text("{}")
    assert "is a sweep" in call(capsys, "watch", "sweep").stderr


def test_info_tells_where_a_lock_cannot_be_tested(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDirectory("shared")
    run.path.mkdir()
    at = {"steps": 3, "time": 0.1, "end": 1.0, "time_unit": "s", "percent": 10.0, "seconds_left": 9.0}
    note = {
        "host": "elsewhere",
        "pid": 77,
        "updated": time.time(),
        "solver": "heat",
        "rate": 2e6,
        "rate_unit": "steps/s",
    }
    run.write_progress(note | at)
    shown = call(capsys, "info", "shared").stdout
    assert "running on another host, elsewhere, as process 77; its lock cannot be tested here" in shown
    assert re.search(r"step 3 \(t = 0.1 s of 1 s\), 10.0 %, 2 Msteps/s, about [\d.]+ s left", shown)
    run.write_progress(note | at | {"updated": time.time() - 1000})
    shown = call(capsys, "info", "shared").stdout
    assert "killed at step 3" in shown
    assert "see first whether process 77 on elsewhere is gone" in shown
    monkeypatch.setattr("fcntl.flock", no_locks)
    for pid, status in ((os.getpid(), "running"), (2**22 + 5, "killed")):
        run.write_progress(note | at | {"host": socket.gethostname(), "pid": pid})
        shown = call(capsys, "info", "shared", "--json").stdout
        assert f'"status": "{status}"' in shown
        assert '"lock": "untestable"' in shown


def no_locks(*args: object) -> None:
    raise OSError(95, "Operation not supported")


def test_where_locks_cannot_be_tested_a_watched_run_is_told_by_its_notes(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDirectory("shared")
    run.path.mkdir()
    at = {"steps": 3, "time": 0.1, "end": 1.0, "time_unit": "s", "percent": 10.0, "seconds_left": 9.0}
    run.write_progress(at | {"host": "elsewhere", "pid": 77, "updated": time.time(), "solver": "heat"})
    done = call(capsys, "watch", "shared", "--once")
    assert done.returncode == 0
    assert "running on another host, elsewhere, as process 77" in done.stdout
    assert "step 3, t = 0.1 of 1 s, 10.0 %, about 9 s left" in done.stdout


def test_watch_imports_little() -> None:
    """No kernels, no solver: it begins in the time that a look takes."""
    import subprocess

    code = "import simsuite.cli.watching.watching, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "h5py" in found
    assert not {"numba", "scipy", "pydantic", "matplotlib", "rich"} & set(found)


def test_a_line_is_cleared_before_it_is_written(under_way: Any, tmp_path: Path) -> None:
    """In most terminals, but not in pyte, the cursor stays on the last character of a line that is as wide as the
    terminal, and clearing from there on would take it away."""
    with in_terminal("watch", "runs/long", cwd=tmp_path, columns=40) as program:
        program.wait_for("step ", "q leaves")
        program.press("q")
        assert program.end() == 0
        written = re.findall(rb"\x1b\[\d+;1H(.*?)(?=\x1b\[\d+;1H|\x1b\[\?)", program.sent, re.DOTALL)
        assert written
        for line in written:
            assert line.startswith(b"\x1b[0m\x1b[K")
            assert line.count(b"\x1b[K") == 1
