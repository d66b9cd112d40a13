"""Runs from Python, whole or stepped by hand."""

from __future__ import annotations

import logging
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simsuite.assembly import default_directory
from simsuite.core import JsonObject
from simsuite.errors import Advice, UsageError
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory
from simsuite.notebooks.line import for_notebooks
from simsuite.parallel.session import Session
from simsuite.progress import Silent
from simsuite.simulation import Simulation
from simsuite.stopping import Stopping
from simsuite.sweeps.goal import Solution as Solution  # for `simsuite`, too

if TYPE_CHECKING:
    import pandas
    import xarray

from simsuite.api.common import opened, python_words, reported, scenario_of

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
        return opened(self.directory / "results.h5", "run.dataset")

    def table(self, name: str | None = None) -> pandas.DataFrame:
        """A table of the results, as far as the run got: as `simsuite export --to csv` writes it, headers and all.

        name: which; default: the main one, of what was sampled over time (heat), of the options, or of the assets over
        time where there are none (gbm), of the states over time (linear). `attrs["units"]` of the frame has the unit
        of each column, "" where it has none.

        Raises UsageError where there is no such table, and PackageMissing where pandas is not installed: it comes with
        `simsuite[export]`."""
        from simsuite.exporting import frame

        with python_words():
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

        with python_words():
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
        with python_words():
            draw_path([self.directory, *(run.directory for run in others)], path, names, time, theme, size)
        return path

    def report(self, path: Path | str | None = None) -> Path:
        """Write what `simsuite report` does: one HTML file that loads nothing, by default `report.html` in the run's
        directory, in place of one that is there. Returns its path. Raises UsageError where it cannot be written, or
        does not end in .html, and SimsuiteError where files of the run are damaged."""
        return reported(self.directory, path)

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
    extend: bool = False,
    shared: bool = True,
) -> Run:
    """Run the scenario in the file `path`, or continue its interrupted run, as `simsuite run` does.

    path: may also be the scenario itself, as the dictionary that a file would be read to; `directory` is then needed.
    set: values in place of the file's, by dotted key, ``{"grid.nx": 512, "boundary.left.value": "20 + t"}``.
    device: "auto", "cpu", "cuda", "cuda:1" or "cudasim", in place of `run.device`. directory: for the run's files, in
    place of `output.directory`; a finished run of the same scenario there is not run again. fresh: discard what an
    earlier run left there. max_minutes: stop with a checkpoint after that long. extend: go on with a heat or linear run
    there, finished or not, to the later end of this scenario; raises UsageError where that would give other bits than a
    run from its start. shared: whether processes that `mpiexec` has started together share the run, for which all of
    them have to make this call; False: this process runs it alone.

    A shared run returns in all processes, with the summary of the first one, whose files it has; an error is raised in
    all of them, too.

    On SIGINT, SIGTERM, SIGHUP and others that end a process a checkpoint is written first; then the signal takes its
    ordinary course, which for Ctrl-C is a KeyboardInterrupt. The same call continues the run. Messages, such as why a
    run is on the CPU, go to the logger "simsuite"; in a notebook a line shows how far the run is.

    Raises ScenarioError for mistakes in the scenario, UsageError when the directory holds another one's run or is in
    use, DeviceError when there is no such device or too little memory, NumericalFailure for NaN or Inf, and
    SimsuiteError, the base of them all, for a disk that fails. In each case the last good checkpoint stays.
    """
    with python_words():
        if extend and fresh:
            raise UsageError("extend=True goes on with a run: leave fresh out")
        with Session(in_python=True, shared=shared) as session:
            scenario = scenario_of(path, set, device, directory, True)
            where = default_directory(scenario)
            with Stopping(max_minutes) as stopping:
                session.take_part(scenario, stopping)
                files, told = RunDirectory(where), for_notebooks(_Logger())
                run = Execution(scenario, files, told, stopping, fresh, longer=extend, crew=session.crew)
                session.summary = run.run()
    assert session.summary is not None
    if stopping.signal is not None:
        signal.raise_signal(stopping.signal)
    return Run(where, session.summary)


def load(directory: Path | str) -> Run:
    """The run in a directory, finished or stopped, without running anything. directory: of the run, or a file in it.

    Raises UsageError where there is no run, or one that has no results yet."""
    with python_words():
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
    with python_words():
        return Simulation(scenario_of(path, set, device, None, False))


class _Logger(Silent):
    """Tells the logger "simsuite" how a run goes."""

    def message(self, text: str, advice: Advice | None = None) -> None:
        _LOG.info(text if advice is None else text + advice.python)

    def warning(self, text: str) -> None:
        _LOG.warning(text)
