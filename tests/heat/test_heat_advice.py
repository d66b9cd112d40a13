"""What is said of heat scenarios that can be run but are hardly meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simsuite
from simsuite.backends.cpu import CpuBackend
from simsuite.errors import NumericalFailure, ScenarioError
from simsuite.solvers.heat.problem import HeatProblem


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


SQUARE = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("corners", "crossed"),
    [
        (SQUARE, None),
        (SQUARE[::-1], None),
        ([*SQUARE, [0.4, 0.5]], None),
        ([*SQUARE, SQUARE[0]], None),
        ([SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]], "its sides from corner 1 to 2 and from corner 3 to 4 cross"),
        ([*SQUARE, [1.0, 0.5]], "its sides from corner 2 to 3 and from corner 4 to 5 cross"),
    ],
)
def test_polygons_that_cross_themselves_are_named(heat: Callable, corners: list, crossed: str | None) -> None:
    """Not one that is closed by its first corner, or has a corner that points inwards."""
    found = heat(region=[{"shape": "polygon", "points": corners, "diffusivity": 2.0}]).warnings
    assert [str(crossed) in text and "check the order of its corners" in text for text in found] == [True] * bool(
        crossed
    )


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
    """A number 0 is meant; a line that moves may meet a cell."""
    held = [{"shape": "rectangle", "x": [0.4, 0.6], "y": [0, 1], "temperature": 1.0}]
    sources = [{"power": power} for power in [*NOWHERE, *SOMEWHERE]]
    found = heat(region=held, source=sources, initial={"temperature": 300.0}).warnings
    idle = [text.split()[2] for text in found if "is 0 in every cell at all times" in text]
    assert idle == [f"source{i + 1}" for i in range(len(NOWHERE))]


@pytest.mark.parametrize(
    ("power", "later"),
    [
        ("1e6*(t > 25)", True),
        ("1e6*(x > 0.9)*(t > 25)*(t < 25.1)", True),
        ("1e6*(x > 10)*(t > 25)", False),
        ("1e6*(t > 25)*(t < 22)", False),
        ("1e6*(t < 0)", False),
        ("1e6*(x > 10)", False),
    ],
)
def test_a_source_that_acts_after_the_end_is_told_so(heat: Callable, power: str, later: bool) -> None:
    (text,) = heat(source=[{"power": power}], time={"end": 20.0, "stepper": "adi"}).warnings
    assert ("of the run, which ends at 20 s, before it acts: check time.end" in text) == later
    assert ("its x and y are in metres" in text) != later
    assert ("take more cells" in text) != later


@pytest.mark.parametrize(
    ("power", "named"),
    [
        ("1e6*(x == 0.05)", ("`x == 0.05`", "(abs(x - 0.05) < 0.0625) in place of (x == 0.05)")),
        ("1e6*(t < 5)*(x > 0.5)*(0.3 == y)", ("`0.3 == y`", "(abs(y - 0.3) < 0.0625) in place of (y == 0.3)")),
        ("1e6*(x == 0.0625)*(y > 2)", None),  # cells have their middle there
        ("1e6*(floor(x) == 5)", None),
    ],
)
def test_a_source_on_a_line_between_the_cells_is_named(
    heat: Callable, power: str, named: tuple[str, str] | None
) -> None:
    (text,) = heat(source=[{"power": power}]).warnings
    assert all(part in text for part in named or ("x and y are in metres",))
    assert ("on a line only" in text) == (named is not None)


STEP, BOTH = "20 + 30*(x > 0.01)*(t % 10 < 4)", "exp(-t)*cos(x)*cos(y)"


@pytest.mark.parametrize(
    ("edges", "told"),
    [
        ({"left": STEP}, ["x is 0 m all along the left edge, so that x in `value` = `" + STEP]),
        ({"top": "y**2", "right": "sin(x)"}, ["x is 1 m all along the right", "y is 1 m all along the top"]),
        ({"left": "(x > 0.5)*(y < 0.5)"}, ["x is 0 m all along the left"]),
        ({"left": BOTH}, []),
        ({"left": "20 + 30*(y > 0.01)", "bottom": STEP}, []),
        ({"left": STEP, "bottom": STEP}, []),  # one function of the whole plate
        ({"left": "20 + 0*x + (x > -1)"}, []),
    ],
)
def test_a_coordinate_that_is_constant_on_an_edge_is_named(
    heat: Callable, edges: dict[str, str], told: list[str]
) -> None:
    boundary = {edge: {"kind": "temperature", "value": value} for edge, value in edges.items()}
    found = [text for text in heat(boundary=boundary).warnings if "all along" in text]
    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(sorted(found), sorted(told), strict=True))


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ({"kind": "flux", "value": "5e4*(abs(x - 0.1) < 0.03)"}, "`value` of the top edge is 0 at all of its points"),
        ({"kind": "convection", "h": "20*(x > 5)", "ambient": 1.0}, "`h` of the top edge is 0 at all of its points"),
        (
            {"kind": "flux", "value": "5e4*(t > 3)"},
            "`value` of the top edge is 0 at all of its points at all times of",
        ),
        ({"kind": "flux", "value": "5e4*(abs(x - 0.1) < 0.06)"}, None),
        ({"kind": "flux", "value": 0.0}, None),
        ({"kind": "temperature", "value": "5*(x > 5)"}, None),
    ],
)
def test_fluxes_that_are_0_along_an_edge_are_named(heat: Callable, edge: dict[str, Any], said: str | None) -> None:
    """Cells are 0.125 m wide, and the middle of the first one is at 0.0625 m."""
    found = heat(boundary={"top": edge}).warnings
    told = [text for text in found if "is 0 at all" in text]
    assert [text.startswith(said or "") for text in told] == [True] * (said is not None)


ONCE = "` in the source source1 holds at single moments only"
SEEN = "the source source1 is 0 in every cell at each of the "


@pytest.mark.parametrize(
    ("power", "said"),
    [
        ("1e6*(t == 0.5)", f"`t == 0.5{ONCE}"),
        ("1 + 1e6*(t % 0.25 == 0)", f"`t % 0.25 == 0{ONCE}"),
        ("1e6*(floor(10*t) == 5)", None),
        ("1e6*(floor(1e5*t) == 50123)", None),
        ("1e6*(x % (0*x) > 1)", SEEN),
        ("1e6*(t > 0.6)*(t < 0.3)", SEEN),
        ("1e6*(t >= 0.6 and t <= 0.06)*(x < 0.5)", SEEN),
        ("1e6*(0.8 < t < 0.3)", SEEN),
        ("where(t < 0.6, 0, where(t > 0.06, 0, 1e6))", SEEN),
        ("1e6*(t > 0.3)*(t < 0.6)", None),
        ("1e6*(abs(t - 0.5) < 1e-7)", None),
        ("1e6*(abs(t - 0.5) < 1e-7)*(x < 0.1)*(y < 0.1)", None),
        ("1e6*exp(-((t - 0.5)/1e-5)**2)", None),
        ("1e6*(abs(x - t) < 1e-3)", None),
        ("(T == 300)", None),
        ("-1e6*(T - 60)*(t == 0.5)", f"`t == 0.5{ONCE}"),
        ("1e6*(T - 60)*(t == T)", None),
        ("0", None),
    ],
)
def test_sources_that_act_at_no_time_that_counts_are_named(
    heat: Callable[..., HeatProblem], power: str, said: str | None
) -> None:
    """However short they act, if they do."""
    found = heat(source=[{"power": power}], time={"end": 1.0}, initial={"temperature": 300.0}).warnings
    found = [text for text in found if "single moments" in text or "looked at, and" in text]
    assert [text.startswith(said or "") for text in found] == ([] if said is None else [True])


def test_edges_that_act_at_single_moments_are_named(heat: Callable[..., HeatProblem]) -> None:
    edge = {"kind": "temperature", "value": "300 + 100*(t == 0.5)"}
    found = heat(boundary={"top": edge}, time={"end": 1.0}).warnings
    assert any(text.startswith("`t == 0.5` in the top edge holds at single moments only") for text in found)


@pytest.mark.parametrize(
    ("given", "beginning"),
    [
        ({}, None),
        ({"end": 10.0}, "time.end has no effect with steady = true"),
        ({"tolerance": 1e-3, "end": 10.0}, "time.end and time.tolerance have no effect with steady = true"),
        ({"dt": "auto"}, "time.dt has no effect with steady = true"),
        ({"end": 10.0, "steady": False}, None),
    ],
)
def test_keys_of_steps_are_named_where_the_state_is_steady(
    heat: Callable, given: dict[str, Any], beginning: str | None
) -> None:
    time = {"steady": True, "stepper": "auto", **given}
    found = heat(time=time, output={}, boundary={"left": {"kind": "temperature", "value": 1.0}}).warnings
    assert [text.startswith(beginning or "") for text in found] == ([] if beginning is None else [True])


@pytest.mark.parametrize(
    ("output", "beginning"),
    [
        ({"frames": 5}, "output.frames has no effect"),
        ({"every": 2.0, "samples": 7}, "output.every and output.samples have no effect"),
        ({"times": [1.0], "checkpoint_every": 3}, "output.times and output.checkpoint_every have no effect"),
        ({"directory": "runs/here", "compression": "lossless"}, None),
    ],
)
def test_keys_of_frames_are_named_where_the_state_is_steady(
    heat: Callable, output: dict[str, Any], beginning: str | None
) -> None:
    """A steady state is one frame. The scenario that its run stores, with all keys, is told nothing else."""
    plate = {"time": {"steady": True, "stepper": "auto"}, "boundary": {"left": {"kind": "temperature", "value": 1.0}}}
    problem = heat(**plate, output=output)
    stored = problem.scenario.model_dump(mode="json", by_alias=True, exclude_none=True)
    for found in (problem.warnings, heat(**stored).warnings):
        assert [text.startswith(beginning or "") for text in found] == ([] if beginning is None else [True])


LEFT = {"shape": "rectangle", "x": [0, 0.2], "y": [0, 1]}
COLD = {
    "region": [LEFT | {"temperature": 300.0}, LEFT | {"temperature": "-200 + x"}],
    "boundary": {
        "left": {"kind": "temperature", "value": "300 - 1e6*t"},
        "bottom": {"kind": "convection", "h": 5.0, "ambient": "20 - 300"},
    },
    "initial": {"temperature": -280.0},
}
RADIATES = {"kind": "radiation", "emissivity": 0.5, "ambient": 300.0}

H = {"kind": "convection", "h": 5.0, "ambient": 20.0}


def mistakes_of(heat: Callable, **sections: Any) -> dict[tuple, str]:
    with pytest.raises(ScenarioError) as caught:
        heat(**sections)
    return {m.path: m.message for m in caught.value.mistakes}


def test_temperatures_below_absolute_zero_are_mistakes_where_it_is_known_where_that_is(heat: Callable) -> None:
    """In °C, and on plates that radiate; others may be given in differences of temperatures."""
    heat(**COLD)
    radiating = COLD | {"boundary": COLD["boundary"] | {"right": RADIATES, "top": RADIATES | {"ambient": -1.0}}}
    found = mistakes_of(heat, **radiating)
    assert set(found) == {
        ("boundary", "left", "value"),
        ("boundary", "bottom", "ambient"),
        ("boundary", "top", "ambient"),
        ("initial", "temperature"),
        ("region", 1, "temperature"),
    }
    assert found["initial", "temperature"] == "must not be below absolute zero, 0 K, but is -280"
    assert found["region", 1, "temperature"].endswith(" in cell 0 along x, 0 along y")
    varying = mistakes_of(heat, **radiating | {"initial": {"temperature": "-280 + 0*x"}})
    assert varying["initial", "temperature"].endswith(" but is -280 in cell 2 along x, 0 along y")
    found = mistakes_of(heat, **COLD, units="degC")
    assert set(found) == {
        ("boundary", "left", "value"),
        ("boundary", "bottom", "ambient"),
        ("initial", "temperature"),
    }
    assert found["boundary", "bottom", "ambient"].endswith("-273.15 °C, but is -280")
    assert " at x = 0 m, y = " in found["boundary", "left", "value"]


@pytest.mark.parametrize(
    ("edge", "said", "help"),
    [
        (
            {"kind": "temperature", "value": "20 - 320*(t%10 >= 4)"},
            "°C, but is -300 at x = 0 m, y = 0.0625 m, t = 4 s",
            None,
        ),
        (
            {"kind": "temperature", "value": "20 - 320*(t > 30)*(y > 0.5)"},
            "is -300 at x = 0 m, y = 0.5625 m, t = 30 s",
            None,
        ),
        (
            {"kind": "temperature", "value": "26.85 - 30*t"},
            "°C, but falls below it at x = 0 m, y = 0.0625 m, t = 10 s",
            None,
        ),
        ({"kind": "temperature", "value": "-300 + t"}, "°C, but is -300 at x = 0 m, y = 0.0625 m, t = 0 s", None),
        (H | {"h": "10*(t - 60)"}, "but is -600 at x = 0 m, y = 0.0625 m, t = 0 s", "write max(0, 10*(t - 60)) if"),
        (
            H | {"h": "10*(25 - t)"},
            "but falls below 0 at x = 0 m, y = 0.0625 m, t = 25 s",
            "write max(0, 10*(25 - t)) if",
        ),
    ],
)
def test_the_first_time_of_a_mistake_is_told(heat: Callable, edge: dict[str, Any], said: str, help: str | None) -> None:
    plate = {"boundary": {"left": edge}, "time": {"end": 40.0, "stepper": "auto"}, "units": "degC"}
    with pytest.raises(ScenarioError) as caught:
        heat(**plate)
    (found,) = caught.value.mistakes
    assert found.message.endswith(said)
    assert str(found.help).startswith(str(help))


def test_a_plate_that_radiates_and_is_cooled_below_absolute_zero_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plate = {
        "solver": "heat",
        "grid": {"nx": 4, "ny": 4},
        "material": {"diffusivity": 1.0},
        "initial": {"temperature": 100.0},
        "boundary": {"left": RADIATES | {"emissivity": 1e-3}},
        "source": [{"power": -100.0}],
        "time": {"end": 2.0},
        "output": {"frames": 5},
    }
    simsuite.run(plate, device="cpu", directory=tmp_path / "cold")
    (text,) = (record.message for record in caplog.records if record.levelname == "WARNING")
    assert "time 1.5 s the temperature falls to -" in text
    assert text in (tmp_path / "cold" / "log.txt").read_text()
    caplog.clear()
    simsuite.run(plate, {"time.end": 0.9}, device="cpu", directory=tmp_path / "warm")
    assert not caplog.records


STRIP = {"solver": "heat", "units": "degC", "grid": {"nx": 4, "ny": 1}, "material": {"diffusivity": 1.0}}


@pytest.mark.parametrize("stepper", ["exact", "adi", "rkl2", "explicit"])
def test_a_plate_in_degrees_celsius_that_is_cooled_below_absolute_zero_is_told_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, stepper: str
) -> None:
    """Whatever cools it: nothing radiates there. In K that could be differences of temperatures."""
    plate = STRIP | {
        "boundary": {"left": {"kind": "flux", "value": -100.0}},
        "time": {"end": 4.0, "stepper": stepper},
        "output": {"frames": 5},
    }
    simsuite.run(plate, device="cpu", directory=tmp_path / "cold")
    (text,) = (record.message for record in caplog.records if record.levelname == "WARNING")
    assert "time 3 s the temperature falls to -3" in text
    assert " °C: nothing is colder than -273.15 °C, so neither temperatures nor energies" in text
    caplog.clear()
    simsuite.run(plate, {"units": "K"}, device="cpu", directory=tmp_path / "differences")
    simsuite.run(plate, {"time.end": 2.0}, device="cpu", directory=tmp_path / "warm")
    assert not caplog.records


def test_a_steady_state_below_absolute_zero_has_no_step_and_no_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plate = STRIP | {
        "boundary": {
            "left": {"kind": "flux", "value": -1000.0},
            "right": {"kind": "temperature", "value": 0.0},
        },
        "time": {"steady": True},
    }
    simsuite.run(plate, device="cpu", directory=tmp_path)
    (text,) = (record.message for record in caplog.records if record.levelname == "WARNING")
    assert text.startswith("in the steady state the temperature falls to -875 °C: ")
    assert "energies are right; check" in text


HOT, COOL = {"temperature": 300.0}, {"left": {"kind": "temperature", "value": 280.0}}
THERMOSTATS = {
    "1e5*(T < 330)": "at T = 330",
    "where(T >= 290, 0, 1e5)*(x > 0.9)*(y > 0.9)": "at T = 290",
    "1e5*(t < 0.005)*floor(T/400)": "at T = 400, 800, 1200 and others",
    "1e5*(T < 300 + 10*sin(t))": "as T grows",
}
CONTINUOUS = [
    "1e5*min(1, max(0, (330 - T)/0.5))",
    "where(T < 330, 330 - T, 0)",
    "1e5*(T < 330)*(x > 5)",
    "1e5*(T > 100)",
    "-10*abs(T - 300)",
    "1e5*(t < 0.005)",
]


@pytest.mark.parametrize("stepper", ["explicit", "rkl2"])
def test_sources_that_jump_at_a_temperature_are_named(heat: Callable, stepper: str) -> None:
    """Not those that are continuous there, or that no temperature of the run takes there."""
    sources = [{"power": power} for power in [*THERMOSTATS, *CONTINUOUS]]
    problem = heat(source=sources, initial=HOT, boundary=COOL, time={"end": 1e-2, "stepper": stepper})
    found = [text for text in problem.warnings if "jumps" in text]
    assert len(found) == len(THERMOSTATS)
    for i, (text, where) in enumerate(zip(found, THERMOSTATS.values()), 1):
        assert text.startswith(f"the source source{i} jumps {where}, ")
        assert ("time.dt, with which no error is estimated" in text) == (stepper == "rkl2")
        assert ("results are off" in text) == (stepper == "explicit")


@pytest.mark.parametrize(
    ("written", "ramp"),
    [
        ("(T > 305)", "min(1, max(0, (T - 305)/0.5)) for (T > 305)"),
        ("(305 < T)", "min(1, max(0, (T - 305)/0.5)) for (T > 305)"),
        ("step(T - 305)", "min(1, max(0, (T - 305)/0.5)) for (T > 305)"),
        ("(T <= 305)", "min(1, max(0, (305 - T)/0.5)) for (T < 305)"),
        ("(1 - (T > 305))", "min(1, max(0, (T - 305)/0.5)) for (T > 305)"),
        ("(T > 300 + 10*sin(t))", "min(1, max(0, (T - 330)/0.5)) for (T > 330)"),
        ("(300 + 10*sin(t) > T)", "min(1, max(0, (330 - T)/0.5)) for (T < 330)"),
    ],
)
def test_the_ramp_that_is_proposed_goes_the_way_of_what_is_written(heat: Callable, written: str, ramp: str) -> None:
    start, end = {"temperature": "290 + 40*x"}, {"end": 1e-2, "stepper": "rkl2"}
    problem = heat(source=[{"power": f"1e5*{written}"}], initial=start, boundary=COOL, time=end)
    (text,) = [text for text in problem.warnings if "jumps" in text]
    assert f"make it a ramp, such as {ramp}, or" in text


STEADY: dict[str, Any] = {"steady": True, "stepper": "auto"}
BETWEEN = {"left": {"kind": "temperature", "value": 300.0}, "right": {"kind": "temperature", "value": 500.0}}
WEAKLY_COOLED = {"kind": "convection", "h": 1e-3, "ambient": 300.0}


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"source": [{"power": "-3000*(T > 400)"}]}, "the source source1 jumps at T = 400, "),
        ({"source": [{"power": "1e4*(T < 800)"}]}, "the source source1 jumps at T = 800, "),
        ({"source": [{"power": "1e4*(T < 800)*(x > 5)"}]}, None),
        ({"source": [{"power": "1e4*(T < 1e9)"}]}, None),
        ({"source": [{"power": "-(T > 900)"}]}, None),
        ({"source": [{"power": "3000*min(1, max(0, (400 - T)/0.5))"}]}, None),
        (
            {"source": [{"power": "(T < 800)"}], "boundary": {"left": WEAKLY_COOLED}},
            "the source source1 jumps at T = 800",
        ),
        ({"material": {"conductivity": "1 + (T > 400)"}}, "the conductivity jumps at T = 400, "),
        ({"material": {"conductivity": "1 + (T > 4000)"}}, None),
    ],
)
def test_what_jumps_at_a_temperature_may_have_no_steady_state(
    heat: Callable[..., HeatProblem], sections: dict[str, Any], said: str | None
) -> None:
    """At temperatures that edges have, or that a source could lead to while heat leaves through the plate."""
    plate = {"initial": {"temperature": 300.0}, "boundary": BETWEEN, "time": STEADY, "output": {}}
    found = [text for text in heat(**plate | sections).warnings if " jumps " in text]
    assert [text.startswith(said or "") for text in found] == ([] if said is None else [True])
    assert all("no steady state may be found" in text and "make it a ramp" in text for text in found)
    assert not any("step" in text for text in found)


def test_a_search_that_fails_at_a_jump_says_so(heat: Callable[..., HeatProblem]) -> None:
    """A plate that radiates, with a heater that is switched off in a part of it that conducts by temperature."""
    material = {"conductivity": 2.0, "density": 1000.0, "specific_heat": 1000.0}
    part = {"shape": "rectangle", "x": [0.3, 0.8], "y": [0.2, 0.7], "conductivity": "0.001*exp(T/100)"}
    left = {"kind": "temperature", "value": 300.0}
    right = {"kind": "radiation", "emissivity": 1.0, "ambient": 1500.0}
    sections = {"material": material, "region": [part], "boundary": {"left": left, "right": right}}
    jumps = {"source": [{"power": "-3000*(T > 400)"}]}
    problem = heat(grid={"nx": 16, "ny": 16}, **sections, **jumps, time=STEADY)
    with pytest.raises(NumericalFailure, match=r"help: a source jumps at a temperature, .* ramp there, such as min\("):
        problem.stepper(CpuBackend(), problem.initial())


def test_ramps_about_zero_have_no_signs_too_many(heat: Callable) -> None:
    """Of temperatures that are counted from somewhere."""
    for written, ramp in (
        ("(T > 0)", "min(1, max(0, T/0.5)) for (T > 0)"),
        ("(T < 0)", "min(1, max(0, -T/0.5)) for (T < 0)"),
        ("(T > -4)", "min(1, max(0, (T + 4)/0.5)) for (T > -4)"),
        ("(T < -4)", "min(1, max(0, (-4 - T)/0.5)) for (T < -4)"),
    ):
        start = {"temperature": "20*x - 10"}
        found = heat(source=[{"power": f"5*{written}"}], initial=start, time={"end": 1e-2, "stepper": "rkl2"}).warnings
        assert [ramp in text for text in found if "jumps" in text] == [True], (written, found)


@pytest.mark.parametrize(
    ("conductivity", "said"),
    [
        ("1.2 if T > 0 else 2.2", "the conductivity jumps at T = 0,"),
        (["1.2", "where(T < 3, 1, 2)"], "the conductivity jumps at T = 3,"),
        ("1.2 + min(1, max(0, T))", None),
        ("1.2 if T > 500 else 2.2", None),
    ],
)
def test_conductivities_that_jump(heat: Callable[..., HeatProblem], conductivity: Any, said: str | None) -> None:
    material = {"conductivity": conductivity, "density": 1.0, "specific_heat": 1.0}
    rest = {
        "initial": {"temperature": "5*cos(x)"},
        "boundary": {"left": {"kind": "temperature", "value": -4.0}},
        "time": {"end": 1.0, "stepper": "rkl2"},
    }
    problem = heat(material=material, **rest)
    told = [text for text in problem.warnings if "conductivity jumps" in text]
    assert [said in text for text in told] == [True] if said else not told
    assert (problem.steps_expected[1] is None) == bool(said)  # cells that stay at the jump take steps without number
    alone = heat(material={"diffusivity": conductivity}, **rest).warnings
    assert any("the diffusivity jumps at T" in text for text in alone) == bool(said)
    ramps = {0.0: "min(1, max(0, (2.5 - T)/5)) for (T < 0)", 3.0: "min(1, max(0, (5.5 - T)/5)) for (T < 3)"}
    if said:  # one is 1.2 above the jump and the other one below: both are said as the comparison is written
        level = 3.0 if "T = 3" in said else 0.0
        ramp = ramps[level] if level else "min(1, max(0, (T + 2.5)/5)) for (T > 0)"
        assert f"a ramp over a few kelvin about that temperature, such as {ramp}" in told[0]


@pytest.mark.parametrize(
    ("flux", "end", "stepper", "seen"),
    [
        ("1 - cos(2*pi*100*t)", 12.0, "auto", True),
        ("1 - cos(2*pi*100*t)", 10.24, "auto", True),  # the same at 1024 equal distances
        ("1 - cos(2*pi*20*t)", 12.0, "adi", False),
        ("100*t % 1 < 0.5", 12.0, "auto", False),  # steps end where it jumps
        ("1 - cos(2*pi*t)", 60.0, "auto", False),
        ("(t % 3.7) < 0.1", 60.0, "auto", False),
        ("min(t, 3) + 0.01*sin(300*t)", 60.0, "auto", False),
    ],
)
def test_data_that_take_very_many_steps_to_follow(
    heat: Callable[..., HeatProblem], flux: str, end: float, stepper: str, seen: bool
) -> None:
    time = {"end": end, "stepper": stepper}
    edge = {"kind": "flux", "value": flux}
    found = heat(boundary={"top": edge, "left": {"kind": "temperature", "value": 1.0}}, time=time).warnings
    fast = [text for text in found if "goes up and down" in text]
    assert bool(fast) == seen
    said = "the top edge goes up and down again and again within a few thousandths of the run: steps are as short as"
    assert not seen or fast[0].startswith(said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("2e3*exp(0.05*(T - 300))", "could be foreseen, as where a source makes temperatures run away; set"),
        ("min(2e4, 2e3*exp(0.05*(T - 300)))", "as where a source gives more for a higher temperature; set"),
        ("1e3*(T > 310)", "as where a source jumps at a temperature; steps cannot end where each cell passes such"),
        ("1e3*(T < 310)", "as where a source jumps at a temperature; steps cannot end where each cell passes such"),
        ("1e3*(T > 340)", "could be foreseen; set time.tolerance"),
        ("1e3*(320 - T)", "could be foreseen; set time.tolerance"),
        ("1e3*x*t", "could be foreseen; set time.tolerance"),
    ],
)
def test_why_a_tolerance_was_missed_follows_from_the_temperatures_that_were_reached(
    heat: Callable[..., HeatProblem], source: str, said: str
) -> None:
    """Those at the end are from 300 to 330 K, but 335 K were reached before; never 340 K."""
    problem = heat(source=[{"power": source}], time={"end": 1.0, "stepper": "rkl2", "tolerance": 1e-5})
    energy = {"stored": 1.0, "edges": {"left": 1.0}, "residual": 0.0}
    results = {"min": 300.0, "max": 330.0, "time_error": 1.0004e-5, "rounding_error": 0.0, "energy": energy}
    (text,) = problem.shortcomings({**results, "range": [300.0, 335.0]})
    assert text.startswith("the error of time steps may be 1.0004e-05 of the temperatures' range, more than")
    assert said in text


def test_a_jump_counts_if_it_was_passed_before_the_end(heat: Callable[..., HeatProblem]) -> None:
    problem = heat(source=[{"power": "1e3*(T > 333)"}], time={"end": 1.0, "stepper": "rkl2", "tolerance": 1e-5})
    energy = {"stored": 1.0, "edges": {"left": 1.0}, "residual": 0.0}
    results = {"min": 300.0, "max": 330.0, "time_error": 1.1e-5, "rounding_error": 0.0, "energy": energy}
    for highest, passed in ((335.0, True), (330.0, False)):
        (text,) = problem.shortcomings({**results, "range": [300.0, highest]})
        assert ("jumps at a temperature" in text) == passed


NOT_FINITE = [
    ({"boundary": {"left": {"kind": "temperature", "value": "1/(t*0)"}}}, "inf at x = 0 m, y = 0.0625 m at the start"),
    ({"boundary": {"top": {"kind": "flux", "value": "log(t - 0.5)"}}}, "nan at x = 0.0625 m, y = 1 m at the start"),
    (
        {"boundary": {"top": {"kind": "convection", "h": 1.0, "ambient": "sqrt(0.625 - t)"}}},
        "nan at x = 0.0625 m, y = 1 m just after t = 0.625 s",
    ),
    ({"source": [{"power": "sqrt(0.625 - t*(x > 0.5))"}]}, "nan in cell 4 along x, 0 along y just after t = 0.625 s"),
]


@pytest.mark.parametrize(("sections", "said"), NOT_FINITE)
def test_data_that_are_not_finite_during_the_run_are_found_before(
    heat: Callable, sections: dict[str, Any], said: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        heat(**sections, time={"end": 1.0})
    (mistake,) = caught.value.mistakes
    assert mistake.message == f"is not finite: it is {said}"
    assert mistake.help is not None
    assert mistake.help.startswith("it has ")
    assert mistake.path[0] in sections


@pytest.mark.parametrize("power", ["log(t - 5)", "0**(t - 5)", "sqrt(t - 0.5)*x"])
def test_a_source_that_is_bad_from_the_start_on_is_told_once(heat: Callable, power: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        heat(source=[{"power": 1.0}, {"power": power}], time={"end": 20.0})
    (mistake,) = caught.value.mistakes
    assert mistake.path == ("source", 1, "power")
    assert mistake.message.startswith("is not finite at the start in cell 0 along x")


def test_a_manufactured_source_that_is_bad_from_the_start_on_is_told_so(heat: Callable) -> None:
    """Its first moment was the last of many halvings of the time from the start."""
    reference = {"temperature": "(1 + t)*sqrt(max(x - 0.3, 0))*(0.9375 - x)", "manufactured": True}
    edge = {"kind": "temperature"}
    with pytest.raises(ScenarioError) as caught:
        heat(reference=reference, boundary=dict.fromkeys(("left", "right", "bottom", "top"), edge), time={"end": 1.0})
    assert any("at the start" in mistake.message for mistake in caught.value.mistakes)
    assert not any("at t = " in mistake.message for mistake in caught.value.mistakes)


@pytest.mark.parametrize(
    ("power", "time", "said"),
    [
        (
            "sqrt(0.625 - t)",
            {"end": 1.0, "steady_tolerance": 1.0},
            "the source source1 is nan in cell 0 along x, 0 along y",
        ),
        ("1/(t - 0.5)", {"end": 1.0}, "the source source1 is inf in cell 0 along x, 0 along y at t = 0.5 s: "),
        ("1/(t - 0.51)", {"end": 1.0}, None),
        ("sqrt(max(0, 0.625 - t))", {"end": 1.0}, None),
        ("where(t < 0.625, sqrt(0.625 - t), 0)", {"end": 1.0}, None),
    ],
)
def test_data_that_may_not_be_finite_are_warned_of(
    heat: Callable, power: str, time: dict[str, Any], said: str | None
) -> None:
    """A run that ends once it is steady may not come to that, nor steps to a single moment."""
    found = heat(source=[{"power": power}], time=time, output={"frames": 3}).warnings
    found = [text for text in found if "NaN" in text]
    assert [text.startswith(said or "") for text in found] == ([] if said is None else [True])


@pytest.mark.parametrize(
    ("power", "said"),
    [
        ("1/(2 - T)", "in the source source1: it has a division by `2 - T`, which may be 0"),
        ("sqrt(2 - T)", "in the source source1: it has the square root of `2 - T`, which may be negative"),
        ("exp(T)", "the source source1 depends on T, and may grow without bound"),
        ("min(1, exp(T))", None),
    ],
)
def test_what_may_have_led_to_nan_is_named(heat: Callable[..., HeatProblem], power: str, said: str | None) -> None:
    first, *_ = heat(source=[{"power": power}], time={"end": 1.0}).remedies
    assert first.startswith(said or "values may be too large")


TOP_FALLS = {"kind": "temperature", "value": "-5*t"}
OUTSIDE_FALLS = {"kind": "convection", "h": 5.0, "ambient": "-10*sin(t)"}
TURNS = {"kind": "convection", "h": 5.0, "ambient": "30*cos(4*t)"}  # below 0 from t = π/8 on, lowest at π/4
SEASONS = {"kind": "temperature", "value": "10 - 10*sin(700*t)"}


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"initial": {"temperature": -20.0}}, "initial.temperature = -20 K is below absolute zero"),
        ({"boundary": {"top": {"kind": "convection", "h": 5.0, "ambient": -40}}}, "boundary.top.ambient = -40 K is"),
        ({"boundary": {"left": [{"kind": "temperature", "value": "20 - 30"}]}}, "boundary.left.0.value = -10 K is"),
        ({"region": [LEFT | {"temperature": -1.5}]}, "region.0.temperature = -1.5 K is"),
        ({"initial": {"temperature": 20.0}}, None),
        ({"boundary": {"left": {"kind": "flux", "value": -10.0}}}, None),
        ({"initial": {"temperature": "-5 + 10*x"}}, "the -4.38 K that initial.temperature comes to is below"),
        ({"boundary": {"top": TOP_FALLS}}, "boundary.top.value is below absolute zero from the start on, down to"),
        ({"boundary": {"top": OUTSIDE_FALLS}}, "boundary.top.ambient is below absolute zero from the start on, down"),
        (
            {"boundary": {"top": TURNS}, "time": {"end": 1.5}},
            "boundary.top.ambient falls below absolute zero at t = 0.393 s, down to -30 K",
        ),
        ({"region": [LEFT | {"temperature": "x - 3"}]}, "the -2.94 K that region.0.temperature comes to is below"),
        ({"initial": {"temperature": "300*cos(pi*x)**2"}, "boundary": {"top": SEASONS}}, None),
        ({"reference": {"temperature": "cos(pi*x) - 2", "manufactured": True}}, None),
    ],
)
def test_numbers_below_zero_are_asked_for_their_unit(heat: Callable, sections: dict[str, Any], key: str | None) -> None:
    """Until it is said. A manufactured solution needs none."""
    found = [text for text in heat(**sections).warnings if "absolute zero" in text]
    assert [text.startswith(key or "") for text in found] == ([] if key is None else [True])
    assert all('units = "degC"' in text for text in found)
    for units in ("K", "degC"):
        assert not [text for text in heat(**sections, units=units).warnings if "absolute zero" in text]


def test_a_pole_does_not_hide_when_temperatures_fall_below_zero(heat: Callable) -> None:
    """Beside 1e17 K, -100 K looked like rounding, and t = 3 s was told."""
    outside = OUTSIDE_FALLS | {"ambient": "300/(t - 3)"}
    (text,) = [text for text in heat(boundary={"top": outside}, time={"end": 5.0}).warnings if "absolute" in text]
    assert text.startswith("boundary.top.ambient is below absolute zero from the start on, down to -")


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"source": [{"power": -5.0}]}, True),
        ({"source": [{"power": -5.0}], "units": "K"}, False),
        ({"source": [{"power": -5.0}], "units": "degC"}, False),
        ({"source": [{"power": 5.0}]}, False),
        ({"initial": {"temperature": -1.0}}, False),
    ],
)
def test_a_run_that_falls_below_zero_asks_for_the_unit_in_the_end(
    heat: Callable, sections: dict[str, Any], told: bool
) -> None:
    """Unless that was asked before it began."""
    problem = heat(**sections)
    stepper = problem.stepper(CpuBackend(), problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.observe("time") as observed:
        texts = problem.shortcomings(problem.results(observed))
    assert [text.startswith("the least temperature in the end, -0.05 K, is below") for text in texts] == [True] * told


def test_a_plate_that_radiates_is_told_to_take_kelvin(heat: Callable) -> None:
    with pytest.raises(ScenarioError) as caught:
        heat(boundary={"left": RADIATES | {"ambient": -40.0}})
    (mistake,) = caught.value.mistakes
    assert mistake.help == "radiation goes by absolute temperatures: write all of them in K, 273.15 more than in °C"


@pytest.mark.parametrize(("every", "told"), [(2.0, True), (1.0, False), (0.3, False)])
def test_frames_that_are_rarer_than_the_run_is_long_are_told(heat: Callable, every: float, told: bool) -> None:
    texts = heat(time={"end": 1.0}, output={"every": every}).warnings
    assert any("output.every = 2 s is longer than the run of 1 s" in text for text in texts) == told


@pytest.mark.parametrize(
    ("start", "ambient", "said"),
    [
        (20.0, 298.15, "the 298.15 of boundary.left.ambient is in °C, as all temperatures of this file are"),
        (20.0, "293.15 + 5*sin(t)", 'units = "degC"), and looks like 20 °C in K: write 20 if it is'),
        (250.0, "290 + 5*sin(t)", "all temperatures that are given are from 250 to 29"),
        (293.0, 293.0, 'all temperatures that are given are 293 °C, as units = "degC" says'),
        (20.0, 298.0, None),  # an oven
        (300.0, 20.0, None),
        ("20 + 0.15*x", "30 + 5*sin(t)", None),
        (20.15, 30.0, None),
    ],
)
def test_temperatures_in_degrees_that_look_like_kelvin(
    heat: Callable[..., HeatProblem], start: Any, ambient: Any, said: str | None
) -> None:
    plate = STRIP | {"boundary": {"left": {"kind": "convection", "h": 10.0, "ambient": ambient}}}
    plate |= {"initial": {"temperature": start}, "time": {"end": 60.0}}
    found = [text for text in heat(**plate | {"units": "degC"}).warnings if " in K: write" in text]
    assert [said in text for text in found] == [True] if said else not found
    assert not [text for text in heat(**plate | {"units": "K"}).warnings if " in K: write" in text]


SOLID = {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"material": SOLID}, True),
        ({"material": SOLID, "units": "degC"}, True),
        ({}, False),  # of a diffusivity alone: anything that diffuses
        ({"material": SOLID, "initial": {"temperature": 2e8}}, False),
    ],
)
def test_temperatures_of_no_solid_are_told_once_a_run_is_over(heat: Callable, sections: dict, told: bool) -> None:
    results = {"min": 20.0, "max": 1.6e8, "energy": {"stored": 0.0, "residual": 0.0, "edges": {"left": 0.0}}}
    problem = heat(**sections)
    texts = [text for text in problem.shortcomings(results) if "hotter than any solid" in text]
    assert len(texts) == told
    assert all(f"comes to 1.6e+08 {problem.scenario.degrees}, " in text for text in texts)
    assert not problem.shortcomings(results | {"max": 5e4})


def test_a_ledger_that_is_open_is_told_in_its_unit(heat: Callable) -> None:
    results = {"min": 0.0, "max": 1.0, "energy": {"stored": 1e9, "residual": 1e8, "edges": {"left": 9e8}}}
    steady = {"time": {"steady": True, "stepper": "auto"}, "boundary": {"left": {"kind": "temperature", "value": 1.0}}}
    for sections, unit in (({}, "K·m²"), ({"material": SOLID}, "J/m"), (steady, "K·m²/s")):
        (text,) = heat(**sections).shortcomings(results)
        assert f"1e+08 {unit} of 1e+09 {unit} are missing" in text


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({"source": [{"power": "1e6*((t > 3) + (x > 0.5))"}]}, ["`t > 3` in the source source1"]),
        ({"source": [{"power": "1e6*(t < 0.005) + (5 >= t)"}]}, ["`5 >= t` in the source source1"]),
        ({"boundary": {"left": {"kind": "temperature", "value": "20 + (t > 2)"}}}, ["`t > 2` in the left edge"]),
        ({"source": [{"power": "1e6*(t < 0.005)"}]}, []),
        ({"source": [{"power": "1e6*(t < 0.01)"}]}, []),  # at the end of the run itself
    ],
)
def test_switches_after_the_end_are_named_once(heat: Callable, sections: dict[str, Any], told: list[str]) -> None:
    found = [text for text in heat(**sections).warnings if "after the end of the run at 0.01 s" in text]
    assert [text.partition(" has no effect")[0] for text in found] == told


@pytest.mark.parametrize(
    ("conductivity", "told"), [("max(T, 0)", True), ("abs(T - 5)*(T < 5)", True), ("max(T, 1e-6)", False)]
)
def test_a_conductivity_that_vanishes_at_a_given_temperature_is_named(
    heat: Callable, conductivity: str, told: bool
) -> None:
    edge = {"left": {"kind": "temperature", "value": 10.0}}
    material = {"conductivity": conductivity, "density": 1.0, "specific_heat": 1.0}
    texts = heat(material=material, boundary=edge, time={"end": 1e-3, "stepper": "adi"}).warnings
    assert sum("the conductivity is 0 at T = " in text for text in texts) == told
    warm = {"temperature": 1.0}
    texts = heat(material=material | {"conductivity": "T"}, initial=warm, boundary=edge).warnings
    assert not [text for text in texts if "is 0 at T" in text]


@pytest.mark.parametrize("power", ["1e5*exp((T - 300)/100)*(T < 400)", "3e5/(1 + exp(-(T - 320)/4))*(T < 400)"])
def test_a_jump_that_a_growing_source_comes_to_is_named(heat: Callable, power: str) -> None:
    """At the 300 K of the start both sources could heat a cell by 80 K or 2 K. They come to 400 K, as the first one's
    T' = 0.1 exp((T - 300)/100) does after 632 s, and steps of 20 s end at 402.1 K."""
    material = {"conductivity": 1.0, "density": 1000.0, "specific_heat": 1000.0}
    given = {"material": material, "initial": {"temperature": 300.0}}
    time = {"end": 800.0, "dt": 20.0, "stepper": "rkl2"}

    def named(power: str) -> list[str]:
        problem = heat(**given, grid={"nx": 4, "ny": 1}, source=[{"power": power}], time=time)
        return [text for text in problem.warnings if "jumps" in text]

    (text,) = named(power)
    assert "jumps at T = 400" in text
    assert not named("1e4*(T < 400)")


