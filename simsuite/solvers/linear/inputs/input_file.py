"""Files of inputs: a header with names, a column of times, and a column for each input.

    time, valve, load
    0.0,  0.2,   1.0
    1.5,  0.4,   1.0

What is wrong is said with its line and its column in the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from simsuite.expressions import Expression
from simsuite.solvers.arrays import readable, require_plain
from simsuite.solvers.linear.inputs.recorded import Input, RecordedInput
from simsuite.words import closest, counted

MOST_BYTES = 1 << 30
_TIME = re.compile(r"(t|time|times)\s*(?:[\[(]\s*(.*?)\s*[\])])?", re.IGNORECASE)
_SECONDS = ("s", "sec", "second", "seconds")
_LONGEST = 40  # characters of a field that are shown


def read_inputs(
    path: Path, width: int | None, names: Sequence[str] | None, straight: bool, dt: float
) -> tuple[Input, ...]:
    """The inputs in a file, in the order of the columns of B; what never changes is a constant.

    width: how many there must be, if that is known. names: those of the columns, if the scenario names its inputs; else
    all columns but that of times are inputs, as they stand. straight: whether rows are joined by lines. dt: the length
    of a step, s. Raises ValueError, which says where in the file a mistake is.
    """
    require_plain(path)
    if path.suffix.lower() != ".csv":
        raise ValueError("inputs are read from .csv files, with a header")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"has more than {MOST_BYTES >> 30} GiB")
    return readable(lambda: _parsed(path, width, names, straight, dt))


def _parsed(path: Path, width: int | None, names: Sequence[str] | None, straight: bool, dt: float) -> tuple[Input, ...]:
    lines = _lines(path)
    header = next(lines, None)
    if header is None:
        raise ValueError("the file is empty")
    number, fields = header
    titles = [field.strip("\"'") for field in fields]
    time = _time_column(number, titles)
    columns = _columns(number, titles, time, width, names)
    rows = [(line, _numbers(line, fields, titles)) for line, fields in lines]
    if not rows:
        raise ValueError(f"line {number} is the last: there are no numbers after the header")
    table = np.array([values for _, values in rows])
    t = table[:, time]
    _check_times(t, [line for line, _ in rows], time + 1)
    found: list[Input] = []
    for k in columns:
        values = table[:, k]
        if np.all(values == values[0]):
            found.append(Expression.constant(float(values[0]), ("t",)))
        else:
            found.append(RecordedInput(titles[k], t, np.ascontiguousarray(values), straight, dt))
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines that are neither blank nor comments, each with its number and its fields."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = line.partition("#")[0]
            if text.strip():
                yield number, [field.strip() for field in text.rstrip("\r\n").split(",")]


def _time_column(line: int, titles: list[str]) -> int:
    """The place of the column of times, from 0."""
    if all(_float(title) is not None for title in titles):
        raise ValueError(f"line {line} holds numbers, but must be a header such as time,u")
    for place, title in enumerate(titles):
        if not title:
            raise ValueError(f"line {line}, column {place + 1}: the name of a column is missing")
        if title in titles[:place]:
            raise ValueError(f"line {line}, column {place + 1}: there are two columns `{title}`")
    found = [place for place, title in enumerate(titles) if _TIME.fullmatch(title)]
    if len(found) != 1:
        what = "no column" if not found else "more than one column"
        raise ValueError(f"line {line}: {what} is called `time` or `t`, among {_listed(titles)}")
    match = _TIME.fullmatch(titles[found[0]])
    unit = match[2] if match else None
    if unit and unit.lower() not in _SECONDS:
        raise ValueError(f"line {line}, column {found[0] + 1}: times must be in s, not in {_shown(unit)}")
    return found[0]


def _columns(line: int, titles: list[str], time: int, width: int | None, names: Sequence[str] | None) -> list[int]:
    """The places of the inputs' columns, from 0."""
    others = [place for place in range(len(titles)) if place != time]
    if names is not None and set(names) <= set(titles):
        return [titles.index(name) for name in names]
    if names is not None:
        missing = next(name for name in names if name not in titles)
        close = closest(missing, [titles[place] for place in others])
        said = f"; did you mean `{close}`?" if close else f", only {_listed([titles[k] for k in others])}"
        raise ValueError(f"line {line}: there is no column `{missing}`, as [names] calls an input{said}")
    if width is not None and len(others) != width:
        found, wanted = counted(len(others), "column"), counted(width, "column")
        message = f"line {line} has {found} beside `{titles[time]}`, but `input_matrix` has {wanted}"
        raise ValueError(
            f"{message}; [names] can say which are meant: input = [..]" if len(others) > width else message
        )
    return others


def _numbers(line: int, fields: list[str], titles: list[str]) -> list[float]:
    if len(fields) != len(titles):
        numbers, names = counted(len(fields), "field"), counted(len(titles), "name")
        raise ValueError(f"line {line} has {numbers}, but the header has {names}")
    found = []
    for place, field in enumerate(fields):
        value = _float(field)
        where = f"line {line}, column {place + 1} (`{titles[place]}`)"
        if value is None:
            raise ValueError(f"{where}: " + (f"{_shown(field)} is not a number" if field else "a number is missing"))
        if not math.isfinite(value):
            raise ValueError(f"{where}: {field} is not a finite number")
        found.append(value)
    return found


def _check_times(t: np.ndarray, lines: list[int], column: int) -> None:
    wrong = np.flatnonzero(np.diff(t) <= 0)
    if len(wrong):
        k = int(wrong[0]) + 1
        message = f"line {lines[k]}, column {column}: times must increase, but {t[k]:.15g} comes after {t[k - 1]:.15g}"
        raise ValueError(message)
    if t[0] > 0:
        message = f"line {lines[0]}, column {column}: the first time is {t[0]:.15g} s, but the run begins at 0 s"
        raise ValueError(message)


def _float(text: str) -> float | None:
    """The number that a field holds. Python reads underscores and digits of other scripts, too; files have none."""
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= _LONGEST else f'"{text[:_LONGEST]}.."'


def _listed(titles: Sequence[str]) -> str:
    shown = ", ".join(f"`{title}`" for title in titles[:8])
    return shown + (" and others" if len(titles) > 8 else "")
