"""A video of a linear system: trajectories that grow, beside them the plane of two components or the spread of a batch;
of systems with many components how these are distributed, as a profile or on a lattice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.markers import CARETDOWN, CARETUP
from matplotlib.patches import Patch, StepPatch
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.markets.densities import BARS
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, draw_bar, tidy
from simsuite.pictures.systems.batch import FEW, states
from simsuite.pictures.systems.clock import clock_of, moment
from simsuite.pictures.systems.lattice import lattice_of
from simsuite.pictures.systems.trajectories import (
    LINES,
    Shown,
    component_names,
    draw_trajectories,
    is_banded,
    panels_of_samples,
    read_shown,
    shape_of,
    what_of,
)
from simsuite.pictures.units import grouped, rounded
from simsuite.pictures.video.scene import Curtain, Names, Scene, evenly, named_curves

_SAMPLES = 20_000  # At most so many states of a batch are counted.
_BARS = 40
_PAD = 0.06  # of what is shown, beyond it
_HEIGHT = 4.2  # inches
_SAMPLE_COLOURS = (INK, COLOURS[5], COLOURS[6])  # other ones than those of the first components
_STRAIGHT = 1e-4  # A way that is wider than this share of its length is no straight line.

Move = Callable[[int], None]


def state_scene(run: Recording, subtitle: str) -> Scene:
    frames = evenly(run.frames)
    sheet = Sheet(run, _HEIGHT, subtitle)
    if shape_of(run)[1] > LINES:
        sides = lattice_of(run)
        moving, move = _profiles(run, sheet, frames) if sides is None else _lattices(run, sheet, frames, sides)
    else:
        moving, move = _trajectories(run, sheet, frames)
    clock = clock_of(run)

    def stamp(frame: int) -> str:
        return moment(clock, float(run.time[frame]) * clock.scale).removeprefix("at ")

    return Scene(sheet, moving, move, stamp, frames)


def _trajectories(run: Recording, sheet: Sheet, frames: Sequence[int]) -> tuple[list[Artist], Move]:
    shown = read_shown(run)
    panels, beside = panels_of_samples(run, shown), _beside(run, sheet, shown, frames)
    ratios = [1.0] * panels + ([max(0.75, 0.5 * panels)] if beside is not None else [])
    grid = sheet.figure.add_gridspec(1, len(ratios), width_ratios=ratios)
    axes = [sheet.figure.add_subplot(grid[0, 0])]
    axes += [sheet.figure.add_subplot(grid[0, j], sharex=axes[0], sharey=axes[0]) for j in range(1, panels)]
    draw_trajectories(run, sheet, axes, shown)
    curtain = Curtain([artist for ax in axes for artist in (*ax.collections, *ax.lines)])
    names = Names(sheet, axes[-1], named_curves(axes[-1]))
    now = [ax.axvline(shown.time[0], color=INK, linewidth=0.8, zorder=5) for ax in axes]
    moving: list[Artist] = [*curtain.artists, *now, *names.artists]
    more: Move | None = None
    if beside is not None:
        artists, more = beside(sheet.figure.add_subplot(grid[0, panels]))
        moving += artists
    clock = clock_of(run)

    def move(frame: int) -> None:
        t = float(run.time[frame]) * clock.scale
        curtain.open_to(t)
        names.move_to(t)
        for line in now:
            line.set_xdata([t, t])
        if more is not None:
            more(frame)

    return moving, move


def _beside(
    run: Recording, sheet: Sheet, shown: Shown, frames: Sequence[int]
) -> Callable[[Axes], tuple[list[Artist], Move]] | None:
    """What stands beside trajectories: the spread of a batch, the plane of the first two components, or nothing."""
    if is_banded(run):
        return lambda ax: _spread(run, ax, shown, frames)
    if len(shown.components) > 1 and not _on_a_line(shown):
        return lambda ax: _plane(sheet, ax, shown)
    return None


def _on_a_line(shown: Shown) -> bool:
    """Whether the way of each sample in the plane is a straight line, which shows nothing: as where the first two of
    the squared moduli add up to the same at all times."""
    good = np.isfinite(shown.values[:, :2]).all(axis=(1, 2))
    ways = np.moveaxis(shown.values[good, :2], 2, 0)
    sizes = np.linalg.svd(ways - ways.mean(axis=1, keepdims=True), compute_uv=False) if good.sum() > 1 else np.zeros(1)
    return bool((sizes[..., -1] <= _STRAIGHT * sizes[..., 0]).all())


def _plane(sheet: Sheet, ax: Axes, shown: Shown) -> tuple[list[Artist], Move]:
    """The second component over the first one: the way of each sample so far, with a dot at its end."""
    x, y = shown.values[:, 0], shown.values[:, 1]
    names = component_names(shown)
    tidy(ax, f"{names[1]} over {names[0]}", names[0], names[1])
    ax.set_xlim(*_around(x))
    ax.set_ylim(*_around(y))
    artists: list[Line2D] = []
    colours = _SAMPLE_COLOURS[: x.shape[1]]
    for colour in colours:
        artists += ax.plot([], [], linewidth=1.0, color=colour)
        artists += ax.plot([], [], "o", markersize=5, zorder=4, color=colour)
    if len(colours) > 1:
        sheet.explain([Line2D([], [], color=c, linewidth=1.0, label=f"sample {j}") for j, c in enumerate(colours)])

    def move(frame: int) -> None:
        until = int(np.searchsorted(shown.frames, frame, side="right"))
        for j in range(x.shape[1]):
            artists[2 * j].set_data(x[:until, j], y[:until, j])
            artists[2 * j + 1].set_data(x[until - 1 : until, j], y[until - 1 : until, j])

    return list(artists), move


def _spread(run: Recording, ax: Axes, shown: Shown, frames: Sequence[int]) -> tuple[list[Artist], Move]:
    """How the first component is distributed over the batch."""
    name = component_names(shown)[0]
    which = slice(int(shown.components[0]), int(shown.components[0]) + 1)

    def values(frame: int) -> np.ndarray:
        found = states(run, frame, which, slice(_SAMPLES)).ravel()
        return found[np.isfinite(found)]

    ends = [(each.min(), each.max()) for each in map(values, frames) if each.size]
    low, high = _around(np.array(ends))
    edges = np.linspace(low, high, _BARS + 1)
    bars = ax.stairs(np.zeros(_BARS), edges, fill=True, color=BARS, linewidth=0)
    tidy(ax, f"{name} of {grouped(min(shape_of(run)[2], _SAMPLES))} states", name, "Density (1 = max.)")
    ax.set_xlim(low, high)
    ax.set_ylim(0, 1.05)
    return [bars], lambda frame: bars.set_data(_relative_density(values(frame), edges))


def _relative_density(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The density in bars of one width, over its maximum, which falls by far as states that began alike spread."""
    counts = np.histogram(values, edges)[0]
    return counts / max(counts.max(), 1)


