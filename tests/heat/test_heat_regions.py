"""Regions, pictures and arrays of a heat scenario, sampled on the grid: against counting in other ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from PIL import Image

from simsuite.errors import ScenarioError
from simsuite.solvers.heat.grid.discretisation import Discretisation

SIZE = {"nx": 23, "ny": 17, "lx": 2.0, "ly": 1.0}


def centres(nx: int, ny: int, lx: float, ly: float) -> tuple[np.ndarray, np.ndarray]:
    return np.meshgrid([(i + 0.5) * lx / nx for i in range(nx)], [(i + 0.5) * ly / ny for i in range(ny)])


def conductivity_in(heat: Callable, *regions: dict[str, Any], **sections: Any) -> np.ndarray:
    """Diffusivity 1, and 2, 3, .. in the regions."""
    regions = tuple({"diffusivity": 2.0 + i} | region for i, region in enumerate(regions))
    return heat(**{"grid": SIZE, "region": list(regions)} | sections).made.kx


def mistakes_of(heat: Callable, **sections: Any) -> dict[tuple, str]:
    with pytest.raises(ScenarioError) as caught:
        heat(**{"grid": SIZE} | sections)
    return {m.path: f"{m.message} ({m.help})" for m in caught.value.mistakes}


def test_rectangles_and_circles_hold_the_cells_whose_centre_they_do(heat: Callable) -> None:
    for seed in range(10):
        a, b, c, d, r = np.random.default_rng(seed).uniform(0.05, 0.95, 5)
        rectangle = {"shape": "rectangle", "x": sorted([2 * a, 2 * b]), "y": sorted([c, d])}
        got = conductivity_in(heat, rectangle, {"shape": "circle", "center": [2 * c, d], "radius": r / 2})
        x, y = centres(**SIZE)
        want = np.ones((17, 23))
        for row in range(17):
            for column in range(23):
                px, py = x[row, column], y[row, column]
                if min(2 * a, 2 * b) <= px <= max(2 * a, 2 * b) and min(c, d) <= py <= max(c, d):
                    want[row, column] = 2.0
                if math.dist((px, py), (2 * c, d)) <= r / 2:
                    want[row, column] = 3.0
        assert np.array_equal(got, want)


def test_rims_belong_to_rectangles_and_circles(heat: Callable) -> None:
    rectangle = {"shape": "rectangle", "x": [0.125, 0.625], "y": [0.125, 0.375]}
    grid = {"nx": 4, "ny": 4, "lx": 1.0, "ly": 1.0}
    got = conductivity_in(heat, rectangle, grid=grid)
    assert np.array_equal(got == 2.0, [[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    got = conductivity_in(heat, {"shape": "circle", "center": [0.375, 0.375], "radius": 0.25}, grid=grid)
    assert np.array_equal(got == 2.0, [[0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("seed", range(10))
def test_polygons_against_matplotlib(heat: Callable, seed: int) -> None:
    """Stars with many hollows, either way round."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * math.pi, 11))[:: (-1) ** seed]
    radii = rng.uniform(0.05, 0.6, 11)
    points = np.column_stack([1.0 + radii * np.cos(angles), 0.5 + radii * np.sin(angles)])
    got = conductivity_in(heat, {"shape": "polygon", "points": points.tolist()})
    x, y = centres(**SIZE)
    want = Outline(points).contains_points(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    assert np.array_equal(got == 2.0, want)
    assert want.any()


@pytest.mark.parametrize("turned", [False, True])
def test_a_concave_polygon_is_made_of_rectangles(heat: Callable, turned: bool) -> None:
    """A C; and polygons that share a part of their outline leave no cell out, and share those with centres on it."""
    c = [[0.2, 0.1], [1.8, 0.1], [1.8, 0.3], [0.7, 0.3], [0.7, 0.7], [1.8, 0.7], [1.8, 0.9], [0.2, 0.9]]
    got = conductivity_in(heat, {"shape": "polygon", "points": c[::-1] if turned else c})
    parts = [([0.2, 0.7], [0.1, 0.9]), ([0.7, 1.8], [0.1, 0.3]), ([0.7, 1.8], [0.7, 0.9])]
    pieces = [{"shape": "rectangle", "x": x, "y": y, "diffusivity": 2.0} for x, y in parts]
    assert np.array_equal(got, conductivity_in(heat, *pieces))
    grid = {"nx": 8, "ny": 8, "lx": 1.0, "ly": 1.0}
    zigzag = [[0.0, 0.0], [0.3125, 0.3125], [0.3125, 0.6875], [0.6875, 0.6875], [1.0, 1.0]]
    halves = [
        conductivity_in(heat, {"shape": "polygon", "points": [*zigzag, corner]}, grid=grid) == 2.0
        for corner in ([1.0, 0.0], [0.0, 1.0])
    ]
    x, y = centres(**grid)
    middle_x, middle_y = abs(x - 0.5) <= 0.1875, abs(y - 0.5) <= 0.1875
    step = (x == 0.3125) & middle_y | (y == 0.6875) & middle_x
    assert np.all(halves[0] | halves[1])
    assert np.array_equal(halves[0] & halves[1], step | (x == y) & ((x <= 0.3125) | (x >= 0.6875)))


@pytest.mark.parametrize("turned", [False, True])
def test_centres_on_the_sides_of_a_polygon_are_in_it_as_in_a_rectangle(heat: Callable, turned: bool) -> None:
    """Where sides and centres meet but for rounding."""
    grid = {"nx": 20, "ny": 20, "lx": 1.0, "ly": 1.0}
    square = [[0.275, 0.125], [0.775, 0.125], [0.775, 0.625], [0.275, 0.625]]
    polygon = conductivity_in(heat, {"shape": "polygon", "points": square[::-1] if turned else square}, grid=grid)
    rectangle = conductivity_in(heat, {"shape": "rectangle", "x": [0.275, 0.775], "y": [0.125, 0.625]}, grid=grid)
    assert np.array_equal(polygon, rectangle)
    assert np.count_nonzero(rectangle == 2.0) == 11 * 11


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_shapes_that_are_symmetric_have_cells_that_are(heat: Callable, scale: float) -> None:
    """A triangle of equal sides, of which two meet centres; and a disc that has four centres on its outline."""
    grid = {"nx": 30, "ny": 20, "lx": 0.3 * scale, "ly": 0.2 * scale}
    triangle = (np.array([[0.1, 0.0], [0.2, 0.0], [0.15, 0.15]]) * scale).tolist()
    disc = {"shape": "circle", "center": [0.155 * scale, 0.105 * scale], "radius": 0.07 * scale}
    got = conductivity_in(heat, {"shape": "polygon", "points": triangle}, grid=grid)
    assert np.array_equal(got, got[:, ::-1])
    x, y = np.arange(30) + 0.5, np.arange(20)[:, None] + 0.5
    assert np.array_equal(got == 2.0, (3 * (x - 10) >= y) & (3 * (20 - x) >= y))
    got = conductivity_in(heat, disc, grid=grid)
    assert np.array_equal(got == 2.0, (x - 15.5) ** 2 + (y - 10.5) ** 2 <= 49)


def test_later_regions_win_whatever_they_set(heat: Callable) -> None:
    """A material over a held region frees it; a held one over a material holds it; keys not set stay."""
    left, right = (
        {"shape": "rectangle", "x": [0.0, 1.2], "y": [0, 1]},
        {"shape": "rectangle", "x": [0.8, 2], "y": [0, 1]},
    )
    made: Discretisation = heat(
        grid={"nx": 20, "ny": 2, "lx": 2.0, "ly": 1.0},
        material={"conductivity": [1.0, 2.0], "density": 3.0, "specific_heat": 5.0},
        region=[
            left | {"conductivity": 7.0, "density": 11.0},
            right | {"temperature": "100*x"},
            {"shape": "rectangle", "x": [0.8, 1.0], "y": [0, 1], "specific_heat": 13.0},
        ],
        initial={"temperature": 40.0},
    ).made
    x = (np.arange(20) + 0.5) / 10
    held, freed = x > 1.0, (x > 0.8) & (x < 1.0)
    for row in range(2):
        assert np.array_equal(made.held[row], held)
        assert np.array_equal(made.kx[row], np.where(x < 1.2, 7.0, 1.0))
        assert np.array_equal(made.ky[row], np.where(x < 1.2, 7.0, 2.0))
        assert np.array_equal(made.rho_c[row], np.where(x < 1.2, 11.0, 3.0) * np.where(freed, 13.0, 5.0))
        assert np.allclose(made.T0[row], np.where(held, 100 * x, 40.0), rtol=1e-15)


def test_a_region_that_frees_all_of_a_held_one_leaves_no_trace_of_it(heat: Callable) -> None:
    part = {"shape": "circle", "center": [0.5, 0.5], "radius": 0.3}
    initial = {"temperature": "20 + x"}
    both = heat(region=[part | {"temperature": 500.0}, part | {"diffusivity": 2.0}], initial=initial).made
    alone = heat(region=[part | {"diffusivity": 2.0}], initial=initial).made
    assert np.array_equal(both.T0, alone.T0)
    assert not both.any_held


def test_masks(heat: Callable, tmp_path: Path) -> None:
    mask = np.random.default_rng(0).random((17, 23)) < 0.3
    np.save(tmp_path / "mask.npy", mask)
    np.save(tmp_path / "numbers.npy", mask * 0.25)
    Image.fromarray(np.where(mask, 128, 127).astype(np.uint8)[::-1]).save(tmp_path / "mask.png")
    for file in ("mask.npy", "numbers.npy", "mask.png"):
        assert np.array_equal(conductivity_in(heat, {"shape": "mask", "file": file}) == 2.0, mask), file
    found = mistakes_of(heat, region=[{"shape": "mask", "file": "missing.npy", "diffusivity": 2.0}])
    assert "cannot be read" in found["region", 0, "file"]
    np.save(tmp_path / "turned.npy", mask.T)
    found = mistakes_of(heat, region=[{"shape": "mask", "file": "turned.npy", "diffusivity": 2.0}])
    assert "(23, 17), needed are (ny, nx) = (17, 23)" in found["region", 0, "file"]


VALUES = {"#ff0000": 45.0, "#00ff00": 7.0, "128": 2.0, "#000000": 1.0}
COLOURS = np.array([[255, 0, 0], [0, 255, 0], [128, 128, 128], [0, 0, 0]], np.uint8)
NUMBERS = np.array([45.0, 7.0, 2.0, 1.0])


def test_the_top_row_of_a_picture_is_at_the_top_edge(heat: Callable, tmp_path: Path) -> None:
    Image.fromarray(COLOURS[[[0, 1], [2, 3]]]).save(tmp_path / "map.png")
    problem = heat(grid={"nx": 4, "ny": 2}, material={"diffusivity": {"file": "map.png", "values": VALUES}})
    assert not any("jumps" in warning for warning in problem.warnings)
    made = problem.made
    assert np.array_equal(made.kx, [[2, 2, 1, 1], [45, 45, 7, 7]])


@pytest.mark.parametrize("pixels", [(3, 2), (17, 23), (41, 61), (1, 1)], ids=str)
def test_pictures_are_stretched_to_the_nearest_pixel(heat: Callable, tmp_path: Path, pixels: tuple[int, int]) -> None:
    """Of another size than the grid: the pixel that a cell's centre lies in."""
    height, width = pixels
    chosen = np.random.default_rng(width).integers(0, 4, pixels)
    Image.fromarray(COLOURS[chosen]).save(tmp_path / "map.png")
    made = heat(grid=SIZE, material={"diffusivity": {"file": "map.png", "values": VALUES}}).made
    for row, column in np.ndindex(17, 23):
        down = int((1 - (row + 0.5) / 17) * height)
        across = int((column + 0.5) / 23 * width)
        assert made.kx[row, column] == NUMBERS[chosen[down, across]]


def test_pictures_of_other_kinds(heat: Callable, tmp_path: Path) -> None:
    """Grey ones, palettes, transparency: as long as the colours are the same."""
    chosen = np.random.default_rng(5).integers(0, 4, (17, 23))
    picture = Image.fromarray(COLOURS[chosen])
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=4).save(tmp_path / "palette.gif")
    picture.convert("RGBA").save(tmp_path / "alpha.png")
    picture.save(tmp_path / "plain.bmp")
    for file in ("palette.gif", "alpha.png", "plain.bmp"):
        made = heat(grid=SIZE, material={"diffusivity": {"file": file, "values": VALUES}}).made
        assert np.array_equal(made.kx, NUMBERS[chosen][::-1]), file
    grey = np.random.default_rng(6).choice([0, 128], (17, 23)).astype(np.uint8)
    Image.fromarray(grey).save(tmp_path / "grey.png")
    made = heat(grid=SIZE, material={"diffusivity": {"file": "grey.png", "values": {"0": 1.0, "128": 2.0}}}).made
    assert np.array_equal(made.kx, 1.0 + (grey == 128)[::-1])


