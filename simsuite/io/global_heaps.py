"""Global heaps of HDF5 files, of which a damaged one keeps HDF5's library busy for ever.

A global heap holds data of variable length, such as strings and lists of references: a header with its size, then
objects one after the other, each with its size (HDF5 File Format Specification 3.0, III.E). The library goes from one
to the next by these sizes and checks only that none is too large, so that an object of size 0, as in a page of zeros,
is looked at again and again; no signal ends that. Files of simsuite have their heaps near the beginning.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

_HEADER = struct.Struct("<8sQ")  # signature, version and three zeros; size of the whole heap
_OBJECT = struct.Struct("<H6xQ")  # number, 0 for the free space at the end; size
_START = b"GCOL\x01\0\0\0"
_WITHIN = 1 << 24  # bytes at the beginning of the file in which heaps are looked for


def require_heaps_end(path: Path) -> None:
    """Raise ValueError if HDF5 would come to no end of reading a global heap of the file. Raises OSError."""
    with path.open("rb") as file:
        size = min(file.seek(0, 2), _WITHIN)
        if size == 0:
            return
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
            at = data.find(_START)
            while at >= 0:
                if not _ends(data, at, size):
                    raise ValueError("a list of its texts is damaged")
                at = data.find(_START, at + 1)


def _ends(data: mmap.mmap, heap: int, size: int) -> bool:
    """Whether the objects of the heap that begins at the offset `heap` lead beyond its end. size: of the data."""
    if heap + _HEADER.size > size:
        return True
    end = min(heap + int(_HEADER.unpack_from(data, heap)[1]), size)
    at = heap + _HEADER.size
    while at + _OBJECT.size <= end:
        number, length = _OBJECT.unpack_from(data, at)
        step = length if number == 0 else _OBJECT.size + -(-length // 8) * 8
        if step == 0:
            return False
        at += step
    return True
