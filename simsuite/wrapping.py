"""Text that fits a terminal: lines broken between words, with the width that characters have there."""

from __future__ import annotations

import re
import unicodedata

_HANGING = 2  # columns by which what goes on in a further line is moved to the right
_WORDS = re.compile(r"(\s*)(\S+)")


def columns_of(text: str) -> int:
    """How many columns a text takes: two for each wide character of East Asian scripts, none for one that combines."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(line: str, width: int) -> list[str]:
    """The line in as many pieces as it takes, each at most `width` columns, broken between words alone; a word that is
    longer than a line has one for itself. What goes on is indented a little further than the beginning; where the line
    has columns of which the last holds words, below these."""
    if columns_of(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    hanging = _column_of_words(line, width, indent)
    found, now = [], ""
    for gap, word in _WORDS.findall(line):
        if not now or columns_of(now) + len(gap) + columns_of(word) <= width:
            now += gap + word
        else:
            found.append(now)
            now = " " * hanging + word
    return [*found, now]


def _column_of_words(line: str, width: int, indent: int) -> int:
    """Where a further line begins: below the text after a short name, as in "  stepper    adi, ..", else a little to
    the right of where the line does."""
    label = re.match(r" *\S+(?: \S+)? {2,}", line)
    if label and label.end() <= width // 3:
        return label.end()
    return min(indent + _HANGING, width // 3)
