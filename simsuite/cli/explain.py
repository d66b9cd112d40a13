"""`simsuite explain`: a key of scenario files in words."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from simsuite.errors import UsageError

if TYPE_CHECKING:
    from simsuite.scenario.explain import Explained

_WIDTH = 100


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
    from simsuite.scenario import SOLVERS
    from simsuite.scenario.explain import explained

    if solver is not None and solver not in SOLVERS:
        raise UsageError(f"there is no solver `{solver}`; known are {', '.join(SOLVERS)}")
    found = explained(key, solver)
    if as_json:
        print(json.dumps({"keys": [dataclasses.asdict(each) for each in found]}, indent=2, ensure_ascii=False))
        return
    print("\n\n".join("\n".join(_lines(each)) for each in found))


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
