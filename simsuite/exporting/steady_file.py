"""A file for HDF5 on a disk that may fail: HDF5 crashes at the end of the process where it could not write."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any


class SteadyFile(io.FileIO):
    """A new file of which HDF5 is never told that writing failed. error: what went wrong first; from then on nothing is
    written. Whoever has closed the HDF5 file looks there, by `require_written`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self.error: OSError | None = None

    def write(self, data: Any, /) -> int:  # Any: Python 3.11 has no type for what has bytes
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view) and self.error is None:
            try:
                done += super().write(view[done:]) or 0
            except OSError as error:
                self.error = error
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return self.tell() if size is None else size

    def require_written(self) -> None:
        """Raise OSError unless all was written."""
        if self.error is not None:
            raise self.error
