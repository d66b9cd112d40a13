"""`simsuite report`: what a run or a sweep found, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import print_json, say
from simsuite.cli.export import existing
from simsuite.cli.run import Json, RunPath


def report(
    directory: RunPath,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="HTML", help="The report; by default DIR/report.html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what a run or a sweep found, as far as it got, into one HTML file that loads nothing: numbers with their
    errors, pictures, the field to look through, the scenario and where it all comes from."""
    from simsuite.reporting import report as write

    found = directory if (directory / "sweep.json").is_file() else existing(directory).path
    path = output if output is not None else found / "report.html"
    write(found, path)
    if as_json:
        print_json({"status": "written", "files": [str(path)]})
        return
    say(f"wrote {path}")
