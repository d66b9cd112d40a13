"""All keys of scenario files as a page of Markdown, written from their JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from simsuite.plugins import BUILT_IN
from simsuite.scenario.key_words import KeyWords, Node, is_file, toml
from simsuite.scenario.keys.schema import json_schema

_HEAD = """# All keys of scenario files

`simsuite schema --markdown` writes this page. Keys with neither a default nor the word "needed" can be left out. Names
of files start from the directory of the scenario. Unknown keys are mistakes. [expressions.md](expressions.md) says what
expressions may be made of. Whatever is a number here may be written as a text, too: as arithmetic with the names in
`[constants]`, `"2*w"`, or with a unit, `"5 mm"`.
"""
_ROWS = ("| key | value | default | meaning |", "|---|---|---|---|")


def reference(solver: str | None = None) -> str:
    """The page, with the keys of one solver's scenarios or of all solvers that come with simsuite. Raises `KeyError`
    for an unknown solver."""
    solvers = BUILT_IN if solver is None else [solver]
    return "\n".join([_HEAD, *(line for name in solvers for line in _Page(json_schema(name)).lines(name))]).strip()


class _Page:
    """The tables of one solver's keys."""

    def __init__(self, schema: Node) -> None:
        self._schema, self._words = schema, KeyWords(schema)

    def lines(self, solver: str) -> Iterator[str]:
        yield f'## solver = "{solver}"\n'
        yield from self._table([self._schema])
        yield from self._sections(self._schema["properties"], "")

    def _sections(self, keys: Mapping[str, Node], above: str) -> Iterator[str]:
        """The sections on keys that are tables, in order, each followed by those on the tables in it. above: the prefix
        of the keys, such as "asset."."""
        groups: dict[str, list[str]] = {}
        for key, node in keys.items():
            tables = list(self._words.tables(node))
            if tables and not all(is_file(table) for table in tables):
                groups.setdefault(json.dumps([t.get("title") for t in tables]), []).append(key)
        for names in groups.values():
            node = keys[names[0]]
            tables = [table for table in self._words.tables(node) if not is_file(table)]
            brackets = "[[{}]]" if node.get("type") == "array" else "[{}]"
            yield "### " + ", ".join(f"`{brackets.format(above + name)}`" for name in names) + "\n"
            yield from self._table(tables)
            inner = {key: node for table in tables for key, node in table["properties"].items()}
            yield from self._sections(inner, f"{above}{names[0]}.")

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
            if not own:  # all that it has stands above
                continue
            marks = {key: node for key, node in own.items() if "const" in node}
            words = [f"`{key} = {toml(node['const'])}`: {node['description']}" for key, node in marks.items()]
            yield "; ".join(words) + "\n" if words else f"`{{{next(iter(own))} = ..}}`\n"
            rest = [self._row(key, node, table) for key, node in own.items() if key not in marks]
            if rest:
                yield from (*_ROWS, *rest, "")

    def _row(self, key: str, node: Node, table: Node) -> str:
        default = self._words.default(key, table)
        default = f"`{default}`" if default not in ("", "needed") else default
        cells = (f"`{key}`", self._words.value(node), default, node["description"])
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
