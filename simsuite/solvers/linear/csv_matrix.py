"""Matrices in text: a line a row, its numbers separated by commas."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.words import counted


def read_csv(path: Path) -> np.ndarray:
    """The numbers (rows, columns), float64, or complex128 if one is written like 0.5-0.25j. Raises ValueError, with the
    line that is at fault."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")  # spreadsheets begin files with a mark
    if not any(line.partition("#")[0].strip() for line in _lines(text)):
        raise ValueError("the file is empty" if not text.strip() else "the file holds comments only")
    kind = complex if "j" in text.lower() else float
    try:
        return np.loadtxt(io.StringIO(text), kind, delimiter=",", ndmin=2)
    except ValueError as e:
        raise ValueError(_fault(text, kind) or e) from None


def _fault(text: str, kind: type[Any]) -> str | None:
    """What is wrong with the first line that is, lines counted from 1."""
    width, first = 0, 0
    for number, line in enumerate(_lines(text), 1):
        row = line.partition("#")[0]
        if not row.strip():
            continue
        fields = row.split(",")
        for place, field in enumerate(fields, 1):
            if not _is_number(field, kind):
                return f"line {number}: {_about(field.strip(), place)}"
        if width and len(fields) != width:
            return f"line {number} has {counted(len(fields), 'number')}, but line {first} has {width}"
        width, first = len(fields), first or number
    return None


def _lines(text: str) -> list[str]:
    """As NumPy has them: `splitlines` knows more ends."""
    return re.split(r"\r\n|\r|\n", text)


def _about(field: str, place: int) -> str:
    """A field that is no number."""
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
    return field.isascii() and "_" not in field  # which Python reads, but NumPy does not
