"""What is done about a results file that nothing opens any more, as after a power cut."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

from simsuite.errors import SimsuiteError
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.disk import explained
from simsuite.io.reading import reading
from simsuite.io.results_file import damaged
from simsuite.io.superblock import is_hdf5, repair, within_flush


class Condition(Enum):
    """The condition of the results file of an unfinished run, in words that complete a sentence which begins with the
    file's name."""

    WHOLE = "can be opened"
    RESTORED = "was damaged; it is restored to what it was at the newest checkpoint"
    LOST = "was damaged before there was a checkpoint; the run begins again"


def mend(results: Path) -> Condition:
    """Make the results file of an unfinished run openable, if that is possible. The caller must hold the lock of its
    directory.

    Raises SimsuiteError if the file is damaged and is not the one that the checkpoint beside it was made with, or if it
    is no HDF5 file at all, since no crash can cause that.
    """
    try:
        if within_flush(results):
            repair(results)
        _look(results)
        return Condition.WHOLE
    except (SimsuiteError, ValueError, OSError) as error:
        with explained(results, "read"):
            if not is_hdf5(results):
                raise damaged(results, error) from error
        found = read_checkpoint(results.parent)
        if found is None or found.results is None:
            return Condition.LOST
        try:
            found.results.restore(results)
            _look(results)
        except (SimsuiteError, ValueError, OSError) as reason:
            raise damaged(results, reason) from error
    return Condition.RESTORED


def _look(results: Path) -> None:
    """Read what decides whether and how the run can be continued. Raises SimsuiteError where that is damaged."""
    with reading(results) as file:
        for name in ("input_files", "decided"):
            json.loads(file.attrs[name])
