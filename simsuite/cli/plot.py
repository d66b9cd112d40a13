"""`simsuite plot`: a picture of a run or of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import say
from simsuite.cli.export import existing
from simsuite.cli.run import RunPath
from simsuite.errors import UsageError


def plot(
    directory: RunPath,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="The picture; by default DIR/plot.png.")
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--what", metavar="RESULT", help="Of a sweep: a result to show, as max or probes.cpu. Repeatable."
        ),
    ] = None,
) -> None:
    """Draw what a run found, as far as it got, or what came out of a sweep, over the keys that vary."""
    from simsuite.pictures import draw, require_format

    if (directory / "sweep.json").is_file():
        from simsuite.pictures.sweeps import draw_sweep

        path = output if output is not None else directory / "plot.png"
        require_format(path)
        draw_sweep(directory, path, what or [])
        say(f"wrote {path}")
        return
    if what:
        raise UsageError("--what chooses a result of a sweep: the picture of a run shows all of it")
    directory = existing(directory).path
    path = output if output is not None else directory / "plot.png"
    draw(directory, path)
    say(f"wrote {path}")
