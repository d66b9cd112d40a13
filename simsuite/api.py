"""What `import simsuite` offers: run a scenario from Python, or step one by hand."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from simsuite.assembly import default_directory
from simsuite.core import JsonObject, Problem
from simsuite.errors import Advice, PackageMissing, SimsuiteError, UsageError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory
from simsuite.notebooks.line import for_notebooks
from simsuite.scenario import Scenario, load_table, settings
from simsuite.scenario import load as load_scenario
from simsuite.simulation import Simulation
from simsuite.stopping import Stopping
from simsuite.sweeps.directory import SweepDirectory
from simsuite.sweeps.goal import Goal, Search, points_of
from simsuite.sweeps.goal import Solution as Solution  # for `simsuite`, too
from simsuite.sweeps.plan import MOST_VALUES, Axis, make_plan, parse_axis
from simsuite.sweeps.sweep import Sweep as Sweeping

if TYPE_CHECKING:
    import pandas
    import xarray

_LOG = logging.getLogger("simsuite")


@dataclass(frozen=True)
class Run:
    """A run that is finished, or was stopped early with a checkpoint.

    directory: where its files are. summary: the object that `simsuite run --json` prints; `summary["status"]` is
    "complete" or "stopped".
    """

    directory: Path
    summary: Mapping[str, Any] = field(repr=False)  # Any: as in `JsonObject`, which could be changed

    def __repr__(self) -> str:
        return f"Run({self.summary['solver']}, {self.summary['status']}, directory={str(self.directory)!r})"

    @property
    def results(self) -> JsonObject:
        """`summary["results"]`: the numbers that the run was made for, with their errors."""
        results: JsonObject = self.summary["results"]
        return results

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """results.h5, whose arrays are read when they are looked at. Its `close()` closes the file.

        Raises PackageMissing where xarray is not installed: it comes with `simsuite[xarray]`."""
        return _opened(self.directory / "results.h5", "run.dataset")

    def table(self, name: str | None = None) -> pandas.DataFrame:
        """A table of the results, as far as the run got: as `simsuite export --to csv` writes it, headers and all.

        name: which; default: the main one, of what was sampled over time (heat), of the options, or of the assets over
        time where there are none (gbm), of the states over time (linear). `attrs["units"]` of the frame has the unit
        of each column, "" where it has none.

        Raises UsageError where there is no such table, and PackageMissing where pandas is not installed: it comes with
        `simsuite[export]`."""
        from simsuite.exporting import frame

        with _python_words():
            return frame(self.directory, name, "run.table()")

    def export(
        self, to: str, output: Path | str | None = None, what: Sequence[str] | None = None, force: bool = False
    ) -> list[Path]:
        """Write the results for other programs, as `simsuite export` does; returns the files.

        to: "csv", "netcdf", "zarr", "vtk" or "parquet". output: a directory, or a file's name where there is only one;
        default: `export` in the directory of the run. what: names of variables or tables. force: replace what is there.

        Raises UsageError for formats and names that are unknown and where files are there already, PackageMissing for
        packages that come with `simsuite[export]` or `[vtk]`, and DiskError where the disk fails; what was there before
        stays."""
        from simsuite.exporting import export

        with _python_words():
            names = [what] if isinstance(what, str) else what
            return export(self.directory, to, None if output is None else Path(output), names, force, "run.export")

    def plot(
        self,
        output: Path | str | None = None,
        what: str | Sequence[str] = (),
        time: float | str | None = None,
        theme: str = "light",
        size: str | None = None,
        others: Sequence[Run] = (),
    ) -> Path:
        """Draw the run, as `simsuite plot` does; returns the picture, or video, by default plot.png in its directory.

        what: "field", "flux", "probes" .., one or several; default: an overview. time: of fields, in the run's unit or
        as "2 min". theme: "light", "dark", "paper" or "slides". size: "column" or "page". others: runs to draw beside
        it with the same scale. Raises UsageError for what the run has not, and says what it has."""
        from simsuite.plotting import draw_path

        names = [what] if isinstance(what, str) else list(what)
        path = self.directory / "plot.png" if output is None else Path(output)
        with _python_words():
            draw_path([self.directory, *(run.directory for run in others)], path, names, time, theme, size)
        return path

    def _repr_html_(self) -> str:
        from simsuite.notebooks.page import run_html

        return run_html(self.directory, self.summary)


def run(
    path: Path | str | Mapping[str, object],
    set: Mapping[str, object] | None = None,
    device: str | None = None,
    directory: Path | str | None = None,
    fresh: bool = False,
    max_minutes: float | None = None,
) -> Run:
    """Run the scenario in the file `path`, or continue its interrupted run, as `simsuite run` does.

    path: may also be the scenario itself, as the dictionary that a file would be read to; `directory` is then needed.
    set: values in place of the file's, by dotted key, ``{"grid.nx": 512, "boundary.left.value": "20 + t"}``.
    device: "auto", "cpu", "cuda", "cuda:1" or "cudasim", in place of `run.device`. directory: for the run's files, in
    place of `output.directory`; a finished run of the same scenario there is not run again. fresh: discard what an
    earlier run left there. max_minutes: stop with a checkpoint after that long.

    On SIGINT, SIGTERM, SIGHUP and others that end a process a checkpoint is written first; then the signal takes its
    ordinary course, which for Ctrl-C is a KeyboardInterrupt. The same call continues the run. Messages, such as why a
    run is on the CPU, go to the logger "simsuite"; in a notebook a line shows how far the run is.

    Raises ScenarioError for mistakes in the scenario, UsageError when the directory holds another one's run or is in
    use, DeviceError when there is no such device or too little memory, NumericalFailure for NaN or Inf, and
    SimsuiteError, the base of them all, for a disk that fails. In each case the last good checkpoint stays.
    """
    with _python_words():
        scenario = _load(path, set, device, directory, True)
        where = default_directory(scenario)
        with Stopping(max_minutes) as stopping:
            summary = Execution(scenario, RunDirectory(where), for_notebooks(_Logger()), stopping, fresh).run()
    if stopping.signal is not None:
        signal.raise_signal(stopping.signal)
    return Run(where, summary)


def load(directory: Path | str) -> Run:
    """The run in a directory, finished or stopped, without running anything. directory: of the run, or a file in it.

    Raises UsageError where there is no run, or one that has no results yet."""
    with _python_words():
        run = RunDirectory.of(directory)
        summary = run.read_summary()
        if summary is None:
            why = "has no results yet" if run.exists else run.without()
            raise UsageError(f"{run.path} {why}")
        return Run(run.path, summary | {"directory": str(run.path)})


def open_simulation(
    path: Path | str | Mapping[str, object], set: Mapping[str, object] | None = None, device: str | None = None
) -> Simulation:
    """The scenario in the file `path` at its first step on its device, to be stepped by hand; it writes no files.

    set, device: as in `run`. `advance(n)` takes steps, `state` gives the live arrays by name: CuPy arrays on a GPU,
    NumPy arrays elsewhere.

    Raises ScenarioError for mistakes in the scenario and DeviceError when there is no such device or too little memory.
    """
    with _python_words():
        return Simulation(_load(path, set, device, None, False))


@dataclass(frozen=True)
class Sweep:
    """Runs of one scenario that differ in the values of some keys.

    directory: where its files are. keys: what varies. members: for each member that has ended, by number, its "values",
    its "status", "complete" or "failed", and its "results" by dotted name, or its "error". complete: whether all
    members have ended.
    """

    directory: Path
    keys: tuple[str, ...]
    members: Mapping[int, Mapping[str, Any]] = field(repr=False)  # Any: values of keys, and numbers
    complete: bool

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """sweep.h5: the results of all members, with the keys as dimensions, or along `member`.

        Raises PackageMissing where xarray is not installed: it comes with `simsuite[xarray]`."""
        return _opened(self.directory / "sweep.h5", "sweep.dataset")

    def run(self, member: int) -> Run:
        """The run of a member that is complete. Raises UsageError for others."""
        directory = SweepDirectory(self.directory).member(member)
        summary = RunDirectory(directory).read_summary()
        if summary is None:
            raise UsageError(f"member {member} of {self.directory} has no finished run")
        return Run(directory, summary)


@overload
def sweep(
    path: Path | str | Mapping[str, object],
    vary: Mapping[str, Sequence[object] | str],
    paired: bool = ...,
    random: int | None = ...,
    latin: bool = ...,
    seed: int = ...,
    set: Mapping[str, object] | None = ...,
    device: str | None = ...,
    directory: Path | str | None = ...,
    workers: int | None = ...,
    retry: bool = ...,
    fresh: bool = ...,
    members: tuple[int, int] | None = ...,
    goal: None = ...,
    target: None = ...,
    tolerance: None = ...,
) -> Sweep: ...


@overload
def sweep(
    path: Path | str | Mapping[str, object],
    vary: Mapping[str, Sequence[object] | str],
    *,
    set: Mapping[str, object] | None = ...,
    device: str | None = ...,
    directory: Path | str | None = ...,
    retry: bool = ...,
    fresh: bool = ...,
    goal: str,
    target: float,
    tolerance: float | None = ...,
) -> Solution: ...


def sweep(
    path: Path | str | Mapping[str, object],
    vary: Mapping[str, Sequence[object] | str],
    paired: bool = False,
    random: int | None = None,
    latin: bool = False,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    device: str | None = None,
    directory: Path | str | None = None,
    workers: int | None = None,
    retry: bool = False,
    fresh: bool = False,
    members: tuple[int, int] | None = None,
    goal: str | None = None,
    target: float | None = None,
    tolerance: float | None = None,
) -> Sweep | Solution:
    """Run the scenario `path` for all combinations of the values of some keys, or go on with such a sweep, as `simsuite
    sweep` does.

    path: a file, or a scenario as a dictionary. vary: by dotted key its values, ``{"constants.h": [5, 10, 20]}``, or a
    text that says them, such as "linspace(1, 5, 9)". paired: the first values of all keys, the second ones and so on in
    place of all combinations. random: the number of samples, for which values are "uniform(1, 5)", "loguniform(1, 9)",
    "normal(5, 0.5)" or a list; latin: by a Latin hypercube; seed: of the samples. set, device: of all members, as in
    `run`. directory: default runs/<name>_sweep. workers: how many members run at a time. retry: run those that failed
    again. fresh: discard the sweep that is in the directory. members: the numbers of the first and the last one that is
    run; others may be run by other processes at the same time, and sweep.h5 is written by a call for all of them.

    goal: a result by its dotted name, "max" or "options.call.price". The value of the one key that varies is then
    looked for, between the least and the largest one given, at which the result is `target`, or as far from it as
    `tolerance` at most (default: a millionth of the difference between the results at the ends). Returned is a
    Solution, whose `value` is that value, `result` what comes out with it, and `runs` the runs that were made, one
    after another, in `directory` (default runs/<name>_goal). Raises UsageError where the result does not pass the
    target between the ends, NumericalFailure where it jumps over it, and SimsuiteError where a run fails or its result
    is not known.

    A member that fails does not stop the others. Raises ScenarioError where the first member has mistakes, and
    UsageError for values that make no sense or a directory that holds something else.
    """
    with _python_words():
        axes = [
            parse_axis(f"{key}={values}") if isinstance(values, str) else Axis(key, tuple(values))
            for key, values in vary.items()
        ]
        points: list[float] = []
        if goal is None:
            if target is not None or tolerance is not None:
                raise UsageError("target and tolerance say what goal=.. is to be")
            plan = make_plan(axes, paired, random, latin, seed, MOST_VALUES)
        else:
            if target is None:
                raise UsageError(f"target=.. says what `{goal}` is to be")
            if paired or random is not None or latin or members is not None or (workers or 1) > 1:
                raise UsageError(
                    "goal=.. makes one run after another: give none of paired, random, latin, members, workers"
                )
            points = points_of(axes)
            plan = Search.plan_of(axes[0].key, points)
        name = "scenario" if isinstance(path, Mapping) else Path(path).stem
        where = (
            Path(directory) if directory is not None else Path("runs") / f"{name}_{'sweep' if goal is None else 'goal'}"
        )
        overrides = settings({**(set or {}), **({} if device is None else {"run.device": device})})
        source = path if isinstance(path, Mapping) else Path(path)
        with Stopping() as stopping:
            whole = Sweeping(source, plan, where, overrides, workers, retry, fresh, stopped=stopping, part=members)
            if goal is None or target is None:
                complete, found = whole.run(), None
            else:
                complete, found = True, Search(whole, Goal(goal, target, tolerance), points).run()
    if stopping.signal is not None:
        signal.raise_signal(stopping.signal)
    if goal is not None:
        if found is None:
            raise SimsuiteError("the search was stopped early; the same call goes on with it")
        return found
    ended = {
        i: {"values": plan.settings(i), "status": each.status}
        | ({"error": each.error} if each.error else {"results": each.results})
        for i, each in sorted(whole.ended.items())
    }
    return Sweep(where, plan.keys, ended, complete)


def _opened(path: Path, who: str) -> xarray.Dataset:
    PackageMissing.unless(("xarray", "h5netcdf"), "xarray", who)
    import xarray

    return xarray.open_dataset(path, engine="h5netcdf")


@contextlib.contextmanager
def _python_words() -> Iterator[None]:
    """Errors from in here speak of arguments of functions, not of options of commands."""
    try:
        yield
    except SimsuiteError as error:
        error.in_python()
        raise


def _load(
    path: Path | str | Mapping[str, object],
    set: Mapping[str, object] | None,
    device: str | None,
    directory: Path | str | None,
    stored: bool,
) -> Scenario:
    """stored: whether the scenario is to have a directory for its files."""
    values = dict(set or {})
    if device is not None:
        values["run.device"] = device
    if directory is not None:
        values["output.directory"] = str(directory)
    if isinstance(path, Mapping):
        output = path.get("output")
        named = values.get("output.directory") or (isinstance(output, Mapping) and output.get("directory"))
        if stored and not named:
            raise UsageError(
                "a scenario that is a dictionary has no file name to call its directory after: give directory=.."
            )
        name = Path(str(named)).name if named else "scenario"
        return load_table(path, Path(f"{name}.toml"), settings(values), "set: ")
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(
            f"expected the path of a scenario file, or a scenario as a dictionary, not {type(path).__name__}"
        )
    return load_scenario(path, settings(values), override_name="set: ")


class _Logger:
    """Tells the logger "simsuite" how a run goes."""

    def message(self, text: str, advice: Advice | None = None) -> None:
        _LOG.info(text if advice is None else text + advice.python)

    def warning(self, text: str) -> None:
        _LOG.warning(text)

    def begin(self, problem: Problem, step: int) -> None: ...

    def progress(self, step: int) -> None: ...

    def expect(self, end: int | None) -> None: ...

    def end(self) -> None: ...
