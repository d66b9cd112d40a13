"""A small deterministic problem, layouts of all three solvers' shapes, and a run of it that can be killed.

`python fake_run.py DIR [SECONDS_PER_STEP]` starts or continues the run in DIR, as `simsuite run` would.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np

from simsuite.core import Clock, Image, Layout, Series, Snapshot, Variable
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.io.outputs import CheckpointOutput, SeriesOutput
from simsuite.io.results_file import ResultsFile
from simsuite.io.writer_thread import Writer

NY, NX, END = 6, 5, 60


def heat_layout() -> Layout:
    frames = tuple(range(0, END + 1, 10))
    return Layout(
        sizes={"y": NY, "x": NX, "probe": 2},
        series=(
            Series("time", Variable("time", ("time",), attrs={"units": "s", "standard_name": "time"}), frames),
            Series("sample", Variable("sample_time", ("sample",), attrs={"units": "s"}), tuple(range(0, END + 1, 2))),
        ),
        variables=(
            Variable("y", ("y",), values=np.arange(NY) + 0.5, attrs={"units": "m"}),
            Variable("x", ("x",), values=np.arange(NX) / 4, attrs={"units": "m"}),
            Variable("temperature", ("time", "y", "x"), attrs={"units": "°C", "long_name": "température"}),
            Variable("probe", ("probe",), values=np.array(["P", "Größe"])),
            Variable("probe_temperature", ("sample", "probe"), np.float32, {"units": "°C"}),
            Variable("energy_stored", ("sample",), attrs={"units": "J"}),
            Variable("error_final", ("y", "x"), attrs={"units": "K"}),
        ),
        image=Image("temperature", (0.0, 0.5), (0.25, 1.0)),
    )


def gbm_layout() -> Layout:
    return Layout(
        sizes={"quantile": 3, "asset": 2, "option": 2, "path_id": 4},
        series=(Series("time", Variable("time", ("time",), attrs={"units": "years"}), tuple(range(5))),),
        variables=(
            Variable("quantile", ("quantile",), values=np.array([0.05, 0.5, 0.95])),
            Variable("asset", ("asset",), values=np.array(["A", "B"], dtype=object)),
            Variable("option", ("option",), values=np.array([b"call", b"asian"])),
            Variable("price_mean", ("time", "asset")),
            Variable("price_quantile", ("quantile", "time", "asset")),
            Variable("path", ("path_id", "time", "asset"), np.float32),
            Variable("option_price", ("option",)),
        ),
    )


def linear_layout() -> Layout:
    return Layout(
        sizes={"component": 3, "sample": 4},
        series=(Series("time", Variable("time", ("time",), attrs={"units": "s"}), tuple(range(5))),),
        variables=(Variable("state", ("time", "component", "sample")),),
    )


def append_frame(results: ResultsFile, k: int) -> None:
    results.append("time", {"time": 0.25 * k, "temperature": np.full((NY, NX), k + 1.0)})


def append_sample(results: ResultsFile, k: int) -> None:
    row = {"sample_time": 0.5 * k, "probe_temperature": np.array([k, -k]) + 1, "energy_stored": k + 1.0}
    results.append("sample", row)


def small_file(path: Path, frames: int = 3, samples: int = 5, **options: str) -> ResultsFile:
    """A file of the heat layout in which row k holds k + 1, still open."""
    results = ResultsFile.create(path, heat_layout(), {"seed": 7, "title": "Kühl"}, **options)
    for k in range(frames):
        append_frame(results, k)
    for k in range(samples):
        append_sample(results, k)
    return results


class FakePending:
    """A snapshot that is there at once; counts how often it was given back."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self.released = snapshot, 0

    def __enter__(self) -> Snapshot:
        return self.snapshot

    def __exit__(self, *exception: object) -> None:
        self.released += 1


class FakeStepper:
    def __init__(self, start: Snapshot, pause: float) -> None:
        self.step, self._pause = start.step, pause
        self._u = start.arrays["u"].copy()

    def advance(self, n: int) -> None:
        for _ in range(n):
            self._u = np.cos(1.7 * self._u + self.step)
            self.step += 1
            time.sleep(self._pause)

    def snapshot(self) -> FakePending:
        return FakePending(Snapshot(self.step, {"u": self._u.copy()}))

    def observe(self, series: str) -> FakePending:
        return self.snapshot()

    @property
    def state(self) -> dict[str, np.ndarray]:
        return {"u": self._u}


class FakeProblem:
    """u <- cos(1.7 u + step) in every cell: chaotic enough for a wrong state to show."""

    adaptive = False
    method = MappingProxyType({"stepper": "cosine"})
    layout = heat_layout()
    clock = Clock(layout.series[0].steps, tuple(0.25 * k for k in layout.series[0].steps))

    def position(self, step: int) -> tuple[int, float]:
        return step, self.clock.time(step)

    def __init__(self, pause: float = 0.0) -> None:
        self._pause = pause

    def initial(self) -> Snapshot:
        return Snapshot(0, {"u": np.linspace(0, 1, NY * NX).reshape(NY, NX)})

    def stepper(self, backend: object, start: Snapshot) -> FakeStepper:
        return FakeStepper(start, self._pause)

    def rows(self, series: str, observed: Snapshot) -> dict[str, np.ndarray]:
        u, now = observed.arrays["u"], np.float64(self.clock.time(observed.step))
        if series == "time":
            return {"time": now, "temperature": u}
        return {"sample_time": now, "probe_temperature": u[0, :2], "energy_stored": u.sum()}

    def totals(self, observed: Snapshot) -> dict[str, np.ndarray]:
        return {"error_final": observed.arrays["u"] - 1}

    def fault(self, observed: Snapshot) -> str | None:
        bad = np.argwhere(~np.isfinite(observed.arrays["u"]))
        return f"cell {bad[0][1]} along x, {bad[0][0]} along y" if len(bad) else None


def run(path: Path, pause: float = 0.0) -> None:
    """Start or continue the run in `path` and bring it to its end; print a line when its files are open."""
    problem, directory = FakeProblem(pause), RunDirectory(path)
    with directory.locked():
        checkpoint = read_checkpoint(path)
        start = checkpoint.snapshot if checkpoint else problem.initial()
        if checkpoint is None or checkpoint.results is None:
            results = ResultsFile.create(directory.results, problem.layout, {"seed": 7, "scenario": "a = 1\n" * 20000})
        else:
            results = ResultsFile.reopen(directory.results, problem.layout, checkpoint.rows, checkpoint.results)
        print("open", flush=True)
        stepper = problem.stepper(None, start)
        with results, Writer() as writer:
            outputs = [SeriesOutput(problem, results, writer, s) for s in problem.layout.series]
            outputs.append(CheckpointOutput(path, results, writer, 0.0, 7, {"solver": "fake"}, start=start.step))
            while True:
                for output in outputs:
                    if output.due(stepper.step):
                        output.emit(stepper)
                if stepper.step == END:
                    break
                stepper.advance(1)
            writer.drain()
            results.write_totals(problem.totals(stepper.snapshot().snapshot))
            results.set_status("complete")
        directory.write_summary({"status": "complete"})


if __name__ == "__main__":
    run(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
