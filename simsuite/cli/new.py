"""`simsuite new`: a scenario to start from."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import one_of, say
from simsuite.errors import UsageError


class Kind(StrEnum):
    """Solvers there are starting points for."""

    heat = "heat"
    gbm = "gbm"
    linear = "linear"


def new(
    solver: Annotated[
        Kind, typer.Argument(parser=one_of(Kind), metavar="heat|gbm|linear", help="The solver.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file to write; by default SOLVER.toml.")
    ] = None,
) -> None:
    """Write a commented scenario that runs as it is."""
    from simsuite.templates import template

    path = output if output is not None else Path(f"{solver.value}.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template(solver.value))
    except FileExistsError:
        raise UsageError(f"{path} exists already; choose another name with -o") from None
    except OSError as e:
        raise UsageError(f"cannot write {path}: {e.strerror}") from None
    say(f"wrote {path}; try: simsuite run {path}")
