"""From a scenario to a finished run directory: where scenario, solver, backend, loop and files meet."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simsuite.backends import open_backend
from simsuite.core import SNAPSHOTS, Backend, Problem, Snapshot, Stepper
from simsuite.errors import DeviceError, ScenarioError, SimsuiteError, UsageError
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.directory import RunDirectory, State
from simsuite.io.outputs import CheckpointOutput, SeriesOutput, moment
from simsuite.io.results import ResultsFile, open_results
from simsuite.io.writer import Writer
from simsuite.loop import march
from simsuite.scenario import Scenario, load
from simsuite.version import FORMAT_VERSION, VERSION

PROBLEMS = {  # imported when first needed
    "heat": "simsuite.solvers.heat.problem:HeatProblem",
    "gbm": "simsuite.solvers.gbm.problem:GbmProblem",
    "linear": "simsuite.solvers.linear.problem:LinearProblem",
}
NOT_THE_PROBLEM = {"title", "output.directory", "output.checkpoint_minutes", "output.checkpoint_every"}


class Reporter(Protocol):
    """Who is told how a run goes."""

    def message(self, text: str) -> None: ...

    def begin(self, problem: Problem, step: int) -> None: ...

    def progress(self, step: int) -> None: ...

    def end(self) -> None: ...


class Silent:
    """A reporter that says nothing."""

    def message(self, text: str) -> None: ...

    def begin(self, problem: Problem, step: int) -> None: ...

    def progress(self, step: int) -> None: ...

    def end(self) -> None: ...


def make_problem(scenario: Scenario) -> Problem:
    """The solver's problem. Raises ScenarioError, with every mistake shown in the file, and DeviceError."""
    module, _, name = PROBLEMS[scenario.solver].partition(":")
    try:
        return getattr(importlib.import_module(module), name).from_scenario(scenario.model, scenario.base)
    except ScenarioError as error:
        raise scenario.explain(error.mistakes) from None
    except MemoryError as error:
        raise DeviceError(f"there is not enough memory on this machine: {error}") from None


def make_backend(scenario: Scenario, problem: Problem) -> Backend:
    """The device that the scenario asks for. Raises DeviceError when there is none or the problem does not fit."""
    backend = open_backend(scenario.model.run.device)
    need, free = memory_needed(problem), backend.memory_free()
    if need > free:
        raise DeviceError(f"this run needs {need / 1e9:.2f} GB on {backend.name}, which has {free / 1e9:.2f} GB free")
    return backend


def memory_needed(problem: Problem) -> int:
    """Bytes on the device: what the stepper allocates, and the snapshots on their way."""
    snapshot = sum(a.nbytes for a in problem.initial().arrays.values())
    return problem.device_bytes() + SNAPSHOTS * snapshot


def default_directory(scenario: Scenario) -> Path:
    given = scenario.model.output.directory
    return Path(given) if given is not None else Path("runs") / scenario.path.stem


