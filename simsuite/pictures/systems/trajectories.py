"""Trajectories of a linear system: lines of few components, maps of many, bands of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.coincidence import seen_apart
from simsuite.pictures.recording import Recording, strided
from simsuite.pictures.sheet import COLOURS, Sheet, draw_bar, draw_line, label_ends, tidy
from simsuite.pictures.systems.batch import FEW, draw_bands, extremes, moments
from simsuite.pictures.systems.clock import clock_of, time_label
from simsuite.pictures.systems.lattice import draw_lattices, lattice_of
from simsuite.pictures.units import Unit, grouped

LINES = 8  # At most so many components are drawn as lines.
_DOTS = 60  # Dots are drawn for at most so many frames.
_TIMES = 4000  # At most so many times are read for lines.
_MAP = (600, 500)  # A heat map has at most so many components and times.


@dataclass(frozen=True)
class Shown:
    """The data of the states that are drawn, at some frames. values[time, component, sample]: NaN where not finite, the
    number of largest size of each `step` components, the first of which `components` says; what: what the values are:
    the state, an output, or its squared modulus; names: what the scenario calls the components, or nothing.
    """

    frames: np.ndarray
    time: np.ndarray
    clock: Unit
    components: np.ndarray
    values: np.ndarray
    step: int
    what: str
    names: tuple[str, ...] = ()


def shape_of(run: Recording) -> tuple[int, int, int]:
    """The shape of the array of frames: frames, components, samples."""
    return run.file["state" if run.has("state") else "state_real"].shape


def what_of(run: Recording) -> str:
    """What the values of a run are: the state, an output, or the squared modulus of either."""
    what = "State" if run.scenario.system.output_matrix is None else "Output"
    return what if run.has("state") else f"|{what}|²"


def _largest(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Of pairs of numbers that of the larger size."""
    return np.where(np.abs(low) > np.abs(high), low, high)


def names_of(run: Recording) -> tuple[str, ...]:
    """What the scenario calls the components, or nothing."""
    return tuple(run.texts("component_name")) if run.has("component_name") else ()


def read_shown(run: Recording) -> Shown:
    """Read what is drawn of a run."""
    n = shape_of(run)[1]
    lines = n <= LINES
    times, components = strided(run.frames, _TIMES if lines else _MAP[1]), strided(n, n if lines else _MAP[0])
    frames = np.unique([*range(run.frames)[times], run.frames - 1])
    values = np.stack([_largest(*extremes(run, int(k), components.step, FEW)) for k in frames])
    clock = clock_of(run)
    return Shown(
        frames,
        run.time[frames] * clock.scale,
        clock,
        np.arange(n)[components],
        values,
        components.step,
        what_of(run),
        names_of(run),
    )


def component_names(shown: Shown) -> list[str]:
    """What the components that are drawn are called."""
    if shown.names:
        return [shown.names[k] for k in shown.components]
    letter = shown.what.replace("State", "X{}").replace("Output", "Y{}")
    below = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [letter.format(str(c).translate(below)) for c in shown.components]


def _draw_lines(sheet: Sheet, axes: list[Axes], shown: Shown, titles: list[str]) -> None:
    """Draw lines, with a dot at each frame if there are few frames: between two frames a state may go up and down."""
    dots: dict[str, Any] = {"marker": "o", "markersize": 3} if len(shown.time) <= _DOTS else {}
    names = component_names(shown)
    for j, ax in enumerate(axes):
        for i, style in enumerate(seen_apart(shown.values[:, :, j])):
            draw_line(ax, shown.time, shown.values[:, i, j], COLOURS[i], label=names[i], **dots, **style)
        tidy(ax, titles[j], time_label(shown.clock), shown.what if j == 0 else "")
        ax.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
        ax.margins(x=0, y=0.06)
        if j:
            ax.tick_params(labelleft=False)
    if len(shown.components) > 1:
        last = shown.values[-1, :, -1]
        label_ends(sheet, axes[-1], list(zip(last.tolist(), names, COLOURS)))


def _draw_maps(sheet: Sheet, axes: list[Axes], shown: Shown, titles: list[str]) -> None:
    norm, colours, extend = _map_colours(shown.values)
    t, c = _edges(shown.time), _edges(shown.components + (shown.step - 1) / 2)
    every = "" if shown.step == 1 else f" (largest of {grouped(shown.step)})"
    for j, ax in enumerate(axes):
        image = ax.pcolormesh(t, c, shown.values[:, :, j].T, norm=norm, cmap=colours, rasterized=True)
        tidy(ax, titles[j], time_label(shown.clock), f"Component{every}" if j == 0 else "", box=True)
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        if len(shown.time) > 1:
            ax.set_xlim(shown.time[0], shown.time[-1])
        if j:
            ax.tick_params(labelleft=False)
        if j == len(axes) - 1:
            draw_bar(ax, image, shown.what, 0.025 * len(axes), extend)


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


def panels_of_samples(run: Recording, shown: Shown) -> int:
    """How many panels trajectories take: one for each of a few samples, one for the mean and deviation of many."""
    return 1 if is_banded(run) else shown.values.shape[2]


def is_banded(run: Recording) -> bool:
    _, components, samples = shape_of(run)
    return samples > FEW and components <= LINES


def draw_trajectories(run: Recording, sheet: Sheet, axes: list[Axes], shown: Shown) -> None:
    """Draw the trajectories, in so many axes as `panels_of_samples` says, the first of which have axes in common."""
    if is_banded(run):
        sheet.explain(_draw_bands(run, sheet, axes[0], shown))
    elif (sides := lattice_of(run)) is not None:
        draw_lattices(run, axes, sides)
    else:
        (_draw_lines if shape_of(run)[1] <= LINES else _draw_maps)(sheet, axes, shown, _titles(len(axes)))


def draw_sample(run: Recording, sheet: Sheet, ax: Axes, shown: Shown, sample: int) -> Sequence[Artist]:
    """Draw the trajectory of one sample, or, where there is one panel for all, of all; what a key is to show."""
    if is_banded(run):
        return _draw_bands(run, sheet, ax, shown)
    if (sides := lattice_of(run)) is not None:
        draw_lattices(run, [ax], sides, sample)
        return []
    titles = _titles(shown.values.shape[2])[sample : sample + 1]
    alone = replace(shown, values=shown.values[:, :, sample : sample + 1])
    (_draw_lines if shape_of(run)[1] <= LINES else _draw_maps)(sheet, [ax], alone, titles)
    return []


def _titles(samples: int) -> list[str]:
    return ["Trajectory"] if samples == 1 else [f"Sample {j}" for j in range(samples)]


def _draw_bands(run: Recording, sheet: Sheet, ax: Axes, shown: Shown) -> Sequence[Artist]:
    key = draw_bands(sheet, ax, shown.time, moments(run, shown.frames), shown.values, component_names(shown))
    tidy(ax, "Trajectories", time_label(shown.clock), shown.what)
    ax.margins(x=0, y=0.06)
    return key
