"""`simsuite plot`: a picture of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import say
from simsuite.cli.run import RunPath, run_directory


def plot(
    directory: RunPath,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="The picture; by default DIR/plot.png.")
    ] = None,
) -> None:
    """Draw what a run found, as far as it got."""
    from simsuite.pictures import draw

    directory = run_directory(directory).path
    path = output if output is not None else directory / "plot.png"
    draw(directory, path)
    say(f"wrote {path}")
