"""The field of a report against results.h5: every cell that is shown, within the step that the page tells."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from pages import data_of, doubles, parsed, values_of_field

import simsuite
from simsuite.pictures.recording import Recording
from simsuite.reporting.heat import sections
from simsuite.reporting.quantised import LEVELS, NO_VALUE, chosen_frames, quantised

pytestmark = pytest.mark.usefixtures("one_thread")

PLATE = {
    "solver": "heat",
    "units": "degC",
    "grid": {"nx": 23, "ny": 9, "lx": 2.3, "ly": 0.9},
    "material": {"diffusivity": 0.05},
    "initial": {"temperature": "20 + 300*exp(-30*((x-0.4)**2 + (y-0.3)**2))"},
    "boundary": {"left": {"kind": "temperature", "value": "20 + 5*sin(9*t)"}},
    "time": {"end": 0.4},
    "output": {"frames": 6},
}


class Recorded:
    """What `quantised` asks of a recording, with frames made here."""

    def __init__(self, values: np.ndarray) -> None:
        self.file, self.frames = {"field": values}, len(values)


@pytest.mark.parametrize(("shape", "numbers", "side"), [((5, 7), 10**6, 100), ((30, 41), 10**6, 8), ((64, 3), 90, 999)])
def test_codes_are_the_values_of_cells_within_half_a_step(shape: tuple[int, int], numbers: int, side: int) -> None:
    values = np.random.default_rng(7).normal(300.0, 40.0, (9, *shape))
    values[4, 2, 1] = 1e4  # in few frames and cells: it counts for the limits wherever it is
    found = quantised(Recorded(values), "field", 5, numbers, side)  # type: ignore[arg-type]
    taken = values[np.ix_(found.frames, found.rows, found.columns)]
    assert found.codes.shape == taken.shape
    assert found.codes.size <= numbers
    assert max(found.codes.shape[1:]) <= side
    assert list(found.frames) == [0, 2, 4, 6, 8]
    assert (found.low, found.high) == (values[found.frames].min(), 1e4)
    assert np.abs(found.values - taken).max() <= 0.5001 * (found.high - found.low) / LEVELS
    for places, n, block in ((found.rows, shape[0], found.block[0]), (found.columns, shape[1], found.block[1])):
        assert [p // block for p in places] == list(range(-(-n // block)))  # one cell of each block, none left out


def test_what_is_not_finite_has_a_code_of_its_own_and_no_say_in_the_limits() -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    values[0, 0, 0], values[1, 2, 3], values[1, 2, 2] = np.nan, np.inf, -np.inf
    found = quantised(Recorded(values), "field", 9, 999, 99)  # type: ignore[arg-type]
    assert (found.low, found.high) == (1.0, 21.0)
    assert (found.codes == NO_VALUE).sum() == 3
    assert np.array_equal(np.isnan(found.values), ~np.isfinite(values))
    alike = quantised(Recorded(np.full((1, 2, 2), 5.0)), "field", 9, 999, 99)  # type: ignore[arg-type]
    assert (alike.values == 5.0).all()
    unknown = quantised(Recorded(np.full((1, 2, 2), np.nan)), "field", 9, 999, 99)  # type: ignore[arg-type]
    assert np.isnan(unknown.values).all()


@pytest.mark.parametrize("n", [1, 2, 59, 60, 61, 1000])
def test_frames_go_from_the_first_to_the_last(n: int) -> None:
    frames = chosen_frames(n, 60)
    assert (frames[0], frames[-1], len(frames)) == (0, n - 1, min(n, 60))


def test_the_page_holds_the_frames_of_the_results(tmp_path: Path) -> None:
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "run")
    page = parsed(run.report())
    figure = page.one("figure", "field")
    data, told = data_of(figure), list(figure.all("figcaption"))[-1].text
    with h5py.File(run.directory / "results.h5") as file:
        values, times = file["temperature"][...], file["time"][...]
        assert np.array_equal(doubles(data["x"]), file["x"][...])
        assert np.array_equal(doubles(data["y"]), file["y"][...])
    assert np.array_equal(doubles(data["times"]), times)
    assert (data["low"], data["high"], data["unit"]) == (values.min(), values.max(), "°C")
    assert (data["lows"], data["highs"]) == ([v.min() for v in values], [v.max() for v in values])
    step = float(re.search(r"right to ± (\S+) °C", told)[1])  # type: ignore[index]
    assert np.abs(values_of_field(data) - values).max() <= 0.51 * step
    assert step < 1e-4 * (values.max() - values.min())
    assert "All 23 × 9 cells are shown." in told
    assert f"from {values.min():.10g} to {values.max():.10g} °C" in told


def test_a_large_plate_is_downsampled_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsuite.reporting.heat._SIDE", 10)
    monkeypatch.setattr("simsuite.reporting.heat._FRAMES", 3)
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "run")
    with h5py.File(run.directory / "results.h5") as file:
        whole = file["temperature"][...]
        html = next(each.html for each in sections(Recording(run.directory, file)) if each.title == "Temperature field")
    (tmp_path / "part.html").write_text(f"<!DOCTYPE html>\n{html}", encoding="utf-8")
    figure = parsed(tmp_path / "part.html")
    data = data_of(figure)
    assert "of 23 × 9 cells, one cell of 3 along x and of 1 along y is shown" in figure.text
    frames, columns = [0, 2, 5], [1, 4, 7, 10, 13, 16, 19, 22]
    values = values_of_field(data)
    assert np.abs(values - whole[np.ix_(frames, range(9), columns)]).max() <= (data["high"] - data["low"]) / LEVELS
    assert (data["low"], data["high"]) == (whole[frames].min(), whole[frames].max())  # of all cells, shown or not
