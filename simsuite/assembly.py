"""From a scenario to a problem and its device."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.backends import open_backend
from simsuite.backends.failures import gpu_failure
from simsuite.backends.threads import cores, threads_available
from simsuite.capabilities import (
    Advising,
    CompilesAhead,
    Divisible,
    Foreseeable,
    MemorySaving,
    Rehearsing,
    steps_expected,
    threads_for,
)
from simsuite.communication.communicator import ONLY_SEAT, Seat
from simsuite.core import SNAPSHOTS, Backend, Device, Problem
from simsuite.errors import DeviceError, DeviceFailure, ScenarioError, SimsuiteError, UsageError
from simsuite.io.checkpoint import read_about, stored_bytes
from simsuite.io.directory import RunDirectory, State
from simsuite.io.reading import reading
from simsuite.io.size import checkpoint_bytes, results_bytes
from simsuite.libraries import library_threads
from simsuite.plugins import part_of
from simsuite.scenario import Scenario, load
from simsuite.version import FORMAT_VERSION, VERSION
from simsuite.words import counted

_SMALL = 1 << 28  # a problem needs at most so many bytes of its device that another process may make its state again
_LARGE = 1 << 30  # a problem needs so many bytes of its device that it may take a while to fill them


def device_of(
    scenario: Scenario,
    announce: Callable[[str], None] = lambda text: None,
    seat: Seat = ONLY_SEAT,
    processes: int = 1,
) -> Device:
    """The device that the scenario asks for, opened when it is first needed. announce: told what takes long there.
    seat: where this process works, if it is one of several `processes` that share the run."""

    @functools.cache
    def opened() -> Backend:
        run = scenario.model.run
        if processes > 1 and ":" in run.device:
            help = '\n  = help: write device = "cuda", then each process takes one of its own'
            raise UsageError(f"{processes} processes cannot share the one device {run.device}{help}")
        backend = open_backend(run.device, run.loader, seat.gpu)
        backend.announce = announce
        asked = run.threads
        if asked != "auto":
            backend.threads = min(asked, cores())
        elif seat.sharing > 1:
            backend.threads = max(1, backend.threads // seat.sharing)
        return backend

    return opened


def threads_of_libraries(scenario: Scenario) -> contextlib.AbstractContextManager[Any]:
    """In this context libraries of linear algebra take at most as many threads of the CPU as the scenario allows. For
    linear systems and steady states, which call these libraries, they take exactly that many, even if they were loaded
    with fewer."""
    asked = scenario.model.run.threads
    n = threads_available() if asked == "auto" else asked
    works = scenario.solver == "linear" or getattr(getattr(scenario.model, "time", None), "steady", False)
    return library_threads(n) if works or n < cores() else contextlib.nullcontext()


def name_of(device: Device, scenario: Scenario) -> str:
    """The name of the device that a scenario will run on; where this machine has none such, the name that the scenario
    gives."""
    try:
        return device().name
    except DeviceError:
        return scenario.model.run.device


def failure_of(device: Device, scenario: Scenario, error: Exception) -> DeviceFailure | None:
    """The DeviceFailure that says, in the program's words, what ended a run; None if `error` is no error of a GPU."""
    failure = gpu_failure(error)
    return None if failure is None else DeviceFailure(f"{name_of(device, scenario)} failed: {failure}")


def make_problem(scenario: Scenario, device: Device | None = None, decided: Mapping[str, Any] | None = None) -> Problem:
    """The solver's problem, see `Problem`. Raises ScenarioError, with every mistake shown in the file, and DeviceError.

    Without a device nothing is measured. decided: what an earlier problem of this scenario decided (`Problem.decided`),
    which then holds.
    """
    of_several = bool(getattr(scenario.model, "members", ()))
    kind: type[Problem] = part_of(scenario.solver, "joined" if of_several else "problem")
    try:
        with threads_of_libraries(scenario):
            return kind.from_scenario(scenario.model, scenario.base, device, decided)
    except ScenarioError as error:
        raise scenario.explain(error.mistakes) from None
    except MemoryError as error:
        raise DeviceError(f"there is not enough memory on this machine: {error}") from None


def require_divisible(problem: Problem, processes: int) -> None:
    """Raises UsageError, with the reason, if so many processes cannot share the problem."""
    why: str | None = f"a {problem.solver} run is not shared out yet"
    if isinstance(problem, Divisible):
        why = problem.indivisible(processes)
    if processes > 1 and why is not None:
        raise UsageError(f"{processes} processes cannot share this run: {why}\n  = help: start it without mpiexec")


