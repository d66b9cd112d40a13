"""`book = "trades.csv"`: options in a table file, a row each, as if each were an [[option]] at the end of the scenario.

The first line names the columns, which are the keys of [[option]]; a cell that is empty leaves its key out. Elements of
lists stand between semicolons, or between commas in quotes. Numbers may be written as in a scenario: 0.25, 3 months,
1.1*K.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from simsuite.scenario.attached import Attached, Cell, Finding, LineError, Row, TableError, cells_of, lines_of
from simsuite.scenario.gbm.contract import Contract
from simsuite.scenario.gbm.option import Option
from simsuite.scenario.shape import fields_of
from simsuite.scenario.spans import Table
from simsuite.words import closest, counted

MOST = 10_000  # options in a book
_LISTS = {"assets", "weights", "past_fixings", "worst_of"}  # keys whose value is always a list
_TEXTS = {"assets", "worst_of"}  # keys whose elements are texts, whatever they look like
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_SINGLE = {"name", "style", "asset", "value"}  # keys that have one value, whatever stands in it


def with_book(data: Table, base: Path) -> tuple[Table, Attached | None]:
    """The contents of a scenario file with the options of its book, if it has one, behind its own. base: where the name
    of the book starts from. Raises `TableError`; a name that is no name of a file is left for the model to refuse."""
    name = data.get("book")
    own = data.get("option", [])
    if not isinstance(name, str) or not isinstance(own, list) or not _is_file(base / name):
        return data, None
    try:
        text = (base / name).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error.strerror)
        raise TableError(name, "", [((0, 1), f"cannot read {name!r}: {reason}", None)]) from None
    rows = _rows(name, text)
    options = [{key: _value(key, cell.text) for key, cell in row.cells.items()} for row in rows]
    attached = Attached(name, text, "option", len(own), tuple(rows))
    without = {key: value for key, value in data.items() if key != "book"}
    return without | {"option": [*own, *options]}, attached


def _rows(name: str, text: str) -> list[Row]:
    found: list[Finding] = []
    rows: list[Row] = []
    lines = list(lines_of(text))
    if not lines:
        raise TableError(name, text, [((0, 1), "the book is empty", _COLUMNS)])
    columns = _columns(name, text, *lines[0])
    for begin, line in lines[1:]:
        span = (begin, begin + len(line))
        try:
            cells = cells_of(line, begin)
        except LineError as error:
            found.append((error.span, error.message, None))
            continue
        if not any(cell.text.strip() for cell in cells):
            continue
        if len(cells) > len(columns):
            where = cells[len(columns)].span
            found.append((where, f"a row of {len(cells)} cells for {counted(len(columns), 'column')}", _QUOTED))
            continue
        rows.append(Row({key: cell for key, cell in zip(columns, cells) if cell.text.strip()}, span))
    if len(rows) > MOST:
        found.append((rows[MOST].span, f"has more than {MOST} options", "price the others in a run of their own"))
    if not rows and not found:
        found.append(((0, 1), "the book has no rows below the names of its columns", None))
    if found:
        raise TableError(name, text, found)
    return rows


_COLUMNS = "its first line names the columns, such as name,style,payoff,strike,maturity"
_QUOTED = 'a cell with commas is written in quotes: "a, b"'


def _columns(name: str, text: str, begin: int, line: str) -> list[str]:
    """The columns that the first line names."""
    try:
        cells = cells_of(line, begin)
    except LineError as error:
        raise TableError(name, text, [(error.span, error.message, None)]) from None
    found = list(_column_mistakes(cells))
    if found:
        raise TableError(name, text, found)
    return [cell.text for cell in cells]


def _column_mistakes(cells: Sequence[Cell]) -> Iterator[Finding]:
    known = keys()
    for i, cell in enumerate(cells):
        if cell.text in [other.text for other in cells[:i]]:
            yield cell.span, f"the column `{cell.text}` stands twice", None
        elif cell.text not in known:
            close = closest(cell.text, known)
            yield cell.span, f"unknown column `{cell.text}`", f"did you mean `{close}`?" if close else _COLUMNS
    if not any(cell.text == "style" for cell in cells):
        span = (cells[0].span[0], cells[-1].span[1])
        yield span, "there is no column `style`", _COLUMNS


def keys() -> list[str]:
    """The keys that options of any style have, those of all styles first."""
    union, *_ = get_args(Option)
    return list(dict.fromkeys(key for style in (Contract, *get_args(union)) for key in fields_of(style)))


def _value(key: str, text: str) -> object:
    """The value of a cell, as a scenario file would give it."""
    if key in _SINGLE:
        return text.strip()
    bare = text.strip().removeprefix("[").removesuffix("]")  # a list as in TOML is one, too
    separator = ";" if ";" in bare else ","
    if len(_parts(bare, separator)) > 1 or key in _LISTS or bare != text.strip():
        return [_one(key, part.strip().strip("\"'")) for part in _parts(bare, separator)]
    return _one(key, bare)


def _parts(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand in no parentheses."""
    found, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == separator and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that cannot be looked into
        return False


def _one(key: str, text: str) -> object:
    if key in _TEXTS:
        return text
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
