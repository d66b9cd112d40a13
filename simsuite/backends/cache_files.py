"""Files of the cache that are read back as they were written, or not at all.

A machine that loses power may keep the name of a file and not what it holds, and machine code that is not whole brings
down the process that loads it. So every file begins with the SHA-256 of the rest; one that does not match counts as
missing, and is written anew. Nothing that goes wrong with the cache stops a run: it is told once.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import tempfile
from pathlib import Path

_DIGEST = 32  # bytes


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in the cache such that it is there as a whole or not at all, even if other processes write it at the
    same time."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    except OSError as e:
        _tell_of_writing(path.parent, e.strerror or str(e))
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError as e:
        with contextlib.suppress(OSError):
            os.unlink(name)
        _tell_of_writing(path.parent, e.strerror or str(e))


def write_sealed(path: Path, data: bytes) -> None:
    """Write a file as `write_whole` does, with a checksum, for `read_sealed`."""
    write_whole(path, hashlib.sha256(data).digest() + data)


def read_sealed(path: Path) -> bytes | None:
    """What `write_sealed` has written; None if there is no such file, or it is not as it was written."""
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as e:
        _tell_of_damage(path.parent, e.strerror or str(e))
        return None
    digest, data = whole[:_DIGEST], whole[_DIGEST:]
    if hashlib.sha256(data).digest() != digest:
        _tell_of_damage(path.parent, f"{path.name} is not as it was written")
        return None
    return data


@functools.cache
def _tell_of_writing(directory: Path, why: str) -> None:
    """Tell that the cache cannot be written, once for each directory and reason."""
    logging.getLogger("simsuite").warning(
        "compiled kernels cannot be kept in %s (%s): later runs compile them again", directory, why
    )


@functools.cache
def _tell_of_damage(directory: Path, why: str) -> None:
    logging.getLogger("simsuite").warning(
        "the cache of compiled kernels, %s, is damaged (%s): what is missing is compiled again", directory, why
    )
