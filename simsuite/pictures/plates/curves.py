"""What is known of a plate over time: temperatures at probes, errors, and the balance of heat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from simsuite.pictures.coincidence import equal_curves, seen_apart
from simsuite.pictures.plates.fields import PROBES, clock_of
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import decades, prefixed, rounded, shortened

_FLAT = 1e-3  # Flows of a smaller share of the largest one would be lines at 0: they are named, not drawn.
_NAMED = 3  # So many of those are named at most, of more their number stands there.
_LETTERS = 24  # Names of one line are cut short where they have more together.
_LINES = 24  # At most so many probes are drawn.


def has_curves(run: Recording) -> bool:
    """Whether anything goes on over time: a steady run has a single state."""
    return not run.scenario.time.steady and run.committed("sample_time") > 1


def moved(run: Recording) -> float:
    """The largest amount of heat that came through an edge or from a source."""
    return max((float(np.abs(values).max()) for _, values in _ledger(run)), default=0.0)


def _ledger(run: Recording) -> list[tuple[str, np.ndarray]]:
    """(name, heat over time) for each edge and source through which heat came in."""
    samples = run.committed("sample_time")
    parts = [name for name in run.names() if name.startswith("energy_")]
    parts = [name for name in parts if name not in ("energy_stored", "energy_residual")]
    named = ((name.removeprefix("energy_").removeprefix("source_"), name) for name in parts)
    edges = {"left", "right", "bottom", "top"}
    return [(f"{short} edge" if short in edges else short, run.numbers(name, slice(samples))) for short, name in named]


def _sample_times(run: Recording) -> tuple[np.ndarray, int]:
    n = run.committed("sample_time")
    return run.numbers("sample_time", slice(n)) * clock_of(run).scale, n


def draw_probes(run: Recording, sheet: Sheet, ax: Axes) -> None:
    """A line for each probe, with its name at its end."""
    t, n = _sample_times(run)
    probes = run.scenario.probe[:_LINES]
    values = run.numbers("probe_temperature", slice(n), slice(len(probes)))
    ends = []
    for i, (probe, style) in enumerate(zip(probes, seen_apart(values))):
        colour = COLOURS[i] if i < PROBES else GREY
        draw_line(ax, t, values[:, i], colour, **style)
        ends.append((values[-1, i], shortened(probe.name, 18), colour))
    left_out = len(run.scenario.probe) - len(probes)
    title = "Probes" if left_out == 0 else f"Probes (first {len(probes)} of {len(run.scenario.probe)})"
    _time_axes(run, ax, title, f"Temperature ({run.unit('temperature')})")
    label_ends(sheet, ax, ends)


def draw_balance(run: Recording, sheet: Sheet, ax: Axes) -> None:
    """The heat that is stored and that came in since the start, a line for what is the same of several edges or
    sources; what is next to nothing is named at 0."""
    t, n = _sample_times(run)
    stored, residual = run.numbers("energy_stored", slice(n)), run.numbers("energy_residual", slice(n))
    largest = max(moved(run), float(np.abs(stored).max()))
    parts = [(name, values) for name, values in _ledger(run) if float(np.abs(values).max()) > _FLAT * largest]
    flat = [name for name, values in _ledger(run) if 0 < float(np.abs(values).max()) <= _FLAT * largest]
    unit = prefixed(largest, run.unit("energy_stored"))
    curves: list[tuple[str, np.ndarray, str, dict[str, Any]]] = [
        (_together([parts[i][0] for i in group]), parts[group[0]][1], COLOURS[k % len(COLOURS)], {})
        for k, group in enumerate(equal_curves([values for _, values in parts]))
    ]
    curves.append(("stored", stored, INK, {"linewidth": 1.6, "linestyle": (0, (4, 2)), "zorder": 4}))
    for _, values, colour, style in curves:
        draw_line(ax, t, values * unit.scale, colour, **style)
    worst = float(np.abs(residual).max()) / largest if largest else 0.0
    exact = f"closes to\n{rounded(worst, 2)} of its largest part" if worst else "closes exactly"
    _time_axes(run, ax, f"Heat balance {exact}", f"Heat ({unit.name})")
    ends = [(values[-1] * unit.scale, name, colour) for name, values, colour, _ in curves]
    label_ends(sheet, ax, [*ends, *((0.0, words, GREY) for words in _next_to_nothing(flat))])


def _together(names: Sequence[str]) -> str:
    """What the one line for some edges and sources is called, all of which it shows."""
    edges = [name.removesuffix(" edge") for name in names if name.endswith(" edge")]
    if len(edges) == len(names) > 1:
        return "each edge" if len(edges) == 4 else f"{' = '.join(edges)} edge"
    if len(names) > _NAMED:
        names = [names[0], f"{len(names) - 1} others"]
    limit = max(map(len, names)) if sum(map(len, names)) <= _LETTERS else _LETTERS // len(names)
    return " = ".join(shortened(name, limit) for name in names)


def _next_to_nothing(names: Sequence[str]) -> list[str]:
    """What is said at 0 of edges and sources of which no line is drawn."""
    return [f"{name} ≈ 0" for name in names] if len(names) <= _NAMED else [f"{len(names)} others ≈ 0"]


def draw_errors(run: Recording, sheet: Sheet, ax: Axes) -> None:
    """The largest and the root mean square error against the reference, at each frame."""
    t = run.time * clock_of(run).scale
    curves = [(name, run.numbers(f"error_{name}", slice(run.frames))) for name in ("linf", "l2")]
    names = {"linf": "largest", "l2": "r.m.s."}
    log = decades(np.concatenate([values for _, values in curves])) > 1
    if log:
        ax.set_yscale("log", nonpositive="mask")
    ends = []
    for i, (name, values) in enumerate(curves):
        shown = np.where(values > 0, values, np.nan) if log else values
        draw_line(ax, t, shown, COLOURS[i])
        good = shown[np.isfinite(shown)]
        if good.size:
            ends.append((float(good[-1]), names[name], COLOURS[i]))
    _time_axes(run, ax, "Error against the reference", f"Error ({run.unit('error_l2')})")
    label_ends(sheet, ax, ends)


def _time_axes(run: Recording, ax: Axes, title: str, ylabel: str) -> None:
    tidy(ax, title, f"Time ({clock_of(run).name})", ylabel)
    ax.margins(x=0.0, y=0.08)
