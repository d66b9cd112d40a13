"""A run from its beginning, or from its last checkpoint, to its end: where loop, backend and files meet."""

from __future__ import annotations

import contextlib
import functools
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simsuite.assembly import (
    base_of_data,
    computing,
    device_of,
    disk_bytes,
    failure_of,
    make_backend,
    make_problem,
    results_attributes,
    threads_of_libraries,
)
from simsuite.capabilities import Adaptive, Advising, Extensible, Lengthening, SelfChecking, Staged, taken, threads_for
from simsuite.conditions import changed, conditions, versions
from simsuite.core import Backend, Device, Problem, Snapshot, Stepper
from simsuite.errors import Advice, DiskError, NumericalFailure, ProcessFailure, SimsuiteError, UsageError
from simsuite.io.checkpoint import Checkpoint, read_about, read_checkpoint, write_checkpoint
from simsuite.io.directory import RunDirectory, State
from simsuite.io.disk import free_bytes
from simsuite.io.layout import as_text
from simsuite.io.outputs import CheckpointOutput, Output, SeriesOutput, moment
from simsuite.io.reading import reading
from simsuite.io.recovery import Condition, mend
from simsuite.io.results_file import ResultsFile
from simsuite.io.writer_thread import Writer
from simsuite.loop import march
from simsuite.parallel.crew import Crew, Single
from simsuite.profiling import NotProfiled
from simsuite.progress import LiveProgress, Outlook, Reporter, Silent, position, progress_made, units
from simsuite.provenance import HISTORY_BYTES, Origin, appended, looking
from simsuite.running.doubts import Doubts
from simsuite.running.lengthening import complete_lengthening, lengthen
from simsuite.running.settling import Settling
from simsuite.running.stopwatch import Stopwatch
from simsuite.running.watching import KEPT, LookOutput, Watch, each_of
from simsuite.same_run import identity, require_its_checkpoint, require_same_scenario
from simsuite.scenario import Scenario
from simsuite.version import VERSION
from simsuite.words import end_in_words, with_prefix

_MUCH = 4e9  # bytes that may take more than some seconds to read
_LESS = Advice(
    "store fewer frames (--set output.frames=..), --set output.compression=lossless, or -o DIR on a larger disk",
    'store fewer frames (set={"output.frames": ..}), set={"output.compression": "lossless"}, or directory=.. elsewhere',
)