def make_backend(device: Device, problem: Problem, processes: int = 1) -> Backend:
    """The device, opened for a problem, or for the part of one of so many processes. Raises DeviceError when there is
    none or that does not fit."""
    backend = device()
    need, free = memory_needed(problem, processes), backend.memory_free()
    if need > free:
        message = f"this run needs {need / 1e9:.2f} GB on {backend.name}, which has {free / 1e9:.2f} GB free"
        raise DeviceError(message + _memory_help(problem))
    return backend


@contextlib.contextmanager
def computing(problem: Problem, backend: Backend, ahead: bool = True) -> Iterator[None]:
    """In this context a run computes: on as many threads as it has work for, with a second process that compiles its
    kernels, too, where the device can have one, unless `ahead` is false. Turns a MemoryError into a DeviceError that
    says what to do about it."""
    with contextlib.ExitStack() as stack:
        # The second process makes the state again, for which a large problem may not leave enough memory.
        if ahead and isinstance(backend, CompilesAhead) and memory_needed(problem) <= _SMALL:
            stack.enter_context(backend.compiling_ahead(functools.partial(_rehearse, problem)))
        stack.enter_context(backend.on_threads(threads_for(problem, backend)))
        try:
            yield
        except MemoryError as error:
            raise DeviceError(f"there is not enough memory for this run: {error}{_memory_help(problem)}") from error


def _rehearse(problem: Problem, backend: Backend) -> None:
    """Call what a run of the problem calls, on a backend that only compiles it."""
    stepper = problem.stepper(backend, problem.initial())
    parts = list(stepper.rehearse()) if isinstance(stepper, Rehearsing) else [functools.partial(stepper.advance, 1)]
    for part in [*(functools.partial(stepper.observe, series.dim) for series in problem.layout.series), *parts]:
        with contextlib.suppress(Exception):  # there are no data: what comes to nothing here need not in the run
            part()


def _memory_help(problem: Problem) -> str:
    """A line that says how the problem can do with less memory; "" if it cannot."""
    return f"\n  = help: {problem.less_memory}" if isinstance(problem, MemorySaving) else ""


def memory_needed(problem: Problem, processes: int = 1) -> int:
    """Bytes that a run, or the part of one of so many processes, needs on its device: for what the stepper allocates
    and for snapshots on their way to files."""
    start, own = problem.initial(), problem.device_bytes()
    if processes > 1 and isinstance(problem, Divisible):
        start, own = problem.cut(start, 0, processes), problem.part_bytes(processes)
    return own + SNAPSHOTS * sum(a.nbytes for a in start.arrays.values())


def default_directory(scenario: Scenario) -> Path:
    given = scenario.model.output.directory
    return Path(given) if given is not None else Path("runs") / scenario.path.stem


def extension_of_run(directory: Path, paths: int, overrides: Sequence[str] = ()) -> tuple[Scenario, Scenario | None]:
    """The scenario of the run in `directory` extended to so many paths, and the scenario of the finished run there,
    which has fewer paths; the latter is None if what is there is that extension already.

    Raises UsageError where there is no finished Monte Carlo run, or none of fewer paths, and ScenarioError if the
    scenario cannot have so many. overrides: other changes to the scenario, as "key=value".
    """
    before = scenario_of_run(directory)
    if before.solver != "gbm":
        raise UsageError(f"{directory} holds a {before.solver} run, which has no paths to be added to")
    count = before.model.paths.count
    if paths < count:
        some = "of at most" if before.model.paths.target_standard_error > 0 else "of"
        raise UsageError(f"{directory} holds a run {some} {counted(count, 'path')}; {paths} would be fewer")
    if paths == count:
        return before, None
    if RunDirectory(directory).state() is not State.FINISHED:
        raise UsageError(f"{directory} holds a run that is not finished; `simsuite resume {directory}` continues it")
    return scenario_of_run(directory, [f"paths.count={paths}", *overrides]), before


def target_reached(directory: Path, count: int) -> str | None:
    """A sentence, if the run in `directory`, of at most `count` paths, reached the standard error that it was to have.
    If it ended because it reached that, a larger number of paths changes nothing; if it ended with all its paths, its
    last batch may have been a part of one only."""
    results = (RunDirectory(directory).read_summary() or {}).get("results", {})
    target = results.get("target", {})
    if not target.get("reached"):
        return None
    more = "no more are made for it"
    if results["paths"] >= count:
        more = "more are made only up to the end of a batch, where errors are looked at again"
    return (
        f"the run in {directory} reached its paths.target_standard_error of {target['standard_error']:g} with "
        f"{results['paths']} paths: {more}. For smaller errors, run the scenario with a smaller target"
    )


