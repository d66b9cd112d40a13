"""Putting files where they belong all at once: until all of them are written, what was there before stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from simsuite.errors import Advice, DiskError, UsageError

Write = Callable[[Path], None]
_LISTED = 3
_FORCE = Advice("--force replaces what is there", "force=True replaces what is there")


def place(directory: Path, files: Mapping[str, Write], force: bool) -> list[Path]:
    """Write files, or directories of them, into a directory, which is made if need be. files: what writes each, by its
    name. force: replace what has such a name.

    Raises UsageError where something has one of the names, and DiskError where the disk fails; in both cases all that
    was there before stays as it was.
    """
    there = [name for name in files if os.path.lexists(directory / name)]
    if there and not force:
        more = f" and {len(there) - _LISTED} more" if len(there) > _LISTED else ""
        names = ", ".join(str(directory / name) for name in there[:_LISTED])
        raise UsageError(f"{names}{more}: there already; ", _FORCE)
    with _explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".export-", dir=directory, ignore_cleanup_errors=True) as new:
            for name, write in files.items():
                with _explained(directory / name):
                    write(Path(new) / name)
            old = Path(new) / "replaced"
            old.mkdir()
            for name in files:
                _put(Path(new) / name, directory / name, old / name)
    return [directory / name for name in files]


def _put(new: Path, path: Path, old: Path) -> None:
    """Move a file or a directory to its place; what is there, if it cannot be replaced at once, moves away before."""
    if new.is_dir() or (path.is_dir() and not path.is_symlink()):
        moved = os.path.lexists(path)
        if moved:
            os.replace(path, old)
        try:
            os.replace(new, path)
        except OSError:
            if moved:
                os.replace(old, path)
            raise
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(new, path)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the system and h5py raise when writing fails into a DiskError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise DiskError(f"cannot write {path}: {reason}; what was there before is as it was") from error