def _profiles(run: Recording, sheet: Sheet, frames: Sequence[int]) -> tuple[list[Artist], Move]:
    """The value of each component, as steps, of some samples; and grey, where they are in the end."""
    _, n, batch = shape_of(run)
    samples, clock = min(batch, FEW), clock_of(run)
    low, high = _extremes(run, frames, samples)
    pad = _PAD * (high - low) or 0.5
    low, high = low - pad if low < 0 else low, high + pad
    edges, names = np.arange(n + 1) - 0.5, ["State" if samples == 1 else f"Sample {j}" for j in range(samples)]
    grid = sheet.figure.add_gridspec(1, samples)
    last = states(run, frames[-1], slice(None), slice(samples))
    bars, cuts = list[StepPatch](), list[_Cut]()
    for j in range(samples):
        ax = sheet.figure.add_subplot(grid[0, j])
        bars.append(ax.stairs(np.zeros(n), edges, baseline=min(max(low, 0.0), high), fill=True, color=BARS, zorder=1))
        ax.stairs(last[:, j], edges, baseline=None, color=GREY, linewidth=0.9, zorder=2).set_animated(True)
        tidy(ax, names[j], "Component", what_of(run) if j == 0 else "")
        ax.set(xlim=(-0.5, n - 0.5), ylim=(low, high))
        cuts += [_Cut(ax, high, 1), _Cut(ax, low, -1)]
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.tick_params(labelleft=j == 0)
    when = moment(clock, float(run.time[frames[-1]]) * clock.scale)
    sheet.explain([Patch(facecolor=BARS, label="now"), Line2D([], [], color=GREY, linewidth=0.9, label=when)])

    def move(frame: int) -> None:
        for j, values in enumerate(states(run, frame, slice(None), slice(samples)).T):
            bars[j].set_data(values)
            for cut in cuts[2 * j : 2 * j + 2]:
                cut.show(values)

    patches = [patch for ax in sheet.figure.axes for patch in ax.patches]
    return [*patches, *(artist for cut in cuts for artist in cut.artists)], move


