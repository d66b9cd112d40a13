"""`simsuite schema`: the keys of scenario files, for editors (JSON schema) and for people (Markdown)."""

from __future__ import annotations

from typing import Annotated

import typer

from simsuite.errors import UsageError


def schema(
    solver: Annotated[
        str | None, typer.Argument(metavar="[heat|gbm|linear]", help="One solver's scenarios only.", show_default=False)
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print all keys as a page to read instead.")] = False,
) -> None:
    """Print the JSON schema of scenario files, which has every key with its unit."""
    import json

    from simsuite.scenario import SOLVERS, editor_schema
    from simsuite.scenario.reference import reference

    if solver is not None and solver not in SOLVERS:
        raise UsageError(f"there is no solver `{solver}`; known are {', '.join(SOLVERS)}")
    print(reference(solver) if markdown else json.dumps(editor_schema(solver), indent=2, ensure_ascii=False))
