"""Measurements of the linear solver as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.bench import table
from simsuite.bench.table import FASTER, GIGA, OFF, Column, Row, Table, fraction, key, number

_PRECISION = Column("precision", 10, key("precision"), always=True)
_RATE = Column("GFLOP/s", 9, number("flops", 4, GIGA))
TABLES = {
    "products": Table(
        "products (rows x inner) (inner x columns); GFLOP/s beside the device's library and its arithmetic",
        (
            Column("kernel", -26, key("kernel"), always=True),
            _PRECISION,
            Column("rows", 8, key("rows"), always=True),
            Column("inner", 8, key("inner"), always=True),
            Column("columns", 9, key("columns"), always=True),
            _RATE,
            Column("of library", 11, fraction("of_library")),
            Column("of fma", 8, fraction("of_fma")),
            OFF,
        ),
    ),
    "steps": Table(
        "steps of systems, as runs take them, beside the library in a loop",
        (
            Column("kernel", -16, key("kernel"), always=True),
            _PRECISION,
            Column("components", 11, key("components"), always=True),
            Column("states", 9, key("states"), always=True),
            Column("at once", 8, lambda row: str(row.get("steps_at_once", ""))),
            Column("steps/s", 11, number("steps_per_second", 4)),
            _RATE,
            FASTER,
            OFF,
        ),
    ),
    "crossover": Table(
        "steps between two frames from which on another method takes less time than stepping, all included",
        (
            Column("method", -9, key("kernel"), always=True),
            _PRECISION,
            Column("components", 11, key("components"), always=True),
            Column("states", 9, key("states"), always=True),
            Column("from steps", 11, lambda row: str(row.get("from_steps", "never"))),
            Column("seconds", 10, number("seconds")),
            OFF,
        ),
    ),
    "lattices": Table(
        "steps with sparse matrices, five numbers a row, beside SciPy or cuSPARSE; what they move by a copy",
        (
            Column("kernel", -9, key("kernel"), always=True),
            _PRECISION,
            Column("components", 11, key("components"), always=True),
            Column("states", 9, key("states"), always=True),
            Column("steps/s", 11, number("steps_per_second", 4)),
            _RATE,
            Column("of copy", 8, fraction("of_copy")),
            FASTER,
            OFF,
        ),
    ),
}


def machine_lines(name: str, device_name: str, row: Row) -> Iterator[str]:
    """Lines about the device and its limits."""
    return table.machine_lines(name, device_name, row)


def head(section: str) -> Iterator[str]:
    """The lines above the rows of a section."""
    return TABLES[section].head()


def lines(section: str, row: Row) -> Iterator[str]:
    """The line of a row, or the reason why it was not timed, or is wrong."""
    yield TABLES[section].line(row)