def scenario_of_run(directory: Path, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario that `directory` was made from. Raises UsageError where there is none."""
    run = RunDirectory(directory)
    if not run.scenario.exists():
        raise UsageError(f"{directory} {run.without('scenario.toml')}")
    base = directory
    if run.results.exists():  # files of version 0.1.0 have an absolute path there
        base = Path(os.path.normpath(directory.resolve() / _stored_base(run)))
    return load(run.scenario, overrides, base=base)


def _stored_base(run: RunDirectory) -> str:
    """What `base_of_data` gave when the run began, read from the results, or from the checkpoint if they are
    damaged."""
    try:
        with reading(run.results) as file:
            return str(file.attrs.get("scenario_base", ""))
    except SimsuiteError:
        about = read_about(run.path)
        return "" if about is None else str(about[1].get("scenario_base", ""))


def base_of_data(scenario: Scenario, directory: Path) -> dict[str, str]:
    """The attributes by which results and checkpoints in `directory` tell where names of data files start from: a path
    relative to `directory`, which stays right when both are moved. There are none for a scenario without data files."""
    if not any(scenario.file_names()):
        return {}
    return {"scenario_base": os.path.relpath(scenario.base.resolve(), directory.resolve())}


def results_attributes(
    scenario: Scenario, directory: Path, problem: Problem, backend: Backend, chosen: Mapping[str, str], title: str = ""
) -> dict[str, str | int | float]:
    """What the results of a run say of it, as attributes. chosen: what its problem and its stepper have. title: of a
    scenario that has none; "": the name of its file."""
    model = scenario.model
    return {
        "title": model.title or title or scenario.path.stem,
        "source": f"simsuite {VERSION}",
        "simsuite_version": VERSION,
        "format_version": FORMAT_VERSION,
        "solver": problem.solver,
        "scenario": scenario.resolved_toml(),
        **base_of_data(scenario, directory),
        "input_files": json.dumps(scenario.files()),
        "device": backend.name,
        "device_name": backend.device_name,
        "seed": str(model.run.seed),
        "decided": json.dumps(problem.decided),
        **chosen,
    }


def estimate(problem: Problem, device: str = "cpu", processes: int = 1) -> dict[str, Any]:
    """What a run will take: steps and dt (about, where steps are adaptive), bytes on the device, seconds.

    processes: how many share the run. Then bytes are those on the device of each, and seconds are at best, if the work
    is shared evenly and what they exchange takes no time.

    steps_range: the fewest and the most steps that are likely, None where there may be any number; the seconds are
    those of `steps`. dt: of the first step, or the mean of as many steps as are expected where their error decides how
    long they are; dt_range: the shortest and the longest, None in that case, as nobody knows; both None of a run
    without steps in time. device: the name of the one that the run will be on. seconds: None where nobody knows, as in
    the simulator.
    """
    kind = device.partition(":")[0]
    gpu, simulated = kind == "cuda", kind == "cudasim"
    seconds = problem.usual_seconds(gpu) if isinstance(problem, Foreseeable) and not simulated else None
    steps = problem.position(problem.clock.end)[0]
    return {
        "steps": steps,
        "steps_range": list(steps_expected(problem)),
        "dt": problem.dt if steps else None,
        "dt_range": list(problem.lengths(0)) if steps and not problem.adaptive else None,
        "time_unit": problem.layout.series[0].coordinate.attrs.get("units", ""),
        "adaptive": problem.adaptive,
        "frames": len(problem.layout.series[0].steps),
        "processes": processes,
        "device_bytes": memory_needed(problem, processes),
        "seconds": None if seconds is None else seconds / processes,
        "seconds_at": "what is usual on an H200" if gpu else "what is usual on two CPU cores",
        "warnings": list(problem.warnings) if isinstance(problem, Advising) else [],
        **problem.method,
    }


def disk_bytes(scenario: Scenario, problem: Problem) -> int:
    """About how many bytes the finished results file will have if nothing can be compressed."""
    return results_bytes(problem.layout, _texts(scenario, problem), scenario.model.output.compression)


def checkpoint_on_disk(scenario: Scenario, problem: Problem) -> int:
    """About how many bytes a checkpoint has at most. For a large state this is the memory that its device needs, since
    to make the state would take time."""
    held = problem.device_bytes()
    state = held if held > _LARGE else sum(stored_bytes(np.asarray(a)) for a in problem.initial().arrays.values())
    return checkpoint_bytes(state, problem.layout, _texts(scenario, problem))


def _texts(scenario: Scenario, problem: Problem) -> dict[str, str]:
    """Attributes as long as those that the results of this run will have, for estimates of the size of files."""
    files = json.dumps({key: "0" * 64 for key, _ in scenario.file_names()})
    short = {f"about {i}": "0" * 16 for i in range(10)}
    decided = json.dumps(dict(problem.decided))
    return {"scenario": scenario.resolved_toml(), "input_files": files, "decided": decided, **problem.method, **short}
