"""Pictures of linear systems: trajectories of the first states of the batch, norm, last state, eigenvalues, matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.control import control_panels
from simsuite.pictures.recording import Recording, strided
from simsuite.pictures.sheet import COLOURS, GREY, INK, Sheet, draw_bar, draw_line, label_ends, tidy
from simsuite.pictures.spectrum import draw_eigenvalues, draw_matrix, has_eigenvalues
from simsuite.pictures.units import Unit, decades, grouped, time_unit

_LINES = 8  # At most so many components are drawn as lines.
_DOTS = 60  # Dots are drawn for at most so many frames.
_SAMPLES = 3  # So many states of the batch are drawn.
_TIMES = 4000  # At most so many times are read for lines.
_LETTERS = 48  # Names of components of so many letters together fit below an axis.
_MAP = (600, 500)  # A heat map has at most so many components and times.


@dataclass(frozen=True)
class Shown:
    """The data of the states that are drawn. values[time, component, sample]: NaN where not finite; components: their
    numbers, every `step`-th of all; what: what the values are: the state, an output, or its squared modulus; names:
    what the scenario calls the components, or nothing.
    """

    time: np.ndarray
    clock: Unit
    components: np.ndarray
    values: np.ndarray
    step: int
    what: str
    names: tuple[str, ...] = ()


def linear_figure(run: Recording) -> Sheet:
    """The figure: trajectories above; norm, last state, eigenvalues and matrix below, as far as there are any."""
    shown = _read(run)
    panels: list[Callable[[Axes], None]] = [lambda ax: _draw_norm(run, ax, shown.clock)]
    if _n_components(run) > 1:
        panels.append(lambda ax: _draw_last(sheet, ax, shown))
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
    sheet = Sheet(run, height, _subtitle(run))
    grid = sheet.figure.add_gridspec(len(ratios), 1, height_ratios=ratios)
    _draw_trajectories(run, sheet, grid[0], shown)
    for row, some in enumerate(groups):
        below = grid[1 + row].subgridspec(1, len(some))
        for column, draw in enumerate(some):
            draw(sheet.figure.add_subplot(below[0, column]))
    return sheet


def _draw_trajectories(run: Recording, sheet: Sheet, place: Any, shown: Shown) -> None:
    """Draw a panel for each of the samples."""
    samples = shown.values.shape[2]
    above = place.subgridspec(1, samples)
    axes = [sheet.figure.add_subplot(above[0, 0])]
    axes += [sheet.figure.add_subplot(above[0, j], sharey=axes[0]) for j in range(1, samples)]
    if _n_components(run) <= _LINES:
        _draw_lines(sheet, axes, shown)
    else:
        _draw_maps(axes, shown)


def _n_components(run: Recording) -> int:
    return _shape(run)[1]


def _shape(run: Recording) -> tuple[int, int, int]:
    """The shape of the array of frames."""
    return run.file["state" if run.has("state") else "state_real"].shape


def _numbers(run: Recording, frame: int, components: slice) -> np.ndarray:
    """The numbers of a frame, for the first states of the batch; of complex states their squared moduli."""
    if run.has("state"):
        return run.numbers("state", frame, components, slice(_SAMPLES))
    real, imag = (run.numbers(part, frame, components, slice(_SAMPLES)) for part in ("state_real", "state_imag"))
    return real**2 + imag**2


def _subtitle(run: Recording) -> str:
    _, components, samples = _shape(run)
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


def _read(run: Recording) -> Shown:
    n = _n_components(run)
    lines = n <= _LINES
    times, components = strided(run.frames, _TIMES if lines else _MAP[1]), strided(n, n if lines else _MAP[0])
    frames = np.unique([*range(run.frames)[times], run.frames - 1])
    values = np.stack([_numbers(run, int(k), components) for k in frames])
    clock = time_unit(float(run.scenario.time.steps) * run.scenario.dt)
    what = "State" if run.scenario.system.output_matrix is None else "Output"
    return Shown(
        run.time[frames] * clock.scale,
        clock,
        np.arange(n)[components],
        np.where(np.isfinite(values), values, np.nan),
        components.step,
        what if run.has("state") else f"|{what}|²",
        tuple(run.texts("component_name")) if run.has("component_name") else (),
    )


def _names(shown: Shown) -> list[str]:
    if shown.names:
        return [shown.names[k] for k in shown.components]
    letter = shown.what.replace("State", "X{}").replace("Output", "Y{}")
    below = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [letter.format(str(c).translate(below)) for c in shown.components]


def _draw_lines(sheet: Sheet, axes: list[Axes], shown: Shown) -> None:
    """Draw lines, with a dot at each frame if there are few frames: between two frames a state may go up and down."""
    dots = {"marker": "o", "markersize": 3} if len(shown.time) <= _DOTS else {}
    for j, ax in enumerate(axes):
        for i in range(len(shown.components)):
            draw_line(ax, shown.time, shown.values[:, i, j], COLOURS[i], **dots)
        title = "Trajectory" if len(axes) == 1 else f"Sample {j}"
        tidy(ax, title, f"Time ({shown.clock.name})", f"{shown.what} (1)" if j == 0 else "")
        ax.margins(x=0, y=0.06)
        if j:
            ax.tick_params(labelleft=False)
    if len(shown.components) > 1:
        last = shown.values[-1, :, -1]
        label_ends(sheet, axes[-1], list(zip(last.tolist(), _names(shown), COLOURS)))


def _draw_maps(axes: list[Axes], shown: Shown) -> None:
    norm, colours, extend = _map_colours(shown.values)
    t, c = _edges(shown.time), _edges(shown.components.astype(np.float64))
    every = "" if shown.step == 1 else f" (1 in {shown.step} shown)"
    for j, ax in enumerate(axes):
        image = ax.pcolormesh(t, c, shown.values[:, :, j].T, norm=norm, cmap=colours, rasterized=True)
        title = "Trajectory" if len(axes) == 1 else f"Sample {j}"
        tidy(ax, title, f"Time ({shown.clock.name})", f"Component{every}" if j == 0 else "", box=True)
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        if len(shown.time) > 1:
            ax.set_xlim(shown.time[0], shown.time[-1])
        if j:
            ax.tick_params(labelleft=False)
        if j == len(axes) - 1:
            draw_bar(ax, image, f"{shown.what} (1)", 0.025 * len(axes), extend)


def _map_colours(values: np.ndarray) -> tuple[Normalize, Any, str]:
    """The colours of a heat map, and which of its ends rare peaks exceed. They go from 0 up in one hue where no number
    is negative, else as far below 0 as above.
    """
    good = np.abs(values[np.isfinite(values)])
    largest = float(good.max()) if good.size else 0.0
    usual = float(np.quantile(good, 0.98)) if good.size else 0.0
    peaks = 0 < usual < 0.4 * largest
    top = (usual if peaks else largest) or 1.0
    if np.nanmin(values, initial=0.0) >= 0:
        return Normalize(0, top), matplotlib.colormaps["viridis"], "max" if peaks else "neither"
    return Normalize(-top, top), matplotlib.colormaps["RdBu_r"], "both" if peaks else "neither"


def _edges(centres: np.ndarray) -> np.ndarray:
    """Borders of cells around increasing centres."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middles = (centres[1:] + centres[:-1]) / 2
    return np.array([2 * centres[0] - middles[0], *middles, 2 * centres[-1] - middles[-1]])


