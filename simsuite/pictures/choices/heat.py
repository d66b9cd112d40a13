"""What can be asked for of a heat run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.errors import SimsuiteError
from simsuite.pictures.choices.choice import Choice, Limits, Panel, ever
from simsuite.pictures.choices.heat_convergence import converged_panels, few_errors
from simsuite.pictures.plates.curves import draw_balance, draw_errors, draw_probes, has_curves, moved
from simsuite.pictures.plates.edges import draw_edges
from simsuite.pictures.plates.fields import domain_of, draw_field, precision_of, temperature
from simsuite.pictures.plates.flux import draw_flux, flux_of
from simsuite.pictures.plates.maps import Scale, spanning
from simsuite.pictures.plates.materials import draw_material, materials_of
from simsuite.pictures.plates.plate import Plate, plate_of
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet


def _shape(run: Recording) -> float:
    return domain_of(run.scenario).shape


def _field(run: Recording) -> Sequence[Panel]:
    scale = spanning([temperature(run, run.shown)], precision_of(run))

    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        used = scale if limits is None or limits == (scale.low, scale.high) else Scale(*limits, None)
        return draw_field(run, sheet, ax, used)

    return [Panel(draw, _shape(run), (scale.low, scale.high))]


def _curves(draw: Callable[[Recording, Sheet, Axes], None]) -> Callable[[Recording], Sequence[Panel]]:
    def panels(run: Recording) -> Sequence[Panel]:
        def drawn(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            draw(run, sheet, ax)
            return []

        return [Panel(drawn)]

    return panels


def _plate(run: Recording) -> Plate:
    return plate_of(run.scenario, run.base)


def _no_plate(run: Recording) -> str | None:
    try:
        _plate(run)
    except (SimsuiteError, OSError) as error:
        return f"material: {error}"
    return None


def _material(run: Recording) -> Sequence[Panel]:
    def panel(k: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            return draw_material(sheet, ax, run.scenario, materials[k], plate, limits)

        return Panel(draw, _shape(run), materials[k].limits)

    plate = _plate(run)
    materials = materials_of(run.scenario, plate)
    return [panel(k) for k in range(len(materials))]


def _flux(run: Recording) -> Sequence[Panel]:
    found = flux_of(run, plate_of(run.scenario, run.base, run.numbers("temperature", run.shown)))

    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        return draw_flux(run, ax, found, limits)

    return [Panel(draw, _shape(run), (0.0, found.largest))]


def _boundary(run: Recording) -> Sequence[Panel]:
    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        return draw_edges(sheet, ax, run.scenario)

    return [Panel(draw, _shape(run))]


def _no_probes(run: Recording) -> str | None:
    if not run.scenario.probe:
        return "probes: the scenario names none"
    return None if has_curves(run) else "probes over time: it has one state only"


def _no_balance(run: Recording) -> str | None:
    if not (run.has("energy_stored") and has_curves(run)):
        return "balance of heat over time: it has one state only"
    return None if moved(run) > 0 else "balance of heat: none came in or went out"


def _no_error(run: Recording) -> str | None:
    return None if run.has("error_l2") else "error: the scenario has no [reference] that it is compared with"


HEAT = (
    Choice("field", ever, _field),
    Choice("flux", _no_plate, _flux),
    Choice("material", _no_plate, _material),
    Choice("boundary", ever, _boundary),
    Choice("probes", _no_probes, _curves(draw_probes)),
    Choice("balance", _no_balance, _curves(draw_balance)),
    Choice("error", _no_error, _curves(draw_errors)),
    Choice("convergence", few_errors, lambda run: converged_panels([run]), converged_panels),
)
