"""`simsuite schema`: the JSON schema of scenario files, for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from simsuite.errors import UsageError


def schema(
    solver: Annotated[
        str | None, typer.Argument(metavar="[heat|gbm|linear]", help="One solver's scenarios only.", show_default=False)
    ] = None,
) -> None:
    """Print the JSON schema of scenario files."""
    import json

    from simsuite.scenario import SOLVERS, json_schema

    if solver is not None and solver not in SOLVERS:
        raise UsageError(f"there is no solver `{solver}`; known are {', '.join(SOLVERS)}")
    print(json.dumps(json_schema(solver), indent=2, ensure_ascii=False))
