"""Measurements of the roads as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simsuite.bench.table import GIGA, Column, Row, Table, key, number
from simsuite.bench.table import machine_lines as machine_lines

TITLES = {
    "heat": "an explicit step of the heat equation, float32; rate in G cell-steps/s",
    "gbm": "Monte Carlo, a European call, float32; rate in G path-steps/s",
    "matmul": "the product of two matrices, float32; rate in G operations/s",
}


def _seconds(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]:.2f}" if name in row else ""


COLUMNS = (
    Column("road", -16, key("road"), always=True),
    Column("library", -11, key("library"), always=True),
    Column("lines", 5, lambda row: str(row.get("lines") or "")),
    Column("compiling, s", 12, _seconds("compiling")),
    Column("first answer, s", 15, _seconds("first_answer")),
    Column("launch, us", 10, number("launch", 3, 1e6)),
    Column("rate", 9, number("rate", 3, GIGA)),
    Column("of limit", 8, lambda row: f"{row['of_limit']:.3f}" if "of_limit" in row else ""),
    Column("times slower", 12, lambda row: f"{row['times_slower']:.3g}" if "times_slower" in row else ""),
    Column("off by", 8, lambda row: f"{row['largest_error']:.1e}"),
)


def head(section: str) -> Iterator[str]:
    """The lines above the rows of a problem."""
    yield from Table(TITLES[section], COLUMNS).head()


def lines(section: str, row: Row) -> Iterator[str]:
    """The line of a row."""
    yield Table(TITLES[section], COLUMNS).line(row)
