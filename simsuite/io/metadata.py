"""A copy of what an HDF5 file has besides the data of its rows, from which the file is put back to an earlier moment.

A file that grows row by row changes in two ways. Metadata (the superblock, sizes of arrays, indices of chunks) change
in place, so that a power cut may leave an old piece beside a new one, and a file that nothing opens. Data of rows are
written once: in SWMR mode HDF5 never uses space again. A copy of all the rest, taken when the file is on the disk, thus
brings back the file of that moment, whatever became of later writes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class MetadataCopy:
    """Parts of a file. mark: a text among the metadata that no other file has. size: of the file, in bytes. places:
    offset and length of each part [part, 2], int64. content: the bytes of all parts, one after the other, uint8."""

    mark: str
    size: int
    places: npt.NDArray[np.int64]
    content: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, fd: int, mark: str, rows: npt.NDArray[np.int64]) -> MetadataCopy:
        """Copy the file but for `rows`, the offsets and lengths [part, 2] of what will not change any more."""
        size = os.fstat(fd).st_size
        rows = rows[np.argsort(rows[:, 0])]
        starts = np.concatenate([[0], rows.sum(axis=1)])
        stops = np.concatenate([rows[:, 0], [size]])
        places = np.stack([starts, stops - starts], axis=1)[stops > starts].astype(np.int64)
        content = b"".join(os.pread(fd, int(length), int(start)) for start, length in places)
        return cls(mark, size, places, np.frombuffer(content, np.uint8))

    def restore(self, path: Path) -> None:
        """Make the file what it was when it was copied.

        Raises ValueError, and leaves the file as it is, if it is another file or lacks rows, and OSError if the disk
        fails.
        """
        mark = self.mark.encode()
        at = self.content.tobytes().find(mark)
        ends = self.places[:, 1].cumsum()
        fd = os.open(path, os.O_RDWR)
        try:
            if os.fstat(fd).st_size < self.size:
                raise ValueError("its end is missing")
            part = int(np.searchsorted(ends, at, side="right"))
            offset = at - int(ends[part]) + int(self.places[part].sum())
            if at < 0 or os.pread(fd, len(mark), offset) != mark:
                raise ValueError("it is not the file that its checkpoint was made with")
            for (start, length), end in zip(self.places.tolist(), ends.tolist()):
                os.pwrite(fd, self.content[end - length : end].tobytes(), start)
            os.ftruncate(fd, self.size)
        finally:
            os.close(fd)


def chunk_places(dataset: h5py.Dataset, axis: int, rows: int) -> list[tuple[int, int]]:
    """Offset and length of each chunk of the dataset that has nothing but the first `rows` rows along `axis`."""
    found: list[tuple[int, int]] = []
    chunk = dataset.chunks[axis]

    def look(place: h5py.h5d.StoreInfo) -> None:
        if place.chunk_offset[axis] + chunk <= rows:
            found.append((place.byte_offset, place.size))

    dataset.id.chunk_iter(look)
    return found


def contiguous_place(dataset: h5py.Dataset) -> tuple[int, int] | None:
    """Offset and length of the data of a dataset that is stored in one piece; None where it is stored otherwise."""
    offset = dataset.id.get_offset()
    return None if offset is None else (offset, dataset.id.get_storage_size())
