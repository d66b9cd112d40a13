"""``--set key=value``: single values of a scenario changed from the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tomli_w

from simsuite.errors import UsageError
from simsuite.scenario.source import MAX_NESTING, Source, SourceError
from simsuite.scenario.spans import KeyPath, Span, Spans, Table, find_spans

_KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"\\]*\"|'[^']*')\s*(\.|=|$)")
_INDEX = re.compile(r"\[(\d+)\]")
_ELEMENT = re.compile(r"\s*([^=]*\[\d+\][^=]*?)\s*=\s*(.*)", re.DOTALL)
_PREFIX = "value = "


class OverrideError(Exception):
    """An override that cannot be applied. span: where in its text."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.help = help


@dataclass(frozen=True)
class Override:
    """One ``key=value``. text: as given. names: the parts of the key, each with its span. start: of the value.

    A value that is valid TOML is read as such; anything else is text, so that quotes are rarely needed.
    """

    text: str
    names: tuple[tuple[str, Span], ...]
    start: int

    @classmethod
    def parse(cls, text: str) -> Override:
        """The override in a text. Raises `OverrideError`."""
        names: list[tuple[str, Span]] = []
        at = 0
        while match := _KEY.match(text, at):
            names.append((match[1].strip("\"'"), match.span(1)))
            if len(names) > MAX_NESTING:
                raise OverrideError(f"this key has more than {MAX_NESTING} parts", match.span(1))
            at = match.end()
            if match[2] == "=":
                start = at + len(text[at:]) - len(text[at:].lstrip())
                if start == len(text):
                    raise OverrideError("a value is missing after `=`", (at, at + 1))
                return cls(text, tuple(names), start)
        whole = names and at == len(text)  # as in --set time.tolerance 1e-4
        help = f"write {text.strip()}=VALUE, in one piece" if whole else "for example grid.nx=512"
        if element := _ELEMENT.match(text):  # as in source[0].power=1e6
            key = _INDEX.sub(r".\1", element[1])
            help = f"elements of lists are counted from 0, and stand after a dot: write {key}={element[2]}"
        raise OverrideError("expected key=value", (at, at + 1), help)

    @cached_property
    def value(self) -> object:
        return self.text[self.start :].rstrip() if self._toml is None else self._toml["value"]

    @cached_property
    def _toml(self) -> Table | None:
        """What `_PREFIX` and the value say as TOML; None if that is no value."""
        try:
            data = Source("", _PREFIX + self.text[self.start :]).parse()
        except SourceError:
            return None
        return data if set(data) == {"value"} else None  # a line end in the text can begin another key

    def apply(self, data: Table) -> KeyPath:
        """Puts the value into `data` and returns its path there. Raises `OverrideError`."""
        target: Any = data  # Any: tables take names and lists take indices, and no one type allows both
        path: KeyPath = ()
        for i, (name, span) in enumerate(self.names):
            key: str | int = name
            if isinstance(target, list):
                key = self._index(path, name, span, len(target))
            elif not isinstance(target, dict):
                where = ".".join(map(str, path))
                raise OverrideError(f"`{where}` is neither a table nor a list", self.names[i - 1][1])
            path = (*path, key)
            if i == len(self.names) - 1:
                target[key] = deepcopy(self.value)
            else:
                target = target.setdefault(key, {}) if isinstance(target, dict) else target[key]
        return path

    def _index(self, path: KeyPath, name: str, span: Span, length: int) -> int:
        if name.isascii() and name.isdigit() and int(name[:9]) < length:
            return int(name)
        where = ".".join(map(str, path))
        known = f"its elements are {where}.0 to {where}.{length - 1}" if length > 1 else f"it has only {where}.0"
        known = f"they are counted from 0: {known}" if length else "it is empty"
        raise OverrideError(f"`{where}` is a list and has no element `{name}`", span, known)

    def spans(self, path: KeyPath) -> Spans:
        """Where keys and values stand in `text`, given the path that `apply` returned."""
        spans = Spans()
        for i, (_, span) in enumerate(self.names):
            spans.keys[path[: i + 1]] = spans.values[path[: i + 1]] = span
        shift = self.start - len(_PREFIX)
        inner = None if self._toml is None else find_spans(_PREFIX + self.text[self.start :])
        for found, result in ((inner.keys, spans.keys), (inner.values, spans.values)) if inner else ():
            for (_, *rest), (start, end) in found.items():
                if rest or result is spans.values:
                    result[(*path, *rest)] = (start + shift, end + shift)
        if inner is None:
            spans.values[path] = (self.start, len(self.text.rstrip()))
        return spans


def settings(values: Mapping[str, object]) -> tuple[str, ...]:
    """Overrides as text from Python values: ``{"grid.nx": 512}`` gives ``("grid.nx=512",)``.

    Values may also be of NumPy's types, or paths. Raises `UsageError` for what a scenario cannot hold.
    """
    return tuple(f"{key}={_written(key, value)}" for key, value in values.items())


def _written(key: str, value: object) -> str:
    try:
        return _inline(value)
    except (TypeError, ValueError):
        where, part = _unwritable(key, value)
    except RecursionError:
        where, part = key, value
    how = '\n  = help: what depends on time or place is an expression in quotes, such as "30 + 5*sin(t)"'
    help = how if callable(part) else ""
    raise UsageError(f"`{where}` cannot be set to {_described(part)}: a scenario has no way to write it{help}")


def _unwritable(key: str, value: object) -> tuple[str, object]:
    """The first part of a value that cannot be written, with its dotted key."""
    parts: Iterable[tuple[object, object]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    for name, part in parts:
        try:
            _inline(part)
        except (TypeError, ValueError):
            return _unwritable(f"{key}.{name}", part)
    return key, value


def _described(value: object) -> str:
    return "None" if value is None else f"this value of type {type(value).__name__}"


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_inline(str(key))} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, os.PathLike):
        return _inline(os.fsdecode(value))
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars, and whatever behaves like them
        return _inline(value.tolist())
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")