def test_a_source_that_is_idle_does_not_silence_what_is_said_of_others(heat: Callable[..., HeatProblem]) -> None:
    """A pass of a band as wide as a fifth of a cell, and an edge that changes after the end."""
    band = {"name": "laser", "power": "1e6*(abs(x - 100*t) < 0.0125)"}
    later = {"name": "preheat", "power": "1e6*(t > 5)"}
    left = {"kind": "temperature", "value": "20 + (t > 2)"}
    alone = heat(source=[band], boundary={"left": left}).warnings
    both = heat(source=[band, later], boundary={"left": left}).warnings
    assert any("the source laser changes so much within a cell" in text for text in alone)
    assert any("`t > 2` in the left edge has no effect" in text for text in alone)
    (said,) = set(both) - set(alone)
    assert said.startswith("the source preheat is 0 in every cell")
    assert set(alone) < set(both)


@pytest.mark.parametrize(
    ("power", "holds_all"),
    [
        ("1e6*(hypot(x - 0.5, y - 0.5) < 0.2)", False),
        ("1e6*(hypot(x - 0.5, y - 0.5) < 0.2)*(t < 0.005)", False),
        ("1e6", True),
        ("1e6*x", True),
    ],
)
def test_a_source_in_cells_that_are_held_is_told_so(heat: Callable, power: str, holds_all: bool) -> None:
    held = {"shape": "circle", "center": [0.5, 0.5], "radius": 5.0 if holds_all else 0.3, "temperature": 300.0}
    found = heat(source=[{"name": "heater", "power": power}], region=[held]).warnings
    assert [text.startswith("the source heater heats nothing: it acts only in cells that") for text in found] == [True]
    free = heat(source=[{"name": "heater", "power": power}], region=[held | {"radius": 0.1}]).warnings
    assert not [text for text in free if "heats nothing" in text]


