"""States on the sites of a lattice, as maps."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.recording import Field, Recording
from simsuite.pictures.sheet import draw_bar, tidy
from simsuite.pictures.systems.batch import states
from simsuite.pictures.systems.clock import clock_of, moment

_PIXELS = 600  # A map has at most so many pixels a side.


def lattice_of(run: Recording) -> tuple[int, int] | None:
    """The sites along x and along y of a state that is one of a lattice; None for others."""
    system = run.scenario.system
    if getattr(system.matrix, "generator", "") != "lattice_walk" or system.output_matrix is not None:
        return None
    return system.matrix.nx, system.matrix.ny


def draw_lattices(run: Recording, axes: Sequence[Axes], sides: tuple[int, int], first: int = 0) -> None:
    """A map for each of some states of the batch, from number `first` on, at the frame that is shown. Each has a scale
    of its own: a walker who began in a corner is four times as likely to be found where he is."""
    nx, ny = sides
    clock = clock_of(run)
    found = states(run, run.shown, slice(None), slice(first, first + len(axes)))
    when = moment(clock, float(run.time[run.shown]) * clock.scale)
    for j, ax in enumerate(axes):
        field = Field.of(found[:, j].reshape(ny, nx), _PIXELS)
        norm = Normalize(min(field.low, 0.0), float(np.nanmax(field.values)) or 1.0)
        image = ax.imshow(
            field.values,
            origin="lower",
            norm=norm,
            cmap=matplotlib.colormaps["viridis"],
            extent=(-0.5, nx - 0.5, -0.5, ny - 0.5),
        )
        title = f"Sample {first + j} {when}"
        tidy(ax, title, "Site along x", "Site along y" if j == 0 else "", box=True)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True))
        draw_bar(ax, image, "State", 0.04)
