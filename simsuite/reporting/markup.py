"""Pieces of HTML: every text is escaped here, numbers are written, tables are built."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.summaries.numbers import number
from simsuite.words import counted, printable

MOST_ROWS = 2000  # of a table
_LONGEST = 2000  # characters of a cell
_WIDE = 7  # a table with more columns has small letters in print


@dataclass(frozen=True)
class Markup:
    """Text that is HTML already."""

    html: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table. sort: what its column is sorted by, in place of its text. numeric: whether it is aligned as
    numbers are."""

    content: str | Markup
    sort: float | None = None
    numeric: bool = False


Content = str | float | int | None | Cell | Markup


def escaped(text: object) -> str:
    """A text for HTML, in elements and in attributes; characters that do not print, but for spaces
    at which no line ends, are replaced by Python's escapes."""
    return html.escape(printable(str(text), kept="\n\t\u00a0"), quote=True)


def shown(content: str | Markup) -> str:
    """The HTML of a text, cut short where it is very long, or of what is HTML already."""
    if isinstance(content, Markup):
        return content.html
    return escaped(content if len(content) <= _LONGEST else content[:_LONGEST] + " …")


def cell_of(content: Content) -> Cell:
    """What goes into a table as a cell: numbers with ten digits, as the terminal has them."""
    if isinstance(content, Cell):
        return content
    if isinstance(content, bool):
        return Cell("yes" if content else "no")
    if isinstance(content, (str, Markup)):
        return Cell(content)
    if content is None:
        return Cell("unknown", None, True)
    return Cell(number(content), float(content), True)


def table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Content]],
    sortable: bool = False,
    rest: str = "all of them are in results.h5",
) -> str:
    """A table whose first column names its rows. rows: cells of each, at most MOST_ROWS of which are shown; rest: where
    the others are."""
    cells = [[cell_of(content) for content in row] for row in rows[:MOST_ROWS]]
    numeric = [bool(cells) and all(row[k].numeric for row in cells) for k in range(len(header))]
    note = f" The first {MOST_ROWS} of {counted(len(rows), 'row')} are shown; {rest}." if len(rows) > MOST_ROWS else ""
    head = "".join(_head(name, sortable, of_numbers) for name, of_numbers in zip(header, numeric))
    body = "".join(f"<tr>{''.join(_cell(cell, not k) for k, cell in enumerate(row))}</tr>\n" for row in cells)
    kinds = " ".join(["sortable"] * sortable + ["wide"] * (len(header) > _WIDE))
    kind = f' class="{kinds}"' if kinds else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}">'
        f"<table{kind}><caption><span>{escaped(caption + note)}</span></caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _head(name: str, sortable: bool, numeric: bool) -> str:
    inside = f'<button type="button">{escaped(name)}</button>' if sortable else escaped(name)
    return f'<th scope="col"{_KIND[numeric]}>{inside}</th>'


_KIND = {True: ' class="number"', False: ""}


def _cell(cell: Cell, first: bool) -> str:
    sort = "" if cell.sort is None else f' data-sort="{cell.sort!r}"'
    kind = f"{_KIND[cell.numeric]}{sort}"
    inside = shown(cell.content)
    return f'<th scope="row"{kind}>{inside}</th>' if first else f"<td{kind}>{inside}</td>"


def facts(pairs: Iterable[tuple[str, str | Markup]]) -> str:
    """Names with what they stand for."""
    items = "".join(f"<div><dt>{escaped(name)}</dt><dd>{shown(text)}</dd></div>\n" for name, text in pairs)
    return f'<dl class="facts">\n{items}</dl>\n'


def section(title: str, body: str, level: int = 2) -> str:
    """A section with a heading; nothing where there is nothing in it."""
    return f"<section>\n<h{level}>{escaped(title)}</h{level}>\n{body}</section>\n" if body else ""


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{shown(text)}</p>\n"


def details(summary: str, body: str, is_open: bool = False, in_print: bool = False) -> str:
    """What is unfolded by a click, and, if so wanted, in print."""
    kind = f"{' open' if is_open else ''}{' data-print' if in_print else ''}"
    return f"<details{kind}>\n<summary>{escaped(summary)}</summary>\n{body}</details>\n"


def data_uri(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def data_block(value: Mapping[str, Any]) -> str:
    """Data for the scripts of the page, as JSON in which nothing can end the element. Any: as JSON has it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return f'<script type="application/json" class="data">{safe}</script>\n'