def test_a_colour_without_a_value_is_named(heat: Callable, tmp_path: Path) -> None:
    pixels = np.full((17, 23, 3), 255, np.uint8)
    pixels[16, 4] = 18, 52, 86  # the bottom row
    Image.fromarray(pixels).save(tmp_path / "map.png")
    found = mistakes_of(heat, material={"diffusivity": {"file": "map.png", "values": {"255": 1.0}}})
    (message,) = found.values()
    assert list(found) == [("material", "diffusivity", "values")]
    assert "#123456 in cell 4 along x, 0 along y" in message
    assert 'add "#123456" to values' in message


def test_coefficients_that_are_not_positive_or_of_another_shape(heat: Callable, tmp_path: Path) -> None:
    """Each is answered with the key and the cell."""
    np.save(tmp_path / "k.npy", np.ones((23, 17)))
    holes = np.ones((17, 23))
    holes[3, 5] = np.nan
    np.save(tmp_path / "holes.npy", holes)
    found = mistakes_of(heat, material={"conductivity": {"file": "k.npy"}, "density": "x - 0.5", "specific_heat": 1.0})
    assert "(23, 17), the grid needs (ny, nx) = (17, 23)" in found["material", "conductivity", "file"]
    assert "cell 0 along x, 0 along y" in found["material", "density"]
    found = mistakes_of(heat, material={"diffusivity": ["1 - y/2", "0.9 - y"]})
    assert list(found) == [("material", "diffusivity", 1)]
    assert "cell 0 along x, 15 along y" in found["material", "diffusivity", 1]
    found = mistakes_of(heat, material={"diffusivity": {"file": "holes.npy"}})
    assert any("is nan in cell 5 along x, 3 along y" in message for message in found.values())
    found = mistakes_of(heat, material={"diffusivity": "1 - T/50"}, initial={"temperature": "100*x"})
    assert "must not be negative" in found["material", "diffusivity"]


def test_a_region_s_material_counts_inside_of_it_only(heat: Callable, tmp_path: Path) -> None:
    """What its expression or picture would say elsewhere does not matter."""
    half = {"shape": "rectangle", "x": [1.0, 2.0], "y": [0, 1]}
    x = (np.arange(23) + 0.5) * 2 / 23
    k = conductivity_in(heat, half | {"diffusivity": "x - 0.9"})
    assert np.allclose(k, np.where(x >= 1, x - 0.9, 1.0)[None], rtol=1e-14)
    pixels = np.zeros((1, 2), np.uint8)
    pixels[0, 1] = 255
    Image.fromarray(pixels).save(tmp_path / "map.png")
    k = conductivity_in(heat, half | {"diffusivity": {"file": "map.png", "values": {"255": 4.0}}})
    assert np.array_equal(k[0], np.where(x >= 1, 4.0, 1.0))
    found = mistakes_of(heat, material={"diffusivity": 1.0}, region=[half | {"diffusivity": "1.5 - x"}])
    assert "cell 17 along x, 0 along y" in found["region", 0, "diffusivity"]
