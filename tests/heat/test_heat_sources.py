"""Sources that move: as products where they have that form, the same as evaluated in every cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.core import Backend
from simsuite.expressions import Expression
from simsuite.solvers.heat.operator.operator import Operator
from simsuite.solvers.heat.operator.sources import products

SPOT = "50*exp(-((x-0.1*t-0.2)**2+(y-0.5)**2)/0.02)"
SWITCHED = "where(x > 0.3 and x < 0.6 and y < 0.2, 7*sin(40*t), 0)"
SUM = "x*sin(9*t) + y*cos(5*t) + x*y*t"
RIPPLE = "sin(20*x*y + t)"  # no such sum
REACTION = "T*(1 - T)"
MOVING = {
    "one product": ([SPOT], 1),
    "several": ([SPOT, "3*x", SWITCHED, SUM], 4),
    "with one that is none": ([SUM, RIPPLE, SPOT], 0),
    "with a reaction": ([SPOT, REACTION], 0),
    "none that moves": (["3*x"], 0),
}
HOLE = [{"shape": "circle", "center": [0.4, 0.5], "radius": 0.2, "temperature": 1.0}]


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("which", MOVING)
def test_what_heats_the_cells_and_its_sums(
    heat: Callable, backend: Backend, which: str, held: bool, precision: str
) -> None:
    texts, terms = MOVING[which]
    sections: dict[str, Any] = {"region": HOLE} if held else {}
    problem = heat(
        grid={"nx": 9, "ny": 5},
        source=[{"name": f"s{i}", "power": text} for i, text in enumerate(texts)],
        initial={"temperature": "0.3 + 0.2*x"},
        time={"end": 0.1, "dt": 1e-3},
        run={"precision": precision},
        **sections,
    )
    made = problem.made
    operator = Operator(made, problem.clock, backend, precision, problem.initial().arrays)
    assert operator.sources.terms == terms
    first, k = 30, 7
    T = backend.array(problem.T0)
    operator.begin(first, k + 1)
    operator.refresh(backend.view(T), k)
    t = problem.clock.time(first + k)
    fields = [made.source(i, t, problem.T0.astype(np.float64)) for i in range(len(texts))]
    eps = np.finfo(precision).eps
    free = ~made.held
    q = np.asarray(backend.to_host(operator.sources.q))
    assert np.abs(q - sum(fields))[free].max() <= 8 * eps * sum(map(abs, fields))[free].max()
    power = np.asarray(backend.to_host(operator.sources.power)).reshape(-1, made.ny)
    moving = [field for field, static in zip(fields, made.static) if not static]
    assert len(power) == len(moving)
    for sums, field in zip(power, moving):
        assert np.abs(sums - field.sum(axis=1)).max() <= 8 * eps * np.abs(field).sum(axis=1).max()


def test_factors_that_float32_cannot_hold_are_not_used(heat: Callable) -> None:
    text = "1e-35*exp(90*x)*exp(-80*y)*1e30*t"
    problem = heat(source=[{"power": text}], time={"end": 0.1, "dt": 1e-3})
    assert products(problem.made, problem.clock, np.dtype("float64")) != [None]
    assert products(problem.made, problem.clock, np.dtype("float32")) == [None]


def test_products_are_found_for_the_times_of_the_run(heat: Callable) -> None:
    """1/(t - 0.2) is finite until 0.1, not until 0.3."""
    for end, found in ((0.1, True), (0.3, False)):
        problem = heat(source=[{"power": "x*y/(t - 0.2)"}], time={"end": end, "dt": 1e-3})
        assert (products(problem.made, problem.clock, np.dtype("float64")) != [None]) == found
    assert Expression.parse(RIPPLE, ("x", "y", "t", "T")).depends_on("t")
