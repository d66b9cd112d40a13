"""Sweeps and searches from Python."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from simsuite.errors import SimsuiteError, UsageError
from simsuite.io.directory import RunDirectory
from simsuite.scenario import settings
from simsuite.stopping import Stopping
from simsuite.sweeps.directory import SweepDirectory
from simsuite.sweeps.goal import Goal, Search, points_of
from simsuite.sweeps.goal import Solution as Solution  # for `simsuite`, too
from simsuite.sweeps.plan import MOST_VALUES, Axis, make_plan, parse_axis
from simsuite.sweeps.sweep import Sweep as Sweeping

if TYPE_CHECKING:
    import xarray

from simsuite.api.common import opened, python_words, reported
from simsuite.api.runs import Run


@dataclass(frozen=True)
class Sweep:
    """Runs of one scenario that differ in the values of some keys.

    directory: where its files are. keys: what varies. members: for each member that has ended, by number, its "values",
    its "status", "complete" or "failed", and its "results" by dotted name, or its "error". complete: whether all
    members have ended. warnings: of the runs of this call, each once.
    """

    directory: Path
    keys: tuple[str, ...]
    members: Mapping[int, Mapping[str, Any]] = field(repr=False)  # Any: values of keys, and numbers
    complete: bool
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """sweep.h5: the results of all members, with the keys as dimensions, or along `member`.

        Raises PackageMissing where xarray is not installed: it comes with `simsuite[xarray]`."""
        return opened(self.directory / "sweep.h5", "sweep.dataset")

    def export(
        self, to: str, output: Path | str | None = None, what: Sequence[str] | None = None, force: bool = False
    ) -> list[Path]:
        """Write the results of all members for other programs, as `simsuite export` does; returns the files.

        to: "csv" or "parquet", tables with a row for each member; "netcdf" or "zarr", arrays along the keys. The others
        are as in `Run.export`, and so are the errors; UsageError also where there is no sweep.h5 yet."""
        from simsuite.exporting import export

        with python_words():
            names = [what] if isinstance(what, str) else what
            return export(self.directory, to, None if output is None else Path(output), names, force, "sweep.export")

    def run(self, member: int) -> Run:
        """The run of a member that is complete. Raises UsageError for others."""
        directory = SweepDirectory(self.directory).member(member)
        summary = RunDirectory(directory).read_summary()
        if summary is None:
            if self.members.get(member, {}).get("status") == "complete":
                raise UsageError(
                    f"member {member} shared a run with others; frames=.. stores its frames, apart=True its run"
                )
            raise UsageError(f"member {member} of {self.directory} has no finished run")
        return Run(directory, summary)

    def report(self, path: Path | str | None = None) -> Path:
        """Write the report on the sweep, as that of a run is written."""
        return reported(self.directory, path)


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
    frames: Literal["last", "all"] | None = ...,
    apart: bool = ...,
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
    frames: Literal["last", "all"] | None = None,
    apart: bool = False,
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
    frames: which frames of the members sweep.h5 has as well. apart: whether each has a run of its own, although some
    could share one.

    goal: a result by its dotted name, "max" or "options.call.price". The value of the one key that varies is then
    looked for, between the least and the largest one given, at which the result is `target`. target: what the result is
    to be, in its unit. tolerance: how far from the target the result may be, in the same unit; default: a millionth of
    the difference between the results at the ends.

    With a goal a Solution is returned, whose `value` is that value, `result` what comes out with it, and `runs` the
    runs that were made, one after another, in `directory` (default runs/<name>_goal); else a Sweep. Raises UsageError
    where the result does not pass the target between the ends, NumericalFailure where it jumps over it, and
    SimsuiteError where a run fails or its result is not known.

    A member that fails does not stop the others. Raises ScenarioError where the first member has mistakes, and
    UsageError for values that make no sense or a directory that holds something else.
    """
    from simsuite.summaries.units import units

    with python_words():
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
            whole = Sweeping(
                *(source, plan, where, overrides, workers, retry, fresh), stopped=stopping, units=units, part=members
            )
            whole.apart, whole.frames, whole.names = apart, frames, ("set: ", "vary: ")
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
    return Sweep(where, plan.keys, ended, complete, tuple(whole.warnings))
