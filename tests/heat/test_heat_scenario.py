"""What a heat scenario says: materials, regions, pieces of edges, what is derived; and that writing loses nothing."""

from __future__ import annotations

import hashlib
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schema_check import faults

from simsuite.errors import ScenarioError
from simsuite.expressions import Expression
from simsuite.scenario import Scenario, json_schema, load, settings
from simsuite.scenario.heat import ArrayRef, HeatScenario, ImageRef, Polygon, Rectangle

PLAIN = """\
solver = "heat"
[grid]
nx = 8
ny = 4
lx = 2.0
[material]
diffusivity = 1e-4
[time]
end = 1.0
"""
FULL = """\
solver = "heat"
[grid]
nx = 8
ny = 4
lx = 2.0
[material]
conductivity = ["45 + x*T", {file = "k.npy"}]
density = {file = "map.png", values = {"#FF8000" = 7800.0, "128" = 1}}
specific_heat = "400 + x"
[[region]]
shape = "rectangle"
x = [0.1, 0.2]
y = [-1, 0.5]
conductivity = 3
[[region]]
shape = "circle"
center = [0.5, 0.5]
radius = 0.1
temperature = "300*x"
[[region]]
shape = "polygon"
points = [[0, 0], [1, 0], [0, 1]]
density = 5
specific_heat = {file = "map.png", values = {"0" = 1.0}}
[[region]]
shape = "mask"
file = "mask.npy"
conductivity = ["T", 1]
[boundary]
left = [
  {kind = "temperature", value = 3, to = 0.5},
  {from = 0.5, kind = "radiation", emissivity = 0.9, ambient = "300+t"},
]
right = {kind = "flux", value = "x*y*t"}
bottom = {kind = "periodic"}
top = {kind = "periodic"}
[[source]]
power = "x*T"
[[source]]
power = 3
name = "laser_1"
[time]
end = 1
stepper = "rkl2"
dt = 0.1
tolerance = 1e-3
steady_tolerance = 1e-2
[reference]
temperature = 3.0
"""
STEADY = PLAIN.replace("end = 1.0", 'steady = true\n[boundary]\nleft = {kind = "temperature", value = "y"}')
MANUFACTURED = """
[boundary]
left = {kind = "temperature"}
right = [{kind = "flux", to = 0.5}, {from = 0.5, kind = "convection", h = "1 + y"}]
top = {kind = "radiation", emissivity = "0.5 + 0.1*x"}
[reference]
temperature = "300 + exp(-t)*sin(x)*y"
manufactured = true
"""


def scenario(directory: Path, text: str, **values: Any) -> Scenario:
    for name in ("k.npy", "map.png", "mask.npy"):
        (directory / name).write_bytes(name.encode())
    path = directory / "plate.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, settings({key.replace("__", "."): value for key, value in values.items()}))


@pytest.mark.parametrize(
    "text", [PLAIN, FULL, STEADY, PLAIN + MANUFACTURED], ids=["plain", "full", "steady", "manufactured"]
)
def test_what_is_written_loads_back(text: str, tmp_path: Path) -> None:
    first = scenario(tmp_path, text)
    resolved = first.resolved_toml()
    (tmp_path / "resolved.toml").write_text(resolved, encoding="utf-8")
    again = load(tmp_path / "resolved.toml")
    assert again.model == first.model
    assert again.resolved_toml() == resolved
    assert first.differences(resolved) == []
    for schema in (json_schema("heat"), json_schema()):
        for data in (tomllib.loads(text), tomllib.loads(resolved)):
            assert list(faults(data, schema, schema)) == []


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("material", {"diffusivity": [1.0, 2.0, 3.0]}),
        ("material", {"diffusivity": {"file": "map.png", "values": {}}}),
        ("material", {"diffusivity": {"file": "map.png", "values": {"0": -1.0}}}),
        ("region", [{"shape": "square", "temperature": 1.0}]),
        ("boundary", {"left": [{"kind": "insulated", "start": 0.5}]}),
        ("boundary", {"left": {"kind": "radiation", "emissivity": 1.5, "ambient": 1.0}}),
    ],
)
def test_the_schema_refuses_what_is_wrong(section: str, value: Any) -> None:
    schema = json_schema("heat")
    assert list(faults(tomllib.loads(PLAIN) | {section: value}, schema, schema))


def test_differences_are_named_down_to_pieces_and_colours(tmp_path: Path) -> None:
    first = scenario(tmp_path, FULL)
    changes = {"boundary.left.1.emissivity": 0.8, "material.density.values.128": 2.0, "region.2.points.1.0": 0.9}
    other = load(first.path, settings({**changes, "source.0.power": "T", "material.conductivity.0": 3.0}))
    keys = ["material.conductivity.0", "material.density.values.128", "region.2.points", "boundary.left.1.emissivity"]
    assert sorted(first.differences(other.resolved_toml())) == sorted([*keys, "source.0.power"])


