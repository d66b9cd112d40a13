"""Sources that are narrower than a cell: warnings say how much heat they give on the grid, and runs give just that."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.heat.problem import HeatProblem

DIAGONAL = ("0.3 + 0.05*t", "0.2 + 0.081*t")
PATHS = {  # of a spot that is a quarter of a cell wide, over cells of 1/8 m
    "along faces": ("0.3 + 0.05*t", "0.5"),
    "along centres": ("0.3 + 0.05*t", "0.5625"),
    "at rest": ("0.51", "0.56"),
    "hardly moving": ("0.44", "0.0625 + 1e-5*t"),
}


def spot(heat: Callable[..., HeatProblem], x: str, y: str, width: float) -> HeatProblem:
    power = f"exp(-((x - ({x}))**2 + (y - ({y}))**2)/{width}**2)"
    return heat(material={"diffusivity": 1e-3}, source=[{"power": power}], time={"end": 8.0, "dt": 0.002})


def heat_of_run(p: HeatProblem, width: float) -> float:
    """What the source gave by the ledger, as a share of what a spot of that width gives."""
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(p.clock.end)
    with stepper.observe("sample") as observed:
        return float(p.results(observed)["energy"]["source"]) / (8.0 * math.pi * width**2)


@pytest.mark.parametrize("name", PATHS)
def test_a_warning_says_how_much_heat_a_run_gets(heat: Callable[..., HeatProblem], name: str) -> None:
    width = 0.25 / 8
    p = spot(heat, *PATHS[name], width)
    (text,) = p.warnings
    share = heat_of_run(p, width)
    if said := re.search(r"about ([\d.]+) times the heat", text):
        assert float(said[1]) == pytest.approx(share, rel=0.05)
    else:
        said = re.search(r"about (\d+) % (more|less) heat", text)
        assert said is not None
        assert (share > 1) == (said[2] == "more")
        assert float(said[1]) == pytest.approx(100 * abs(share - 1), abs=2)
    assert ("over the run" in text) == ("t" in "".join(PATHS[name]))


def test_a_spot_that_passes_all_parts_of_cells_is_right_on_average(heat: Callable[..., HeatProblem]) -> None:
    """That it comes in bursts is said, with how large they are."""
    width = 0.3 / 8
    p = spot(heat, *DIAGONAL, width)
    (text,) = p.warnings
    assert heat_of_run(p, width) == pytest.approx(1.0, abs=0.1)
    said = re.search(r"from ([\d.]+) to ([\d.]+) times its power as it moves", text)
    assert said is not None
    moments = np.linspace(0.0, 8.0, 4001)
    centres = (np.arange(8) + 0.5) / 8
    x, y = 0.3 + 0.05 * moments, 0.2 + 0.081 * moments
    along = [np.exp(-(((centres - at[:, None]) / width) ** 2)).sum(axis=1) for at in (x, y)]
    shares = along[0] * along[1] / (64 * math.pi * width**2)
    assert float(said[1]) == pytest.approx(shares.min(), rel=0.1)
    assert float(said[2]) == pytest.approx(shares.max(), rel=0.1)


@pytest.mark.parametrize("cells", [16, 400])
def test_fine_grids_do_not_take_chance_for_a_fault(heat: Callable[..., HeatProblem], cells: int) -> None:
    """The mean of few moments of a narrow spot is anything."""
    x, y = "0.3 + 0.05*t", "0.2 + 0.081*t"
    power = f"exp(-((x - ({x}))**2 + (y - ({y}))**2)/{0.3 / cells}**2)"
    time = {"end": 8.0, "stepper": "adi"}
    texts = heat(grid={"nx": cells, "ny": cells}, source=[{"power": power}], time=time).warnings
    assert len(texts) == 1
    assert "only the mean over the run is about right" in texts[0]


def test_a_narrow_disc_is_looked_at_as_well(heat: Callable[..., HeatProblem]) -> None:
    """It is no sum of products. No cell has its middle in the first one, beside which there is hardly any heat."""
    (text,) = heat(source=[{"power": "1e-6 + (hypot(x - 0.5, y - 0.5) < 0.05)"}]).warnings
    assert "it gives hardly any heat" in text
    (text,) = heat(source=[{"power": "(hypot(x - 0.5625, y - 0.5625) < 0.06)*(1 + sin(t))"}]).warnings
    said = re.search(r"about ([\d.]+) % more heat", text)
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * (1 / (64 * math.pi * 0.06**2) - 1), abs=20)


MODES = ("sin(2*pi*x)", "cos(pi*x)", "x - 0.5", "sin(2*pi*(x - 0.3*t))", "sin(2*pi*x) - T", "sin(2*pi*x)*cos(pi*y)")


@pytest.mark.parametrize("power", [*MODES, "(x - 0.5)*(y - 0.5)", "hypot(x, y) - 0.7652"])
@pytest.mark.parametrize("cells", [5, 6, 8, 13, 40])
def test_sources_that_heat_here_and_cool_there_are_told_by_what_moves(
    heat: Callable[..., HeatProblem], power: str, cells: int
) -> None:
    """The power in all is about 0, and a ratio to that is any number."""
    grid, time = {"nx": cells, "ny": cells}, {"end": 3.0}
    assert not [text for text in heat(grid=grid, source=[{"power": power}], time=time).warnings if "within" in text]


@pytest.mark.parametrize(
    ("power", "given", "own"),
    [
        ("1 - 2*(x > 0.5)", "0.2", "0"),
        ("(1 - 2*(x > 0.5))*(y > 0.5)", "0.08", "0"),
        ("3 - 6*(x > 0.5) + 0.6", "1.2", "0.6"),
        ("(1 - 2*(x > 0.5))*(1 + sin(7*t))", None, None),
    ],
)
def test_a_warning_says_what_such_a_source_gives_in_all(
    heat: Callable[..., HeatProblem], power: str, given: str | None, own: str | None
) -> None:
    material = {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0}
    p = heat(grid={"nx": 5, "ny": 5}, material=material, source=[{"power": power}], time={"end": 3.0})
    (text,) = [text for text in p.warnings if "changes so much within a cell" in text]
    said = "that over the run it heats by" if given is None else f"{given} W/m in all where its power says {own},"
    assert said in text


FINE, COARSE = {"lx": 0.08, "ly": 0.05, "nx": 32, "ny": 20}, {"lx": 0.08, "ly": 0.03, "nx": 20, "ny": 10}
SHARES = [  # a source, and by how many % more heat cells get than its power integrates to
    (FINE, 200.0, "4e6*(x > 0.065)*(x < 0.072)*(y > 0.035)*(y < 0.042)*(t > 45)", 100 * (34875 / 30380 - 1)),
    (COARSE, 8.0, "3e8*(abs(x-0.01-0.02*t) <= 0.006)*(abs(y-0.0225) < 0.004)*(t >= 0.5)*(t <= 3.5)", 12.8),
    (COARSE, 8.0, "3e8*(abs(x-0.07+0.02*(t-4)) <= 0.006)*(abs(y-0.0225) < 0.004)*(t >= 4)", 12.5),
    ({"lx": 0.1, "ly": 0.01, "nx": 12, "ny": 1}, 1.0, "1e6*(x < 0.02)", -100 / 6),
    ({"nx": 8, "ny": 8}, 1.0, "(hypot(x - 0.5625, y - 0.5625) < 0.06)", 100 * (1 / (64 * math.pi * 0.06**2) - 1)),
]


@pytest.mark.parametrize(("grid", "end", "power", "percent"), SHARES)
def test_the_percentage_is_right_to_half_a_point(
    heat: Callable[..., HeatProblem], grid: dict[str, float], end: float, power: str, percent: float
) -> None:
    time = {"end": end, "stepper": "adi"}
    p = heat(grid=grid, material={"diffusivity": 1e-5}, source=[{"power": power}], time=time)
    said = re.search(r"about (\d+) % (more|less) heat", " ".join(p.warnings))
    assert said is not None
    assert (said[2] == "more") == (percent > 0)
    assert float(said[1]) == pytest.approx(abs(percent), abs=0.6)


@pytest.mark.parametrize("also", ["", "*(hypot(x, y) < 9)"])  # a product, and none
def test_heat_in_cells_that_are_held_does_not_count(heat: Callable[..., HeatProblem], also: str) -> None:
    """Of the columns of 1/8 m that the source is in, the first one alone is free, of which it covers 0.075 m."""
    held = [{"shape": "rectangle", "x": [0.375, 1], "y": [0, 1], "temperature": 0.0}]
    (text,) = heat(region=held, source=[{"power": f"(x > 0.3){also}"}]).warnings
    said = re.search(r"about (\d+) % more heat", text)
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * (0.125 / 0.075 - 1), abs=0.7)


PLATE = {"grid": {"lx": 0.04, "ly": 0.03, "nx": 16, "ny": 12}, "material": {"diffusivity": 5e-6}}
SHORT = [  # a source that acts for a part of a run, and the heat that cells get as a share of its own
    ("1e11*exp(-((x-0.1*t)**2 + (y-0.01375)**2)/1e-8)", 14.1),
    ("1e11*exp(-((x-0.1*t)**2 + (y-0.015)**2)/1e-8)", 0.0),
    ("1e10*exp(-((x-0.1*t)**2 + (y-0.015)**2)/1e-7)", 0.0),
    ("1e8*(hypot(x-0.1*t, y-0.015) < 0.0015)", 1.18),  # 331.7 J/m of 0.4 s · 7.0686 W/m - 2.25 J/m
    ("1e11*(t > 0.33)*(t < 0.34)*exp(-((x-0.02)**2 + (y-0.015)**2)/1e-8)", 0.0),
    ("1e11*exp(-((t-0.3)/1e-4)**2)*exp(-((x-0.02)**2 + (y-0.015)**2)/1e-8)", 0.0),
    ("1e11*(t % 0.5 < 1e-4)*exp(-((x-0.02)**2 + (y-0.015)**2)/1e-8)", 0.0),
]


@pytest.mark.parametrize("end", [0.5, 40.0, 1000.0])
@pytest.mark.parametrize(("power", "share"), SHORT)
def test_the_length_of_a_run_makes_no_difference_to_a_source_that_acts_for_a_part_of_it(
    heat: Callable[..., HeatProblem], power: str, share: float, end: float
) -> None:
    told = heat(**PLATE, source=[{"power": power}], time={"end": end, "stepper": "adi"}).warnings
    (text,) = [text for text in told if "within a cell" in text]
    if share == 0.0:
        assert "over the run it gives hardly any heat" in text
    elif share > 2:
        said = re.search(r"about ([\d.]+) times the heat", text)
        assert said is not None
        assert float(said[1]) == pytest.approx(share, rel=0.03)
    else:
        assert f"about {100 * (share - 1):.0f} % more heat" in text


def test_a_pulse_counts_by_its_heat_beside_a_source_that_lasts(heat: Callable[..., HeatProblem]) -> None:
    """The wide spot gives 30.2 W/m, the pulse 314 J/m, of which cells get nothing."""
    place = "exp(-((x-0.02)**2 + (y-0.015)**2)/"
    power = f"1e5*{place}1e-4) + 1e12*(t > 3.33)*(t < 3.34)*{place}1e-8)"
    for end in (12.0, 40.0):
        (text,) = heat(**PLATE, source=[{"power": power}], time={"end": end, "stepper": "adi"}).warnings
        said = re.search(r"over the run it gives about (\d+) % less heat", text)
        assert said is not None
        assert float(said[1]) == pytest.approx(100 * 314.16 / (314.16 + 30.2 * end), abs=1)
    told = heat(**PLATE, source=[{"power": power}], time={"end": 1000.0, "stepper": "adi"}).warnings
    assert not [text for text in told if "within a cell" in text]


def along(at: np.ndarray, width: float, cells: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """The mean over a length of exp(-((x - at)/width)²) in the middle of cells, and its true mean."""
    middles = (np.arange(cells) + 0.5) * (length / cells)
    ends = np.vectorize(math.erf)(np.stack([at, at - length]) / width)
    return np.exp(-(((middles - at[:, None]) / width) ** 2)).mean(axis=1), (ends[0] - ends[1]) * (
        math.sqrt(math.pi) / 2 * width / length
    )


@pytest.mark.parametrize("seed", range(24))
def test_random_spots_that_act_for_a_while_are_told_by_their_heat(heat: Callable[..., HeatProblem], seed: int) -> None:
    """Every third spot is wide. The sum over dense times is compared with integrals of the bell in closed form."""
    rng = np.random.default_rng(seed)
    end, cell, wide = 10 ** rng.uniform(0, 4), 0.0025, seed % 3 == 0
    width = cell * (rng.uniform(1.5, 3) if wide else 10 ** rng.uniform(-1, 0))
    begin, lasts = rng.uniform(0, 0.5) * end, end * 10 ** rng.uniform(-5, -0.4)
    y = (math.floor(rng.uniform(2, 10)) + rng.choice([0.0, 0.2, 0.5])) * cell
    speed = rng.choice([0.0, 0.04]) / lasts
    x = 0.0 if speed else rng.uniform(0.01, 0.03)
    power = (
        f"1e8*(t > {begin!r})*(t < {begin + lasts!r})"
        f"*exp(-((x - {x!r} - {float(speed)!r}*(t - {begin!r}))**2 + (y - {float(y)!r})**2)/{width!r}**2)"
    )
    p = heat(**PLATE, source=[{"power": power}], time={"end": end, "stepper": "adi"})
    t = (np.arange(20000) + 0.5) / 20000 * lasts
    in_x, in_y = along(x + speed * t, width, 16, 0.04), along(np.array([y]), width, 12, 0.03)
    share = float(np.mean(in_x[0]) * in_y[0][0] / (np.mean(in_x[1]) * in_y[1][0]))
    text = " ".join(text for text in p.warnings if "within a cell" in text)
    if not 0.09 < abs(share - 1) < 0.11:
        assert ("heat" in text and "mean over the run" not in text) == (abs(share - 1) > 0.1)
    assert not (wide and text)
    if said := re.search(r"about ([\d.]+) times the heat", text):
        assert float(said[1]) == pytest.approx(share, rel=0.1)
    elif said := re.search(r"about (\d+) % (more|less) heat", text):
        assert (said[2] == "more") == (share > 1)
        assert float(said[1]) == pytest.approx(100 * abs(share - 1), abs=3)
    elif "hardly any heat" in text:
        assert share < 0.01


@pytest.mark.parametrize("radius", [2e-5, 1e-4])
def test_a_disc_that_moves_between_the_places_in_cells_is_told_by_its_heat(
    heat: Callable[..., HeatProblem], radius: float
) -> None:
    """While the middle of a cell is inside, the whole cell of 0.0025 m is heated."""
    power = f"1e11*(hypot(x-0.1*t, y-0.01375) < {radius})"
    told = heat(**PLATE, source=[{"power": power}], time={"end": 40.0, "stepper": "adi"}).warnings
    (text,) = [text for text in told if "within a cell" in text]
    said = re.search(r"about ([\d.]+) times the heat", text)
    assert said is not None
    assert float(said[1]) == pytest.approx(2 * 0.0025 / (math.pi * radius), rel=0.1)


@pytest.mark.parametrize("share", [0.02, 0.04, 0.06, 0.1, 0.14, 0.2])
def test_the_most_that_a_narrow_band_gives_is_told_as_it_is(heat: Callable[..., HeatProblem], share: float) -> None:
    """A band of a share of a cell's width gives the inverse of that share when it passes the middle of a cell."""
    half = 0.5 * share / 8
    p = heat(source=[{"power": f"abs(x - t) < {half}"}], time={"end": 1.0, "dt": 0.002})
    (said,) = [re.search(r"gives from 0 to ([\d.]+) times its power", text) for text in p.warnings]
    assert said is not None
    assert float(said[1]) == pytest.approx(1.0 / share, rel=0.08)
