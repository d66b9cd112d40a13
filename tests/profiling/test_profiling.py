"""`--profile`: the same run to the bit, a timeline that tools can open, and shares that agree with other clocks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simsuite.core import Backend
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory
from simsuite.pictures.sheet import Sheet
from simsuite.pictures.timeline import draw_timeline
from simsuite.profiling.profiler import FILE, Profiler
from simsuite.profiling.timeline import COMPUTE, COPY, MAIN, MOST, WRITER, Span, Timeline, merged, overlap, total
from simsuite.scenario import load

SCENARIOS = {
    "heat": """
solver = "heat"
[grid]
nx = 64
ny = 48
[material]
diffusivity = 1e-4
[initial]
temperature = "300 + 10*x"
[time]
end = 20.0
stepper = "explicit"
[output]
frames = 6
""",
    "adaptive": """
solver = "heat"
[grid]
nx = 32
ny = 32
[material]
diffusivity = 1e-4
[initial]
temperature = "300 + 10*(x > 0.5)"
[time]
end = 2000.0
[output]
frames = 6
""",
    "gbm": """
solver = "gbm"
[market]
rate = 0.05
[[asset]]
spot = 100.0
volatility = 0.2
[time]
end = 1.0
steps = 16
[paths]
count = 20000
[[option]]
style = "european"
payoff = "call"
strike = 100.0
[output]
frames = 5
""",
    "linear": """
