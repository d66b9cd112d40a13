"""Arrays of numbers read from files that may be damaged or of another kind."""

from __future__ import annotations

import math
import stat
import struct
import tokenize
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

_MAGIC = b"\x93NUMPY"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

# Exceptions that libraries raise for files that are damaged, or of another kind.
_DAMAGE = (
    *(OSError, ValueError, EOFError, MemoryError, OverflowError, TypeError, AttributeError, KeyError),
    *(SyntaxError, IndexError, RecursionError, NotImplementedError, struct.error, tokenize.TokenError, zlib.error),
)

Values = TypeVar("Values", bound=Any)  # an array, dense or sparse


def read_npy(path: Path) -> np.ndarray:
    """The real numbers in a .npy file, of any shape. Raises ValueError, with the reason, for anything else."""
    return real_numbers(lambda: load(path))


def real_numbers(read: Callable[[], Any]) -> np.ndarray:
    """What `read` returns, as an array. Raises ValueError, with the reason, when it fails or gives no real numbers."""
    return real(readable(lambda: np.asarray(read())))


def readable(read: Callable[[], Values]) -> Values:
    """What `read` returns. Raises ValueError, with the reason, when it fails."""
    try:
        return read()
    except _DAMAGE as e:
        raise ValueError(f"cannot be read: {e or type(e).__name__}") from None


def real(values: Values) -> Values:
    """`values` unchanged. Raises ValueError if they are not real."""
    if values.dtype.kind not in "fiu":
        raise ValueError(f"holds {values.dtype} values, not real numbers")
    return values


def numbers(values: Values) -> Values:
    """`values` unchanged. Raises ValueError if they are neither real nor complex."""
    return values if values.dtype.kind == "c" else real(values)


def require_plain(path: Path) -> None:
    """Raise ValueError for a directory, a device or a named pipe, for which one may wait without end; OSError if
    nothing is there.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no plain file")


def _other_kind(path: Path) -> str:
    """A sentence that says how to convert a file that is no .npy file."""
    if not path.stat().st_size:
        return "the file is empty"
    made = path.with_suffix(".npy").name
    ways = {".csv": f'loadtxt("{path.name}", delimiter=",")', ".txt": f'loadtxt("{path.name}")'}
    ways |= {".dat": ways[".txt"].replace(".txt", ".dat"), ".npz": f'load("{path.name}")["name of the array"]'}
    way = ways.get(path.suffix.lower())
    help = f': in Python, numpy.save("{made}", numpy.{way}) makes one of it' if way else ", as numpy.save writes them"
    return f"only .npy files are read here, and this is none{help}"


def load(path: Path) -> np.ndarray:
    """The content of a .npy file. Raises whatever NumPy raises, for `readable` to handle."""
    require_plain(path)
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError(_other_kind(path))
        file.seek(0)
        _require_size(file, path.stat().st_size)
        return np.lib.format.read_array(file, allow_pickle=False)


def _require_size(file: BinaryIO, size: int) -> None:
    """Raise ValueError if the file declares more numbers than it contains, for which memory would be allocated.
    Afterwards the file is at its beginning again.
    """
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"it is of version {version[0]}.{version[1]} of its format, which no array of numbers needs")
    shape, _, dtype = _HEADERS[version](file)
    needed = file.tell() + math.prod(shape) * dtype.itemsize
    if needed > size and not dtype.hasobject:
        raise ValueError(f"it declares an array of shape {shape}, and lacks {needed - size} bytes of that")
    file.seek(0)
