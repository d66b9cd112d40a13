"""Numbers of results in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FEW = 12  # how many numbers of a list are printed
MANY = 64  # how many are printed where all numbers were asked for
_FIRST = 6  # how many are printed of a longer list


def number(value: float) -> str:
    return f"{value + 0.0:.10g}"  # 0 for -0


def row(name: str, value: Any, note: str = "", indent: str = "    ") -> str:
    """A line with a number or a word, its name and a note."""
    text = number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
    return f"{indent}{name:<{max(1, 22 - len(indent))}} {text:<18} {note}".rstrip()


def reached(found: Mapping[str, Mapping[str, Any]], ended_by: str | None) -> Iterator[str]:
    """A line for each number that was to reach a level. ended_by: the name of the one that ended the run."""
    for name, told in found.items():
        if told["first"] is None:
            seen = f"{told['min']:.6g} to {told['max']:.6g}" if "max" in told else "not looked at"
            yield row(name, "not reached", f"{told['of']} was {seen}")
            continue
        error, more = told["time_errors"][0], told["count"] - 1
        notes = [f"by interpolation within {error:.1g}" if error else "at a step"]
        notes += [f"{more} more, to {told['times'][-1]:.6g}"] if more else []
        notes += ["where the run ended"] if name == ended_by else []
        yield row(name, told["first"], ", ".join(notes))


def tree(
    values: Mapping[str, Any], indent: str, notes: Mapping[str, str] | None = None, most: int = FEW, table: str = ""
) -> Iterator[str]:
    """Lines of text for nested tables: one for each number, below the names of its tables. If `most` is MANY, matrices
    are printed, too, with a line for each row.

    notes: the unit of a number, or words on it, by its key or by the keys of its table and of itself, as in
    "noise.mean". most: how many numbers of a list or a matrix are printed. table: the key of `values`.
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
    """A list of numbers as text: all of them if they are few, else the first ones."""
    shown = values if len(values) <= most else values[:_FIRST]
    rest = f", .. ({len(values)} numbers)" if len(values) > len(shown) else ""
    return ", ".join("none" if v is None else number(v) for v in shown) + rest


def _matrix(values: Sequence[Sequence[float | None]], label: str, note: str, most: int) -> Iterator[str]:
    """Lines for the rows of a matrix; a matrix with a single column is one line."""
    rows, columns = len(values), len(values[0])
    if rows * columns > most:
        yield f"{label}{rows} x {columns} numbers, printed by --json {note}".rstrip()
    elif columns == 1:
        yield f"{label}{_listed([row[0] for row in values], most)} {note}".rstrip()
    else:
        for i, row in enumerate(values):
            yield f"{label if not i else ' ' * len(label)}{_listed(row, most)} {'' if i else note}".rstrip()
