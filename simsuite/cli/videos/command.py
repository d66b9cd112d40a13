"""`simsuite animate`: a video of a run."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from simsuite.cli.console import say
from simsuite.cli.export import existing
from simsuite.cli.progress import BAR_SECONDS, PLAIN_SECONDS
from simsuite.cli.run import RunPath
from simsuite.errors import UsageError


def animate(
    directory: RunPath,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The video, .mp4 or .gif; by default DIR/video.mp4."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--fps", metavar="N", help="Frames a second (default: for some ten seconds).")
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            "--limits",
            metavar="LOW,HIGH",
            help="Of a plate: temperatures of the first and last colour (default: of all frames).",
        ),
    ] = None,
    theme: Annotated[str, typer.Option("--theme", help="Light, dark, paper or slides.")] = "light",
) -> None:
    """Make a video of a plate's temperature, prices or states, with one scale for all frames and the time in each."""
    from simsuite.pictures.video.animation import animate as make

    run = existing(directory)
    path = output if output is not None else run.path / "video.mp4"
    with shown_progress() as progress:
        told = make(run.path, path, rate, _limits(limits), theme, progress)
    for line in told:
        say(line)


def _limits(text: str | None) -> tuple[float, float] | None:
    """Two numbers. Raises UsageError for anything else."""
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise UsageError(f"--limits takes two temperatures, as 20,85, not {text!r}") from None
    return low, high


@contextlib.contextmanager
def shown_progress() -> Iterator[Callable[[float], None]]:
    """Shows the share that is done: a bar on a terminal, a line every ten seconds elsewhere."""
    shown = [time.monotonic()]
    if not sys.stderr.isatty():

        def line(share: float) -> None:
            if time.monotonic() - shown[0] >= PLAIN_SECONDS:
                shown[0] = time.monotonic()
                say(f"{100 * share:5.1f} %")

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = (BarColumn(bar_width=30), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def move(share: float) -> None:
            if time.monotonic() - shown[0] >= BAR_SECONDS:
                shown[0] = time.monotonic()
                bar.update(task, completed=share)

        yield move