def test_every_file_is_hashed(tmp_path: Path) -> None:
    found = scenario(tmp_path, FULL).files()
    names = {
        "material.conductivity.1": "k.npy",
        "material.density": "map.png",
        "region.2.specific_heat": "map.png",
        "region.3": "mask.npy",
    }
    assert found == {key: hashlib.sha256(name.encode()).hexdigest() for key, name in names.items()}


def test_material_in_parts(tmp_path: Path) -> None:
    material = scenario(tmp_path, FULL).model.material
    along_x, along_y = material.k_parts
    assert isinstance(along_y, ArrayRef)
    assert (str(along_x), along_y.path(tmp_path)) == ("45 + x*T", tmp_path / "k.npy")
    assert not material.alone
    density, specific_heat = material.rho_c_parts
    assert isinstance(density, ImageRef)
    assert density.colours == {(255, 128, 0): 7800.0, (128, 128, 128): 1.0}
    assert specific_heat == Expression.parse("400 + x", ("x", "y"))


def test_diffusivity_stands_alone(tmp_path: Path) -> None:
    one = scenario(tmp_path, PLAIN).model.material
    assert one.alone
    assert one.rho_c_parts == ()
    assert [part.value for part in one.k_parts] == [1e-4, 1e-4]
    two = scenario(tmp_path, PLAIN, material__diffusivity=[1e-4, 2e-4]).model.material
    assert [part.value for part in two.k_parts] == [1e-4, 2e-4]


def test_regions_say_what_they_change(tmp_path: Path) -> None:
    bar, disc, corner, mask = scenario(tmp_path, FULL).model.region
    assert [part.value for part in bar.k_parts] == [3.0, 3.0]
    assert (bar.material_keys, disc.material_keys, mask.material_keys) == (("conductivity",), (), ("conductivity",))
    assert (disc.k_parts, corner.k_parts, str(disc.temperature)) == (None, None, "300*x")
    assert corner.density.value == 5.0
    assert [str(part) for part in mask.k_parts] == ["T", "1.0"]
    assert mask.file == "mask.npy"


def test_segments_of_edges(tmp_path: Path) -> None:
    boundary = scenario(tmp_path, FULL).model.boundary
    pieces = boundary.segments("left", 1.0)
    assert [(s.start, s.stop, s.condition.kind) for s in pieces] == [(0, 0.5, "temperature"), (0.5, 1.0, "radiation")]
    assert [s.path for s in pieces] == [("boundary", "left", 0), ("boundary", "left", 1)]
    (whole,) = boundary.segments("right", 1.0)
    assert (whole.start, whole.stop, whole.path) == (0.0, 1.0, ("boundary", "right"))
    assert whole.condition is boundary.right
    assert (boundary.periodic_x, boundary.periodic_y) == (False, True)


def test_pieces_may_miss_each_other_by_rounding_only(tmp_path: Path) -> None:
    third = 2.0 / 3

    def top(cut: float, end: float) -> list[dict[str, Any]]:
        return [{"kind": "insulated", "to": third}, {"from": cut, "to": end, "kind": "flux", "value": 1.0}]

    for cut in (math.nextafter(third, 0), third, third + 1e-9):
        one, two = scenario(tmp_path, PLAIN, boundary__top=top(cut, 2.0 + 1e-9)).model.boundary.segments("top", 2.0)
        assert (one.start, one.stop, two.start, two.stop) == (0.0, cut, cut, 2.0)
    for cut, end, words in (
        (third + 1e-8, 2.0, "has no condition"),
        (third - 1e-8, 2.0, "overlap"),
        (third, 2.1, "ends"),
    ):
        with pytest.raises(ScenarioError, match=words):
            scenario(tmp_path, PLAIN, boundary__top=top(cut, end))


def test_names_of_sources(tmp_path: Path) -> None:
    assert [each.name for each in scenario(tmp_path, FULL).model.heating] == ["source1", "laser_1"]
    assert scenario(tmp_path, PLAIN).model.heating == ()


