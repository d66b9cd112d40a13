"""Where each key and value of a TOML text stands, from its syntax tree."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import tree_sitter
import tree_sitter_toml

Span: TypeAlias = tuple[int, int]  # from and to, in characters from the start of the text
KeyPath: TypeAlias = tuple[str | int, ...]  # keys and list indices from the root
Table: TypeAlias = dict[str, Any]
"""A table of a scenario as `tomllib` reads it. Any: a key may have a value of any type until a model has checked it."""

_VALUES = {"string", "integer", "float", "boolean", "array", "inline_table"}
_VALUES |= {"offset_date_time", "local_date_time", "local_date", "local_time"}
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[ \t]*\r?\n\s*|.)", re.DOTALL)


def key_name(path: KeyPath) -> str:
    """What messages call a value: its last key, with the list indices that follow it."""
    last = max((i for i, key in enumerate(path) if isinstance(key, str)), default=0)
    return f"`{'.'.join(map(str, path[last:]))}`" if path else "the scenario"


@dataclass
class Spans:
    """keys: the span of each key within a header or a dotted key. values: the span of each value; a table with a header
    has the span of its header. duplicates: keys that stand twice, each as its path, first and second place.
    """

    keys: dict[KeyPath, Span] = field(default_factory=dict)
    values: dict[KeyPath, Span] = field(default_factory=dict)
    duplicates: list[tuple[KeyPath, Span, Span]] = field(default_factory=list)


def find_spans(text: str) -> Spans:
    """The spans of a text, as far as it makes sense. Its nesting must be bounded."""
    raw = text.encode()
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language())).parse(raw)
    finder = _Finder(raw)
    finder.document(tree.root_node)
    return finder.spans


class _Finder:
    def __init__(self, raw: bytes) -> None:
        self.spans = Spans()
        self._raw = raw
        self._lengths: dict[KeyPath, int] = {}  # the number of elements of each array of tables so far
        self._headers: set[KeyPath] = set()
        # For each byte, how many characters begin up to and with it.
        self._characters = None if raw.isascii() else np.cumsum((np.frombuffer(raw, np.uint8) & 0xC0) != 0x80)

    def document(self, root: tree_sitter.Node) -> None:
        for node in root.children:
            if node.type == "pair":
                self._pair(node, ())
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def _span(self, node: tree_sitter.Node) -> Span:
        if self._characters is None:
            return node.start_byte, node.end_byte
        return self._character(node.start_byte), self._character(node.end_byte)

    def _character(self, byte: int) -> int:
        assert self._characters is not None
        return int(self._characters[byte - 1]) if byte else 0

    def _parts(self, node: tree_sitter.Node) -> list[tuple[str, Span]]:
        """The parts of a dotted key, which the grammar nests to the left."""
        if node.type == "dotted_key":
            return [part for child in node.children for part in self._parts(child)]
        if node.type not in ("bare_key", "quoted_key"):
            return []
        name = self._raw[node.start_byte : node.end_byte].decode()
        if node.type == "quoted_key":
            try:
                name = tomllib.loads(f"key = {name}")["key"]
            except tomllib.TOMLDecodeError:
                name = name[1:-1]
        return [(name, self._span(node))]

    def _table(self, node: tree_sitter.Node) -> None:
        parts = next((parts for child in node.children if (parts := self._parts(child))), [])
        if not parts:
            return
        path: KeyPath = ()
        for i, (name, span) in enumerate(parts):
            path = (*path, name)
            last = i == len(parts) - 1
            if last and node.type == "table":
                self._mark_once(path, span, path in self._headers)
                self._headers.add(path)
            self.spans.keys.setdefault(path, span)
            self.spans.values.setdefault(path, span)
            if last and node.type == "table_array_element":
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
                self.spans.keys.setdefault(path, span)
                self.spans.values.setdefault(path, span)
        for child in node.children:
            if child.type == "pair":
                self._pair(child, path)

    def _pair(self, node: tree_sitter.Node, path: KeyPath) -> None:
        parts = self._parts(node.children[0])
        value = next((child for child in node.children[1:] if child.type in _VALUES), None)
        if not parts or value is None:
            return
        for name, span in parts[:-1]:
            path = (*path, name)
            self.spans.keys.setdefault(path, span)
            self.spans.values.setdefault(path, span)
        name, span = parts[-1]
        path = (*path, name)
        self._mark_once(path, span, path in self.spans.values)
        self.spans.keys.setdefault(path, span)
        self._value(value, path)

    def _mark_once(self, path: KeyPath, span: Span, seen: bool) -> None:
        if seen:
            self.spans.duplicates.append((path, self.spans.keys[path], span))

    def _value(self, node: tree_sitter.Node, path: KeyPath) -> None:
        self.spans.values.setdefault(path, self._span(node))
        if node.type == "inline_table":
            for child in node.children:
                if child.type == "pair":
                    self._pair(child, path)
        elif node.type == "array":
            elements = [child for child in node.children if child.type in _VALUES]
            for i, child in enumerate(elements):
                self._value(child, (*path, i))


def place_in_string(text: str, span: Span, column: int) -> int:
    """Where the character `column` of a string value stands in `text`, given the span of the whole value."""
    start, end = span
    raw = text[start:end]
    quotes = next((q for q in ('"""', "'''", '"', "'") if raw.startswith(q)), "")
    at = start + len(quotes)
    if len(quotes) == 3 and text.startswith("\n", at):
        at += 1  # TOML drops the first line end of a multi-line string
    while column > 0 and at < end:
        escape = _ESCAPE.match(text, at, end) if quotes.startswith('"') else None
        at = escape.end() if escape else at + 1
        column -= 0 if escape and escape[0][1:].isspace() else 1
    return min(at, end)
