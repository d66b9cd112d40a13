"""Making the results of a run that was cut off readable again, without continuing the run."""

from __future__ import annotations

from typing import Any

from simsuite.errors import AFRESH, SimsuiteError, UsageError
from simsuite.inspection import look_through, runs_nearby
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.directory import RunDirectory


def repair(run: RunDirectory) -> dict[str, Any]:
    """Put `results.h5` back to what it was at the newest checkpoint, where it cannot be read as it is.

    Returns what `inspection.look_through` returns for the files after that, with "restored", whether the results were
    put back. Rows written after that checkpoint are lost with it; the run writes them again when it continues.

    Raises UsageError where there is no run, or another simsuite is at work on it; SimsuiteError where the results can
    neither be read nor be put back.
    """
    if not run.results.exists():
        raise UsageError(f"{run.path} {run.without()}{runs_nearby(run.path)}")
    with run.locked():
        run.read_scenario()
        # raises an error if the summary is damaged, so that this is not taken for damage of the results
        run.read_summary()
        try:
            return look_through(run) | {"restored": False}
        except SimsuiteError as unreadable:
            found = read_checkpoint(run.path)
            if found is None or found.results is None:
                why = f"{str(unreadable).partition('; ')[0]}, and there is no checkpoint to restore it from"
                raise SimsuiteError(f"{why}; bring the file back from a copy, or ", AFRESH) from unreadable
            try:
                found.results.restore(run.results)
            except (OSError, ValueError) as error:
                message = f"{run.results} cannot be restored ({error}); bring the file back from a copy, or "
                raise SimsuiteError(message, AFRESH) from unreadable
            return look_through(run) | {"restored": True}
