"""Steps of a given length, or of the explicit stepper: they end where data jump, and what they miss is warned of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simsuite
from simsuite.core import Backend, Clock
from simsuite.scenario.common import Output
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.schedule import frame_times

PULSES = "6*(t % 1 < 0.3)"


def heated(heat: Callable[..., HeatProblem], where: str, time: dict[str, Any]) -> HeatProblem:
    """An insulated square that is heated for 0.3 s of each second, by an edge or by a source; 1 K a pulse on average,
    the edge being 1/4 as long as it would have to be."""
    more: dict[str, Any] = {"source": [{"power": PULSES}]}
    if where == "edge":
        more = {"boundary": {"left": {"kind": "flux", "value": PULSES}}}
    return heat(grid={"nx": 3, "ny": 2}, material={"diffusivity": 0.01}, time={"end": 4.0, **time}, **more)


@pytest.mark.parametrize("where", ["edge", "source"])
@pytest.mark.parametrize(
    "time",
    [
        {"stepper": "explicit", "dt": 0.25},
        {"stepper": "explicit", "dt": "auto"},
        {"stepper": "rkl2", "dt": 0.7},
        {"stepper": "adi", "dt": 0.25},
        {"stepper": "adi", "dt": 1.0},
        {"dt": 1.0},
    ],
    ids=str,
)
def test_pulses_give_what_they_do(
    heat: Callable[..., HeatProblem], backend: Backend, where: str, time: dict[str, Any]
) -> None:
    p = heated(heat, where, time)
    stepper = p.stepper(backend, p.initial())
    stepper.advance(p.clock.end)
    with stepper.observe("time") as observed:
        energy = p.results(observed)["energy"]
    assert energy["boundary" if where == "edge" else "source"] == pytest.approx(4 * 0.3 * 6, rel=1e-12)


def test_a_jump_at_the_end_of_a_step_counts_from_there_on(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    """The trapezoidal rule took the mean of both sides for the step before."""
    for value in ("1e3*(t < 2)", "1e3*(t <= 2)"):
        p = heat(boundary={"left": {"kind": "flux", "value": value}}, time={"end": 4.0, "stepper": "adi", "dt": 0.5})
        stepper = p.stepper(backend, p.initial())
        stepper.advance(p.clock.end)
        with stepper.observe("time") as observed:
            assert p.results(observed)["energy"]["edges"]["left"] == pytest.approx(2e3, rel=1e-12)


def test_data_are_looked_at_from_inside() -> None:
    clock = Clock((0, 2, 3), (0.0, 1.0, 4.0), (1.0,))
    begin, span, k, n = clock.inside(1)
    assert (begin, k, n) == (0.0, 1, 2)
    assert 1.0 - 1e-11 < begin + span < 1.0
    begin, span, *_ = clock.inside(2)
    assert 1.0 < begin < 1.0 + 1e-11
    assert begin + span == 4.0
    assert clock.interval(2)[0] == clock.time(2) == 1.0


@pytest.mark.parametrize(("every", "samples"), [(180.0, 61), (4320.0, 241), (21600.0, 481)])
def test_samples_on_frames_are_those(heat: Callable[..., HeatProblem], every: float, samples: int) -> None:
    """Multiples of `every` and fractions of the end differ by rounding."""
    end = every * 20
    p = heat(time={"end": end, "stepper": "rkl2"}, output={"every": every, "samples": samples})
    times = [p.clock.time(step) for step in p.layout.series[1].steps]
    assert len(times) == samples
    assert np.min(np.diff(times)) > 1e-6 * end


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"source": [{"power": "exp(-((t - 0.5)/0.01)**2)"}], "time": {"end": 1.0, "dt": 0.1}},
            "source1 changes by 100 %",
        ),
        (
            {"boundary": {"top": {"kind": "temperature", "value": "1 + sin(4*pi*t)"}}, "time": {"end": 3.0, "dt": 0.5}},
            "the top edge changes by 100 %",
        ),
        ({"source": [{"power": "exp(-((x - 0.5)**2 + (y - 0.5)**2)/1e-3)"}], "time": {"end": 1.0}}, "within a cell"),
    ],
)
def test_what_is_looked_at_too_seldom_is_warned_of(
    heat: Callable[..., HeatProblem], sections: dict[str, Any], words: str
) -> None:
    time = {"stepper": "adi"} | sections["time"]
    (text,) = heat(**sections | {"time": time}).warnings
    assert words in text


@pytest.mark.parametrize(
    "sections",
    [
        {"source": [{"power": "sin(t)*x"}], "time": {"end": 10.0, "dt": 0.2}},
        {"source": [{"power": PULSES}], "time": {"end": 4.0, "dt": 0.25}},
        {"boundary": {"top": {"kind": "temperature", "value": "10*t"}}, "time": {"end": 3.0, "dt": 0.5}},
        {"source": [{"power": "exp(-((x - 0.5)**2 + (y - 0.5)**2)/0.1)"}], "time": {"end": 1.0}},
    ],
)
def test_other_data_are_not(heat: Callable[..., HeatProblem], sections: dict[str, Any]) -> None:
    assert not heat(**sections | {"time": {"stepper": "adi"} | sections["time"]}).warnings


@pytest.mark.parametrize("stepper", ["explicit", "rkl2", "adi", "auto"])
@pytest.mark.parametrize("end", [2.0, 2.5])
def test_what_is_seen_on_a_jump_is_what_follows_it_at_the_end_too(
    heat: Callable[..., HeatProblem], backend: Backend, stepper: str, end: float
) -> None:
    """A probe on an edge of given temperature shows that temperature, whether or not a run ends there."""
    if backend.name == "cudasim" and stepper == "auto":
        pytest.skip("takes many steps, each of which is slow there")
    p = heat(
        grid={"nx": 1, "ny": 5},
        material={"diffusivity": 0.01},
        boundary={"top": {"kind": "temperature", "value": "5 + 60*(t % 1 < 0.3)"}},
        probe=[{"name": "P", "x": 0.5, "y": 1.0}],
        time={"end": end, "stepper": stepper, "dt": "auto" if stepper == "auto" else 0.1},
        output={"times": [1.0, 2.0] if end > 2 else [1.0]},
    )
    stepper_ = p.stepper(backend, p.initial())
    for step in p.layout.series[0].steps[1:]:
        stepper_.advance(step - stepper_.step)
        with stepper_.observe("time") as seen:
            at = p.clock.time(step)
            assert p.results(seen)["probes"]["P"] == pytest.approx(65.0 if at % 1 < 0.3 else 5.0)


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [("explicit", "auto"), ("explicit", 0.1), ("rkl2", 0.1), ("adi", 0.1), ("auto", "auto")],
)
def test_what_is_seen_on_a_jump_is_what_the_expression_says_at_that_time(
    heat: Callable[..., HeatProblem], backend: Backend, stepper: str, dt: float | str
) -> None:
    """With `(t > ..)` that is what was, at the start, on the way and at the end. A probe in the middle of an edge shows
    its temperature; one where heat comes by convection lies between the ambient temperature and that of the plate."""
    p = heat(
        grid={"nx": 5, "ny": 5},
        material={"diffusivity": 1e-4},
        initial={"temperature": 3.0},
        boundary={
            "left": {"kind": "temperature", "value": "3 + 4*(t > 0)"},
            "right": {"kind": "temperature", "value": "where(t > 1, 9, 3)"},
            "bottom": {"kind": "temperature", "value": "where(t >= 1, 9, 3) + 5*(t > 2)"},
            "top": {"kind": "convection", "h": 20.0, "ambient": "where(t > 1, 90, 3)"},
        },
        probe=[
            {"name": name, "x": x, "y": y}
            for name, x, y in (("left", 0, 0.5), ("right", 1, 0.5), ("bottom", 0.5, 0), ("top", 0.5, 1))
        ],
        time={"end": 2.0, "stepper": stepper, "dt": dt},
        output={"times": [0.0, 1.0, 2.0]},
    )
    stepper_, shown = p.stepper(backend, p.initial()), []
    for step in p.layout.series[0].steps:
        stepper_.advance(step - stepper_.step)
        with stepper_.observe("time") as seen:
            shown.append(p.results(seen)["probes"])
    assert [row["left"] for row in shown] == pytest.approx([3, 7, 7])
    assert [row["right"] for row in shown] == pytest.approx([3, 3, 9])
    assert [row["bottom"] for row in shown] == pytest.approx([3, 9, 9])
    assert [row["top"] > 5 for row in shown] == [False, False, True]


RINGS: dict[str, Any] = {
    "solver": "heat",
    "units": "degC",
    "grid": {"nx": 28, "ny": 20, "lx": 0.4, "ly": 0.4},
    "material": {"conductivity": 160.0, "density": 2700.0, "specific_heat": 900.0},
    "initial": {"temperature": 10.0},
    "boundary": {
        "bottom": [
            {"to": 0.15, "kind": "temperature", "value": "where(t >= 600, 70, 10)"},
            {"from": 0.15, "kind": "insulated"},
        ]
    },
    "time": {"end": 1200.0, "stepper": "adi", "dt": 60.0},
    "output": {"frames": 21},
}


def said_of(caplog: pytest.LogCaptureFixture, directory: Path, **sections: Any) -> list[str]:
    """The warnings of a run."""
    caplog.clear()
    simsuite.run(RINGS | sections, device="cpu", directory=directory, fresh=True)
    return [record.message for record in caplog.records if record.levelname == "WARNING"]


def test_temperatures_that_heat_cannot_lead_to_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A step of adi twenty times as long as heat takes through a cell: 189 °C on a plate of 10 °C, an edge of 70."""
    (text,) = said_of(caplog, tmp_path, time=RINGS["time"] | {"dt": 65.0})  # frames are due every 60 s
    assert text.startswith("at step 11, time 660 s the temperature comes to 189.2 °C, which it cannot: ")
    assert "from 10 to 70 °C" in text
    assert "Steps of 60 s by adi" in text
    assert text in (tmp_path / "log.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([0.0], "nothing else heats or cools the plate"),
        (["0*x"], "nothing else heats or cools the plate"),
        ([1e3, -1e2], "sources can have heated it by at most 0.245 K"),
        ([1e3, "-1e4*(x > 0.2)*(t < 120)"], "heated it by at most 0.272 K and cooled it by at most"),
        (["1e7*(t > 800)"], "nothing else heats or cools the plate"),
    ],
)
def test_sources_that_cannot_explain_it_do_not_keep_it_from_being_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sources: list[Any], said: str
) -> None:
    found = said_of(caplog, tmp_path, source=[{"power": power} for power in sources])
    (text,) = [text for text in found if "which it cannot" in text]
    assert text.startswith("at step 11, time 660 s the temperature comes to 189.")
    assert said in text