@dataclass
class Execution:
    """One call of `run` or `resume`: the scenario in its directory.

    stopped: asked between stretches of steps, gives the reason to stop early ("signal", "time", ...) or None.
    """

    scenario: Scenario
    directory: RunDirectory
    reporter: Reporter = field(default_factory=Silent)
    stopped: Callable[[], str | None] = lambda: None
    fresh: bool = False

    def run(self) -> dict[str, Any]:
        """Run to the end, or until stopped. Returns what `run --json` prints.

        Raises ScenarioError and UsageError before anything is touched, NumericalFailure, DeviceError and, for a disk
        that fails, SimsuiteError later; whatever happens, the last good checkpoint stays.
        """
        problem = make_problem(self.scenario)
        with self.directory.locked():
            if self.fresh:
                self.directory.clear()
            state = self.directory.state()
            if state is not State.EMPTY:
                self._require_same_scenario()
            if state is State.FINISHED:
                self.reporter.message(f"{self.directory.path} holds this run, finished; --fresh runs it again")
                summary = self.directory.read_summary()
                assert summary is not None
                return summary | {"directory": str(self.directory.path)}
            return self._march(problem)

    def _require_same_scenario(self) -> None:
        if not self.directory.scenario.exists():
            return
        before = self.directory.scenario.read_text(encoding="utf-8")
        differing = [key for key in self.scenario.differences(before) if key not in NOT_THE_PROBLEM]
        if differing:
            raise UsageError(
                f"{self.directory.path} holds a run of another scenario; it differs in {', '.join(differing)}\n"
                "  = help: --fresh discards that run, -o DIR writes this one elsewhere"
            )

    def _march(self, problem: Problem) -> dict[str, Any]:
        began = time.monotonic()
        backend = make_backend(self.scenario, problem)
        self._log(f"simsuite {VERSION} on {backend.name} ({backend.device_name})")
        if backend.note is not None:
            self.reporter.message(backend.note)
        start, rows = self._start(problem, backend)
        self.directory.write_scenario(self.scenario.resolved_toml())
        with self._open_results(problem, backend, rows) as results, Writer() as writer:
            stepper = problem.stepper(backend, start)
            outputs = [SeriesOutput(problem, results, writer, series) for series in problem.layout.series]
            output = self.scenario.model.output
            checkpoint = CheckpointOutput(
                self.directory.path,
                results,
                writer,
                output.checkpoint_minutes,
                output.checkpoint_every,
                {"solver": problem.solver, "device": backend.name, "version": VERSION},
                start=start.step,
                moment=lambda step: moment(problem, step),
            )
            watch = _Stopwatch(backend, stepper.step)
            self.reporter.begin(problem, stepper.step)

            def progress(step: int) -> None:
                writer.check()
                watch.first_stretch(step)
                self.reporter.progress(step)

            try:
                reason = march(stepper, problem.clock.end, [*outputs, checkpoint], backend, self.stopped, progress)
                watch.last_stretch(stepper.step)
                if reason is not None:
                    checkpoint.emit(stepper)
                writer.drain()
                with stepper.observe(problem.layout.series[0].dim) as observed:
                    found = problem.results(observed)
                    if reason is None:
                        results.write_totals(problem.totals(observed))
            except SimsuiteError as error:
                with contextlib.suppress(SimsuiteError):
                    writer.close()
                with contextlib.suppress(SimsuiteError):  # the first error is the one to report
                    results.set_status("failed")
                    self._log(f"failed: {error}")
                raise
            finally:
                self.reporter.end()
            results.set_status("complete" if reason is None else "stopped")
            results.flush_to_disk()
            summary = self._summary(problem, backend, stepper, watch, began, reason) | {"results": found}
        self.directory.write_summary(summary)
        self._log(f"{summary['status']} at step {stepper.step}" + (f" ({reason})" if reason else ""))
        return summary

    def _start(self, problem: Problem, backend: Backend) -> tuple[Snapshot, Mapping[str, int] | None]:
        """Where to begin, and how many rows the results hold by then: None for a file yet to be made."""
        if not self.directory.results.exists():
            return problem.initial(), None
        found = read_checkpoint(self.directory.path)
        if found is None:
            return problem.initial(), {}
        if found.note is not None:
            self.reporter.message(found.note)
        before = found.meta.get("device")
        if before != backend.name:
            self.reporter.message(f"this run was on {before}; from here on {backend.name} computes, to other last bits")
        self.reporter.message(f"continuing {self.directory.path} from step {found.snapshot.step}")
        self._log(f"continuing from step {found.snapshot.step}")
        return found.snapshot, found.rows

    def _open_results(self, problem: Problem, backend: Backend, rows: Mapping[str, int] | None) -> ResultsFile:
        if rows is not None:
            return ResultsFile.reopen(self.directory.results, problem.layout, rows)
        model = self.scenario.model
        attributes: dict[str, str | int | float] = {
            "title": model.title or self.scenario.path.stem,
            "source": f"simsuite {VERSION}",
            "simsuite_version": VERSION,
            "format_version": FORMAT_VERSION,
            "solver": problem.solver,
            "scenario": self.scenario.resolved_toml(),
            "scenario_base": str(self.scenario.base.resolve()),
            "device": backend.name,
            "device_name": backend.device_name,
            "seed": str(model.run.seed),
            **problem.method,
        }
        return ResultsFile.create(self.directory.results, problem.layout, attributes, model.output.compression)

    def _summary(
        self, problem: Problem, backend: Backend, stepper: Stepper, watch: _Stopwatch, began: float, reason: str | None
    ) -> dict[str, Any]:
        rate = watch.rate(problem.work_per_step)
        steps, at = problem.position(stepper.step)
        return {
            "status": "complete" if reason is None else "stopped",
            **({} if reason is None else {"stopped_by": reason}),
            "solver": problem.solver,
            "directory": str(self.directory.path),
            "device": backend.name,
            "device_name": backend.device_name,
            **problem.method,
            "steps": steps,
            "time": at,
            "wall_seconds": time.monotonic() - began,
            "compile_seconds": watch.started - began,
            "rate": rate,
            "rate_unit": problem.rate_unit,
        }

    def _log(self, line: str) -> None:
        self.directory.append_log(line)


