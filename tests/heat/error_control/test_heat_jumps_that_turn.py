"""Sources with sharp edges that circle or rotate: each cell is passed at times of its own, some only touched.

A cell that is only touched, or for which rounding leaves open which branch of atan2 it is on, kept all others from
being found: temperatures were off by up to a tenth of their range, with an estimate below the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.expressions import Expression
from simsuite.expressions.changes import changes
from simsuite.solvers.heat.problem import HeatProblem

pytestmark = pytest.mark.usefixtures("one_thread")

END = 60.0  # a turn and a fifth
X, Y = (np.arange(20) + 0.5) * 0.04, ((np.arange(15) + 0.5) * 0.04)[:, None]
DISC = "(hypot(x - 0.4 - 0.2*cos(2*pi*t/50), y - 0.3 - 0.2*sin(2*pi*t/50)) < 0.06)"
RING = "(hypot(x - 0.4, y - 0.3) < 0.25)*(hypot(x - 0.4, y - 0.3) > 0.15)"
SECTOR = f"{RING}*(cos(atan2(y - 0.3, x - 0.4) - 2*pi*t/50) > 0.9)"


@pytest.mark.parametrize("where", [DISC, SECTOR], ids=["disc", "sector"])
def test_all_jumps_are_found(where: str) -> None:
    """Whatever is seen to change between 6000 times does so at one of them."""
    f = Expression.parse(where, ("x", "y", "t"))
    found = changes(f.tree, "t", 0.0, END, {"x": X, "y": Y})
    t = np.linspace(0.0, END, 6001)
    values = np.stack([np.broadcast_to(f(x=X, y=Y, t=at), (Y.size, X.size)) for at in t])
    changed = np.any(values[1:] != values[:-1], axis=(1, 2))
    assert changed.sum() > 120
    inside = np.searchsorted(found, t[1:], "right") > np.searchsorted(found, t[:-1], "left")
    assert np.all(inside[changed])


@pytest.mark.parametrize("where", [DISC, SECTOR], ids=["disc", "sector"])
def test_a_cell_gets_the_heat_of_the_time_that_it_is_passed(heat: Callable[..., HeatProblem], where: str) -> None:
    """Hardly anything is conducted; the time is that of 24 000 moments, as exactly as these tell it."""
    problem = heat(
        grid={"nx": 20, "ny": 15, "lx": 0.8, "ly": 0.6},
        material={"conductivity": 1e-6, "density": 7200.0, "specific_heat": 500.0},
        initial={"temperature": 20.0},
        source=[{"power": f"1e7*{where}"}],
        time={"end": END, "tolerance": 1e-4, "stepper": "auto"},
        output={"frames": 4},
    )
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    f, n = Expression.parse(where, ("x", "y", "t")), 24_000
    passed = sum(np.broadcast_to(f(x=X, y=Y, t=(i + 0.5) * END / n), (Y.size, X.size)) for i in range(n)) * END / n
    exact = 20.0 + 1e7 * passed / (7200.0 * 500.0)
    assert np.max(np.abs(np.array(run.state["temperature"]) - exact)) <= 1e-3 * np.ptp(exact)


def test_a_fine_plate_gets_the_heat_of_the_time_that_its_cells_are_passed(heat: Callable[..., HeatProblem]) -> None:
    """Of a disc that moves along y = 0.05, passing a thousand of 44 100 cells, by the time that each is inside it."""
    n, end, r, v = 210, 2.0, 0.003, 0.004
    problem = heat(
        grid={"nx": n, "ny": n, "lx": 0.1, "ly": 0.1},
        material={"conductivity": 1e-6, "density": 2000.0, "specific_heat": 900.0},
        initial={"temperature": 300.0},
        source=[{"power": f"5e6*(hypot(x - 0.03 - {v}*t, y - 0.05) < {r})"}],
        time={"end": end, "tolerance": 1e-4, "stepper": "auto"},
        output={"frames": 2},
    )
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    x, y = (np.arange(n) + 0.5) * 0.1 / n, (np.arange(n)[:, None] + 0.5) * 0.1 / n
    half = np.sqrt(np.maximum(r**2 - (y - 0.05) ** 2, 0.0))
    begin, over = ((x - 0.03 + side * half) / v for side in (-1.0, 1.0))
    inside = np.where(half > 0, np.clip(over, 0.0, end) - np.clip(begin, 0.0, end), 0.0)
    exact = 300.0 + 5e6 / 1.8e6 * inside
    assert np.max(np.abs(np.array(run.state["temperature"]) - exact)) <= 1e-4 * np.ptp(exact)


@pytest.mark.parametrize(
    ("limit", "power"),
    [
        ("MOST_MOVING", f"1e7*{DISC}"),
        ("MOST", f"1e7*{DISC}"),
        ("MOST", "1e7*(t % 0.1 < 0.03)"),  # a part with more of them than are looked for
        ("MOST", "1e7*(t % 0.5 < 0.2)*(t % 0.7 < 0.1)"),  # or all of its parts together
    ],
)
def test_no_error_is_told_where_jumps_are_too_many(
    heat: Callable[..., HeatProblem], monkeypatch: pytest.MonkeyPatch, limit: str, power: str
) -> None:
    monkeypatch.setattr(f"simsuite.solvers.heat.time_scales.data_changes.{limit}", 50)
    problem = heat(
        grid={"nx": 20, "ny": 15, "lx": 0.8, "ly": 0.6},
        source=[{"power": power}],
        time={"end": END, "tolerance": 1e-2, "stepper": "rkl2"},
    )
    (text,) = [text for text in problem.warnings if "no time error is told" in text]
    assert f"a part of `{power}` jumps at too many times" in text
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.steps[1])
    with run.observe("time") as observed:
        results = problem.results(observed)
    assert "time_error" not in results
    assert not problem.shortcomings(results)
