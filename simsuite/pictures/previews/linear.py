"""A linear system before its run: inputs, eigenvalues, matrix and responses, as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.errors import UsageError
from simsuite.pictures.choices.choice import Limits, Panel
from simsuite.pictures.choices.linear import LINEAR
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet
from simsuite.pictures.systems.inputs import draw_inputs, has_inputs

_KNOWN = ("modes", "bode")  # what does not need a step


def linear_preview(run: Recording) -> tuple[str, list[Panel]]:
    """Subtitle and panels. run: without frames, with what is known of the matrix.

    Raises UsageError where there is nothing to show."""
    panels = [
        panel
        for choice in LINEAR
        if choice.name in _KNOWN and choice.missing(run) is None
        for panel in choice.panels(run)
    ]

    def inputs(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        draw_inputs(run, sheet, ax)
        return []

    if has_inputs(run):
        panels.insert(0, Panel(inputs))
    if not panels:
        raise UsageError(
            "before its run nothing of this system can be drawn: its matrix is too large, and has no inputs"
        )
    return "Linear system   |   before the run", panels
