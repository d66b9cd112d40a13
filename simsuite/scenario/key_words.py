"""What a key of a scenario file can be, in words, from its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias

Node: TypeAlias = Mapping[str, Any]
"""A part of a JSON schema. Any: pydantic does not say what types the values of its keys have."""

_BOUNDS = {"exclusiveMinimum": "> {}", "minimum": "≥ {}", "exclusiveMaximum": "< {}", "maximum": "≤ {}"}


class KeyWords:
    """The words for the keys of one solver's scenarios."""

    def __init__(self, schema: Node) -> None:
        self._schema = schema

    def value(self, node: Node) -> str:
        """What a key can be, in words."""
        return " or ".join(self._values({name: part for name, part in node.items() if name != "description"}))

    def default(self, key: str, table: Node) -> str:
        """The default of a key of a table as TOML, "needed" if it has to be given, or nothing."""
        node = table["properties"][key]
        if key in table.get("required", ()):
            return "needed"
        default = node.get("default")
        simple = default is not None and not isinstance(default, dict) and not list(self.tables(node))
        return toml(default) if simple else ""

    def tables(self, node: Node) -> Iterator[Node]:
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

    def _values(self, node: Node) -> Iterator[str]:
        if "$ref" in node:
            yield "table"
        elif "const" in node or "enum" in node:
            yield " or ".join(f"`{toml(value)}`" for value in node.get("enum", [node.get("const")]))
        elif "anyOf" in node or "oneOf" in node:
            short = [self._short(branch) for branch in node.get("anyOf", ())]
            yield from dict.fromkeys([*chain.from_iterable(short), *("table" for _ in node.get("oneOf", ())[:1])])
        elif node.get("type") == "array":
            yield from self._lists(node)
        elif node.get("type") == "boolean":
            yield "`true` or `false`"
        elif node.get("type") in ("integer", "number"):
            bounds = [words.format(toml(node[name])) for name, words in _BOUNDS.items() if name in node]
            yield " ".join([node["type"], " and ".join(bounds)]).strip()
        elif node.get("type") == "string":
            yield node.get("description", "text")
        elif node.get("type") == "object":
            yield f"table of names and {self._of_names(node)}" if "additionalProperties" in node else "table"

    def _of_names(self, node: Node) -> str:
        """What a table with keys of any name holds."""
        return f"{node['additionalProperties'].get('type', 'value')}s"

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


def is_file(table: Node) -> bool:
    """Whether a table names a file and says no more, as {file = "k.npy"}."""
    return set(table["properties"]) == {"file"}


def toml(value: object) -> str:
    """A value as it is written in a scenario file."""
    return json.dumps(value, ensure_ascii=False)
