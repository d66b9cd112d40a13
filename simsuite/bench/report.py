"""What was measured as lines of text, each complete in itself, so that they can be printed as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.bench.solution import TARGETS

Row = dict[str, Any]
GIGA = 1e-9
STEPPERS = ("explicit", "rkl2", "adi", "exact")


@dataclass(frozen=True)
class Column:
    """Width below 0: aligned left. show: the cell's text."""

    head: str
    width: int
    show: Callable[[Row], str]

    def cell(self, text: str) -> str:
        """`text` in the width of the column."""
        return text.ljust(-self.width) if self.width < 0 else text.rjust(self.width)


def _key(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _number(name: str, digits: int = 3, factor: float = 1.0) -> Callable[[Row], str]:
    return lambda row: f"{row[name] * factor:#.{digits}g}".rstrip(".") if name in row else ""


def _fraction(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]:.3f}" if name in row else ""


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
    Column("cells", 13, _cells),
    Column("precision", 10, _key("precision")),
)
_OFF = Column("off by", 9, lambda row: f"{row['largest_error']:.1e}")
_MICROSECONDS = Column("us/step", 10, _number("microseconds_per_step", 4))
_RATE = Column("G cells/s", 10, _number("rate", factor=GIGA))
_ONE_PASS = Column("of one pass", 12, _fraction("fraction_of_one_pass"))
TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "rates": (
        "explicit steps",
        (
            Column("material", -9, _key("material")),
            Column("kernel", -7, _key("kernel")),
            *_WHAT,
            _MICROSECONDS,
            _RATE,
            _ONE_PASS,
            Column("of arithmetic", 14, _fraction("fraction_of_arithmetic")),
            _OFF,
        ),
    ),
    "steppers": (
        "a step of adi and exact, a stage of rkl2",
        (
            Column("stepper", -8, _key("stepper")),
            Column("material", -9, _key("material")),
            Column("edges", -6, _key("edges")),
            *_WHAT,
            _MICROSECONDS,
            Column("words a cell", 13, _number("words_per_cell")),
            _OFF,
        ),
    ),
    "peers": (
        "beside others: explicit steps, constant material, edges held at 0",
        (
            Column("by", -15, _key("name")),
            *_WHAT,
            _MICROSECONDS,
            _RATE,
            _ONE_PASS,
            Column("simsuite faster", 16, _number("simsuite_is_faster_by")),
            _OFF,
            Column("  version", -12, lambda row: f"  {row['version']}"),
        ),
    ),
}
_ERRORS = (
    Column("error", -9, lambda row: f"{row['error']:.0e}"),
    *(Column(name, 11, _reached(name)) for name in STEPPERS),
    Column("auto takes", 19, lambda row: _choice(row["auto"])),
    Column("in", 11, lambda row: _seconds(row["auto"])),
    Column("off by", 9, _number("auto_error", 2)),
    Column("to the best", 12, lambda row: f"{row['auto']['ratio']:.2f}" if "ratio" in row["auto"] else ""),
)


def machine_lines(name: str, device_name: str, row: Row) -> Iterator[str]:
    """The device and its limits."""
    yield f"device      {name} ({device_name})"
    yield f"copy        {row['copy_bytes_per_second'] * GIGA:.4g} GB/s, read plus written"
    rates = ", ".join(f"{rate * GIGA:.4g} G/s in {precision}" for precision, rate in row["fma_per_second"].items())
    yield f"arithmetic  {rates}, fused multiply-adds"


def head(section: str) -> Iterator[str]:
    """What stands above the rows of a section."""
    if section in TABLES:
        title, columns = TABLES[section]
        yield ""
        yield title
        yield _joined(columns, [column.head for column in columns])


def lines(section: str, row: Row) -> Iterator[str]:
    """A row, and why it is not one."""
    if section == "work_precision":
        yield from _solution(row)
        return
    columns = TABLES[section][1]
    reason = f"not timed: {row['skipped']}" if "skipped" in row else ""
    if not row.get("right", True):
        reason = f"WRONG: off by {row['largest_error']:.1e}, at most {row['error_limit']:.1e} is right"
    if not reason:
        yield _joined(columns, [column.show(row) for column in columns])
        return
    words = [column.cell(column.show(row)) for column in columns if column.head not in _measured_heads(columns)]
    yield f"{' '.join(words)}  {reason}"


def _measured_heads(columns: Sequence[Column]) -> set[str]:
    """What a row that is not timed has no entries for."""
    known = {"material", "kernel", "stepper", "edges", "by", *(column.head for column in _WHAT)}
    return {column.head for column in columns} - known


def _solution(row: Row) -> Iterator[str]:
    yield ""
    yield f"time to solution, {row['material']} material, {_cells(row)} {row['precision']}, seconds"
    if not row["right"]:
        yield f"WRONG: two references are {row['largest_error']:.1e} apart, at most {row['error_limit']:.1e} is right"
        return
    yield _joined(_ERRORS, [column.head for column in _ERRORS])
    for target, reached, auto in zip(TARGETS, row["reached"], row["auto"]):
        assert reached["error"] == auto["tolerance"] == target
        cells = {**reached, "auto": auto, "auto_error": auto["error"]}
        yield _joined(_ERRORS, [column.show(cells) for column in _ERRORS])


def _joined(columns: Sequence[Column], texts: Sequence[str]) -> str:
    return " ".join(column.cell(text) for column, text in zip(columns, texts)).rstrip()
