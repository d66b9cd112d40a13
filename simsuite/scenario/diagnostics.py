"""Mistakes shown where they stand, in the manner of rustc: file:line:column, the line, a caret, help."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.attached import Attached
from simsuite.scenario.other_names import Renamed, spans_by_keys
from simsuite.scenario.overrides import Override
from simsuite.scenario.source import Source
from simsuite.scenario.spans import KeyPath, Span, Spans, key_name, place_in_string
from simsuite.words import printable

MAX_SHOWN = 50
WIDTH = 120  # longer lines are cropped around the caret
TAB = 4
AS_TOML = "the scenario as TOML"  # what the text of a scenario from Python, a dictionary, is called
MOST_NUMBERS = 40  # characters of a list of numbers in such a text, which nobody has written; a longer one is cut short
_KEPT = 24  # how many of its characters are kept then
_NUMBER = re.compile(r"[^\s,\[\]]+")
_NUMBERS = re.compile(r"\[[\[\]\d\s,.eE+-]*,[\[\]\d\s,.eE+-]*\]")

_RED, _BLUE, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True)
class Place:
    """Where something stands. order: which text, in the order of reports (the file, then overrides)."""

    order: int
    span: Span


@dataclass(frozen=True)
class Document:
    """What a scenario was made from: its file and the overrides on top, each with the path that it set.

    override_name: what reports put before an override. options: for overrides that were given by another option, that
    option, by the text of the override: ``{"grid.nx=8": "--vary grid.nx=8", .. : "--device gpu"}``.
    attached: a table file that gives elements of a list. renamed: what the file writes by another name, see
    `other_names`.
    """

    source: Source
    overrides: tuple[tuple[Override, KeyPath], ...] = ()
    override_name: str = "--set "
    options: Mapping[str, str] = field(default_factory=dict)
    attached: Attached | None = None
    renamed: Renamed = field(default_factory=dict)

    @cached_property
    def _spans(self) -> Spans:
        return spans_by_keys(self.source.spans, self.renamed)

    def error(self, mistakes: Iterable[Mistake], colour: bool = False) -> ScenarioError:
        """The mistakes with their places, in the order in which they stand."""
        placed = sorted(
            ((self._place(m), m) for m in dict.fromkeys(mistakes)), key=lambda pm: (pm[0].order, pm[0].span)
        )
        blocks = [self._block(place, m, colour) for place, m in placed[:MAX_SHOWN]]
        return ScenarioError((m for _, m in placed), joined(blocks, len(placed)))

    def _block(self, place: Place, mistake: Mistake, colour: bool) -> str:
        message = mistake.message
        if message.startswith(("is ", "has ", "must ")):
            message = f"{key_name(mistake.path)} {message}"
        mistake = self._as_written(replace(mistake, message=message))
        message = mistake.message
        if place.order == 0:
            return render(self.source.name, self.source.text, place.span, message, mistake.help, colour)
        if place.order > len(self.overrides) and self.attached is not None:
            return render(self.attached.name, self.attached.text, place.span, message, mistake.help, colour)
        text = self.overrides[place.order - 1][0].text
        option = self.options.get(text)
        return render_override(text, place.span, message, mistake.help, colour, self.override_name, option)

    def _as_written(self, mistake: Mistake) -> Mistake:
        """The mistake with the names of keys of its section that the scenario writes, `A` for `matrix`."""
        message, help = mistake.message, mistake.help
        for (section, other), (_, key) in self.renamed.items():
            if mistake.path[:1] == (section,):
                for end in ("`", "."):
                    message = message.replace(f"`{key}{end}", f"`{other}{end}")
                    help = help and help.replace(f"`{key}{end}", f"`{other}{end}")
        return replace(mistake, message=message, help=help)

    def _place(self, mistake: Mistake) -> Place:
        """The place of a mistake: in the last override that sets the path, or that made a table on it which the file
        does not have; else in the file, or in the table that is attached to it."""
        in_table = None if self.attached is None else self.attached.span(mistake)
        if in_table is not None:
            return Place(len(self.overrides) + 1, in_table)
        added = self._added(mistake.path)
        numbered = list(enumerate(self.overrides, 1))[::-1]
        setting = [(order, part) for order, part in numbered if mistake.path[: len(part[1])] == part[1]]
        making = [(order, part) for order, part in numbered if added and part[1][: len(added)] == added]
        for order, (override, path) in [*setting, *making]:
            return Place(order, _span(override.text, override.spans(path), mistake))
        return Place(0, _span(self.source.text, self._spans, mistake))

    def _added(self, path: KeyPath) -> KeyPath:
        """The shortest part of a path that the file does not have; () if it has all of it."""
        known = self._spans
        parts = (path[:n] for n in range(1, len(path) + 1))
        return next((part for part in parts if part not in known.values and part not in known.keys), ())

    def made(self, path: KeyPath) -> KeyPath | None:
        """The path that the override sets which made a table, missing in the file, at a path; None if there is no such
        override."""
        if self._added(path) != path:
            return None
        return next((target for _, target in self.overrides if target[: len(path)] == path and target != path), None)


def _span(text: str, spans: Spans, mistake: Mistake) -> Span:
    path = mistake.path
    if mistake.on_key and path in spans.keys:
        return spans.keys[path]
    if path in spans.values:
        span = spans.values[path]
        if mistake.column is None:
            return span
        start = place_in_string(text, span, mistake.column)
        word = re.compile(r"\w+|.", re.DOTALL).match(text, start, span[1])
        return word.span() if word else (start, start + 1)
    while path:  # a missing key is shown at the table in which it is missing
        path = path[:-1]
        if path in spans.values:
            return spans.values[path]
    end = len(text.rstrip()) if mistake.path else 0
    return (end, end + 1)


def joined(blocks: Sequence[str], count: int) -> str:
    """The report of `count` mistakes, of which the first are shown."""
    parts = list(blocks)
    if count > len(blocks):
        parts.append(f"... and {count - len(blocks)} more")
    if count > 1:
        parts.append(f"{count} mistakes")
    return "\n\n".join(parts)


def render(name: str, text: str, span: Span, message: str, help: str | None = None, colour: bool = False) -> str:
    """The report of one mistake in a text of several lines."""
    start = min(span[0], len(text))
    number = text.count("\n", 0, start) + 1
    first = text.rfind("\n", 0, start) + 1
    line = text[first:].partition("\n")[0]
    inner = (start - first, min(span[1] - first, len(line)))
    if name == AS_TOML:
        line, inner = _short_numbers(line, inner)
    return _render(f"{name}:{number}:{inner[0] + 1}", str(number), line, inner, message, help, colour)


def render_override(
    text: str,
    span: Span,
    message: str,
    help: str | None = None,
    colour: bool = False,
    name: str = "--set ",
    option: str | None = None,
) -> str:
    """The report of one mistake in an override. name: the option that the override is an argument of, shown before its
    text. option: another option by which it was given, with its value."""
    if option is not None and not option.endswith(text):
        return _render_option(option, message, help, colour)
    name = name if option is None else option.removesuffix(text)
    place = text if len(text) <= WIDTH else text[:WIDTH] + "…"
    return _render(f"{name}{place}", "", text.replace("\n", " "), span, message, help, colour)


def _render_option(option: str, message: str, help: str | None, colour: bool) -> str:
    """The report of one mistake in an option of a command: the caret goes under its value."""
    value = option.index(" ") + 1
    return _render(option, "", option, (value, len(option)), message, help, colour)


def plain(message: str, help: str | None = None, colour: bool = False) -> str:
    """The report of a mistake that has no place in the text."""
    return f"{_paint('error', _RED, colour)}: {printable(message)}" + (f"\n = help: {printable(help)}" if help else "")


def _render(place: str, number: str, line: str, span: Span, message: str, help: str | None, colour: bool) -> str:
    shown, at, width = _cropped(line, span)
    gutter = " " * len(number)
    bar = _paint("|", _BLUE, colour)
    lines = [
        f"{_paint('error', _RED, colour)}: {_paint(printable(message), _BOLD, colour)}",
        f"{gutter or ' '}{_paint('-->', _BLUE, colour)} {printable(place)}",
        f"{gutter} {bar}",
        f"{_paint(number, _BLUE, colour)} {bar} {shown}".rstrip(),
        f"{gutter} {bar} {' ' * at}{_paint('^' * width, _RED, colour)}",
    ]
    if help:
        first, *more = map(printable, help.split("\n"))
        lines.append(f"{gutter} {_paint('=', _BLUE, colour)} help: {first}")
        lines += [f"{gutter}   {line}" for line in more]  # no border precedes the text, so that it can be copied
    return "\n".join(lines)


def _cropped(line: str, span: Span) -> tuple[str, int, int]:
    """The line as shown, and the caret's column and width in it, all in cells of a terminal."""
    start, end = span[0], max(span[1], span[0] + 1)
    end = min(end, start + WIDTH // 2)
    cells = [_cell(c) for c in line]
    low, high = 0, len(line)
    if len(line) > WIDTH:
        low = max(0, min(start - WIDTH // 3, len(line) - WIDTH))
        high = low + WIDTH
    left, right = "…" if low else "", "…" if high < len(line) else ""
    shown = left + "".join(cells[low:high]) + right
    at = len(left) + sum(map(_width, cells[low:start]))
    return shown, at, max(1, sum(map(_width, cells[start:end])))


def _short_numbers(line: str, span: Span) -> tuple[str, Span]:
    """A line in which a long list of numbers at `span` is cut short, with its new span."""
    text = line[span[0] : span[1]]
    if len(text) <= MOST_NUMBERS or not _NUMBERS.fullmatch(text):
        return line, span
    short = f"{text[:_KEPT].rpartition(',')[0]}, … ({len(_NUMBER.findall(text))} numbers)"
    return line[: span[0]] + short + line[span[1] :], (span[0], span[0] + len(short))


def _cell(character: str) -> str:
    if character == "\t":
        return " " * TAB
    return character if character.isprintable() else "�"


def _width(cell: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)


def _paint(text: str, code: str, colour: bool) -> str:
    return f"{code}{text}{_PLAIN}" if colour else text