solver = "linear"
[system]
kind = "continuous"
matrix = [[-1.0, 0.5], [0.0, -2.0]]
[initial]
state = [1.0, 2.0]
[time]
dt = 0.01
steps = 500
[output]
frames = 6
""",
}


def executed(tmp_path: Path, name: str, device: str, profiler: Profiler | None, **text: str) -> dict[str, Any]:
    """The summary of a run in a directory of its own."""
    file = tmp_path / f"{name}.toml"
    scenario = SCENARIOS[name]
    for old, new in text.items():
        scenario = scenario.replace(old, new)
    file.write_text(scenario, encoding="utf-8")
    watched = {} if profiler is None else {"profiler": profiler}
    directory = tmp_path / ("watched" if watched else "alone")
    return Execution(load(file, [f'run.device="{device}"']), RunDirectory(directory), **watched).run()


def trace_of(directory: Path) -> list[dict[str, Any]]:
    """The events of a trace, after all that the format asks of them has been checked."""
    whole = json.loads((directory / FILE).read_text(encoding="utf-8"))
    assert whole["displayTimeUnit"] in ("ms", "ns")
    assert isinstance(whole["otherData"], dict)
    for event in whole["traceEvents"]:
        assert event["ph"] in ("X", "M")
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["name"], str)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
        else:
            assert event["dur"] >= 0
            assert event["ts"] >= -1.0
    return whole["traceEvents"]


def require_nested(events: list[dict[str, Any]]) -> None:
    """Two spans of a thread lie one in the other, or one after the other."""
    threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert threads
    for spans in threads.values():
        around: list[float] = []
        for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while around and around[-1] <= begin + 1e-3:
                around.pop()
            assert not around or end <= around[-1] + 1e-3
            around.append(end)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_is_the_same_to_the_bit_when_it_is_watched(name: str, backend: Backend, tmp_path: Path) -> None:
    if backend.simulated:
        pytest.skip("the simulator has nothing to profile")
    profiler = Profiler()
    alone = executed(tmp_path, name, backend.name, None)
    watched = executed(tmp_path, name, backend.name, profiler)
    assert alone["results"] == watched["results"]
    with h5py.File(tmp_path / "alone" / "results.h5") as a, h5py.File(tmp_path / "watched" / "results.h5") as b:
        assert set(a) == set(b)
        for key in a:
            if isinstance(a[key], h5py.Dataset) and a[key].shape:
                np.testing.assert_array_equal(a[key][()], b[key][()], err_msg=key)
    shares = profiler.finish(tmp_path / "watched", {"solver": name})
    events = trace_of(tmp_path / "watched")
    require_nested(events)
    names = {event["name"] for event in events if event["ph"] == "X"}
    assert {"run", "stretch", "snapshot", "copy", "write"} <= names
    assert any(name == "graph" or name.startswith("launch ") for name in names)
    frames = 6 if name != "gbm" else 5
    assert sum(event["name"] == "write" for event in events) >= frames
    assert 0 < shares["computing"] <= 1.0 + 1e-9
    assert shares["writing seconds"] > 0


@pytest.mark.gpu
def test_what_the_device_did_agrees_with_events(cuda: Backend, tmp_path: Path) -> None:
    """Steps one after the other in the compute stream, copies in another stream meanwhile."""
    profiler = Profiler()
    large = {"nx = 64": "nx = 2048", "ny = 48": "ny = 2048", "end = 20.0": "end = 0.002", "frames = 6": "frames = 41"}
    summary = executed(tmp_path, "heat", cuda.name, profiler, **large)
    shares = profiler.finish(tmp_path / "watched", {})
    computed, copied = profiler.timeline.on(COMPUTE), profiler.timeline.on(COPY)
    assert len(computed) == len(merged(computed)) or total(computed) == pytest.approx(sum(b - a for a, b in computed))
    assert len(copied) >= 41
    moved = [span for span in profiler.timeline.spans if span.track == COPY]
    frame = 2048 * 2048 * 8
    fields = [span for span in moved if span.about["bytes"] >= frame]
    assert len(fields) >= 41
    for span in fields:  # a copy into page-locked memory, by PCIe
        assert 1e9 < float(span.about["bytes"]) / (span.end - span.begin) < 2e11
    # The stopwatch measures the steps after the first stretches by two events of its own.
    steps, rate = summary["steps"], summary["rate"]
    of_a_step = 2048 * 2048 / rate
    last = [span for span in profiler.timeline.spans if span.track == COMPUTE][3:]
    done = sum(int(span.about["to step"]) - int(span.about["from step"]) for span in last)
    assert 0 < done < steps
    measured = (last[-1].end - last[0].begin) / done
    assert measured == pytest.approx(of_a_step, rel=0.05)
    meanwhile = overlap(computed, copied) / total(copied)
    assert shares["copies meanwhile"] == pytest.approx(meanwhile)
    assert 0.0 < meanwhile <= 1.0


def test_overlaps_of_spans() -> None:
    some, others = [(0.0, 2.0), (1.0, 3.0), (5.0, 6.0)], [(2.5, 5.5)]
    assert merged(some) == [(0.0, 3.0), (5.0, 6.0)]
    assert total(some) == 4.0
    assert overlap(some, others) == 1.0
    assert overlap(some, []) == 0.0
    rng = np.random.default_rng()
    for _ in range(50):  # against a sum over fine pieces of time
        a, b = (sorted((float(x), float(x + d)) for x, d in rng.uniform(0, 1, (n, 2))) for n in rng.integers(1, 9, 2))
        t = np.linspace(0, 2, 200_001)
        inside = [np.any([(t >= x) & (t < y) for x, y in spans], axis=0) for spans in (a, b)]
        assert overlap(a, b) == pytest.approx(np.mean(inside[0] & inside[1]) * 2, abs=5e-4)


def test_a_long_run_keeps_its_first_spans_and_counts_the_rest() -> None:
    timeline = Timeline()
    for k in range(MOST + 5):
        timeline.add(Span(MAIN, "graph", k, k + 0.5))
    assert len(timeline.spans) == MOST
    assert timeline.left_out == 5


def test_a_picture_of_a_part_of_a_run_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Sheet] = []
    monkeypatch.setattr(Sheet, "save", lambda sheet, path: drawn.append(sheet))
    for spans in (60, 100):
        timeline = Timeline()
        for k in range(spans):
            timeline.add(Span(MAIN, "stretch", k, k + 0.5))
        draw_timeline(tmp_path / "t.png", timeline, "a run", "cpu")
    whole, part = ({text.get_text() for text in sheet.figure.texts} for sheet in drawn)
    assert "cpu" in whole
    assert "cpu   |   20.00 to 79.50 s of 99.50 s" in part


def command(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simsuite", *arguments], cwd=directory, capture_output=True, text=True, timeout=300
    )


def test_the_command_writes_a_timeline_and_a_picture(tmp_path: Path) -> None:
    (tmp_path / "h.toml").write_text(SCENARIOS["heat"], encoding="utf-8")
    done = command(tmp_path, "run", "h.toml", "--profile", "--json", "--device", "cpu", "-o", "r")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "complete"
    assert "profile: steps took " in done.stderr
    assert "writing files " in done.stderr
    assert f"wrote r/{FILE} (open it in https://ui.perfetto.dev) and r/timeline.png" in done.stderr
    require_nested(trace_of(tmp_path / "r"))
    assert (tmp_path / "r" / "timeline.png").read_bytes()[:4] == b"\x89PNG"
    again = command(tmp_path, "run", "h.toml", "--profile", "--device", "cpu", "-o", "r")
    assert "nothing was computed, so that there is no timeline; --fresh runs it again" in again.stderr
    assert again.returncode == 0


def test_the_writer_has_a_track_of_its_own(tmp_path: Path) -> None:
    profiler = Profiler()
    executed(tmp_path, "linear", "cpu", profiler)
    writing, copying = profiler.timeline.on(WRITER, "write"), profiler.timeline.on(WRITER, "copy")
    assert len(writing) == len(copying)
    for (began, _), (_, copied) in zip(writing, copying):
        assert copied <= began
