"""Matrices in text files: each line holds a row, with its numbers separated by commas. The first line may be a header,
whose fields are names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from simsuite.words import counted

MOST_IN_A_LINE = 1 << 24  # characters


def read_csv(path: Path) -> np.ndarray:
    """The matrix in a file: float64, or complex128 if one of its numbers is written like 0.5-0.25j. Raises ValueError,
    which names the first faulty line.
    """
    header = _lines_of_header(path)
    kind = _kind(path, header)
    try:
        with _opened(path) as file:
            return np.loadtxt(file, kind, delimiter=",", ndmin=2, skiprows=header)
    except ValueError as e:
        raise ValueError(_fault(path, kind, header) or e) from None


def _lines_of_header(path: Path) -> int:
    """How many lines come before the numbers: those up to one whose fields are names, all of them; else 0."""
    for number, line in enumerate(_lines(path), 1):
        row = line.partition("#")[0]
        if row.strip():
            fields = [field.strip().strip("\"'") for field in row.split(",")]
            return number if all(_is_name(field) for field in fields) else 0
    return 0


def _is_name(field: str) -> bool:
    """Whether a field is a name such as those of columns, neither a number nor something like one."""
    return field[:1].isalpha() and field.lower() not in ("nan", "inf", "infinity") and not _is_number(field, complex)


def _kind(path: Path, header: int) -> type[Any]:
    """The type of the numbers, complex if any of them is. Raises ValueError where the file holds no numbers at all."""
    kind: type[Any] = float
    numbers, blank = False, True
    for number, line in enumerate(_lines(path), 1):
        if number <= header:
            continue
        blank = blank and not line.strip()
        numbers = numbers or bool(line.partition("#")[0].strip())
        kind = complex if "j" in line or "J" in line else kind
    if not numbers:
        raise ValueError("the file is empty" if blank else "the file holds comments only")
    return kind


def _fault(path: Path, kind: type[Any], header: int) -> str | None:
    """A message about the first line that is not a row of numbers, lines counted from 1; None if
    there is no such line.
    """
    width, first = 0, 0
    for number, line in enumerate(_lines(path), 1):
        row = line.partition("#")[0]
        if not row.strip() or number <= header:
            continue
        fields = row.split(",")
        for place, field in enumerate(fields, 1):
            if not _is_number(field, kind):
                return f"line {number}: {_about(field.strip(), place)}"
        if width and len(fields) != width:
            return f"line {number} has {counted(len(fields), 'number')}, but line {first} has {width}"
        width, first = len(fields), first or number
    return None


def _opened(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", errors="replace")  # Spreadsheet programs begin files with a byte order mark.


def _lines(path: Path) -> Iterator[str]:
    """The lines of the file. Raises ValueError at one that is too long, as NumPy needs several bytes for each of its
    characters.
    """
    with _opened(path) as file:
        number = 0
        while line := file.readline(MOST_IN_A_LINE + 1):
            number += 1
            if len(line) > MOST_IN_A_LINE:
                raise ValueError(f"line {number} has more than {MOST_IN_A_LINE} characters; .npy files take any number")
            yield line


def _about(field: str, place: int) -> str:
    """A message about a field that is not a number. place: of the field in its line, from 1."""
    if not field:
        return f"number {place} is missing"
    shown = field if len(field) <= 40 else f"{field[:40]}.."
    parts = field.replace(";", " ").split()
    separated = len(parts) > 1 and all(_is_number(part, complex) for part in parts)
    return f'"{shown}" is not a number' + (", and numbers are separated by commas" if separated else "")


def _is_number(field: str, kind: type[Any]) -> bool:
    try:
        kind(field.strip())
    except ValueError:
        return False
    # Python reads underscores and non-ASCII digits in numbers, but NumPy does not.
    return field.isascii() and "_" not in field
