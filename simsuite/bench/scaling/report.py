"""Measurements of scaling as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.bench.table import GIGA, Column, Row, Table, fraction, key, number
from simsuite.bench.table import machine_lines as machine_lines

_CASE = (
    Column("problem", -7, key("problem"), always=True),
    Column("scaling", -7, key("scaling"), always=True),
    Column("precision", -9, key("precision"), always=True),
    Column("size", 9, key("size"), always=True),
    Column("processes", 9, key("processes"), always=True),
)
TABLES = {
    "measured": Table(
        "several processes, one a device; rates in G cell-steps, path-steps or operations a second",
        (
            *_CASE,
            Column("rate", 9, number("rate", 4, GIGA)),
            Column("efficiency", 10, fraction("efficiency")),
            Column("exchanging", 10, fraction("waited")),
        ),
    ),
    "predicted": Table(
        "predicted by latency, bandwidth and depth of halos, as if all links were those measured here",
        (
            *_CASE,
            Column("predicted", 10, fraction("efficiency")),
            Column("measured", 10, lambda row: "" if row["measured"] is None else f"{row['measured']:.3f}"),
        ),
    ),
}


def head(section: str) -> Iterator[str]:
    """The lines above the rows of a section."""
    if section in TABLES:
        yield from TABLES[section].head()


def lines(section: str, row: Row) -> Iterator[str]:
    """The lines of a row."""
    if section in TABLES:
        yield TABLES[section].line(row)
        return
    speed = "at any size" if row["bandwidth"] == float("inf") else f"then {row['bandwidth'] * GIGA:.3g} GB/s"
    yield ""
    us = f"{row['latency'] * 1e6:.3g} us"
    yield f"exchange of rows between {row['processes']} processes: {us}, {speed} to each neighbour"
