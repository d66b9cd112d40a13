"""Single keys of scenario files in words: what they mean, what they can be, their default, and an example."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.plugins import solver_names
from simsuite.scenario.key_words import KeyWords, Node, toml
from simsuite.scenario.keys.schema import json_schema
from simsuite.scenario.load import model_class
from simsuite.scenario.other_names import further_names, key_of
from simsuite.words import looks

_EXAMPLES = ("templates", "verify/benchmarks")  # folders of simsuite with scenarios that are tested
_LISTED, _CLOSE = 12, 4  # the most keys that an error proposes: of the same name, and of names like it
_LONGEST = 100  # characters of the value of an example


@dataclass(frozen=True)
class Explained:
    """What there is to say of a key in one kind of table.

    solver: whose scenarios have it. within: what tells the table from others that could stand there, as `kind =
    "flux"`, or nothing. default: as TOML, "needed", or nothing. example: a line of TOML, and which scenario it is from,
    or that it is the default; or nothing. keys: those of the table that the value can be. also: keys of the same name
    of which the same is to be said.
    """

    solver: str
    key: str
    within: str
    meaning: str
    value: str
    default: str
    example: str
    keys: tuple[str, ...]
    also: tuple[str, ...] = ()


def explained(key: str, solver: str | None = None) -> list[Explained]:
    """What there is to say of a key such as "boundary.left.h", for one solver or for all that have it. A name alone,
    such as "h", stands for all keys of that name. Raises UsageError, with what may have been meant, for a key that no
    scenario has."""
    parts = _parts(key)
    solvers = solver_names() if solver is None else [solver]
    found = [each for name in solvers for each in _at(name, key_of(model_class(name), parts))] if parts else []
    if not found and len(parts) == 1:
        places = [path for name in solvers for path in _paths(name) if path[-1] == parts[0]]
        found = _together([each for path in dict.fromkeys(places) for name in solvers for each in _at(name, path)])
    if not found:
        raise UsageError(_unknown(key, parts, solvers))
    return found


def _together(found: list[Explained]) -> list[Explained]:
    """The same, with keys of which the same is to be said in one."""
    alike: dict[Explained, list[Explained]] = defaultdict(list)
    for each in found:
        alike[replace(each, key="", example="")].append(each)
    return [replace(some[0], also=tuple(each.key for each in some[1:])) for some in alike.values()]


def _parts(key: str) -> tuple[str, ...]:
    """The names in a key, without the numbers that elements of lists have in messages, as in source[0].power."""
    parts = re.split(r"\.", re.sub(r"\[+\d+\]+", "", key))
    return tuple(part.strip("[] ") for part in parts if part.strip("[] ") and not part.strip().isdigit())


@cache
def _schema(solver: str) -> Node:
    return json_schema(solver)


def _at(solver: str, parts: tuple[str, ...]) -> Iterator[Explained]:
    """What there is to say of a key in each kind of table that has it; once where kinds say the same."""
    schema = _schema(solver)
    words, tables = KeyWords(schema), [schema]
    for above in parts[:-1]:
        tables = [inner for table in tables for inner in _tables(words, table["properties"].get(above))]
    alike: dict[str, list[Node]] = {}
    for table in tables:
        if parts[-1] in table["properties"]:
            same = [table["properties"][parts[-1]], parts[-1] in table.get("required", ())]
            alike.setdefault(json.dumps(same), []).append(table)
    for some in alike.values():
        node = some[0]["properties"][parts[-1]]
        inner = dict.fromkeys(key for table in _tables(words, node) for key in table["properties"])
        everywhere, default = len(some) == len(tables), words.default(parts[-1], some[0])
        example = _example(solver, parts, [_marks(table) for table in some])
        if not example and default not in ("", "needed"):
            example = f"{parts[-1]} = {default}   # the default"
        yield Explained(
            solver=solver,
            key=".".join(parts),
            within="" if everywhere else " or ".join(filter(None, map(_mark, some))),
            meaning=node["description"],
            value=words.value(node),
            default=default,
            example=example,
            keys=tuple(inner),
        )


def _tables(words: KeyWords, node: Node | None) -> list[Node]:
    return [] if node is None else list(words.tables(node))


def _marks(table: Node) -> dict[str, object]:
    """The keys of a table that have one value only, which tells it from other tables."""
    return {key: node["const"] for key, node in table["properties"].items() if "const" in node}


def _mark(table: Node) -> str:
    return ", ".join(f"{key} = {toml(value)}" for key, value in _marks(table).items())


def _paths(solver: str) -> Iterator[tuple[str, ...]]:
    """All keys of a solver's scenarios, those of tables before those in them."""
    words = KeyWords(_schema(solver))

    def below(tables: list[Node], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for key in dict.fromkeys(key for table in tables for key in table["properties"]):
            yield (*above, key)
            inner = [each for table in tables for each in _tables(words, table["properties"].get(key))]
            yield from below(inner, (*above, key))

    return below([_schema(solver)], ())


@cache
def _examples() -> list[tuple[str, Mapping[str, object]]]:
    """The name and the content of scenarios that come with simsuite."""
    folders = [Path(__file__).parents[2] / folder for folder in _EXAMPLES]
    return [(path.stem, tomllib.loads(path.read_text("utf-8"))) for f in folders for path in sorted(f.glob("*.toml"))]


def _example(solver: str, parts: tuple[str, ...], marks: list[dict[str, object]]) -> str:
    """A line of TOML with a key, from a scenario that has it in a table with one of these marks; or with a key of this
    name in another table of such marks, such as those of another edge. The first such, or, as a constant would be
    missed in a line alone, the first without one."""
    others = [path for path in _paths(solver) if path[-1] == parts[-1] and len(path) == len(parts)]
    lines = [found for path in (parts, *others) for found in _examples_of(solver, path, marks)]
    return next((line for line, alone in lines if alone), lines[0][0] if lines else "")


def _examples_of(solver: str, path: tuple[str, ...], marks: list[dict[str, object]]) -> Iterator[tuple[str, bool]]:
    """Lines of TOML with a key, and whether each is without constants. A constant alone is given by what it is."""
    for name, scenario in _examples():
        constants = scenario.get("constants", {})
        assert isinstance(constants, Mapping)
        for table in _inside(scenario, path[:-1]) if scenario["solver"] == solver else ():
            if path[-1] in table and any(mark.items() <= table.items() for mark in marks):
                value = table[path[-1]]
                written = _written(constants.get(value, value) if isinstance(value, str) else value)
                if len(line := f"{path[-1]} = {written}") <= _LONGEST:
                    yield f"{line}   # {name}.toml", constants.keys().isdisjoint(re.findall(r"\w+", written))


def _inside(value: object, parts: tuple[str, ...]) -> Iterator[Mapping[str, object]]:
    """The tables at a key, elements of lists each."""
    for element in value if isinstance(value, list) else [value]:
        if isinstance(element, Mapping):
            if not parts:
                yield element
            elif parts[0] in element:
                yield from _inside(element[parts[0]], parts[1:])


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_written(inner)}" for key, inner in value.items()) + "}"
    return "[" + ", ".join(map(_written, value)) + "]" if isinstance(value, list) else toml(value)


def _unknown(key: str, parts: tuple[str, ...], solvers: list[str]) -> str:
    known = list(dict.fromkeys(".".join(path) for name in solvers for path in _paths(name)))
    further = [each for name in solvers for each in further_names(model_class(name)).items()]
    named = [*known, *(".".join(map(str, (*path[:-1], other))) for path, others in further for other in others)]
    last = [path for path in named if parts and looks(path.rpartition(".")[2]) == looks(parts[-1])]
    near = difflib.get_close_matches(".".join(parts), last or known, _LISTED if last else _CLOSE, 0.0 if last else 0.7)
    said = f"no scenario has a key `{key}`" if len(solvers) > 1 else f"scenarios of {solvers[0]} have no key `{key}`"
    return f"{said}; {f'there is {_listed(near)}' if near else '`simsuite schema --markdown` has all keys'}"


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - _LISTED} more" if len(keys) > _LISTED else ""
    return ", ".join(f"`{key}`" for key in keys[:_LISTED]) + more