def _draw_norm(run: Recording, ax: Axes, clock: Unit) -> None:
    t, norm = run.time * clock.scale, run.numbers("norm", slice(run.frames))
    if decades(norm) > 1:
        ax.set_yscale("log", nonpositive="mask")
        norm = np.where(norm > 0, norm, np.nan)
    draw_line(ax, t, norm, INK)
    tidy(ax, "Norm of the whole state (Frobenius)", f"Time ({clock.name})", "Norm (1)")
    ax.margins(x=0, y=0.08)
    if ax.get_yscale() == "linear" and np.nanmin(norm) >= 0:
        ax.set_ylim(0, 1.08 * float(np.nanmax(norm)) or 1.0)


def _draw_last(sheet: Sheet, ax: Axes, shown: Shown) -> None:
    """Draw the last state component by component: as stems if there are few components, else as lines."""
    samples = shown.values.shape[2]
    ends = []
    for j in range(samples):
        values = shown.values[-1, :, j]
        if len(values) > 40:
            draw_line(ax, shown.components, values, COLOURS[j], linewidth=1.0)
        else:
            at = shown.components + 0.18 * (j - (samples - 1) / 2)
            ax.vlines(at, 0, values, color=COLOURS[j], linewidth=1.0)
            ax.plot(at, values, "o", color=COLOURS[j], markersize=4)
        ends.append((float(values[-1]), f"sample {j}", COLOURS[j]))
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    tidy(ax, f"{shown.what} at t = {shown.time[-1]:.6g} {shown.clock.name}", "Component", f"{shown.what} (1)")
    if len(shown.components) <= 12:
        ax.set_xticks(shown.components)
        if shown.names and sum(map(len, shown.names)) <= _LETTERS:
            ax.set_xticklabels(_names(shown), parse_math=False)
    if samples > 1:
        label_ends(sheet, ax, ends)
