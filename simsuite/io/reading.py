"""Opening the results of a run for reading: while the run writes them, after it was killed, and when it is over.

Nothing waits without end. HDF5's library goes on for ever in two cases: where metadata of a file that is being written
stay damaged, which a process of its own finds out within a time limit, and where a list of texts is damaged, see
`global_heaps`.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from simsuite.errors import AFRESH, Advice, SimsuiteError, UsageError
from simsuite.io.disk import require_whole
from simsuite.io.foreign import refuse_foreign
from simsuite.io.global_heaps import require_heaps_end
from simsuite.io.lock import Lock
from simsuite.io.superblock import repair, within_flush
from simsuite.version import FORMAT_VERSION

DAMAGED = (OSError, RuntimeError, KeyError, ValueError, TypeError)  # what h5py raises on damaged files
# the number of attempts at opening a file that somebody may be writing, and the seconds between them
_ATTEMPTS, _PAUSE = 10, 0.02
_RECENT = 5.0  # a file may be being written if its last write was at most so many seconds ago
_LIMIT = 10.0  # a file that somebody is writing can be read within so many seconds, or not at all
_SWMR_READER = "import sys; from simsuite.io.reading import read_as_swmr; read_as_swmr(sys.argv[1])"


def open_results(path: Path) -> h5py.File:
    """results.h5 for reading: while its writer lives, after it was killed, and after it closed the file.

    Raises UsageError when there is none, SimsuiteError when it is damaged or points to data in other files.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no plain file" if path.exists() else f"there is no {path}")
    for attempt in range(_ATTEMPTS):
        try:
            return _opened_whole(path)
        except SimsuiteError:
            if attempt == _ATTEMPTS - 1 or time.time() - path.stat().st_mtime > _RECENT:
                raise
        time.sleep(_PAUSE)
    raise AssertionError("the last attempt returns or raises")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[h5py.File]:
    """results.h5 open for reading. Raises what `open_results` does, also where something in the file that is read
    inside turns out to be missing or damaged."""
    with open_results(path) as file:
        try:
            yield file
        except (*DAMAGED, RecursionError) as error:
            raise unreadable(path, error) from error


def committed_rows(file: h5py.File, coordinate: str) -> int:
    """How many rows of a series are complete: a row's coordinate is written last, and is NaN before."""
    times = file[coordinate][...] if coordinate in file else np.empty(0)
    unset = np.flatnonzero(np.isnan(times))
    return int(unset[0]) if unset.size else len(times)


def _opened_whole(path: Path) -> h5py.File:
    """Open a file for reading, with several attempts. While it is being written, it may look damaged for some
    milliseconds, since its end and the record of its end are not written at once. Raises SimsuiteError if it stays
    damaged."""
    try:
        file = _open_for_reading(path)
        try:
            refuse_foreign(file)
            require_whole(file, path)
            if file.attrs.get("format_version", FORMAT_VERSION) > FORMAT_VERSION:
                raise SimsuiteError(f"{path} was written by a newer simsuite: install that")
        except BaseException:
            file.close()
            raise
    except DAMAGED as error:
        raise unreadable(path, error) from error
    return file


def unreadable(path: Path, error: Exception) -> SimsuiteError:
    """The error for a damaged results file, whoever reads it."""
    copy = "bring the file back from a copy, or "
    advice = Advice(
        f"if the run was not finished, `simsuite resume {path.parent}` restores it; otherwise {copy}{AFRESH.command}",
        f"if the run was not finished, running it again restores it; otherwise {copy}{AFRESH.python}",
    )
    return SimsuiteError(f"{path} cannot be read ({error}); ", advice)


def _open_for_reading(path: Path) -> h5py.File:
    require_heaps_end(path)
    if not within_flush(path):
        try:
            return h5py.File(path, "r")
        except OSError:
            if not within_flush(path):
                raise
    if Lock(path.parent).tested() is False:  # its writer was killed
        with contextlib.suppress(PermissionError):
            repair(path)
            return h5py.File(path, "r")
    return open_as_swmr(path)


def open_as_swmr(path: Path) -> h5py.File:
    """The file as one that a writer may be at work on, or was killed at; nothing in it is changed, and no lock taken.
    Raises OSError where HDF5 cannot read it, which takes up to ten seconds to find out."""
    _require_readable_as_swmr(path)
    return h5py.File(path, "r", swmr=True, locking=False)


def _require_readable_as_swmr(path: Path) -> None:
    """Raise OSError unless HDF5 reads the file as one that a writer is at work on. A process of its own tries it: HDF5
    waits for ever, whatever signals come, for the writer to put damaged metadata right."""
    command = [sys.executable, "-c", _SWMR_READER, str(path)]
    try:
        if subprocess.run(command, capture_output=True, timeout=_LIMIT).returncode != 0:
            raise OSError("HDF5 cannot read it")
    except subprocess.TimeoutExpired:
        raise OSError(f"HDF5 came to no end of reading it in {_LIMIT:g} s") from None


def read_as_swmr(path: str) -> None:
    """Read all metadata of a file that a writer is at work on. Raises what h5py raises, or never ends."""
    with h5py.File(path, "r", swmr=True, locking=False) as file:
        refuse_foreign(file)
        require_whole(file, Path(path))
        dict(file.attrs)
