"""Text that fits a terminal: lines broken between words, with the width that characters have there."""

from __future__ import annotations

import itertools
import re
import unicodedata

_COLOUR = re.compile("\033\\[[0-9;]*m")
_SOURCE = re.compile("((?:\033\\[[0-9;]*m|[0-9 ])*\\|(?:\033\\[[0-9;]*m)?) (.*)")  # of a report: number, bar, text
_CARETS = re.compile("( *)((?:\033\\[[0-9;]*m)?)(\\^+)(.*)")
_HANGING = 2  # columns by which what goes on in a further line is moved to the right
_WORDS = re.compile(r"(\s*)(\S+)")
_GAP = re.compile(" {2,}")
_FEW_GAPS = 3  # a line with more of them is a row of a table
_WIDE_ENOUGH = 24  # columns in which words can still be read one below the other
# spaces at which no line is broken: around "±", "=" and "..", and before the unit of a number
_GLUE = re.compile(r" (?=(?:±|=|\.\.) )|(?<= [±=]) |(?<= \.\.) |(?<=\d) (?=[A-Za-zµ°%²³/·]{1,3}(?:[\s,;:.)]|$))")
_GLUED = "\x00"


def columns_of(text: str) -> int:
    """How many columns a text takes: two for each wide character of East Asian scripts, none for one that combines,
    nor for what sets a colour."""
    text = _COLOUR.sub("", text) if "\033" in text else text
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(line: str, width: int) -> list[str]:
    """The line in as many pieces as it takes, each at most `width` columns, broken between words alone; a word that is
    longer than a line has one for itself. A number stays with its unit and its error. What goes on is indented a little
    further than the beginning; where the line has columns, at least two spaces apart, the last of them goes on below
    itself, or begins a line of its own where it is too narrow for that."""
    if columns_of(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    hanging = min(indent + _HANGING, width // 3)
    gaps = [found.end() for found in _GAP.finditer(line) if found.start() >= indent]
    if 0 < len(gaps) <= _FEW_GAPS:
        if columns_of(line[: gaps[-1]]) + _WIDE_ENOUGH <= width:
            hanging = columns_of(line[: gaps[-1]])
        elif " " in line[gaps[-1] :]:
            before = wrapped(line[: gaps[-1]].rstrip(), width)
            return [*before, *_broken(" " * hanging + line[gaps[-1] :], hanging, width)]
    elif gaps and gaps[0] <= width // 3:  # a row of a table, which goes on right of its name
        hanging = gaps[0]
    return _broken(line, hanging, width)


def _broken(line: str, hanging: int, width: int) -> list[str]:
    found, now = [], ""
    for gap, word in _WORDS.findall(_GLUE.sub(_GLUED, line)):
        if not now or columns_of(now) + len(gap) + columns_of(word) <= width:
            now += gap + word
        else:
            found.append(now)
            now = " " * hanging + word
    return [piece.replace(_GLUED, " ") for piece in [*found, now]]


def fitted(text: str, width: int) -> str:
    """The text with all its lines wrapped; tables are cut into groups of columns, one below the other."""
    found: list[str] = []
    lines = text.split("\n")
    while lines:
        n = next((i for i, line in enumerate(lines) if not _is_row(line)), len(lines))
        rows, lines = lines[: n or 1], lines[n or 1 :]
        groups = _column_groups(rows, width) if n > 1 and max(map(columns_of, rows)) > width else None
        found += groups or [piece for line in rows for piece in wrapped(line, width)]
    return "\n".join(found)


def _is_row(line: str) -> bool:
    """Whether a line is a row of a table of many columns."""
    return len(_GAP.findall(line.strip())) >= _FEW_GAPS


def _column_groups(rows: list[str], width: int) -> list[str] | None:
    """The rows of a table in groups of as many columns as fit, each with the first column, which names the rows; None
    where a single one does not fit. Columns are at least two spaces apart in all rows."""
    long = max(map(len, rows))
    padded = [row.ljust(long) for row in rows]
    blank = "".join(" " if all(row[i] == " " for row in padded) else "x" for i in range(long))
    ends = [found.end() for found in re.finditer(r"x(?: ?x)*", blank)]
    groups: list[tuple[int, int]] = []
    for begin, end in itertools.pairwise(ends):
        if groups and ends[0] + end - groups[-1][0] <= width:
            groups[-1] = groups[-1][0], end
        elif ends[0] + end - begin <= width:
            groups.append((begin, end))
        else:
            return None
    return [(row[: ends[0]] + row[begin:end]).rstrip() for begin, end in groups for row in padded]


def fitted_report(report: str, width: int) -> str:
    """The report of mistakes in a file, see `scenario.diagnostics`, in lines that fit: words are wrapped, and of a line
    of the file that part is kept which has the carets below it."""
    found: list[str] = []
    lines = iter(report.split("\n"))
    held = next(lines)
    for after in [*lines, ""]:
        source, below = _SOURCE.fullmatch(held), _SOURCE.fullmatch(after)
        carets = below and _CARETS.fullmatch(below[2])
        if source and below and carets and columns_of(held) > width:
            shown, at, n = _around(source[2], len(carets[1]), len(carets[3]), max(width - columns_of(source[1]) - 1, 3))
            found.append(f"{source[1]} {shown}")
            held = f"{below[1]} {' ' * at}{carets[2]}{'^' * n}{carets[4]}"
            continue
        found += wrapped(held, width)
        held = after
    return "\n".join(found if not held else [*found, held])


def _around(line: str, at: int, n: int, room: int) -> tuple[str, int, int]:
    """A part of the line of at most `room` columns in which the n characters from `at` on are, or the first of them;
    where they are there, and how many. A mark stands for what is left out."""
    low = max(min(at - room // 3, len(line) - room), 0)
    left = "…" if low else ""
    right = "…" if low + room < len(line) else ""
    shown = left + line[low + len(left) : low + room - len(right)] + right
    return shown, at - low, max(min(n, room - len(right) - (at - low)), 1)
