"""Sparse matrices in untrusted files: the sizes that a file declares are checked against its length before SciPy reads
it.

A few bytes can declare a matrix of any size, and an index beyond the matrix makes compiled code read and write beyond
its arrays. SciPy's reader of Matrix Market files crashes at a NUL byte where it should name the character that is no
digit, and in an incomplete last line.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

LEAST_ENTRY = 2  # The fewest bytes that an entry takes in a Matrix Market file: a digit and the end of its line.
MOST_UNPACKED = 1 << 33  # The arrays of a .npz file may have so many bytes.
MOST_RATIO = 1100  # Deflate compresses by a factor of 1032 at most: a file that declares more is not genuine.
_CHUNK = 1 << 20
_PIECES = {
    "format",
    "shape",
    "data",
    "indices",
    "indptr",
    "row",
    "col",
    "offsets",
    "_is_array",
}  # The names of the arrays in SciPy's files of sparse matrices.


def read_mtx(path: Path) -> Any:
    """The matrix in a Matrix Market file, dense or sparse. Raises ValueError, or any exception that SciPy's reader
    raises.
    """
    import scipy.io

    ended = _require_ascii(path)
    rows, columns, entries, kind, *_ = scipy.io.mminfo(path)
    size = path.stat().st_size
    if 0 in (rows, columns):
        raise ValueError(f"declares a matrix of {rows} x {columns}")
    stored = entries if kind == "coordinate" else rows * columns
    symmetric = 2  # A symmetric matrix has only half of its entries in the file.
    if stored > symmetric * (size // LEAST_ENTRY):
        raise ValueError(f"declares {stored} entries, which its {size} bytes cannot hold")
    return scipy.io.mmread(path if ended else io.BytesIO(path.read_bytes() + b"\n"))


def _require_ascii(path: Path) -> bool:
    """Whether the last line is complete. Raises ValueError at a byte that is no character or, outside of comments,
    beyond ASCII.
    """
    with path.open("rb") as file:
        at, comment, last = 0, False, b""
        while chunk := file.readline(_CHUNK):
            comment = comment or (at > 0 and chunk.startswith(b"%"))
            allowed = 256 if comment else 128
            if b"\0" in chunk or not (comment or chunk.isascii()):
                place = next(i for i, byte in enumerate(chunk) if not 0 < byte < allowed)
                raise ValueError(f"is no text: byte {at + place} is {chunk[place]}")
            comment = comment and not chunk.endswith(b"\n")  # a line may come in several pieces
            at, last = at + len(chunk), chunk
        return last.endswith(b"\n")


def read_npz(path: Path) -> Any:
    """The sparse matrix in a file that SciPy wrote. Raises ValueError, or any exception that SciPy's reader raises."""
    import scipy.sparse

    try:
        with zipfile.ZipFile(path) as file:
            members = file.infolist()
        unpacked, packed = (sum(getattr(m, name) for m in members) for name in ("file_size", "compress_size"))
        if unpacked > min(MOST_UNPACKED, MOST_RATIO * max(packed, 1)):
            raise ValueError(f"its arrays would take {unpacked / 1e9:.3g} GB")
        unknown = [m.filename for m in members if m.filename.removesuffix(".npy") not in _PIECES]
        if unknown:
            raise ValueError(
                f"has an array {unknown[0].removesuffix('.npy')!r}, and is no matrix of scipy.sparse.save_npz"
            )
        found = scipy.sparse.load_npz(path)
    except (zipfile.BadZipFile, zlib.error, EOFError, IndexError, RuntimeError) as error:
        raise ValueError(f"is damaged ({error})") from None
    # Formats by rows or columns have this method; the others check their indices by themselves.
    if hasattr(found, "check_format"):
        found.check_format(full_check=True)
    return found