@pytest.mark.parametrize(
    "sections",
    [
        {"time": RINGS["time"] | {"dt": 6.0}},
        {"time": RINGS["time"] | {"stepper": "rkl2"}},
        {"time": RINGS["time"] | {"dt": "auto"}},
        {"boundary": {"bottom": {"kind": "temperature", "value": "40 - 30*cos(2*pi*t/1200)"}}},
        {"boundary": {"bottom": {"kind": "convection", "h": 1e3, "ambient": "10 + 60*exp(-((t - 630)/60)**2)"}}},
        {"initial": {"temperature": 10.0}, "boundary": {}, "run": {"precision": "float32"}},
        {"boundary": RINGS["boundary"] | {"top": {"kind": "flux", "value": 1.0}}},
        {"source": [{"power": 1e6}]},
        {"source": [{"power": "1e9*(abs(t - 630) < 1)"}]},
        {"source": [{"power": "1e-3*T"}]},
    ],
    ids=["shorter", "rkl2", "auto", "smooth", "outside", "nothing", "flux", "source", "pulse", "of T"],
)
def test_others_are_not(tmp_path: Path, caplog: pytest.LogCaptureFixture, sections: dict[str, Any]) -> None:
    """Steps that do not ring; and plates of which nobody can tell how hot they may become."""
    assert not [text for text in said_of(caplog, tmp_path, **sections) if "which it cannot" in text]


