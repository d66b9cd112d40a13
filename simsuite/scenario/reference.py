"""All keys of scenario files as a page of Markdown, written from their JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias

from simsuite.scenario.load import SOLVERS
from simsuite.scenario.schema import json_schema

Node: TypeAlias = Mapping[str, Any]
"""A part of a JSON schema. Any: pydantic does not say what types the values of its keys have."""

_HEAD = """# All keys of scenario files

`simsuite schema --markdown` writes this page. Keys with neither a default nor the word "needed" can be left out. Names
of files start from the directory of the scenario. Unknown keys are mistakes. [expressions.md](expressions.md) says what
expressions may be made of.
"""
_ROWS = ("| key | value | default | meaning |", "|---|---|---|---|")
_BOUNDS = {"exclusiveMinimum": "> {}", "minimum": "≥ {}", "exclusiveMaximum": "< {}", "maximum": "≤ {}"}


def reference(solver: str | None = None) -> str:
    """The page, with the keys of one solver's scenarios or of all solvers'. Raises `KeyError` for an unknown solver."""
    solvers = SOLVERS if solver is None else [solver]
    return "\n".join([_HEAD, *(line for name in solvers for line in _Page(json_schema(name)).lines(name))]).strip()


class _Page:
    """The tables of one solver's keys."""

    def __init__(self, schema: Node) -> None:
        self._schema = schema

    def lines(self, solver: str) -> Iterator[str]:
        yield f'## solver = "{solver}"\n'
        yield from self._table([self._schema])
        yield from self._sections(self._schema["properties"], "")

    def _sections(self, keys: Mapping[str, Node], above: str) -> Iterator[str]:
        """The sections on keys that are tables, in order, each followed by those on the tables in it. above: the prefix
        of the keys, such as "asset."."""
        groups: dict[str, list[str]] = {}
        for key, node in keys.items():
            tables = list(self._tables(node))
            if tables and not all(_is_file(table) for table in tables):
                groups.setdefault(json.dumps([t.get("title") for t in tables]), []).append(key)
        for names in groups.values():
            node = keys[names[0]]
            tables = [table for table in self._tables(node) if not _is_file(table)]
            brackets = "[[{}]]" if node.get("type") == "array" else "[{}]"
            yield "### " + ", ".join(f"`{brackets.format(above + name)}`" for name in names) + "\n"
            yield from self._table(tables)
            inner = {key: node for table in tables for key, node in table["properties"].items()}
            yield from self._sections(inner, f"{above}{names[0]}.")

    def _tables(self, node: Node) -> Iterator[Node]:
        """The tables that a key can have as its value, or as elements of its value, each once."""
        found: dict[str, Node] = {}
        open_nodes = [node]
        while open_nodes:
            part = open_nodes.pop(0)
            if "$ref" in part:
                found[part["$ref"]] = self._resolved(part)
            open_nodes += [*part.get("anyOf", ()), *part.get("oneOf", ())]
            if isinstance(part.get("items"), Mapping):
                open_nodes.append(part["items"])
        yield from found.values()

    def _table(self, tables: list[Node]) -> Iterator[str]:
        """Keys that all the tables have come first, then those of each, under what tells it from the others."""
        first, *others = tables
        common = {
            key: node
            for key, node in first["properties"].items()
            if all(table["properties"].get(key) == node for table in others)
        }
        if common:
            yield from (*_ROWS, *(self._row(key, node, first) for key, node in common.items()), "")
        for table in tables if others else ():
            own = {key: node for key, node in table["properties"].items() if key not in common}
            marks = {key: node for key, node in own.items() if "const" in node}
            words = [f"`{key} = {_toml(node['const'])}`: {node['description']}" for key, node in marks.items()]
            yield "; ".join(words) + "\n" if words else f"`{{{next(iter(own))} = ..}}`\n"
            rest = [self._row(key, node, table) for key, node in own.items() if key not in marks]
            if rest:
                yield from (*_ROWS, *rest, "")

    def _row(self, key: str, node: Node, table: Node) -> str:
        default = node.get("default")
        simple = default is not None and not isinstance(default, dict) and not list(self._tables(node))
        if key in table.get("required", ()):
            value = "needed"
        else:
            value = f"`{_toml(default)}`" if simple else ""
        kinds = self._values({name: part for name, part in node.items() if name != "description"})
        cells = (f"`{key}`", " or ".join(kinds), value, node["description"])
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def _values(self, node: Node) -> Iterator[str]:
        """What a key can be, in words."""
        if "$ref" in node:
            yield "table"
        elif "const" in node or "enum" in node:
            yield " or ".join(f"`{_toml(value)}`" for value in node.get("enum", [node.get("const")]))
        elif "anyOf" in node or "oneOf" in node:
            short = [self._short(branch) for branch in node.get("anyOf", ())]
            yield from dict.fromkeys([*chain.from_iterable(short), *("table" for _ in node.get("oneOf", ())[:1])])
        elif node.get("type") == "array":
            yield from self._lists(node)
        elif node.get("type") == "boolean":
            yield "`true` or `false`"
        elif node.get("type") in ("integer", "number"):
            bounds = [words.format(_toml(node[name])) for name, words in _BOUNDS.items() if name in node]
            yield " ".join([node["type"], " and ".join(bounds)]).strip()
        elif node.get("type") == "string":
            yield node.get("description", "text")
        elif node.get("type") == "object":
            yield "table"

    def _short(self, node: Node) -> list[str]:
        """One of several things that a key can be, in short: a table is described by the keys that it needs."""
        needed = self._resolved(node).get("required", ()) if "$ref" in node else ()
        if not needed:
            return list(self._values(node))
        return ["`{" + ", ".join(f"{key} = .." for key in needed) + "}`"]

    def _lists(self, node: Node) -> Iterator[str]:
        if "prefixItems" in node:
            yield "[" + ", ".join(" or ".join(self._values(item)) for item in node["prefixItems"]) + "]"
            return
        size = node.get("minItems") if node.get("minItems") == node.get("maxItems") else None
        kind = " or ".join(self._values(node["items"]))
        words = f"list of {size} × ({kind})" if size and " or " in kind else f"list of {size} × {kind}"
        yield words if size else f"list of {'tables' if kind == 'table' else kind}"

    def _resolved(self, node: Node) -> Node:
        resolved: Node = self._schema["$defs"][node["$ref"].rpartition("/")[2]]
        return resolved


def _is_file(table: Node) -> bool:
    """Whether a table names a file and says no more, as {file = "k.npy"}."""
    return set(table["properties"]) == {"file"}


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
