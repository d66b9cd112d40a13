"""Looks at results.h5 from outside, while its run writes it, that change nothing and hold nobody up.

No lock is taken or asked for, nothing is repaired, and nothing waits: a look that comes while the writer is in the
middle of a row fails, and the next one will not. What takes milliseconds to check is checked in the first look.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from simsuite.errors import SimsuiteError
from simsuite.io.foreign import refuse_foreign
from simsuite.io.global_heaps import require_heaps_end
from simsuite.io.reading import DAMAGED, committed_rows, open_as_swmr, unreadable
from simsuite.io.superblock import within_flush
from simsuite.version import FORMAT_VERSION

_LAST = 8  # rows among which the last complete one is looked for first


class Glimpses:
    """Looks at one file; see above."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: int | None = None  # the number of the file that was found to be safe to read

    @contextlib.contextmanager
    def look(self, over: bool = False) -> Iterator[h5py.File]:
        """The file, open for reading. over: whether its writer has ended; what a killed one left in the middle of a row
        is then read as it is, which takes a second.

        Raises SimsuiteError where it cannot be read at this moment, or is damaged, also while it is read inside.
        """
        try:
            number = self._path.stat().st_ino
            if number != self._checked:
                require_heaps_end(self._path)
            with self._opened(over) as file:
                if number != self._checked:
                    refuse_foreign(file)
                    if file.attrs.get("format_version", FORMAT_VERSION) > FORMAT_VERSION:
                        raise SimsuiteError(f"{self._path} was written by a newer simsuite: install that")
                    self._checked = number
                yield file
        except (*DAMAGED, RecursionError) as error:
            raise unreadable(self._path, error) from error

    def _opened(self, over: bool) -> h5py.File:
        if not within_flush(self._path):
            # without a cache of chunks: only what is asked for is read of them
            return h5py.File(self._path, "r", locking=False, rdcc_nbytes=0)
        if not over:
            raise OSError("a row is being written")
        return open_as_swmr(self._path)


def last_row(file: h5py.File, coordinate: str) -> int | None:
    """The number of the last complete row of a series; None if there is none. See `committed_rows`."""
    if coordinate not in file:
        return None
    n = len(file[coordinate])
    begin = max(n - _LAST, 0)
    known = np.flatnonzero(np.isfinite(file[coordinate][begin:n]))
    if known.size:
        return begin + int(known[-1])
    rows = committed_rows(file, coordinate)
    return rows - 1 if rows else None
