"""A plate before its run: material, regions, sources, edges, probes, and the initial temperature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.choices.choice import Draw, Limits, Panel
from simsuite.pictures.plates.edges import draw_edges
from simsuite.pictures.plates.fields import PIXELS, domain_of, frame_map
from simsuite.pictures.plates.maps import draw_colour_bar, draw_isotherms, draw_map, spanning
from simsuite.pictures.plates.materials import Material, draw_material, materials_of
from simsuite.pictures.plates.plate import Plate, plate_of
from simsuite.pictures.recording import Field
from simsuite.pictures.sheet import Sheet
from simsuite.pictures.units import contrast, rounded
from simsuite.scenario.heat import HeatScenario

_PRECISION = 1e-15  # the relative one of the numbers that are drawn


def heat_preview(model: HeatScenario, base: Path) -> tuple[str, list[Panel]]:
    """Subtitle and panels. Raises SimsuiteError where data files cannot be read."""
    plate = plate_of(model, base)
    g, initial = model.grid, plate.initial
    shape = domain_of(model).shape

    def edges(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        return draw_edges(sheet, ax, model, plate.marked)

    def material(which: Material) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            return draw_material(sheet, ax, model, which, plate, limits)

        return Panel(draw, shape, which.limits)

    materials = materials_of(model, plate)
    panels = [Panel(edges, shape), *(material(each) for each in materials if each.limits is not None)]
    same = "".join(f"{each.words}   |   " for each in materials if each.limits is None)
    degrees = "°C" if model.units == "degC" else "K"
    low, high = float(initial.min()), float(initial.max())
    if contrast(low, high, _PRECISION):
        panels.append(Panel(_initial(model, plate, degrees), shape))
        begin = f"at first {rounded(low)} to {rounded(high)} {degrees}"
    else:
        begin = f"at first {rounded(low)} {degrees} everywhere"
    return f"Heat conduction on {g.nx} × {g.ny} cells   |   before the run   |   {same}{begin}", panels


def _initial(model: HeatScenario, plate: Plate, degrees: str) -> Draw:
    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        domain, field = domain_of(model), Field.of(plate.initial, PIXELS)
        scale = spanning([field], _PRECISION)
        image = draw_map(ax, field, domain, scale)
        draw_isotherms(ax, field, domain, scale, _PRECISION)
        draw_colour_bar(ax, image, scale, f"Temperature ({degrees})", 0.03 * max(domain.shape, 1))
        frame_map(ax, domain, "Initial temperature")
        return []

    return draw
