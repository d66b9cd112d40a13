"""What every file of a run needs from the disk: room, atomic replacement, and errors that say what to do."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import h5py

from simsuite.errors import DiskError

_MARGIN = 1 << 20  # bytes for metadata beside the data itself


def require_room(directory: Path, nbytes: int) -> None:
    """Raise DiskError unless `nbytes` more fit: asking first is gentler than HDF5's way with a full disk."""
    with explained(directory, "write in"):
        free = shutil.disk_usage(directory).free
    if free < nbytes + _MARGIN:
        raise DiskError(
            f"no space left in {directory}: {nbytes / 1e6:.1f} MB needed, {free / 1e6:.1f} MB free; "
            "make room and run again to continue"
        )


def free_bytes(path: Path) -> int:
    """Bytes free on the disk that `path` is on, or will be on once it is made."""
    there = path.absolute()
    while not there.exists():
        there = there.parent
    return shutil.disk_usage(there).free


@contextlib.contextmanager
def explained(path: Path, doing: str = "write") -> Iterator[None]:
    """Turn what the system and h5py raise when writing `path` fails into a DiskError with the reason."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # h5py raises RuntimeError where HDF5 fails to flush or close
        said = re.search(r"error message = '([^']*)'", str(error))
        reason = said[1] if said else str(error)
        if "filter returned failure" in reason:  # the filter for checksums fails only for lack of memory
            reason = "there is not enough memory"
        raise DiskError(f"cannot {doing} {path}: {reason}; put that right and run again to continue") from error


def abandon(file: h5py.File) -> None:
    """Close a file that was flushed, or could not be, and leave what is on the disk as it is.

    In closing, HDF5 writes metadata again, at least the superblock. Where that fails, it tries once more, at the latest
    at the exit of the process, and crashes. Here it writes to the null device, which cannot fail; whoever has flushed
    a file clears the flags in its superblock by `clear_flags`, and then nothing is lacking.
    """
    if not file:
        return
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, file.id.get_vfd_handle())
    os.close(null)
    with contextlib.suppress(OSError, RuntimeError):
        file.close()


def require_whole(file: h5py.File, path: Path) -> None:
    """Raise ValueError if a chunk lies beyond the end of the file: HDF5 would read it as 0."""
    ends = [0]
    for dataset in file.values():
        if isinstance(dataset, h5py.Dataset) and dataset.chunks is not None:
            dataset.id.chunk_iter(lambda chunk: ends.append(chunk.byte_offset + chunk.size))
    if max(ends) > path.stat().st_size:
        raise ValueError("its end is missing")


def sync_directory(directory: Path) -> None:
    """Return when the names in `directory` are on the disk."""
    sync_file(directory)


def sync_file(path: Path) -> None:
    """Return when all that any process has written to the file `path` is on the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_text(path: Path) -> str:
    """The text in a file. Raises FileNotFoundError where there is none, and OSError where there is something else, such
    as a named pipe, that one may wait for without end."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no plain file")
    return path.read_text(encoding="utf-8")


def replace_text(path: Path, text: str) -> None:
    """Do what `replace_bytes` does, with a text."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` such that a reader, or a crash, finds the old content or the new one, never a part.

    Raises DiskError when the disk is full or fails.
    """
    fresh = path.with_name(path.name + ".new")
    with explained(path):
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
        sync_directory(path.parent)
