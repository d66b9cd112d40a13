"""A table file whose rows stand for elements of a list of a scenario, with the place of each cell for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simsuite.errors import Mistake
from simsuite.scenario.spans import Span

# a cell in quotes, in which "" stands for a quote, or one without; then the comma or the end of the line
_CELL = re.compile(r'[ \t]*(?:"((?:[^"]|"")*)"|([^,"\r\n]*))[ \t]*(,|\r?$)')


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and where it stands in its file; within quotes, if it has some."""

    text: str
    span: Span


@dataclass(frozen=True)
class Row:
    """A row of a table file by its columns. span: of the whole row."""

    cells: Mapping[str, Cell]
    span: Span


@dataclass(frozen=True)
class Attached:
    """The rows of a table file that became the elements of a list. name, text: of the file. list: the key of the list.
    first: the index of the first of the elements."""

    name: str
    text: str
    list: str
    first: int
    rows: tuple[Row, ...]

    def span(self, mistake: Mistake) -> Span | None:
        """Where a mistake stands in the file; None if it is about something else."""
        path = mistake.path
        if path[:1] != (self.list,) or len(path) < 2 or not isinstance(path[1], int):
            return None
        index = path[1] - self.first
        if not 0 <= index < len(self.rows):
            return None
        row = self.rows[index]
        cell = row.cells.get(str(path[2])) if len(path) > 2 else None
        if cell is None:
            return row.span
        if mistake.column is None:
            return cell.span
        start = min(cell.span[0] + mistake.column, cell.span[1])
        word = re.compile(r"\w+|.").match(self.text, start, cell.span[1])
        return word.span() if word else (start, start + 1)


Finding: TypeAlias = "tuple[Span, str, str | None]"
"""What is wrong in a table file: where, what, and what to do about it."""


class TableError(Exception):
    """A table file that cannot be read. name, text: of the file."""

    def __init__(self, name: str, text: str, found: Sequence[Finding]) -> None:
        super().__init__(found[0][1])
        self.name, self.text, self.found = name, text, tuple(found)


class LineError(Exception):
    """A line that is no row of a table. span: where."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Where each line begins, and the line; but for empty ones and those that begin with #."""
    at = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            yield at, line.rstrip("\r")
        at += len(line) + 1


def cells_of(line: str, begin: int) -> list[Cell]:
    """The cells of a line that begins at a place of its file. Raises LineError."""
    found, at = [], 0
    while True:
        match = _CELL.match(line, at)
        if match is None:
            message = 'a quote that stands alone: a cell with commas is written "a, b", and a quote in it ""'
            place = begin + line.index('"', at)
            raise LineError(message, (place, place + 1))
        which = 1 if match[1] is not None else 2
        text = match[which].replace('""', '"') if which == 1 else match[which].rstrip()
        start = begin + match.start(which)
        found.append(Cell(text, (start, start + max(len(text), 1))))
        at = match.end()
        if match[3] != ",":
            return found
