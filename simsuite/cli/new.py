"""`simsuite new`: a scenario to start from."""

from __future__ import annotations

import json
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
    schema: Annotated[
        bool,
        typer.Option(
            "--schema/--no-schema",
            help="Also write SOLVER.schema.json beside it, by which editors complete and check keys.",
        ),
    ] = True,
) -> None:
    """Write a commented scenario that runs as it is."""
    from simsuite.templates import template

    path = output if output is not None else Path(f"{solver.value}.toml")
    beside = path.parent / f"{solver.value}.schema.json"
    text = template(solver.value)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(f"#:schema ./{beside.name}\n{text}" if schema else text)
        if schema:
            _write_schema(solver.value, beside)
    except FileExistsError:
        raise UsageError(f"{path} exists already; choose another name with -o") from None
    except OSError as e:
        raise UsageError(f"cannot write {e.filename or path}: {e.strerror}") from None
    say(f"wrote {path}; try: simsuite run {path}")


def _write_schema(solver: str, path: Path) -> None:
    """Write the JSON schema of a solver's scenarios. One that is there, of whatever version, is replaced; another
    file of that name stays, which is told. Raises OSError."""
    from simsuite.scenario import editor_schema

    found = editor_schema(solver)
    if path.exists() and not _is_schema(path, found["title"]):
        say(f"{path} is another file, and stays; `simsuite schema {solver}` prints the schema for editors")
        return
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_schema(path: Path, title: str) -> bool:
    """Whether a file is a schema of the same title."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("title") == title