@dataclass
class Execution:
    """One call of `run` or `resume`: the scenario in its directory.

    stopped: asked between stretches of steps, gives the reason to stop early ("signal", "time", ...) or None. extends:
    the scenario of the finished run in the directory, if this one is to go on from its end. longer: whether a run there
    that differs in an earlier end goes on to this one's. asynchronous: whether steps go on while results are written.
    profiler: watches what the run does. crew: the processes that share it. origin: waits for what is told of the origin
    of the files; by default it is looked for while the run begins.
    """

    scenario: Scenario
    directory: RunDirectory
    reporter: Reporter = field(default_factory=Silent)
    stopped: Callable[[], str | None] = lambda: None
    fresh: bool = False
    extends: Scenario | None = None
    asynchronous: bool = True
    longer: bool = False
    profiler: NotProfiled = field(default_factory=NotProfiled)
    crew: Crew = field(default_factory=Single)
    origin: Callable[[], Origin] | None = None
    warnings: list[str] = field(default_factory=list, init=False)
    _lost: bool = field(default=False, init=False)  # whether nothing can be read of the results of a run begun before

    def run(self) -> dict[str, Any]:
        """Run to the end, or until stopped. Returns what `run --json` prints.

        Raises ScenarioError and UsageError before anything is touched, NumericalFailure, DeviceError and, for a disk
        that fails, SimsuiteError later; whatever happens, the last good checkpoint stays.
        """
        with threads_of_libraries(self.scenario):
            return self._run()

    def _run(self) -> dict[str, Any]:
        device = device_of(self.scenario, self.reporter.message, self.crew.seat, self.crew.size)
        problem = None if self._begun() else self._make_problem(device)
        with self.directory.locked():
            complete_lengthening(self.directory)
            state = State.EMPTY if self.fresh else self.directory.state()
            if state is State.UNFINISHED:
                self._mend()
            if self.longer and self._begun():
                self._lost |= not lengthen(self.scenario, self.directory, device, self.reporter.message)
                state = State.EMPTY if self._lost else self.directory.state()
            if self.extends is None and state is not State.EMPTY:
                require_same_scenario(self.scenario, self.directory, self._begun())
            if self.extends is None and state is State.FINISHED:
                self.reporter.message(f"{self.directory.path} holds this run, finished; ", self._again())
                summary = self.directory.read_summary()
                assert summary is not None
                return summary | {"directory": str(self.directory.path)}
            if not self._begun() or self._scenario_differs():
                self.directory.require_own_scenario()
            if problem is None or self._begun():
                problem = self._make_problem(device, self._decided())
            self._require_room(problem)
            origin = self.origin or looking(self.scenario.base)
            try:
                backend = make_backend(device, problem, self.crew.size)
                with computing(problem, backend, ahead=self.crew.size == 1):
                    return self._march(problem, device, backend, origin)
            except Exception as error:
                self.directory.remove_progress()
                failure = failure_of(device, self.scenario, error)
                if failure is not None:
                    self._tell_what_is_safe(failure)
                    raise failure from error
                if isinstance(error, (DiskError, ProcessFailure)):
                    self._tell_what_is_safe(error)
                raise

    def _make_problem(self, device: Device, decided: Mapping[str, Any] | None = None) -> Problem:
        problem = make_problem(self.scenario, device, decided)
        self.crew.require_divisible(problem)
        return problem

    def _again(self) -> Advice:
        """Advice on how to run a finished run again; `resume`, which takes the directory's scenario, has no --fresh."""
        resumed = self.scenario.path == self.directory.scenario
        command = f"`simsuite run SCENARIO -o {self.directory.path} --fresh`" if resumed else "--fresh"
        return Advice(f"{command} runs it again", "fresh=True runs it again")

    def _tell_what_is_safe(self, error: SimsuiteError) -> None:
        """Have an error that ends a run say which checkpoint is left, if there is one."""
        if (about := read_about(self.directory.path)) is not None:
            at = about[1].get("stage", f"step {about[1].get('steps', about[0])}")
            error.leaves(f"the checkpoint of {at} is safe")

    def _begun(self) -> bool:
        """Whether there is a run to be continued."""
        return not self.fresh and not self._lost and self.directory.results.exists()

    def _scenario_differs(self) -> bool:
        """Whether the directory does not have this very scenario."""
        text = self.directory.read_scenario()
        return text is None or bool(self.scenario.differences(text))

    def _mend(self) -> None:
        """Mend the results of the run that is continued, or note that they are lost and the run begins again."""
        if self._begun() and (condition := mend(self.directory.results)) is not Condition.WHOLE:
            self._lost = condition is Condition.LOST
            self.reporter.message(f"{self.directory.results} {condition.value}")

    def _decided(self) -> Mapping[str, Any] | None:
        """What the run that is continued decided when it began."""
        if not self._begun():
            return None
        with reading(self.directory.results) as file:
            return dict(json.loads(file.attrs["decided"])) if "decided" in file.attrs else None

    def _require_room(self, problem: Problem) -> None:
        """Raises UsageError if the disk cannot hold what the run will store. What compression saves is not known."""
        if self.scenario.model.output.compression != "none":
            return
        results = self.directory.results
        need = disk_bytes(self.scenario, problem) - (results.stat().st_size if results.exists() else 0)
        free = free_bytes(self.directory.path)
        if need > free:
            message = f"the results of this run take {with_prefix(need, 'B')}, but {with_prefix(free, 'B')} are free"
            raise UsageError(f"{message} in {self.directory.path}\n  = help: ", _LESS)

    def _march(self, problem: Problem, device: Device, backend: Backend, known: Callable[[], Origin]) -> dict[str, Any]:
        began = time.monotonic()
        if not self._begun():
            self.directory.clear()  # checkpoints without their results are of no use to a run that begins again
            self._warn(problem.warnings if isinstance(problem, Advising) else ())
        live = LiveProgress(self.directory, backend, problem)
        shared = f", shared by {self.crew.size} processes" * (self.crew.size > 1)
        self._log(f"simsuite {VERSION} on {backend.name} ({backend.device_name}){shared}")
        if backend.note is not None:
            self.reporter.message(backend.note)
        start, before = self._start(problem, backend) if self.extends is None else self._extension(problem, device)
        if self._scenario_differs():  # otherwise it stays, also with somebody's comments
            self.directory.write_scenario(self.scenario.resolved_toml())
        self.profiler.attach(backend)
        stepper = self.crew.stepper(problem, backend, start)
        self.profiler.watch(stepper)
        chosen = {**problem.method, **stepper.chosen}
        if "stepper_reason" in chosen:
            self._log(f"{chosen['stepper']}: {chosen['stepper_reason']}")
        if "kernel_note" in stepper.chosen:
            self.reporter.message(stepper.chosen["kernel_note"])
            self._log(stepper.chosen["kernel_note"])
        origin = known()
        made = origin.attributes(self.scenario.overrides, versions(backend))
        begun = "begun" if start.step == 0 else f"continued from step {start.step}"
        self._log(origin.words(begun))
        with (
            self._open_results(problem, backend, stepper, before, made, origin.line(begun)) as results,
            Writer(waits=not self.asynchronous) as writer,
        ):
            doubts = Doubts(problem, self._say)
            kept = "" if before is None else str(before.meta.get(KEPT, ""))
            watch = Watch(problem, kept, start.step > 0)
            examine = each_of(doubts.look, watch.row)
            outputs = [SeriesOutput(problem, results, writer, series, examine) for series in problem.layout.series]
            looks = LookOutput(watch, writer)
            output = self.scenario.model.output
            checkpoint = CheckpointOutput(
                self.directory.path,
                results,
                writer,
                output.checkpoint_minutes,
                output.checkpoint_every,
                {**self._about(problem, backend), **identity(self.scenario), **made},
                start=start.step,
                moment=lambda step: moment(problem, step),
                unbounded=problem.unbounded,
                taken=functools.partial(taken, problem, stepper) if isinstance(stepper, Adaptive) else None,
                position=functools.partial(position, problem),
                stage=problem.stage if isinstance(problem, Staged) else lambda step: None,
                noted=watch.to_keep,
            )
            work = functools.partial(_work, problem, stepper)
            stopwatch = Stopwatch(backend, stepper.step, problem.clock.end, work)
            settling = Settling(problem, self.reporter, live, stopwatch, self.crew)
            outlook = Outlook(stepper, problem.clock.end, self.reporter, live, self._say)
            self.directory.remove_summary()  # it tells where an earlier part of this run stopped
            self.reporter.begin(problem, stepper.step)
            if start.step == 0 and chosen.get("stepper") != problem.method.get("stepper"):
                instead = f"{chosen['stepper']} instead of {problem.method['stepper']}"
                self.reporter.message(f"{instead}: {chosen['stepper_reason']}")
            live.begin(stepper)

            def progress(step: int) -> None:
                writer.check()
                doubts.tell()
                outlook.look()
                stopwatch.stretch(step)
                self.reporter.progress(step)
                live.reach()

            try:
                due: list[Output] = [*outputs, settling, looks, checkpoint]
                stopped, end = self.crew.stopped(self.stopped), problem.clock.end
                reason = march(stepper, end, due, backend, stopped, progress, lambda: settling.over or looks.over)
                stopwatch.stop(stepper.step)
                self.profiler.over()
                ended = stepper.step == problem.clock.end and isinstance(problem, Lengthening)
                if reason is not None or isinstance(problem, Extensible) or (ended and checkpoint.is_old):
                    checkpoint.emit(stepper)
                if looks.over:
                    for output in outputs:
                        output.end(stepper)
                writer.drain()
                doubts.tell()
                with stepper.observe(problem.layout.series[0].dim) as observed:
                    found = {**problem.results(observed), **watch.results()}
                    if reason is None:
                        results.write_totals({**problem.totals(observed), **watch.totals()})
            except Exception as error:
                with contextlib.suppress(Exception):
                    writer.close()
                with contextlib.suppress(SimsuiteError):  # the first error is the one to report
                    results.set_status("failed")
                    self._log(f"failed: {error}")
                    self.directory.write_failure(str(error), getattr(error, "cell", None))
                if isinstance(error, NumericalFailure) and isinstance(problem, Advising):
                    self._tell_what_is_safe(error)
                    help = "; or ".join(problem.remedies)
                    raise NumericalFailure(f"{error}\n  = help: {help}", error.cell) from error
                raise
            finally:
                self.reporter.end()
            results.set_status("complete" if reason is None else "stopped")
            results.flush_to_disk()
            seconds = {"wall_seconds": time.monotonic() - began, "compile_seconds": stopwatch.started - began}
            summary = {
                "status": "complete" if reason is None else "stopped",
                **({} if reason is None else {"stopped_by": reason, "percent": 100.0 * live.share}),
                "solver": problem.solver,
                "directory": str(self.directory.path),
                "device": backend.name,
                "device_name": backend.device_name,
                "threads": threads_for(problem, backend),
                **({"processes": self.crew.size} if self.crew.size > 1 else {}),
                **({"resumed": True} if start.step > 0 else {}),
                **({} if watch.over is None else {"ended_by": watch.over}),
                **problem.method,
                **stepper.chosen,
                **progress_made(problem, stepper, found),
                **seconds,
                "rate": stopwatch.rate(),
                "rate_unit": problem.rate_unit,
                "units": units(problem),
                "results": found,
            }
        self._warn(problem.shortcomings(found, reason is None) if isinstance(problem, SelfChecking) else ())
        summary["warnings"] = self.warnings
        self.directory.write_summary(summary)
        live.end()
        at = end_in_words(summary)
        if reason is not None and isinstance(problem, Staged):
            at = problem.stage(stepper.step) or at
        self._log(f"{summary['status']} after {at}" + (f" ({reason})" if reason else ""))
        return summary

    def _warn(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._say(text)

    def _say(self, warning: str) -> None:
        self.warnings.append(warning)
        self.reporter.warning(warning)
        self._log(f"warning: {warning}")

    def _start(self, problem: Problem, backend: Backend) -> tuple[Snapshot, Checkpoint | None]:
        """The state to begin with, and the checkpoint that the results go on from; None without a results file."""
        found = read_checkpoint(self.directory.path) if self.directory.results.exists() else None
        if found is None:
            return problem.initial(), None
        require_its_checkpoint(self.scenario, self.directory, found)
        if found.note is not None:
            self.reporter.message(found.note)
        if (other := changed(found.meta, backend)) is not None:
            self.reporter.message(other)
            self._log(other)
        at = moment(problem, found.snapshot.step)
        self.reporter.message(f"continuing {self.directory.path} from {at}")
        self._log(f"continuing from {at}")
        return found.snapshot, found

    def _extension(self, problem: Problem, device: Device) -> tuple[Snapshot, None]:
        """The state to begin with, which is made the newest checkpoint. If the process is killed before the results are
        begun anew, the run can be continued from there, to its old end or to its new one."""
        assert self.extends is not None
        assert isinstance(problem, Extensible)
        found = read_checkpoint(self.directory.path)
        if found is None:
            return problem.initial(), None
        backend = device()
        start = problem.extended(make_problem(self.extends, device, {}), found.snapshot, backend)
        write_checkpoint(self.directory.path, start, {}, self._about(problem, backend))
        self.directory.remove_summary()
        self._log("continuing with more paths")
        return start, None

    def _about(self, problem: Problem, backend: Backend) -> dict[str, str | int | float]:
        """What every checkpoint of this run says of the run, besides its state."""
        base = base_of_data(self.scenario, self.directory.path)
        return {"solver": problem.solver, **conditions(backend), **base}

    def _open_results(
        self,
        problem: Problem,
        backend: Backend,
        stepper: Stepper,
        before: Checkpoint | None,
        made: Mapping[str, str],
        line: str,
    ) -> ResultsFile:
        """The results that are gone on with after the checkpoint `before`, or new ones. made: attributes on their
        origin. line: of their history."""
        if before is not None and before.results is not None:
            if (size := self.directory.results.stat().st_size) > _MUCH:
                self.reporter.message(f"looking whether {with_prefix(size, 'B')} of results are as they were written")
            return ResultsFile.reopen(self.directory.results, problem.layout, before.rows, before.results, line)
        (title, history), chosen = self._earlier(), {**problem.method, **stepper.chosen}
        attributes = results_attributes(self.scenario, self.directory.path, problem, backend, chosen, title)
        return ResultsFile.create(
            self.directory.results,
            problem.layout,
            {**attributes, **made},
            self.scenario.model.output.compression,
            appended(history, line, HISTORY_BYTES),
        )

    def _earlier(self) -> tuple[str, str]:
        """The title and the history of the run whose paths are added to; "" where there is none."""
        if self.extends is None or not self.directory.results.exists():
            return "", ""
        with reading(self.directory.results) as file:
            return str(file.attrs["title"]), as_text(file.attrs.get("history", ""))

    def _log(self, line: str) -> None:
        self.directory.append_log(line)


def _work(problem: Problem, stepper: Stepper, step: int) -> float:
    """The work done up to the stepper's present step, in the problem's unit."""
    return stepper.work if isinstance(stepper, Adaptive) else problem.work(step)
