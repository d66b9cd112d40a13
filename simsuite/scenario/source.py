"""A scenario's text: what it says, and where each key and value stands."""

from __future__ import annotations

import functools
import re
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from simsuite.scenario.similar_names import DATA, IMAGES, SCENARIOS, files_there, near_file
from simsuite.scenario.spans import Span, Spans, Table, find_spans

MAX_BYTES = 1 << 20
# the most nested brackets, and parts of a dotted key: with more, tomllib recurses too deeply or takes seconds
MAX_NESTING = 64
MAX_DIGITS = 400  # the most digits of a number; Python refuses integers with thousands

# What counts in a text: brackets, dots and numbers outside strings and comments. An open string ends with its line
# (or with the text), so that no character is looked at twice.
_TOKENS = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*+"?|'''
    r"""'''.*?(?:'''|\Z)|'[^'\n]*+'?|"""
    r"#[^\n]*+|[A-Za-z0-9_+-]++|[^\s]|\n",
    re.DOTALL,
)


class SourceError(Exception):
    """A text that cannot be read as TOML. span: where, if anywhere."""

    def __init__(self, message: str, span: Span | None = None, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.help = help


@functools.lru_cache(8)
def _parsed(text: str) -> Table:
    """What a text says; kept, as many scenarios are made from one file with other values. Raises `SourceError` and what
    tomllib raises."""
    _check_limits(text)
    return tomllib.loads(text)


def _check_limits(whole: str) -> None:
    """Refuses what would make tomllib slow or overflow its stack."""
    depth = parts = 0
    for token in _TOKENS.finditer(whole):
        text = token[0]
        if text in "[{":
            depth += 1
        elif text in "]}":
            depth = max(0, depth - 1)
        if text == ".":
            parts += 1
        elif not (text[0] in "\"'_-" or text[0].isalnum()):
            parts = 0
        if depth > MAX_NESTING:
            raise SourceError(f"brackets are nested more than {MAX_NESTING} deep", token.span())
        if parts >= MAX_NESTING:
            raise SourceError(f"this key has more than {MAX_NESTING} parts", token.span())
        if len(text) > MAX_DIGITS and text[0] in "+-0123456789":
            raise SourceError("this number has too many digits", token.span())


@dataclass(frozen=True)
class Source:
    """One text in TOML. name: what reports call it. text: without byte order mark, lines ended by ``\\n``."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path) -> Source:
        """The text of a file. Raises `SourceError` if there is none."""
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            help = None
            if isinstance(error, FileNotFoundError):
                near = near_file(path, SCENARIOS)
                help = files_there(path, SCENARIOS) if near is None else f"did you mean {near!r}?"
            if isinstance(error, IsADirectoryError):
                there = files_there(path / "any", SCENARIOS) or "there is none in it"
                help = f"give the TOML file of a scenario: {there}"
            raise SourceError(f"cannot read {str(path)!r}: {reason}", None, help) from None
        if path.suffix.lower() in DATA:
            raise SourceError(f"{str(path)!r} is a file of data, not a scenario", None, _named(path))
        if len(raw) > MAX_BYTES:
            raise SourceError(
                f"{str(path)!r} is larger than {MAX_BYTES >> 20} MiB", None, "keep data in separate files"
            )
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            help = "a scenario is a text file in UTF-8"
            raise SourceError(f"{str(path)!r} is not UTF-8 text (line {line})", None, help) from None
        return cls(str(path), text.replace("\r\n", "\n"))

    def parse(self) -> Table:
        """What the text says. Raises `SourceError`."""
        try:
            return deepcopy(_parsed(self.text))
        except tomllib.TOMLDecodeError as error:
            raise self._syntax_error(str(error)) from None
        except (ValueError, RecursionError) as error:
            raise SourceError(f"not readable as TOML: {error}") from None

    @cached_property
    def spans(self) -> Spans:
        return find_spans(self.text)

    def _syntax_error(self, text: str) -> SourceError:
        """What tomllib found, at the place it names, in our words where we know better."""
        message, _, place = text.partition(" (at ")
        if message.startswith(("Cannot", "Duplicate")) and self.spans.duplicates:
            path, first, second = self.spans.duplicates[0]
            line = self.text.count("\n", 0, first[0]) + 1
            return SourceError(f"`{path[-1]}` is defined twice", second, f"the first is in line {line}")
        found = re.match(r"line (\d+), column (\d+)", place)
        end = len(self.text.rstrip())
        offset = min(self._offset(int(found[1]), int(found[2])), end) if found else end
        if open_string := self._open_string(offset):
            return open_string
        if message.startswith("Cannot"):
            return SourceError("this was given a value before", (offset, offset + 1))
        words, help = _WORDS.get(message, (message[:1].lower() + message[1:], None))
        return SourceError(words, (offset, offset + 1), help)

    def _open_string(self, end: int) -> SourceError | None:
        """A string that begins before `end`, and that no quote closes."""
        for token in _TOKENS.finditer(self.text, 0, end):
            quotes = re.match(r"""\"{3}|'{3}|"|'""", token[0])
            whole = quotes and _TOKENS.match(self.text, token.start())
            if quotes and whole and not _is_closed(whole[0], quotes[0]):
                line = whole[0].partition("\n")[0].rstrip()
                help = f"write {quotes[0]} where it ends"
                if line.endswith('\\"'):
                    help = '`\\"` is a quote amid the string: write `\\\\` for a backslash, or use single quotes'
                start = token.start()
                return SourceError("the string that begins here is not closed", (start, start + len(line)), help)
        return None

    def _offset(self, line: int, column: int) -> int:
        start = 0
        for _ in range(line - 1):
            start = self.text.index("\n", start) + 1
        return start + column - 1


def _is_closed(text: str, quotes: str) -> bool:
    """Whether a string, from its first quotes on, ends with the same ones, which no backslash is before."""
    inside = text[len(quotes) :]
    if quotes[0] == '"':
        inside = re.sub(r"\\.", "", inside, flags=re.DOTALL)
    return inside.endswith(quotes)


def _named(data: Path) -> str:
    """How a scenario names a file of data."""
    if data.suffix.lower() in IMAGES:
        key = f'conductivity = {{file = "{data.name}", values = {{"#000000" = 1.0, "#ffffff" = 45.0}}}}'
    else:
        key = f'matrix = {{file = "{data.name}"}}'
    return f"a scenario names it in place of numbers, as in {key}"


_WORDS: dict[str, tuple[str, str | None]] = {
    "Invalid value": (
        "this is no TOML value",
        "text goes in quotes; numbers do not, nor do true and false, in small letters",
    ),
    "Expected '=' after a key in a key/value pair": (
        "expected `=` after a key",
        "write key = value; a number stands without unit or decimal comma",
    ),
    "Expected newline or end of document after a statement": (
        "expected the end of the line",
        "one `key = value` a line; an expression goes in quotes, and a number stands without unit or decimal comma",
    ),
    "Invalid statement": ("expected `key = value` or `[section]`", None),
    "Unescaped '\\' in a string": ("`\\` has a meaning in double quotes", "write `\\\\`, or use single quotes"),
    "Unclosed array": ("expected `,` or `]` in this list", None),
    "Unclosed inline table": ("expected `,` or `}` in this table", "an expression goes in quotes"),
    "Invalid initial character for a key part": (
        "expected a key",
        "an inline table stays on one line, without a last comma",
    ),
}
