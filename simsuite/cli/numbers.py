"""Numbers of results in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FEW = 12  # numbers of a list that are printed
MANY = 64  # and where all numbers were asked for
_FIRST = 6  # numbers of longer lists


def number(value: float) -> str:
    return f"{value + 0.0:.10g}"  # 0 for -0


def row(name: str, value: Any, note: str = "", indent: str = "    ") -> str:
    """A line of a number, or a word, with its name and a note."""
    text = number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
    return f"{indent}{name:<{max(1, 22 - len(indent))}} {text:<18} {note}".rstrip()


def tree(
    values: Mapping[str, Any], indent: str, notes: Mapping[str, str] | None = None, most: int = FEW, table: str = ""
) -> Iterator[str]:
    """A line a number, below the names of its tables; if MANY numbers are printed, also matrices, a line a row.

    notes: the unit of a number, or words on it, by its key, or by that of its table and its own, "noise.mean". most:
    numbers of a list, or a matrix, that are printed. table: the key of `values`.
    """
    notes = notes or {}
    for key, value in values.items():
        label, note = f"{indent}{key:<{max(1, 22 - len(indent))}} ", notes.get(f"{table}.{key}", notes.get(key, ""))
        if isinstance(value, dict):
            if value:
                yield f"{indent}{key}"
                yield from tree(value, indent + "  ", notes, most, key)
        elif isinstance(value, float):
            yield f"{label}{number(value)} {note}".rstrip()
        elif _is_vector(value):
            yield f"{label}{_listed(value, most)} {note}".rstrip()
        elif not isinstance(value, list):
            yield f"{label}{'none' if value is None else value} {note}".rstrip()
        elif most >= MANY and value and all(map(_is_vector, value)):
            yield from _matrix(value, label, note, most)


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(v is None or isinstance(v, (int, float)) for v in value)


def _listed(values: Sequence[float | None], most: int) -> str:
    """All of a few numbers, the first of many."""
    shown = values if len(values) <= most else values[:_FIRST]
    rest = f", .. ({len(values)} numbers)" if len(values) > len(shown) else ""
    return ", ".join("none" if v is None else number(v) for v in shown) + rest


def _matrix(values: Sequence[Sequence[float | None]], label: str, note: str, most: int) -> Iterator[str]:
    """A single column as one line."""
    rows, columns = len(values), len(values[0])
    if rows * columns > most:
        yield f"{label}{rows} x {columns} numbers, printed by --json {note}".rstrip()
    elif columns == 1:
        yield f"{label}{_listed([row[0] for row in values], most)} {note}".rstrip()
    else:
        for i, row in enumerate(values):
            yield f"{label if not i else ' ' * len(label)}{_listed(row, most)} {'' if i else note}".rstrip()
