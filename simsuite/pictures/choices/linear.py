"""What can be asked for of a run of a linear system."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.choices.choice import Choice, Draw, Limits, Panel, ever
from simsuite.pictures.control import control_panels
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet
from simsuite.pictures.spectrum import draw_eigenvalues, draw_matrix, has_eigenvalues
from simsuite.pictures.systems.batch import draw_distribution
from simsuite.pictures.systems.clock import moment
from simsuite.pictures.systems.inputs import draw_inputs, has_inputs
from simsuite.pictures.systems.trajectories import (
    Shown,
    component_names,
    draw_sample,
    panels_of_samples,
    read_shown,
)

_MOST = 8  # At most so many components have a density.
_FEWEST = 30  # states, of which there is a density to draw


def _trajectory(run: Recording) -> Sequence[Panel]:
    shown = read_shown(run)

    def panel(sample: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            return draw_sample(run, sheet, ax, shown, sample)

        return Panel(draw, 0.5)

    found = [panel(j) for j in range(panels_of_samples(run, shown))]
    if has_inputs(run):
        found.append(Panel(_inputs(run), 0.35, kind="input"))
    return found


def _inputs(run: Recording) -> Draw:
    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        draw_inputs(run, sheet, ax)
        return []

    return draw


def _modes(run: Recording) -> Sequence[Panel]:
    def eigenvalues(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        return draw_eigenvalues(run, ax)

    def matrix(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        draw_matrix(run, ax)
        return []

    found = [Panel(eigenvalues, 0.75)] if has_eigenvalues(run) else []
    return [*found, Panel(matrix, 0.75, alike=False, kind="matrix")] if _has_matrix(run) else found


def _has_matrix(run: Recording) -> bool:
    return run.has("matrix_magnitude") and run.file["matrix_magnitude"].size > 1


def _no_modes(run: Recording) -> str | None:
    return None if has_eigenvalues(run) or _has_matrix(run) else "modes: they are known when it is over"


def _bode(run: Recording) -> Sequence[Panel]:
    def panel(k: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            return control_panels(run, lambda: sheet)[k](ax)

        return Panel(draw)

    return [panel(k) for k in range(len(control_panels(run, _no_sheet)))]


def _no_sheet() -> Sheet:
    raise AssertionError("panels are only counted")


def _no_bode(run: Recording) -> str | None:
    return None if run.has("bode_magnitude") else "bode: bode = true in [analysis] asks for it"


def _density(run: Recording) -> Sequence[Panel]:
    shown: Shown = read_shown(run)
    names = component_names(shown)[:_MOST]
    when = moment(shown.clock, float(run.time[run.shown]) * shown.clock.scale)

    def panel(c: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            return draw_distribution(run, ax, int(shown.components[c]), names[c], f"{names[c]} {when}")

        return Panel(draw)

    return [panel(c) for c in range(len(names))]


def _no_density(run: Recording) -> str | None:
    batch = run.file["state" if run.has("state") else "state_real"].shape[2]
    return None if batch >= _FEWEST else f"density: it has {batch} of the {_FEWEST} states that one takes at least"


LINEAR = (
    Choice("trajectory", ever, _trajectory),
    Choice("modes", _no_modes, _modes),
    Choice("bode", _no_bode, _bode),
    Choice("density", _no_density, _density),
)