class _Cut:
    """Arrows at the end of an axis where bars go on beyond it, and to where the longest of them goes. side: 1 at the
    top, -1 at the bottom."""

    def __init__(self, ax: Axes, end: float, side: int) -> None:
        self._end, self._side = end, side
        (self._arrows,) = ax.plot([], [], marker=CARETUP if side > 0 else CARETDOWN, color=INK, linewidth=0, zorder=6)
        self._text = ax.annotate("", (0, end), (0, 0), textcoords="offset points", size=SMALL, color=INK, zorder=6)
        self._text.set(verticalalignment="top" if side > 0 else "bottom")
        self.artists: list[Artist] = [self._arrows, self._text]
        for artist in self.artists:
            artist.set_in_layout(False)

    def show(self, values: np.ndarray) -> None:
        beyond = np.flatnonzero(self._side * values > self._side * self._end)
        self._arrows.set_data(beyond, np.full(len(beyond), self._end))
        self._text.set_visible(bool(beyond.size))
        if beyond.size:
            furthest = int(beyond[np.argmax(self._side * values[beyond])])
            right = furthest < len(values) / 2
            self._text.set(text=f"to {rounded(values[furthest])}", horizontalalignment="left" if right else "right")
            self._text.xy, self._text.xyann = (furthest + (0.5 if right else -0.5), self._end), (3 if right else -3, 0)


def _lattices(run: Recording, sheet: Sheet, frames: Sequence[int], sides: tuple[int, int]) -> tuple[list[Artist], Move]:
    """A map of the lattice for each of some samples, with a scale for each that holds for all frames but the first, as
    walkers begin in a single place."""
    nx, ny = sides
    samples = min(shape_of(run)[2], FEW)
    grid, images = sheet.figure.add_gridspec(1, samples), list[Artist]()
    blank = np.zeros((ny, nx))
    for j in range(samples):
        ax = sheet.figure.add_subplot(grid[0, j])
        later = [states(run, frame, slice(None), slice(j, j + 1)) for frame in frames[1:]]
        low, high = min(min(float(each.min()) for each in later), 0.0), max(float(each.max()) for each in later)
        image = ax.imshow(
            blank,
            origin="lower",
            norm=Normalize(low, high if high > low else low + 1.0),
            cmap=matplotlib.colormaps["viridis"],
            extent=(-0.5, nx - 0.5, -0.5, ny - 0.5),
            interpolation="nearest",
        )
        tidy(ax, f"Sample {j}" if samples > 1 else "State", "Site along x", "Site along y" if j == 0 else "", box=True)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True))
        draw_bar(ax, image, "State", 0.04, "max")
        images.append(image)

    def move(frame: int) -> None:
        found = states(run, frame, slice(None), slice(samples))
        for j, image in enumerate(images):
            image.set_data(found[:, j].reshape(ny, nx))  # type: ignore[attr-defined]

    return images, move


def _extremes(run: Recording, frames: Sequence[int], samples: int) -> tuple[float, float]:
    """The least and the largest finite value of some samples in all frames but the first, where there are others."""
    low, high = np.inf, -np.inf
    for frame in frames[1:] or frames:
        values = states(run, frame, slice(None), slice(samples))
        values = values[np.isfinite(values)]
        if values.size:
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    return (min(low, 0.0), high) if low <= high else (0.0, 1.0)


def _around(values: np.ndarray) -> tuple[float, float]:
    """Ends of an axis that has all finite values."""
    good = values[np.isfinite(values)]
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 1.0)
    pad = _PAD * (high - low) or 0.5
    return low - pad, high + pad