def test_a_moving_source_that_leaves_a_cell_as_it_comes_to_the_next_is_not_off(
    heat: Callable[..., HeatProblem],
) -> None:
    """Three cells wide, it is on in three cells at all but single moments; of one 1.4 cells wide, a tenth is missing or
    too much only now and then."""
    for width in (0.015, 0.007):
        plate = heat(
            grid={"nx": 10, "ny": 1, "lx": 0.1, "ly": 0.01},
            material={"diffusivity": 1e-5},
            source=[{"power": f"(abs(x - 0.02 - 0.001*t) < {width})"}],
            time={"end": 60.0},
        )
        assert not plate.warnings


@pytest.mark.parametrize(
    ("end", "dt", "frames", "steps"),
    [(2000.0, 1e-3, 500_001, 2_000_000), (1e6, 0.25, 500_001, 4_000_000), (0.3, 1e-5, 301, 30_000)],
)
def test_rounded_times_of_many_frames_cost_no_steps(end: float, dt: float, frames: int, steps: int) -> None:
    """Frames lie a whole number of steps apart, but their times are rounded: late ones by much of a step's digits."""
    times = frame_times(Output(frames=frames), end)
    clock = Clock.filling(times, dt)
    assert clock.end == steps
    assert clock.steps[-2] == steps - steps // (frames - 1)
    assert clock.times == times
    assert clock.dt(clock.steps[-2]) <= dt * (1 + 1e-9)


def test_a_span_that_is_longer_takes_a_step_more() -> None:
    for excess in (1e-6, 1e-8):
        assert Clock.filling((0.0, 1000.0, 1000.0 + 4e-3 * (1 + excess)), 1e-3).end == 1_000_000 + 5
