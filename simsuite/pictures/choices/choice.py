"""A kind of picture that can be asked for, and the panels that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet

Limits = tuple[float, float]
Draw = Callable[[Sheet, Axes, Limits | None], Sequence[Artist]]


@dataclass(frozen=True)
class Panel:
    """draw: draws it, with its colours between the given limits if there are such, and returns what a key is to show.
    shape: its height over its width. limits: the least and the largest number that has a colour; None: it has no scale
    of colours. alike: whether panels of several runs get the same axes. kind: panels of several runs stand beside each
    other if they are of one kind.
    """

    draw: Draw
    shape: float = 0.55
    limits: Limits | None = None
    alike: bool = True
    kind: str = ""


@dataclass(frozen=True)
class Choice:
    """name: what is asked for. missing: why a run does not have it, in words that follow "the run in DIR has no ..";
    None where it has. panels: of a run that has. together: draws several runs in the same panels, in place of panels of
    their own.
    """

    name: str
    missing: Callable[[Recording], str | None]
    panels: Callable[[Recording], Sequence[Panel]]
    together: Callable[[Sequence[Recording]], Sequence[Panel]] | None = None


def ever(run: Recording) -> str | None:
    """For choices that every run of a solver has."""
    return None
