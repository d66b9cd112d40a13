"""`simsuite schema`: the keys of scenario files, for editors (JSON schema) and for people (Markdown). `simsuite
explain`: one of them in words."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simsuite.errors import UsageError

if TYPE_CHECKING:
    from simsuite.scenario.keys.explain import Explained

_WIDTH = 100


def schema(
    solver: Annotated[
        str | None, typer.Argument(metavar="[heat|gbm|linear]", help="One solver's scenarios only.", show_default=False)
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print all keys as a page to read instead.")] = False,
) -> None:
    """Print the JSON schema of scenario files, which has every key with its unit."""
    from simsuite.scenario import editor_schema
    from simsuite.scenario.keys.reference import reference

    _require_solver(solver)
    print(reference(solver) if markdown else json.dumps(editor_schema(solver), indent=2, ensure_ascii=False))


def explain(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="A key such as boundary.left.h, or its name.", show_default=False)
    ],
    solver: Annotated[
        str | None, typer.Option("--solver", metavar="heat|gbm|linear", help="One solver's scenarios only.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Say what a key of scenario files means, what it can be, its default, and an example."""
    from simsuite.scenario.keys.explain import explained

    _require_solver(solver)
    found = explained(key, solver)
    if as_json:
        print(json.dumps({"keys": [dataclasses.asdict(each) for each in found]}, indent=2, ensure_ascii=False))
        return
    print("\n\n".join("\n".join(_lines(each)) for each in found))


def _require_solver(solver: str | None) -> None:
    from simsuite.plugins import is_solver, solver_names

    if solver is not None and not is_solver(solver):
        raise UsageError(f"there is no solver `{solver}`; known are {', '.join(solver_names())}")


def _lines(found: Explained) -> Iterator[str]:
    within = f", with {found.within}" if found.within else ""
    yield f'{", ".join((found.key, *found.also))}   solver = "{found.solver}"{within}'
    for name, text in (
        ("meaning", found.meaning),
        ("value", found.value),
        ("default", found.default),
        ("example", found.example),
        ("keys", ", ".join(found.keys)),
    ):
        if text:
            lines = textwrap.wrap(text.replace("`", ""), _WIDTH, break_long_words=False, break_on_hyphens=False)
            yield from (f"  {name if i == 0 else '':8} {line}" for i, line in enumerate(lines))