def test_what_is_derived_is_not_written(tmp_path: Path) -> None:
    made = scenario(tmp_path, PLAIN + MANUFACTURED)
    assert made.model.manufactured
    assert made.model.boundary.left.value is None
    written = tomllib.loads(made.resolved_toml())
    assert "initial" not in written
    assert written["boundary"]["right"] == [
        {"kind": "flux", "to": 0.5},
        {"from": 0.5, "kind": "convection", "h": "1 + y"},
    ]
    assert tomllib.loads(scenario(tmp_path, PLAIN).resolved_toml())["initial"] == {"temperature": 0.0}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("boundary.right", {"kind": "convection", "h": 1.0, "ambient": 0.0}),
        ("boundary.right", [{"kind": "radiation", "emissivity": 0.5, "ambient": 300.0}]),
        ("region", [{"shape": "circle", "center": [1.0, 0.5], "radius": 0.1, "temperature": 0.0}]),
        ("source", [{"power": "1 - T"}]),
    ],
)
def test_what_determines_a_steady_state(key: str, value: Any, tmp_path: Path) -> None:
    still = PLAIN.replace("end = 1.0", "steady = true")
    with pytest.raises(ScenarioError, match="not determined"):
        scenario(tmp_path, still)
    model = load(tmp_path / "plate.toml", settings({key: value})).model
    assert (model.time.steady, model.time.end) == (True, None)


@pytest.mark.parametrize("condition", [{"kind": "convection", "h": 0}, {"kind": "radiation", "emissivity": 0}])
def test_an_edge_through_which_no_heat_passes_determines_nothing(condition: dict[str, Any], tmp_path: Path) -> None:
    """It is one all the same."""
    scenario(tmp_path, PLAIN)
    given = settings({"boundary.right": {**condition, "ambient": 300.0}, "material": {"conductivity": 1.0}})
    with pytest.raises(ScenarioError, match="not determined"):
        load(tmp_path / "plate.toml", [*given, "time={steady=true}"])
    given = settings({"boundary.right": {**condition, "ambient": 300.0}})
    assert load(tmp_path / "plate.toml", given).model.boundary.right.kind == condition["kind"]


def model(**sections: Any) -> HeatScenario:
    plain = {"solver": "heat", "grid": {"nx": 2, "ny": 2}, "material": {"diffusivity": 1.0}, "time": {"end": 1.0}}
    return HeatScenario.model_validate(plain | sections)


def inside(points: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether points lie in a convex polygon whose corners go round counterclockwise."""
    result = np.ones_like(x, dtype=bool)
    for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0)):
        result &= (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0
    return result


def test_a_polygon_misses_the_domain_if_no_point_of_it_is_inside() -> None:
    """Triangles and rectangles at random around a domain of 2 by 1, against a fine raster of the domain."""
    rng = np.random.default_rng(3)
    x, y = np.meshgrid((np.arange(400) + 0.5) / 200, (np.arange(200) + 0.5) / 200)
    seen = []
    for _ in range(300):
        centre = rng.uniform((-1, -1), (3, 2))
        angles = np.sort(rng.uniform(0, 2 * np.pi, 3))
        points = centre + rng.uniform(0.1, 1) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        covered = int(inside(points, x, y).sum())
        region = Polygon(shape="polygon", points=points.tolist(), temperature=0.0)
        if not 0 < covered < 20:  # what only grazes the domain may slip through the raster
            seen.append(covered == 0)
            clipped_to_nothing = region.misses(2.0, 1.0)
            assert clipped_to_nothing == (covered == 0) or (covered == 0 and grazes(points, x, y))
    assert 50 < sum(seen) < len(seen) - 50


def grazes(points: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a slightly larger polygon does cover some of the raster."""
    return bool(inside(points.mean(axis=0) + 1.2 * (points - points.mean(axis=0)), x, y).any())


@pytest.mark.parametrize(
    ("x", "y", "outside"),
    [
        ([-1.0, 0.0], [0.0, 1.0], True),
        ([-1.0, 1e-9], [0.0, 1.0], False),
        ([2.0, 3.0], [0.0, 1.0], True),
        ([-5.0, 5.0], [-5.0, 5.0], False),
        ([0.0, 1.0], [1.0, 2.0], True),
        ([0.0, 1.0], [-1.0, -0.5], True),
    ],
)
def test_a_rectangle_misses_the_domain(x: list[float], y: list[float], outside: bool) -> None:
    corners = [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]]
    assert Rectangle(shape="rectangle", x=x, y=y, temperature=0.0).misses(2.0, 1.0) is outside
    assert Polygon(shape="polygon", points=corners, temperature=0.0).misses(2.0, 1.0) is outside
    assert Polygon(shape="polygon", points=corners[::-1], temperature=0.0).misses(2.0, 1.0) is outside


def test_models_are_made_in_python_too() -> None:
    made = model(boundary={"left": [{"kind": "insulated", "to": 0.25}, {"kind": "insulated", "from": 0.25}]})
    assert [s.stop for s in made.boundary.segments("left", made.edge_length("left"))] == [0.25, 1.0]
    with pytest.raises(ValueError, match="extra_forbidden"):
        model(boundary={"left": [{"kind": "insulated", "stop": 0.25}, {"kind": "insulated", "start": 0.25}]})
