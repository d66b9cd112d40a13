"""Pictures of linear systems: trajectories of the first states of the batch, norm, last state, eigenvalues, matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.control import control_panels
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import INK, Sheet, draw_line, tidy
from simsuite.pictures.spectrum import draw_eigenvalues, draw_matrix, has_eigenvalues
from simsuite.pictures.systems.clock import time_label
from simsuite.pictures.systems.inputs import draw_inputs, has_inputs
from simsuite.pictures.systems.lattice import lattice_of
from simsuite.pictures.systems.profile import draw_profile
from simsuite.pictures.systems.trajectories import (
    draw_trajectories,
    panels_of_samples,
    read_shown,
    shape_of,
)
from simsuite.pictures.units import Unit, decades, grouped


def linear_figure(run: Recording) -> Sheet:
    """The figure: trajectories above; norm, last state, eigenvalues and matrix below, as far as there are any."""
    shown = read_shown(run)
    panels: list[Callable[[Axes], Sequence[Artist] | None]] = [lambda ax: _draw_norm(run, ax, shown.clock)]
    if shape_of(run)[1] > 1 and lattice_of(run) is None:  # maps of a lattice show the same
        panels.append(lambda ax: draw_profile(run, ax))
    if has_eigenvalues(run):
        panels.append(lambda ax: draw_eigenvalues(run, ax))
    if run.has("matrix_magnitude") and run.file["matrix_magnitude"].size > 1:
        panels.append(lambda ax: draw_matrix(run, ax))
    rows = 2 if len(panels) > 3 else 1
    height, ratios = (5.3, (1.45, 1.0)) if rows == 1 else (8.3, (1.3, 0.9, 1.25))
    groups = [list(some) for some in np.array_split(np.array(panels, object), rows)]
    further = control_panels(run, lambda: sheet)
    if further:
        height, ratios, groups = height + 2.4, (*ratios, 1.0), [*groups, further]
    driven = has_inputs(run)
    if driven:
        height, ratios = height + 1.5, (ratios[0], 0.55, *ratios[1:])
    sheet = Sheet(run, height, _subtitle(run))
    grid = sheet.figure.add_gridspec(len(ratios), 1, height_ratios=ratios)
    samples = panels_of_samples(run, shown)
    above = grid[0].subgridspec(1, samples)
    axes = [sheet.figure.add_subplot(above[0, 0])]
    axes += [sheet.figure.add_subplot(above[0, j], sharey=axes[0]) for j in range(1, samples)]
    draw_trajectories(run, sheet, axes, shown)
    if driven:
        draw_inputs(run, sheet, sheet.figure.add_subplot(grid[1]))
    key: dict[str, Artist] = {}
    for row, some in enumerate(groups):
        below = grid[1 + driven + row].subgridspec(1, len(some))
        for column, draw in enumerate(some):
            for artist in draw(sheet.figure.add_subplot(below[0, column])) or []:
                key.setdefault(str(artist.get_label()), artist)
    sheet.explain(list(key.values()))
    return sheet


def _subtitle(run: Recording) -> str:
    _, components, samples = shape_of(run)
    kind = run.scenario.system.kind
    law = "X ← A X" if kind == "discrete" else "dX/dt = A X"
    law += " + B u" if run.scenario.system.input is not None else ""
    noisy = run.scenario.system.noise_matrix is not None
    law += "" if not noisy else " + G w" if kind == "discrete" else ", with noise G dW/dt"
    stored = f"{grouped(components)} component{'s' if components > 1 else ''}"
    stored += " of Y = C X" if run.scenario.system.output_matrix is not None else ""
    stored += " + D u" if run.scenario.system.feedthrough is not None else ""
    batch = "" if samples == 1 else f", batch of {grouped(samples)}"
    method = ", ".join(filter(None, (run.attribute("stepper"), run.attribute("precision"))))
    return f"Linear system {law}, {stored}{batch}   |   {method}   |   {run.attribute('device_name')}"


def _draw_norm(run: Recording, ax: Axes, clock: Unit) -> None:
    t, norm = run.time * clock.scale, run.numbers("norm", slice(run.frames))
    if decades(norm) > 1:
        ax.set_yscale("log", nonpositive="mask")
        norm = np.where(norm > 0, norm, np.nan)
    draw_line(ax, t, norm, INK)
    tidy(ax, "Norm of the whole state (Frobenius)", time_label(clock), "Norm")
    ax.margins(x=0, y=0.08)
    if ax.get_yscale() == "linear" and np.nanmin(norm) >= 0:
        ax.set_ylim(0, 1.08 * float(np.nanmax(norm)) or 1.0)
