"""Measurements as lines of text, each complete in itself, so that they can be printed as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simsuite.bench.solution import TARGETS
from simsuite.bench.table import FASTER, GIGA, OFF, PEER_VERSION, Column, Row, Table, fraction, joined, key, number
from simsuite.bench.table import machine_lines as machine_lines

STEPPERS = ("explicit", "rkl2", "adi", "exact")


def _seconds(found: Row | None) -> str:
    return "-" if found is None else f"{found['seconds']:.3g}"


def _choice(auto: Row) -> str:
    stages = f" of {auto['stages']}" if auto["stages"] else ""
    return f"{auto['stepper']}, {auto['steps']}{stages}"


def _reached(stepper: str) -> Callable[[Row], str]:
    return lambda row: _seconds(row["steppers"].get(stepper))


def _cells(row: Row) -> str:
    return f"{row['n']} x {row['n']}"


_WHAT = (
    Column("cells", 13, _cells, always=True),
    Column("precision", 10, key("precision"), always=True),
)
_MICROSECONDS = Column("us/step", 10, number("microseconds_per_step", 4))
_RATE = Column("G cells/s", 10, number("rate", factor=GIGA))
_ONE_PASS = Column("of one pass", 12, fraction("fraction_of_one_pass"))
TABLES = {
    "rates": Table(
        "explicit steps",
        (
            Column("material", -9, key("material"), always=True),
            Column("kernel", -7, key("kernel"), always=True),
            *_WHAT,
            _MICROSECONDS,
            _RATE,
            _ONE_PASS,
            Column("of arithmetic", 14, fraction("fraction_of_arithmetic")),
            OFF,
        ),
    ),
    "steppers": Table(
        "a step of adi and exact, a stage of rkl2",
        (
            Column("stepper", -8, key("stepper"), always=True),
            Column("material", -9, key("material"), always=True),
            Column("edges", -6, key("edges"), always=True),
            *_WHAT,
            _MICROSECONDS,
            Column("words a cell", 13, number("words_per_cell")),
            OFF,
        ),
    ),
    "peers": Table(
        "beside others: explicit steps, constant material, edges held at 0",
        (
            Column("by", -15, key("name"), always=True),
            *_WHAT,
            _MICROSECONDS,
            _RATE,
            _ONE_PASS,
            FASTER,
            OFF,
            PEER_VERSION,
        ),
    ),
}
_ERRORS = (
    Column("error", -9, lambda row: f"{row['error']:.0e}"),
    *(Column(name, 11, _reached(name)) for name in STEPPERS),
    Column("auto takes", 19, lambda row: _choice(row["auto"])),
    Column("in", 11, lambda row: _seconds(row["auto"])),
    Column("off by", 9, number("auto_error", 2)),
    Column("to the best", 12, lambda row: f"{row['auto']['ratio']:.2f}" if "ratio" in row["auto"] else ""),
)


def head(section: str) -> Iterator[str]:
    """The lines above the rows of a section."""
    if section in TABLES:
        yield from TABLES[section].head()


def lines(section: str, row: Row) -> Iterator[str]:
    """The line of a row, or the reason why it was not timed, or is wrong."""
    if section == "work_precision":
        yield from _solution(row)
    else:
        yield TABLES[section].line(row)


def _solution(row: Row) -> Iterator[str]:
    yield ""
    yield f"time to solution, {row['material']} material, {_cells(row)} {row['precision']}, seconds"
    if not row["right"]:
        yield f"WRONG: two references are {row['largest_error']:.1e} apart, at most {row['error_limit']:.1e} is right"
        return
    yield joined(_ERRORS, [column.head for column in _ERRORS])
    for target, reached, auto in zip(TARGETS, row["reached"], row["auto"]):
        assert reached["error"] == auto["tolerance"] == target
        cells = {**reached, "auto": auto, "auto_error": auto["error"]}
        yield joined(_ERRORS, [column.show(cells) for column in _ERRORS])
