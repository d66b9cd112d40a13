"""Pictures show what is true: no peak is lost between points, no line or mark hides another, no colour stands for two
things, and what is drawn is named."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looking import HEAT, cut, overlaps, texts_of
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import simsuite
from simsuite.io.reading import open_results
from simsuite.pictures.choices.sheets import sheet_of
from simsuite.pictures.coincidence import equal_curves, seen_apart
from simsuite.pictures.heat import heat_figure
from simsuite.pictures.linear import linear_figure
from simsuite.pictures.look import Look
from simsuite.pictures.plates.curves import _together
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY
from simsuite.pictures.video.states import state_scene

pytestmark = pytest.mark.usefixtures("one_thread")
CHAIN = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": {"generator": "markov", "states": 1500, "up": 0.3, "down": 0.3}},
    "initial": {"state": {"unit": [100, 1001]}},
    "time": {"steps": 3},
    "output": {"frames": 4},
}
SPIN = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[0.0, "-1j"], ["-1j", "-1.5j"]]},
    "initial": {"state": [1.0, 0.0]},
    "time": {"steps": 40, "dt": 0.1},
    "output": {"frames": 41},
}
DAMPED = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[-1.0, 2.0], [-2.0, -1.0]]},
    "initial": {"state": [[1.0, 0.0, 3.0], [0.0, 1.0, -1.0]]},
    "time": {"steps": 40, "dt": 0.1},
    "output": {"frames": 41},
}
LATTICE = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": {"generator": "lattice_walk", "nx": 30, "ny": 30}},
    "initial": {"state": {"unit": [465]}},
    "time": {"steps": 20},
    "output": {"frames": 3},
}
PLATE = {
    "solver": "heat",
    "grid": {"nx": 32, "ny": 32, "lx": 1.0, "ly": 1.0},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "sin(pi*x)*sin(pi*y)"},
    "boundary": {edge: {"kind": "temperature", "value": 0.0} for edge in ("left", "right", "bottom", "top")},
    "probe": [{"name": "centre", "x": 0.5, "y": 0.5}],
    "time": {"end": 0.05},
    "output": {"frames": 3, "samples": 11},
}


def figure_of(place: Path, scenario: Mapping[str, Any], **changes: Any) -> Figure:
    """The overview of a run that is made now."""
    simsuite.run({**scenario, **changes}, device="cpu", directory=place)
    with open_results(place / "results.h5") as file:
        run = Recording(place, file)
        return (heat_figure if scenario["solver"] == "heat" else linear_figure)(run).laid_out()


def sheet(place: Path, *names: str) -> Figure:
    """What is asked for of a run that was made."""
    with open_results(place / "results.h5") as file:
        return sheet_of([Recording(place, file)], names, Look()).laid_out()


def panel(figure: Figure, title: str) -> Axes:
    (found,) = (ax for ax in figure.axes if ax.get_title(loc="left").startswith(title))
    return found


def key(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


# ---- many components


def test_no_component_is_left_out_of_a_profile_or_map(tmp_path: Path) -> None:
    """Walkers who began at a single component: every third would show neither."""
    figure = figure_of(tmp_path / "run", CHAIN)
    with open_results(tmp_path / "run" / "results.h5") as file:
        state = file["state"][...]
    ax = panel(figure, "State after 3 steps")
    assert ax.get_xlabel() == "Component (from least to largest of 3)"
    for j, band in enumerate(ax.collections):
        (path,) = band.get_paths()
        at, heights = path.vertices.T
        for stretch in (0, 33, 333, 334, 499):
            found = heights[np.isclose(at, 3 * stretch + 1)]
            values = state[-1, 3 * stretch : 3 * stretch + 3, j]
            assert {found.min(), found.max()} == {values.min(), values.max()}
    for j, title in enumerate(("Sample 0", "Sample 1")):
        ax = panel(figure, title)
        shown = np.asarray(ax.collections[0].get_array())  # [stretch, frame]
        np.testing.assert_array_equal(shown, np.abs(state[:, :, j]).reshape(4, 500, 3).max(axis=2).T)
        edges = np.asarray(ax.collections[0].get_coordinates())[:, 0, 1]
        np.testing.assert_allclose(edges, np.arange(501) * 3 - 0.5)
        assert shown[:, 0].max() == 1.0
    assert overlaps(figure) == []
    assert cut(figure) == []


def test_a_lattice_is_shown_by_its_maps_alone(tmp_path: Path) -> None:
    figure = figure_of(tmp_path / "run", LATTICE)
    assert not [ax for ax in figure.axes if ax.get_xlabel() == "Component"]
    assert sum(bool(ax.images) for ax in figure.axes) >= 2


def test_dots_of_a_component_have_its_colour_and_samples_their_marks(tmp_path: Path) -> None:
    figure = figure_of(tmp_path / "run", DAMPED)
    ax = panel(figure, "State at t = 4 s")
    with open_results(tmp_path / "run" / "results.h5") as file:
        state = file["state"][-1]
    dots = [line for line in ax.lines if line.get_marker() in ("o", "s", "^")]
    found = {(line.get_marker(), round(float(line.get_xdata()[0]))): line for line in dots}
    assert len(found) == len(dots) == 6
    for (j, mark), i in itertools.product(enumerate("os^"), range(2)):
        assert found[mark, i].get_ydata()[0] == state[i, j]
        assert found[mark, i].get_color() == COLOURS[i]
    assert key(figure) == ["sample 0", "sample 1", "sample 2"]
    lines = [line.get_color() for line in panel(figure, "Sample 0").lines]
    assert lines == list(COLOURS[:2])
    handles = figure.legends[0].legend_handles
    assert {handle.get_color() for handle in handles} == {GREY}


@pytest.mark.parametrize(("scenario", "beside"), [(SPIN, False), (DAMPED, True)])
def test_a_plane_that_is_a_straight_line_is_left_out(tmp_path: Path, scenario: Mapping[str, Any], beside: bool) -> None:
    simsuite.run(scenario, device="cpu", directory=tmp_path / "run")
    with open_results(tmp_path / "run" / "results.h5") as file:
        figure = state_scene(Recording(tmp_path / "run", file), "about it").sheet.laid_out()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert ("X₁ over X₀" in titles) == beside
    if beside:
        ways = [to_hex(line.get_color()) for line in figure.axes[-1].lines]
        assert not {*ways} & {*COLOURS[:2]}
        assert key(figure) == ["sample 0", "sample 1", "sample 2"]
    assert cut(figure) == []


@pytest.mark.parametrize(("scenario", "words"), [(SPIN, ["mode that does not decay"]), (DAMPED, [])])
def test_eigenvalues_of_another_colour_are_explained(
    tmp_path: Path, scenario: Mapping[str, Any], words: list[str]
) -> None:
    simsuite.run(scenario, device="cpu", directory=tmp_path / "run")
    figure = sheet(tmp_path / "run", "modes")
    assert key(figure) == words
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    (other,) = (line for line in lines if line.get_color() == COLOURS[1])
    assert len(other.get_xdata()) == 2 * len(words)
    assert all(handle.get_color() == COLOURS[1] for legend in figure.legends for handle in legend.legend_handles)
    assert "Size of an entry" in {name for name, _ in texts_of(figure)}  # entries may have units that differ


# ---- curves that coincide


def test_a_curve_on_another_is_dashed() -> None:
    t = np.linspace(0, 10, 400)
    curves = np.column_stack([np.sin(t), np.cos(t), np.sin(t) + 0.005, np.where(t < 2, np.sin(t), -2.0)])
    assert [bool(style) for style in seen_apart(curves)] == [False, False, True, False]
    curves[50:60] = np.nan
    assert [bool(style) for style in seen_apart(curves)] == [False, False, True, False]
    assert seen_apart(np.full((3, 2), np.nan)) == [{}, {}]
    assert seen_apart(curves[:1]) == [{}] * 4
    swing, rest = np.where(t < 4, np.sin(6 * t), 0.0), 0 * t  # alike for most of the time, but not where one moves
    assert seen_apart(np.column_stack([rest, swing])) == [{}, {}]
    fast = 40 * t  # steep lines are near each other though far apart at any time
    assert [bool(style) for style in seen_apart(np.column_stack([np.sin(fast), np.sin(fast - 0.03)]))] == [False, True]


def test_equal_curves_are_found() -> None:
    t = np.linspace(0, 1, 50)
    assert equal_curves([t, -t, t + 1e-12, 0 * t, -t]) == [[0, 2], [1, 4], [3]]
    assert equal_curves([]) == []


def test_the_same_heat_through_all_edges_is_one_line(tmp_path: Path) -> None:
    simsuite.run(PLATE, device="cpu", directory=tmp_path / "run")
    figure = sheet(tmp_path / "run", "balance")
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.texts] == ["each edge", "stored"]
    assert ax.get_ylabel() == "Heat (K·m²)"
    each, stored = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(4 * each, stored, rtol=1e-9, atol=1e-15)
    first, second = ax.get_title(loc="left").split("\n")
    assert first == "Heat balance closes to"
    assert second.endswith(" of its largest part")


def test_what_coincides_is_named() -> None:
    assert _together(["left edge", "right edge"]) == "left = right edge"
    assert _together(["chip", "left edge"]) == "chip = left edge"
    assert _together(["top edge"]) == "top edge"
    assert _together(["power_supply", "left edge", "chip"]) == "power_s… = left ed… = chip"
    assert _together(["a_single_source_with_a_long_name"]) == "a_single_source_with_a_…"
    assert _together([f"chip{i}" for i in range(9)]) == "chip0 = 8 others"


@pytest.mark.parametrize(("sources", "words"), [(1, ["weak ≈ 0"]), (4, ["4 others ≈ 0"])])
def test_heat_that_is_next_to_nothing_is_named_at_0(tmp_path: Path, sources: int, words: list[str]) -> None:
    weak = [{"name": f"weak{i or ''}", "power": 1e-6 * (1 + i)} for i in range(sources)]
    simsuite.run({**PLATE, "source": weak}, device="cpu", directory=tmp_path / "run")
    (ax,) = sheet(tmp_path / "run", "balance").axes
    assert ax.get_xlabel() == "Time (ms)"
    found = {text.get_text(): text for text in ax.texts if "≈" in text.get_text()}
    assert list(found) == words
    assert found[words[0]].xy == (1.0, 0.0)


# ---- plates


def test_two_states_that_differ_much_have_a_scale_each(tmp_path: Path) -> None:
    hot = {"initial": {"temperature": "300 + 900*exp(-((x-0.5)**2 + (y-0.4)**2)/0.002)"}, "boundary": {}}
    figure = figure_of(tmp_path / "run", PLATE, **hot)
    with open_results(tmp_path / "run" / "results.h5") as file:
        stored = file["temperature"][...]
    first, last = (ax for ax in figure.axes if ax.images)
    for ax, values in ((last, stored[-1]), (first, stored[0])):
        assert (ax.images[0].norm.vmin, ax.images[0].norm.vmax) == (values.min(), values.max())
        (bar,) = ax.child_axes
        assert "K" in bar.get_ylabel()
    assert overlaps(figure) == []
    assert cut(figure) == []


def test_two_states_that_differ_little_have_one_scale(tmp_path: Path) -> None:
    figure = figure_of(tmp_path / "run", PLATE)
    first, last = (ax for ax in figure.axes if ax.images)
    assert last.images[0].norm.vmax == first.images[0].norm.vmax
    assert (len(last.child_axes), len(first.child_axes)) == (1, 0)


@pytest.mark.parametrize(
    ("probes", "hot"),
    [
        ([(0.5, 0.5)], (0.5, 0.5)),  # the probe is in the hottest cell or beside it
        ([(0.5, 0.45), (0.5, 0.5), (0.47, 0.5)], (0.5, 0.5)),
        ([(0.5, 0.5)], (0.51, 0.98)),  # the cell is at the upper edge
        ([(0.01, 0.01)], (0.0, 0.0)),
    ],
)
def test_the_triangle_points_at_the_hottest_cell_and_covers_no_dot(
    tmp_path: Path, probes: list[tuple[float, float]], hot: tuple[float, float]
) -> None:
    warm = {"temperature": f"exp(-((x-{hot[0]})**2 + (y-{hot[1]})**2)/0.3)"}
    named = [{"name": f"p{i}", "x": x, "y": y} for i, (x, y) in enumerate(probes)]
    simsuite.run({**PLATE, "boundary": {}, "initial": warm, "probe": named}, device="cpu", directory=tmp_path / "run")
    figure = sheet(tmp_path / "run", "field")
    ax, dots = figure.axes[0], figure.dpi / 72
    with open_results(tmp_path / "run" / "results.h5") as file:
        row, column = np.unravel_index(np.argmax(file["temperature"][-1]), (32, 32))
    (pointer,) = (line for line in ax.lines if not isinstance(line.get_marker(), str))
    cell = ax.transData.transform(pointer.get_xydata()[0])
    np.testing.assert_allclose(pointer.get_xydata()[0], [(column + 0.5) / 32, (row + 0.5) / 32])
    corners = _corners(pointer, cell, dots)
    # the tip is the corner next to the cell, at most a dot's width from it, and the axis of the triangle leads there
    tip, *base = sorted(corners, key=lambda corner: float(np.hypot(*(corner - cell))))
    assert np.hypot(*(tip - cell)) <= 5 * dots
    (u, v), (p, q) = np.mean(base, axis=0) - cell, tip - cell
    assert abs(u * q - v * p) < 1e-6 * dots**2
    room = ax.get_window_extent().padded(2)
    assert all(room.contains(*corner) for corner in corners)
    triangle = np.array([weights @ corners for weights in np.random.default_rng(1).dirichlet([1, 1, 1], 500)])
    for x, y in probes:
        away = np.hypot(*(triangle - ax.transData.transform((x, y))).T)
        assert away.min() > 2.75 * dots
    (number,) = (text for text in ax.texts if text.get_text().endswith(" K"))
    box = number.get_window_extent()
    marks = [corners.mean(axis=0), *(ax.transData.transform(place) for place in probes)]
    gaps = [np.hypot(*np.maximum(np.maximum(box.min - mark, mark - box.max), 0)) for mark in marks]
    assert gaps[0] == min(gaps)
    assert overlaps(figure) == []
    assert cut(figure) == []


def _corners(pointer: Line2D, cell: np.ndarray, dots: float) -> np.ndarray:
    """The corners of a triangle as it is drawn, in pixels."""
    marker = pointer._marker  # type: ignore[attr-defined]
    drawn = marker.get_transform().transform(marker.get_path().vertices[:3])
    return np.asarray(cell + drawn * pointer.get_markersize() * dots)


@pytest.mark.parametrize(
    ("without", "title"),
    [
        ("", "Edges, regions and sources"),
        ("region", "Edges and sources"),
        ("source", "Edges and regions"),
        ("region source", "Edges"),
    ],
)
def test_edges_are_titled_by_what_is_drawn(tmp_path: Path, without: str, title: str) -> None:
    text = HEAT
    for name in without.split():
        begin = text.index(f"\n{name} = [")
        text = text[:begin] + text[text.index("]\n", text.index("}]", begin)) + 1 :]
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    simsuite.run(tmp_path / "s.toml", device="cpu", directory=tmp_path / "run")
    assert sheet(tmp_path / "run", "boundary").axes[0].get_title(loc="left") == title


def test_a_plate_of_one_material_has_all_its_numbers(tmp_path: Path) -> None:
    material = {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}
    simsuite.run({**PLATE, "material": material}, device="cpu", directory=tmp_path / "run")
    figure = sheet(tmp_path / "run", "material")
    assert figure.axes[0].get_title(loc="left") == "Conductivity: 45 W/(m·K) everywhere"
    words = {name for name, _ in texts_of(figure)}
    assert "heat capacity 3.666 × 10⁶ J/(m³·K)\ndiffusivity 1.227 × 10⁻⁵ m²/s" in words  # 7800 * 470, 45 / 3.666e6
    assert overlaps(figure) == []
    simsuite.run(PLATE, device="cpu", directory=tmp_path / "alone")
    assert not any("capacity" in name for name, _ in texts_of(sheet(tmp_path / "alone", "material")))