class _Stopwatch:
    """Separates the first stretch of steps, in which kernels are compiled, from the rest."""

    def __init__(self, backend: Backend, step: int) -> None:
        self._backend = backend
        self._first: int | None = None
        self._begin, self.started = step, time.monotonic()

    def first_stretch(self, step: int) -> None:
        if self._first is None:
            self._backend.fence().wait()
            self._first, self.started = step, time.monotonic()

    def last_stretch(self, step: int) -> None:
        self._backend.fence().wait()
        self._last, self._stopped = step, time.monotonic()

    def rate(self, work_per_step: float) -> float:
        """Work a second between the first stretch and the last; 0 where there was no other."""
        done = self._last - (self._begin if self._first is None else self._first)
        seconds = self._stopped - self.started
        return done * work_per_step / seconds if done and seconds > 0 else 0.0


class Simulation:
    """A scenario on its device, to be stepped by hand: no files, no loop.

    state: the live arrays by name, CuPy arrays on a GPU (DLPack, `__cuda_array_interface__`, no copies), NumPy arrays
    elsewhere. They are valid until the next `advance`.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.problem = make_problem(scenario)
        self.backend = make_backend(scenario, self.problem)
        self._stepper = self.problem.stepper(self.backend, self.problem.initial())

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return self._stepper.step

    @property
    def time(self) -> float:
        """Simulated time, in the unit of the solver's `[time]`."""
        return self.problem.position(self.step)[1]

    @property
    def state(self) -> Mapping[str, Any]:
        return self._stepper.state

    def advance(self, n: int = 1) -> None:
        """Take n steps. Raises ValueError when n is negative or leads past the end of the run."""
        if n < 0 or self.step + n > self.problem.clock.end:
            raise ValueError(f"cannot take {n} steps from step {self.step} of {self.problem.clock.end}")
        self._stepper.advance(n)

    def synchronize(self) -> None:
        """Wait until all steps are done."""
        self.backend.fence().wait()

    def results(self) -> dict[str, Any]:
        """What `run --json` would print under "results" for the present state."""
        with self._stepper.observe(self.problem.layout.series[0].dim) as observed:
            return self.problem.results(observed)

    def snapshot(self) -> Snapshot:
        """Everything that evolves, copied to the host."""
        with self._stepper.snapshot() as held:
            return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def scenario_of_run(directory: Path) -> Scenario:
    """The scenario that `directory` was made from. Raises UsageError where there is none."""
    run = RunDirectory(directory)
    if not run.scenario.exists():
        raise UsageError(f"{directory} holds no run (no scenario.toml in it)")
    base = directory
    if run.results.exists():
        with open_results(run.results) as file:
            base = Path(file.attrs["scenario_base"])
    return load(run.scenario, base=base)


def estimate(problem: Problem) -> dict[str, Any]:
    """What a run will take: steps, dt, bytes on the device and on disk."""
    sizes = dict(problem.layout.sizes)
    lengths = {series.dim: len(series.steps) for series in problem.layout.series}
    disk = 0
    for variable in problem.layout.variables:
        item = variable.values.dtype.itemsize if variable.values is not None else np.dtype(variable.dtype).itemsize
        disk += item * int(np.prod([{**sizes, **lengths}[dim] for dim in variable.dims]))
    return {
        "steps": problem.position(problem.clock.end)[0],
        "dt": problem.position(1)[1],
        "frames": lengths[problem.layout.series[0].dim],
        "device_bytes": memory_needed(problem),
        "disk_bytes": disk,
        **problem.method,
    }
