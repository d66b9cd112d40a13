"""The measurements as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.bench import table
from simsuite.bench.table import FASTER, GIGA, OFF, PEER_VERSION, Column, Row, Table, fraction, key, number

_PRECISION = Column("precision", 10, key("precision"), always=True)
_PATHS = Column("paths", 12, lambda row: f"{row['paths']:,}")
_PRICE = Column("price", 10, lambda row: f"{row['price']:.5f}" if "price" in row else "")
_RATE = Column("G/s", 9, number("rate", 4, GIGA))


def _seconds(row: Row) -> str:
    if "seconds" not in row:
        return f"(about {row['forecast_seconds']:.2g})"
    return f"{row['seconds']:.3g}" + ("" if row["met"] else " (not met)")


TABLES = {
    "rates": Table(
        "G path-steps/s, 252 steps: of the kernel alone, and of whole runs",
        (
            Column("case", -9, key("case"), always=True),
            Column("kernel", -7, lambda row: row.get("kernel", "")),
            _PRECISION,
            _PATHS,
            Column("kernel G/s", 11, number("kernel_rate", 4, GIGA)),
            Column("run G/s", 9, number("rate", 4, GIGA)),
            Column("of limit", 9, fraction("fraction_of_limit")),
            Column("  by", -20, lambda row: f"  {row.get('limited_by', 'not known')}"),
            _PRICE,
            OFF,
        ),
    ),
    "accuracy": Table(
        "time to a standard error: arithmetic Asian, 252 fixings, spot 100",
        (
            Column("method", -21, key("method"), always=True),
            _PRECISION,
            Column("wanted", 8, lambda row: f"{row['target']:g}", always=True),
            Column("seconds", 18, _seconds),
            Column("paths", 16, lambda row: f"{row['paths']:,}"),
            Column("reached", 10, number("standard_error", 3)),
            _PRICE,
        ),
    ),
    "peers": Table(
        "beside others: the same Asian, plain paths, G path-steps/s",
        (
            Column("by", -15, key("name"), always=True),
            _PRECISION,
            _PATHS,
            _RATE,
            FASTER,
            _PRICE,
            OFF,
            PEER_VERSION,
        ),
    ),
}


def machine_lines(name: str, device_name: str, row: Row) -> Iterator[str]:
    """The device and its limits."""
    yield from table.machine_lines(name, device_name, row)
    if "units" in row:
        words = ", ".join(
            f"{rate * GIGA:.4g} G/s {unit.removesuffix('_per_second').replace('_', ' ')}"
            for unit, rate in row["units"].items()
        )
        yield f"units       {words}"


def head(section: str) -> Iterator[str]:
    """The lines above the rows of a section."""
    return TABLES[section].head()


def lines(section: str, row: Row) -> Iterator[str]:
    """The line of a row, or the reason why it has no numbers."""
    yield TABLES[section].line(row)
