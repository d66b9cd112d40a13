"""What is read of results for a terminal, and how it is drawn, against numbers taken from the files directly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from running import call

from simsuite.cli.terminals.colours import NONE, SHADES, Depth, depth_of, indexed, shades
from simsuite.cli.terminals.half_blocks import lines_of
from simsuite.cli.watching.drawing import draw
from simsuite.errors import SimsuiteError
from simsuite.io.glimpses import Glimpses, last_row
from simsuite.pictures.plates.colours import temperature_colours
from simsuite.watching.newest import Fan, Field, Size, Trajectories, newest

BASKET = """
solver = "gbm"
market = {rate = 0.05}
asset = [{name = "A", spot = 100.0, volatility = 0.2}, {name = "B", spot = 50.0, volatility = 0.3}]
time = {end = 1.0, steps = 12}
paths = {count = 4096}
output = {frames = 13}
"""
PLATE = """
solver = "heat"
grid = {nx = 60, ny = 44, lx = 2.0, ly = 1.0}
material = {diffusivity = 1.0}
initial = {temperature = "x*y + x*x"}
time = {end = 0.001, stepper = "explicit"}
output = {frames = 3}
"""
SPRING = """
solver = "linear"
system = {kind = "continuous", matrix = [[0.0, 1.0], [-4.0, -0.1]]}
initial = {state = [1.0, 0.0]}
time = {dt = 0.1, steps = 500}
output = {frames = 501}
"""


@pytest.fixture
def results(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The results file of a scenario that has run."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *overrides: str) -> Path:
        Path("it.toml").write_text(text, encoding="utf-8")
        words = [word for each in overrides for word in ("--set", each)]
        assert call(capsys, "run", "it.toml", "--device", "cpu", "-q", "--fresh", *words).returncode == 0
        return Path("runs/it/results.h5")

    return run


@pytest.mark.parametrize("compression", ["none", "lossless"])
def test_of_a_frame_every_so_many_rows_and_columns_are_read(results: Any, compression: str) -> None:
    path = results(PLATE, f'output.compression="{compression}"')
    with h5py.File(path) as file:
        last = file["temperature"][-1]
    with Glimpses(path).look() as file:
        whole = newest(file, Size(200, 200)).picture
        thin = newest(file, Size(20, 11)).picture
    assert isinstance(whole, Field)
    assert isinstance(thin, Field)
    assert np.array_equal(whole.values, last)
    assert np.array_equal(thin.values, last[1::4, 1::3]), "with the middle ones of each group"
    assert thin.ratio == pytest.approx(2.0)
    assert (whole.unit, whole.at) == ("K", "t = 0.001 s")


def test_a_fan_has_the_quantiles_of_its_asset(results: Any) -> None:
    path = results(BASKET)
    with h5py.File(path) as file:
        times, quantiles, p = (file[name][...] for name in ("time", "price_quantile", "quantile"))
    with Glimpses(path).look() as file:
        fans = [newest(file, Size(80, 40), choice).picture for choice in (0, 1, 2)]
        numbers = dict(newest(file, Size(80, 40)).numbers)
        assert newest(file, Size(80, 40)).choices == 2
    for fan, asset in zip(fans, (0, 1, 0)):
        assert isinstance(fan, Fan)
        assert np.array_equal(fan.values, quantiles[:, :, asset])
        assert np.array_equal(fan.times, times)
        assert np.array_equal(fan.probabilities, p)
        assert fan.name == "AB"[asset]
    assert re.fullmatch(r"10[3-7]\.\d+ ± 0\.\d+", numbers["mean A"])
    lines = draw(fans[0], Size(60, 22), Depth.PLAIN)
    assert max(map(len, lines)) <= 60
    column = np.array([line.ljust(60)[-1] for line in lines[:20]])
    low, high = quantiles[:, :, 0].min(), quantiles[:, :, 0].max()
    rows = 19 - np.rint((quantiles[:, -1, 0] - low) / (high - low) * 19).astype(int)
    assert set(np.flatnonzero(column != " ")) == set(range(rows[-1], rows[0] + 1)), "from the 5 % to the 95 % quantile"
    assert list(np.flatnonzero(column == "@")) == [rows[2]], "the median"
    assert lines[-1].split()[1] == "5-95"


def test_trajectories_are_those_of_the_components(results: Any) -> None:
    path = results(SPRING)
    with h5py.File(path) as file:
        state, times = file["state"][:, :, 0], file["time"][...]
    with Glimpses(path).look() as file:
        whole, thin = (newest(file, Size(n, 40)).picture for n in (1000, 90))
    assert isinstance(whole, Trajectories)
    assert isinstance(thin, Trajectories)
    assert np.array_equal(whole.values, state.T)
    assert np.array_equal(thin.values, state[2::6].T)
    assert thin.times[-1] == times[-1]
    assert thin.names == ("x0", "x1")
    lines = draw(whole, Size(70, 25), Depth.PLAIN)
    assert len(lines) <= 25
    assert lines[-1] == "a x0  b x1"


def test_lines_are_where_their_values_are() -> None:
    values = np.linspace(0.0, 1.0, 50)
    ramp = Trajectories(np.arange(50.0), values[None], ("up",), 0, "", "t = 49")
    lines = draw(ramp, Size(56, 22), Depth.PLAIN)
    assert lines[0].startswith("1 ")
    assert lines[19].startswith("0 ")
    for column, value in enumerate(np.interp(np.linspace(0, 49, 56 - 2), np.arange(50), values)):
        marked = [row for row in range(20) if lines[row].ljust(56)[2 + column] == "a"]
        assert 19 - round(value * 19) in marked


def test_half_blocks_show_two_points_each() -> None:
    colours = np.array([[1, 2, NONE, 5], [1, 3, 4, NONE]])
    (line,) = lines_of(colours, Depth.TRUE)
    assert line == ("\033[48;2;0;0;1m \033[38;2;0;0;2;48;2;0;0;3m▀\033[38;2;0;0;4;49m▄\033[38;2;0;0;5m▀\033[0m")


def test_colours_are_those_of_temperatures_and_the_nearest_of_256() -> None:
    wanted = 255 * temperature_colours()(np.linspace(0, 1, SHADES))[:, :3]
    found = np.array([[c >> 16 & 255, c >> 8 & 255, c & 255] for c in shades()])
    assert abs(found - wanted).max() < 8
    levels = (0, 95, 135, 175, 215, 255)
    table = [(r, g, b) for r in levels for g in levels for b in levels] + [(8 + 10 * i,) * 3 for i in range(24)]
    for colour in found:
        apart = ((np.array(table) - colour) ** 2).sum(axis=1)
        number = indexed(int(colour[0]) << 16 | int(colour[1]) << 8 | int(colour[2]))
        assert apart[number - 16] == apart.min()


def test_a_terminal_is_known_by_its_variables() -> None:
    direct, many = {"TERM": "xterm-direct"}, {"TERM": "screen-256color"}
    assert depth_of(direct, "utf-8") is depth_of(many | {"COLORTERM": "24bit"}, "utf-8") is Depth.TRUE
    assert depth_of(many, "utf-8") is Depth.INDEXED
    for poor in ({}, {"TERM": "vt100"}, {"TERM": "dumb", "COLORTERM": "truecolor"}, many | {"NO_COLOR": "1"}):
        assert depth_of(poor, "utf-8") is Depth.PLAIN
    assert depth_of(many, "latin-1") is depth_of(many, "ascii") is Depth.PLAIN


@pytest.mark.parametrize("depth", Depth)
def test_any_picture_fits_its_room(depth: Depth) -> None:
    rng = np.random.default_rng(3)
    holes = np.where(rng.random((30, 70)) < 0.1, np.nan, rng.normal(size=(30, 70)))
    for values in (holes, np.full((5, 5), 2.5), np.full((3, 3), np.nan), np.array([[1.0]]), holes[:1], holes[:, :1]):
        for ratio in (0.01, 1.0, 300.0):
            fits(Field(values, ratio, "K", "t = 1 s"), depth)
    for n in (1, 2, 30):
        times = np.linspace(0, 1, n)
        fan = np.sort(rng.normal(size=(5, n)), axis=0)
        fan[:, -1:] = np.nan if n > 2 else 1.0
        fits(Fan(times, np.array([0.05, 0.25, 0.5, 0.75, 0.95]), fan, "A", "", "t = 1 year"), depth)
        fits(Trajectories(times, rng.normal(size=(6, n)) * 1e-300, tuple("uvwxyz"), 3, "m", "t = 1 s"), depth)
        fits(Trajectories(times, np.full((1, n), np.nan), ("a",), 0, "", "t = 1 s"), depth)


def fits(picture: Any, depth: Depth) -> None:
    for columns in (1, 8, 20, 45, 160):
        for rows in (-3, 0, 1, 3, 5, 24):
            lines = [re.sub(r"\033\[[0-9;]*m", "", line) for line in draw(picture, Size(columns, rows), depth)]
            assert len(lines) <= max(rows, 0)
            assert max(map(len, lines), default=0) <= columns


def test_a_look_at_a_file_that_is_being_written_or_damaged_fails_and_changes_nothing(results: Any) -> None:
    path = results(PLATE)
    whole = path.read_bytes()
    looks = Glimpses(path)
    with looks.look() as file:
        assert last_row(file, "time") == 2
        assert last_row(file, "nothing") is None
    path.write_bytes(whole + b"\0" * 100)  # as while a row is being written
    with pytest.raises(SimsuiteError), looks.look():
        pass
    with looks.look(over=True) as file:
        assert last_row(file, "time") == 2
    assert path.read_bytes() == whole + b"\0" * 100
    for damaged in (b"", b"no HDF5", whole[:1000]):
        path.write_bytes(damaged)
        with pytest.raises(SimsuiteError), looks.look():
            pass
        assert path.read_bytes() == damaged
    path.unlink()
    with pytest.raises(SimsuiteError), looks.look():
        pass