@pytest.mark.parametrize(
    "value", ["300 + 1/(t - 0.004)", "300 + (t - 0.0041234)**-1", "300 - 1e-3/abs(t - 0.004)", "300 + x/(y - 400*t*y)"]
)
def test_a_pole_is_not_taken_for_a_wrong_unit(heat: Callable, value: str) -> None:
    (text,) = [
        text for text in heat(boundary={"top": {"kind": "temperature", "value": value}}).warnings if "zero" in text
    ]
    assert "it has a division by" in text or "it has a negative power" in text
    assert "degC" not in text


def test_a_division_that_has_no_pole_is_not_said_to_be_why_a_number_is_below_zero(heat: Callable) -> None:
    """By interval arithmetic the divisor may be 0."""
    cold = {"kind": "temperature", "value": "-5 + 1/(t*t - t*1e-3 + 1e-4)*1e-5"}
    (text,) = heat(boundary={"left": cold}).warnings
    assert "degC" in text
    assert "division" not in text


def test_all_temperatures_at_which_something_jumps_are_named(heat: Callable[..., HeatProblem]) -> None:
    material = {"conductivity": "where(T < 2, 1, where(T > 3, 2, 5))", "density": 1.0, "specific_heat": 1.0}
    power = "".join(f" + (T > {level})" for level in (1, 2, 3, 4, 5))[3:]
    start, time = {"temperature": "9*x"}, {"end": 1.0, "stepper": "rkl2"}
    plate = heat(material=material, source=[{"power": power}], initial=start, time=time)
    source, conductivity = sorted(
        (text for text in plate.warnings if "jumps" in text), key=lambda text: "source" not in text
    )
    assert "jumps at T = 1, 2, 3 and others, which" in source
    assert "jumps at T = 2 and 3, which" in conductivity
    assert "a ramp over a few kelvin about each of these temperatures" in conductivity


