"""What is said of heat scenarios that can be run but are hardly meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np


def test_regions_without_a_cell_are_named(heat: Callable, tmp_path: Path) -> None:
    """Cells are 0.125 m wide: a pipe of 2 cm between their centres, and a mask that marks nothing."""
    np.save(tmp_path / "mask.npy", np.zeros((8, 8)))
    regions = [
        {"shape": "rectangle", "x": [0, 1], "y": [0, 0.5], "diffusivity": 2.0},
        {"shape": "circle", "center": [0.5, 0.5], "radius": 0.02, "temperature": 300.0},
        {"shape": "mask", "file": "mask.npy", "diffusivity": 3.0},
    ]
    circle, mask = heat(region=regions).warnings
    assert circle.startswith("region 2, a circle, has no effect")
    assert "0.125 m" in circle
    assert "metres" in circle
    assert mask == "region 3, a mask, has no effect: mask.npy marks no cell"
    assert not heat(region=regions[:1]).warnings


def test_pieces_of_edges_without_a_cell_are_named(heat: Callable) -> None:
    pieces = [{"kind": "insulated", "to": 0.5}, {"from": 0.5, "to": 0.55, "kind": "temperature", "value": 9.0}]
    (text,) = heat(boundary={"bottom": [*pieces, {"from": 0.55, "kind": "insulated"}]}).warnings
    assert text.startswith("piece 2 of the bottom edge has no effect")
    assert "from = 0.5 and to = 0.55" in text
    assert not heat(boundary={"bottom": [pieces[0], {"from": 0.5, "kind": "temperature", "value": 9.0}]}).warnings


NOWHERE = [
    "1e6*(x > 10)*(x < 20)",
    "1e6*(hypot(x - 0.5, y - 0.5) < 0.01)",
    "1e6*(t > 3)",
    "(x > 2)*exp(-8000/T)",
    "(x > 0.4)*(x < 0.6)",
]
SOMEWHERE = [
    "1e6*(x > 0.9)",
    "1e6*(hypot(x - 0.2, y - 0.5) < 0.1)",
    "1e6*(t > 0.009)",
    "1e6*(T > 400)",
    "(abs(x - 100*t) < 0.001)",
    0.0,
]


def test_sources_that_are_certainly_0_are_named(heat: Callable) -> None:
    """The last of NOWHERE heats cells that are held. A number 0 is meant; a line that moves may meet a
    cell."""
    held = [{"shape": "rectangle", "x": [0.4, 0.6], "y": [0, 1], "temperature": 1.0}]
    sources = [{"power": power} for power in [*NOWHERE, *SOMEWHERE]]
    found = heat(region=held, source=sources, initial={"temperature": 300.0}).warnings
    idle = [text.split()[2] for text in found if "is 0 in every cell at all times" in text]
    assert idle == [f"source{i + 1}" for i in range(len(NOWHERE))]
