"""`simsuite repair`: the results of a run that was cut off, readable again."""

from __future__ import annotations

from simsuite.cli.check import report
from simsuite.cli.console import say
from simsuite.cli.run import Json, RunPath, run_directory


def repair(directory: RunPath, as_json: Json = False) -> None:
    """Make the results of an interrupted run readable again, as of its newest checkpoint, without continuing it.

    `run` and `resume` do that by themselves; this is for who wants to look at the results first. All rows are read, and
    those that are not as they were written are named.
    """
    from simsuite.repairing import repair as put_right

    run = run_directory(directory)
    found = put_right(run)
    if found["restored"]:
        say(f"{run.results} was damaged; it is restored to what it was at the newest checkpoint")
    report(run, found, as_json)