@pytest.mark.parametrize("wrong", [None, 0, 2])
def test_the_conductivity_that_is_wrong_is_the_one_that_is_shown(heat: Callable, wrong: int | None) -> None:
    """Of a plate, or of one of its regions, the second of which keeps the conductivity of the plate."""
    laws = ["2 - 1e-3*T" if part == wrong else "2 + 1e-3*T" for part in (None, 0, 2)]
    regions = [
        {"shape": "rectangle", "x": [0, 0.3], "y": [0, 1], "conductivity": laws[1]},
        {"shape": "rectangle", "x": [0.3, 0.6], "y": [0, 1], "density": 5.0},
        {"shape": "rectangle", "x": [0.8, 1], "y": [0, 1], "conductivity": laws[2]},
    ]
    material = {"conductivity": laws[0], "density": 1.0, "specific_heat": 1.0}
    with pytest.raises(ScenarioError) as caught:
        heat(material=material, region=regions, initial={"temperature": "2100 + 10*x"})
    (mistake,) = caught.value.mistakes
    assert mistake.path == (("material", "conductivity") if wrong is None else ("region", wrong, "conductivity"))
    assert mistake.message.startswith("must not be negative, but is -0.1")


@pytest.mark.parametrize(
    ("material", "emissivity", "told"),
    [
        ({"diffusivity": 1e-5}, 0.9, True),
        ({"diffusivity": 1e-5}, "0.8*(t > 0.5)", True),
        ({"diffusivity": 1e-5}, 2.5e-7, False),
        ({"conductivity": 40.0, "density": 7800.0, "specific_heat": 500.0}, 0.9, False),
    ],
)
def test_radiation_beside_a_diffusivity_alone_is_told(
    heat: Callable[..., HeatProblem], material: dict[str, Any], emissivity: Any, told: bool
) -> None:
    """The flux counts with a heat capacity of 1 J/(m^3 K), which no emissivity makes up for."""
    edge = {"kind": "radiation", "emissivity": emissivity, "ambient": 300.0}
    start = {"temperature": 300.0}
    problem = heat(material=material, boundary={"top": edge}, initial=start, time={"end": 1.0, "stepper": "rkl2"})
    found = [text for text in problem.warnings if "diffusivity alone" in text]
    assert [text.startswith("the top edge radiates with an emissivity of") for text in found] == [True] * told
