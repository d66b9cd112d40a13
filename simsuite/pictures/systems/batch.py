"""A batch of many states: their mean and standard deviation over time, and how they are distributed at one time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import grouped

FEW = 3  # So many states of a batch are drawn one by one; of more, mean and deviation are drawn.
_READ = 20_000  # Where results do not have mean and deviation, they are those of at most so many states.
_BARS = 60
_SLAB = 1 << 20  # So many components are read at once, about.


@dataclass(frozen=True)
class Moments:
    """mean[time, component] and deviation over the batch, and the exact ones where they are known. samples: how many
    states they are of."""

    mean: np.ndarray
    deviation: np.ndarray
    exact: tuple[np.ndarray, np.ndarray] | None
    samples: int


def states(run: Recording, frame: int, components: slice, samples: slice) -> np.ndarray:
    """[component, sample] of a frame; of complex states their squared moduli."""
    if run.has("state"):
        return run.numbers("state", frame, components, samples)
    real, imag = (run.numbers(part, frame, components, samples) for part in ("state_real", "state_imag"))
    return real**2 + imag**2


def extremes(run: Recording, frame: int, block: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest finite number of each `block` components of a frame, [stretch, sample] each: NaN where
    there is none. Takes little memory however many components there are."""
    components, low, high = run.file["state" if run.has("state") else "state_real"].shape[1], [], []
    slab = block * max(1, _SLAB // block)
    for start in range(0, components, slab):
        found = states(run, frame, slice(start, min(start + slab, components)), slice(samples))
        values = np.where(np.isfinite(found), found, np.nan)
        stretches = np.arange(0, len(values), block)
        low.append(np.fmin.reduceat(values, stretches))
        high.append(np.fmax.reduceat(values, stretches))
    return np.concatenate(low), np.concatenate(high)


def moments(run: Recording, frames: np.ndarray) -> Moments:
    """Those of some frames."""
    batch = run.file["state" if run.has("state") else "state_real"].shape[2]
    names = ("state_mean", "state_std")
    if all(run.has(name) for name in names):
        mean, deviation = (run.numbers(name, slice(run.frames))[frames] for name in names)
        exact = None
        if all(run.has(f"{name}_exact") for name in names):
            exact = tuple(run.numbers(f"{name}_exact", slice(run.frames))[frames] for name in names)
        return Moments(mean, deviation, exact, batch)
    read = min(batch, _READ)
    values = [states(run, int(k), slice(None), slice(read)) for k in frames]
    found = np.array([[v.mean(axis=1), v.std(axis=1, ddof=1)] for v in values])
    return Moments(found[:, 0], found[:, 1], None, read)


def draw_bands(
    sheet: Sheet, ax: Axes, time: np.ndarray, found: Moments, some: np.ndarray, names: Sequence[str]
) -> list[Artist]:
    """Mean ± standard deviation of each component, and some[time, component, sample] states as thin lines."""
    ends = []
    for i, name in enumerate(names):
        colour, mean, spread = COLOURS[i % len(COLOURS)], found.mean[:, i], found.deviation[:, i]
        ax.fill_between(time, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        for j in range(some.shape[2]):
            draw_line(ax, time, some[:, i, j], colour, linewidth=0.5, alpha=0.6)
        draw_line(ax, time, mean, colour, linewidth=1.8, label=name)
        if found.exact is not None:
            for sign in (-1, 1):
                edge = found.exact[0][:, i] + sign * found.exact[1][:, i]
                draw_line(ax, time, edge, INK, linewidth=0.8, linestyle=(0, (4, 3)))
        ends.append((float(mean[-1]), name, colour))
    if len(names) > 1:
        label_ends(sheet, ax, ends)
    n = some.shape[2]
    key: list[Artist] = [
        Line2D([], [], color=GREY, linewidth=1.8, label=f"mean of {grouped(found.samples)}"),
        Patch(facecolor=GREY, alpha=0.25, label="± standard deviation"),
        Line2D([], [], color=GREY, linewidth=0.5, label=f"{n} of them"),
    ]
    if found.exact is not None:
        key.append(Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label="exact mean ± deviation"))
    return key


def draw_distribution(run: Recording, ax: Axes, component: int, name: str, title: str) -> list[Artist]:
    """The density of a component over the batch at the frame that is shown, and the normal law with the exact mean and
    deviation where all states began alike."""
    values = states(run, run.shown, slice(component, component + 1), slice(_READ)).ravel()
    values = values[np.isfinite(values)]
    ax.hist(values, bins=min(_BARS, max(10, math.isqrt(len(values)))), density=True, color="#a9cfe6")
    key: list[Artist] = [Patch(facecolor="#a9cfe6", label=f"{grouped(len(values))} states")]
    batch = run.file["state" if run.has("state") else "state_real"].shape[2]
    if run.has("state_std_exact") and run.scenario.initial.copies == batch:
        mean, spread = (float(run.numbers(f"state_{what}_exact", run.shown, component)) for what in ("mean", "std"))
        if spread > 0:
            x = np.linspace(*ax.get_xlim(), 300)
            normal = np.exp(-(((x - mean) / spread) ** 2) / 2) / (math.sqrt(2 * math.pi) * spread)
            ax.plot(x, normal, color=INK, linewidth=1.2)
            key.append(Line2D([], [], color=INK, linewidth=1.2, label="exact density"))
    tidy(ax, title, name, "Density")
    ax.set_ylim(bottom=0)
    return key
