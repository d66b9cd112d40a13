"""`simsuite plot`: a picture of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import say
from simsuite.cli.run import RunPath, run_directory
from simsuite.errors import UsageError


def plot(
    directory: RunPath,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="The picture; by default DIR/plot.png.")
    ] = None,
) -> None:
    """Draw what a run found, as far as it got."""
    from simsuite.inspection import runs_nearby
    from simsuite.pictures import draw

    run = run_directory(directory)
    if not run.exists:
        raise UsageError(f"{run.path} {run.without()}{runs_nearby(run.path)}")
    directory = run.path
    path = output if output is not None else directory / "plot.png"
    draw(directory, path)
    say(f"wrote {path}")
