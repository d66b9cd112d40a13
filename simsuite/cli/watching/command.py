"""`simsuite watch`: what a run computes and how far it is, from beside it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simsuite.errors import UsageError

if TYPE_CHECKING:
    from simsuite.io.directory import RunDirectory

EXIT_CODES = {"complete": 0, "stopped": 75, "failed": 1, "killed": 1}


def watch(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="The run's directory, a file in it, or its scenario; it may begin later.",
            show_default=False,
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="Print what there is to see now, and end.")] = False,
) -> None:
    """Watch a run from beside it: its newest results, drawn with characters, and how far it is.

    q or Ctrl-C leaves, and the run goes on. The exit code is 0 for a run that is complete or goes on, 75 for one that
    stopped early, 1 for one that failed or was killed.
    """
    from simsuite.cli.console import show
    from simsuite.cli.terminals.colours import depth_of
    from simsuite.cli.watching import watching
    from simsuite.watching.newest import Size

    run = _run_to_watch(path)
    watch = watching.Watch(run)
    size = watching.size_now()
    there = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    depth = depth_of(os.environ if there else {}, sys.stdout.encoding or "ascii")
    watching.be_nice()
    if once:
        watch.look(watching.points_of(size))
        if watch.standing.phase == "waiting":
            raise UsageError(f"{run.path} {run.without()}")
        print("\n".join(watching.snapshot(watch, size, depth)))
    elif there and sys.stdin.isatty():
        left = watching.on_terminal(watch, depth)
        if left is not None:
            _leave(left, run)
        size = watching.size_now()
        print("\n".join(watching.snapshot(watch, Size(size.columns, size.rows - 1), depth)))  # below comes the prompt
    else:
        try:
            watching.in_lines(watch, size, depth)
        except KeyboardInterrupt:
            show("")
    raise typer.Exit(EXIT_CODES.get(watch.standing.phase, 0))


def _leave(why: str, run: RunDirectory) -> None:
    """End, as somebody asked for it, by a key or a signal."""
    from simsuite.cli.console import show

    if why not in ("q", "SIGINT"):
        raise typer.Exit(128 + signal.Signals[why])
    show(f"{run.path} goes on without you; `simsuite watch {run.path}` comes back to it")
    raise typer.Exit(0)


def _run_to_watch(path: Path) -> RunDirectory:
    """The directory of the run, which need not be there yet. Raises UsageError for what cannot be a run."""
    from simsuite.cli.run import run_directory
    from simsuite.inspection import runs_in
    from simsuite.io.directory import RunDirectory

    if path.is_file():
        if path.suffix == ".toml":
            return RunDirectory.of(path)
        return run_directory(path)
    if path.suffix in (".toml", ".h5"):
        return run_directory(path)  # says that there is no such file
    if (path / "sweep.json").is_file():
        raise UsageError(f"{path} is a sweep: watch one of its runs in {path / 'members'}")
    run = RunDirectory(path)
    runs = [] if run.exists else runs_in(path)
    busy = [each for each in runs if each.in_use]
    if len(busy) == 1:
        return busy[0]
    if runs:
        named = ", ".join(str(each.path) for each in (busy or runs)[:8])
        raise UsageError(f"{path} has several runs: watch one of {named}")
    return run
