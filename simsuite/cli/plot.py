"""`simsuite plot`: a picture of runs, of a sweep, or of what a scenario says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import say
from simsuite.cli.export import existing


def plot(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|SCENARIO|SWEEP..",
            help="A run, or several to be drawn with one scale; a scenario, to see it before it is run; or a sweep.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The picture, .png, .svg or .pdf, or video, .mp4 or .gif; by default DIR/plot.png.",
        ),
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--what",
            metavar="NAME,..",
            help="Of a run: field, flux, material, boundary, probes, balance, error, convergence, trajectory, density, "
            "greeks, exposure, modes, bode. Of a sweep: a result, as max or probes.cpu. Repeatable.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="T", help="Show fields at the frame nearest to this time, as 30 or '2 min'."),
    ] = None,
    theme: Annotated[str, typer.Option("--theme", help="Light, dark, paper or slides.")] = "light",
    size: Annotated[
        str | None,
        typer.Option("--size", help="As wide as a column or a page of a journal: column, page."),
    ] = None,
) -> None:
    """Draw what runs found, as far as they got, what a scenario says, or what came out of a sweep."""
    from simsuite.plotting import draw_path

    names = [name.strip() for each in what or [] for name in each.split(",") if name.strip()]
    for path in paths:
        if not (path / "sweep.json").is_file() and path.suffix != ".toml":
            existing(path)
    for line in draw_path(paths, output, names, time, theme, size):
        say(line)
