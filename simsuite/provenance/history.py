"""The attribute `history` of CF: a line for each program that made or changed a file, the oldest first.

In results.h5 it has a fixed size, since HDF5 changes a file that others read meanwhile in place only.
"""

from __future__ import annotations

import re

HISTORY_BYTES = 3584  # with its header it stays below 4 KiB, the largest that HDF5 keeps among other attributes
_LONGEST = 1000  # bytes of a line
_LEFT_OUT = re.compile(r"\.\. (\d+) lines? left out$")


def appended(history: str, line: str, limit: int | None = None) -> str:
    """A history with one more line. limit: bytes that it may have in UTF-8; if these are too few, the first line and
    the newest ones are kept, and a line between them says how many were left out."""
    lines = [each for each in history.split("\n") if each]
    lines.append(_cut(" ".join(line.splitlines()), _LONGEST if limit is None else min(_LONGEST, limit // 3)))
    if limit is None:
        return "\n".join(lines)
    left_out = 0
    if len(lines) > 1 and (found := _LEFT_OUT.fullmatch(lines[1])):
        left_out = int(found[1])
        del lines[1]
    while len("\n".join(shown := _with_gap(lines, left_out)).encode()) > limit and len(lines) > 2:
        del lines[1]
        left_out += 1
    return _cut("\n".join(shown), limit)


def _with_gap(lines: list[str], left_out: int) -> list[str]:
    said = f".. {left_out} line{'s' if left_out > 1 else ''} left out"
    return [lines[0], said, *lines[1:]] if left_out else lines


def _cut(text: str, limit: int) -> str:
    """As much of a text as has at most so many bytes, with ".." at its end where something is missing."""
    data = text.encode(errors="replace")
    return text if len(data) <= limit else data[: limit - 3].decode(errors="ignore") + " .."
