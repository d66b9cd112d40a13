"""`simsuite info`: how far a run is, or which runs there are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import print_json, show
from simsuite.cli.run import Json, Verbose, run_directory
from simsuite.cli.summary import print_summary
from simsuite.cli.table import print_csv, print_runs_csv
from simsuite.errors import SimsuiteError, UsageError
from simsuite.summaries.lines import short_stepper
from simsuite.words import counted, duration, measured, printable, with_prefix

_HASH = 12  # digits of a commit that are shown

if TYPE_CHECKING:
    from simsuite.io.directory import RunDirectory


def info(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The run's directory, a file in it, or a directory of runs.", show_default=False
        ),
    ],
    as_json: Json = False,
    verbose: Verbose = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Print the results of a run that has ended: name, value, unit; or a line for each run."
        ),
    ] = False,
) -> None:
    """Say how far the run in a directory is, also while it runs, and what its files hold; or list the runs there."""
    from simsuite.inspection import inspect, runs_in

    if as_json and as_csv:
        raise UsageError("--json and --csv are two forms of the same results: give one of them")
    run = run_directory(path)
    if not run.exists and (runs := runs_in(run.path)):
        _list(run.path, runs, as_json, as_csv)
        return
    found = inspect(run)
    if as_json:
        print_json(found)
        return
    if as_csv:
        if found["summary"] is None:
            raise UsageError(f"the run in {run.path} is {found['status']} and has no results yet")
        print_csv(found["summary"])
        return
    show(_headline(found))
    for line in _position(found):
        show(f"  {line}")
    for line in _origin(found.get("origin", {}), verbose):
        show(f"  {line}")
    _print_datasets(found["datasets"], verbose)
    if found["summary"] is not None:
        print_summary(found["summary"], verbose)
        for text in found["summary"].get("warnings", ()):
            show(f"  warning    {text}")
    elif "stepper" in found:
        show(f"  stepper    {short_stepper(found, False)}")
        if verbose and "stepper_reason" in found:
            show(f"  why        {found['stepper_reason']}")


def list_runs(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to look.")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """List the runs and sweeps in a directory and below it: state, how far, when last written to, size."""
    from simsuite.inspection import bytes_in, runs_below

    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}")
    found = []
    for run in runs_below(directory):
        about = _of_sweep(run.path) if (run.path / "sweep.json").is_file() else _of_run(run)
        written = max((path.stat().st_mtime for path in run.path.iterdir() if path.is_file()), default=0.0)
        found.append({**about, "seconds_since": max(time.time() - written, 0.0), "bytes": bytes_in(run.path)})
    if as_json:
        print_json({"directory": str(directory), "runs": found})
        return
    if not found:
        show(f"there are no runs in {directory}")
        return
    rows = [
        (each["directory"], each["status"], f"{duration(each['seconds_since'])} ago", with_prefix(each["bytes"], "B"))
        for each in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row, each in zip(rows, found):
        cells = (row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]), row[3].rjust(widths[3]))
        show("  ".join([*cells, each["brief"] if "brief" in each else _brief(each)]).rstrip())


def _of_run(run: RunDirectory) -> dict[str, Any]:
    from simsuite.inspection import inspect

    try:
        return inspect(run)
    except SimsuiteError as error:
        return {"directory": str(run.path), "status": "damaged", "error": str(error)}


def _of_sweep(path: Path) -> dict[str, Any]:
    from simsuite.sweeps.directory import SweepDirectory

    files = SweepDirectory(path)
    try:
        members, ended, failed = files.counts()
        _, _, goal = files.stored()
    except SimsuiteError as error:
        return {"directory": str(path), "status": "damaged", "error": str(error)}
    if goal is None:
        status, brief = "complete" if ended >= members else "stopped", f"sweep, {ended} of {counted(members, 'member')}"
    else:  # it has as many members as runs have begun, whether more are to come or not
        status = {"found": "complete", "failed": "failed"}.get(goal.get("ended", ""), "stopped")
        brief = f"search for {goal['name'].removeprefix('results.')} = {goal['target']:g}, {counted(ended, 'run')}"
    status = "running" if files.in_use else status
    brief += f", {failed} failed" if failed else ""
    return {"directory": str(path), "status": status, "brief": brief, "members": members, "ended": ended}


def _headline(found: Mapping[str, Any]) -> str:
    device = f", on {found['device']} ({found.get('device_name', 'unknown')})" if "device" in found else ""
    at = f" at {_reached(found)}" if found["status"] == "stopped" and "percent" in found else ""
    return f"{found['directory']}: {found.get('solver', 'some')} run, {found['status']}{at}{device}"


def _position(found: Mapping[str, Any]) -> list[str]:
    """Lines on how far a run is or was, and on the command that continues it."""
    lines = []
    if found["status"] == "running":
        lines.append(f"process {found['pid']} on {found['host']}" if "pid" in found else "about to begin")
        if "pid" in found:
            lines.append(_reached(found) if "percent" in found else "starting: kernels are being compiled")
    elif found["status"] == "killed":
        at = f" at {_reached(found)}" if "percent" in found else ""
        lines.append(f"killed{at}, or crashed" if not at else f"killed{at}")
    elif "failure" in found:
        lines.append(found["failure"])
    if found["checkpoint"] is not None:
        lines.append(f"checkpoint at {_moment(found['checkpoint'], found.get('time_unit', ''))}")
    elif found["status"] in ("running", "killed", "failed"):
        lines.append("no checkpoint yet")
    if "resume" in found and found["status"] == "failed":
        lines.append(f"once that is put right, `{found['resume']}` goes on, and --fresh begins again")
    elif "resume" in found:
        lines.append(f"continue with `{found['resume']}`, or the command that it was started with")
    return lines


def _origin(origin: Mapping[str, Any], verbose: bool) -> list[str]:
    """Lines on when and how the run began; if verbose, on each of its parts and on versions."""
    if not {"date_created", "host", "command_line"} <= origin.keys():
        return []
    commit = f", git {origin['git_commit'][:_HASH]}" if "git_commit" in origin else ""
    if commit and origin.get("git_dirty"):
        commit += " with changes since"
    lines = [f"begun      {printable(origin['date_created'])} on {printable(origin['host'])}{printable(commit)}"]
    lines.append(f"command    {printable(origin['command_line'])}")
    if verbose:
        lines += [f"{'history' if i == 0 else '':<10} {printable(line)}" for i, line in enumerate(_history(origin))]
        if isinstance(origin.get("versions"), dict):
            lines.append(f"versions   {printable(', '.join(map(' '.join, origin['versions'].items())))}")
    return lines


def _history(origin: Mapping[str, Any]) -> list[str]:
    return str(origin.get("history", "")).splitlines()


def _reached(found: Mapping[str, Any]) -> str:
    """ "step 312 (t = 31.2 s of 100 s), 31.2 %, about 12 s left, as of 3 s ago"."""
    unit = f" {found['time_unit']}".rstrip()
    parts = [f"{found['percent']:.1f} %"]
    # in Monte Carlo runs steps begin anew with every batch of paths
    if found.get("solver") != "gbm" and "steps" in found:
        parts.insert(0, f"step {found['steps']} (t = {found['time']:.6g}{unit} of {found['end']:.6g}{unit})")
    if found["status"] == "running":
        if found["seconds_left"] is not None:
            parts.append(f"about {duration(max(found['seconds_left'] - found['updated'], 0.0))} left")
        if found["updated"] > 5:
            parts.append(f"as of {duration(found['updated'])} ago")
    return ", ".join(parts)


def _moment(checkpoint: Mapping[str, Any], unit: str) -> str:
    if "stage" in checkpoint:
        return str(checkpoint["stage"])
    at = checkpoint["time"]
    return f"step {checkpoint['step']}" + (f" (t = {measured(f'{at:.6g}', unit)})" if at is not None else "")


def _print_datasets(shapes: Mapping[str, Sequence[int]], verbose: bool) -> None:
    """One a line if verbose, else in a line or two those with a shape of their own."""
    named = {name: " x ".join(map(str, shape)) or "scalar" for name, shape in shapes.items()}
    if verbose:
        for name, shape in named.items():
            show(f"  {name:<24} {shape}")
        return
    shown = [f"{name} {named[name]}" for name, shape in shapes.items() if len(shape) > 1][:6]
    if named:
        show(f"  holds      {', '.join([*shown, counted(len(named) - len(shown), 'more array')])}")


def _list(directory: Path, runs: Sequence[Any], as_json: bool, as_csv: bool) -> None:
    found: list[dict[str, Any]] = []
    for run in runs:
        found.append(_of_run(run))
    if as_json:
        print_json({"directory": str(directory), "runs": found})
        return
    if as_csv:
        print_runs_csv(found)
        return
    width = max(len(each["directory"]) for each in found)
    for each in found:
        show(f"{each['directory']:<{width}}  {each['status']:<9} {_brief(each)}".rstrip())


def _brief(found: Mapping[str, Any]) -> str:
    if "error" in found:
        return str(found["error"]).splitlines()[0]
    about = str(found.get("solver", ""))
    summary = found.get("summary")
    if "percent" in found and (not summary or about == "gbm"):
        return f"{about}, {_reached(found)}"
    if not summary:
        return about
    if summary.get("stepper") == "steady":
        return f"{about}, steady state"
    reached = measured(f"{summary['time']:.6g}", found.get("time_unit", ""))
    return f"{about}, {counted(summary['steps'], 'step')} to t = {reached}"
