"""Rows as lines of text under a head, each complete in itself, so that they can be printed as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
GIGA = 1e-9


@dataclass(frozen=True)
class Column:
    """A column of a table. width: if it is below 0, cells are aligned left. show: gives the cell's text for a row.
    always: whether rows that were not timed have this cell too.
    """

    head: str
    width: int
    show: Callable[[Row], str]
    always: bool = False

    def cell(self, text: str) -> str:
        """`text` in the width of the column."""
        return text.ljust(-self.width) if self.width < 0 else text.rjust(self.width)


@dataclass(frozen=True)
class Table:
    """A table of rows. title: printed above it, after an empty line."""

    title: str
    columns: tuple[Column, ...]

    def head(self) -> Iterator[str]:
        """The lines above the rows."""
        yield ""
        yield self.title
        yield joined(self.columns, [column.head for column in self.columns])

    def line(self, row: Row) -> str:
        """The line of a row, or the reason why it was not timed, or is wrong."""
        reason = f"not timed: {row['skipped']}" if "skipped" in row else ""
        if not row.get("right", True):
            reason = f"WRONG: off by {row['largest_error']:.1e}, at most {row['error_limit']:.1e} is right"
        if not reason:
            return joined(self.columns, [column.show(row) for column in self.columns])
        words = [column.cell(column.show(row)) for column in self.columns if column.always]
        return f"{' '.join(words)}  {reason}"


def joined(columns: Sequence[Column], texts: Sequence[str]) -> str:
    return " ".join(column.cell(text) for column, text in zip(columns, texts)).rstrip()


def key(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def number(name: str, digits: int = 3, factor: float = 1.0) -> Callable[[Row], str]:
    return lambda row: f"{row[name] * factor:#.{digits}g}".rstrip(".") if name in row else ""


def fraction(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]:.3f}" if name in row else ""


OFF = Column("off by", 9, lambda row: f"{row['largest_error']:.1e}")
PEER_VERSION = Column("  version", -12, lambda row: f"  {row['version']}")
FASTER = Column("simsuite faster", 16, number("simsuite_is_faster_by"))


def machine_lines(name: str, device_name: str, row: Row) -> Iterator[str]:
    """Lines about the device and its limits."""
    yield f"device      {name} ({device_name})"
    yield f"copy        {row['copy_bytes_per_second'] * GIGA:.4g} GB/s, read plus written"
    rates = ", ".join(f"{rate * GIGA:.4g} G/s in {precision}" for precision, rate in row["fma_per_second"].items())
    yield f"arithmetic  {rates}, fused multiply-adds"
