"""Runs and simulations as HTML, which html.parser reads back."""

from __future__ import annotations

import base64
import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numba
import pytest
from PIL import Image

import simsuite
from simsuite.notebooks.page import main_results, run_html

NASTY = "<script>alert('\"&amp;\"')</script>"
PLATE = {
    "solver": "heat",
    "title": NASTY,
    "grid": {"nx": 6, "ny": 4},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "x*y"},
    "boundary": {"left": {"kind": "temperature", "value": "sin(30*t)"}},
    "time": {"end": 0.05},
    "probe": [{"name": "<b>&ü", "x": 0.5, "y": 0.5}],
    "output": {"frames": 2},
}
CALL = {
    "solver": "gbm",
    "market": {"rate": 0.05},
    "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
    "time": {"end": 1.0, "steps": 4},
    "paths": {"count": 4000},
    "option": [{"name": "<i>call</i>", "style": "european", "payoff": "call", "strike": 100.0}],
}
NOISE = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[-1.0]], "noise_matrix": [[0.5]]},
    "initial": {"state": [1.0]},
    "time": {"dt": 0.1, "steps": 5},
}


class Table(HTMLParser):
    """The rows of a page, its pictures, and whether every element that was begun was ended in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.images: list[str] = []
        self.seen: set[str] = set()
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    numba.set_num_threads(1)


def rows_of(page: str) -> dict[str, str]:
    found = Table(page)
    assert found.seen <= {"div", "table", "caption", "b", "tbody", "tr", "th", "td", "img"}, "nothing came from names"
    assert page.isprintable()
    return dict(found.rows)


def test_a_run_is_a_table_with_its_picture(tmp_path: Path) -> None:
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "<run>\x1b")
    page = run._repr_html_()
    rows = rows_of(page)
    assert rows["status"] == "complete"
    assert rows["device"].startswith("cpu (")
    assert (rows["steps"], rows["time"]) == (str(run.summary["steps"]), "0.05 s")
    assert rows["directory"] == str(tmp_path / "<run>\\x1b")
    assert rows["max"] == f"{run.results['max']:.6g} K"
    assert rows["probes.<b>&ü"] == f"{run.results['probes']['<b>&ü']:.6g} K"
    (source,) = Table(page).images
    kind, _, data = source.partition(",")
    assert kind == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as picture:
        assert picture.width <= 720


def test_a_price_has_its_standard_error(tmp_path: Path) -> None:
    run = simsuite.run(CALL, device="cpu", directory=tmp_path / "run")
    option = run.results["options"]["<i>call</i>"]
    shown = rows_of(run._repr_html_())["options.<i>call</i>.price"]
    assert shown == f"{option['price']:.6g} ± {option['standard_error']:.2g}"


def test_a_stopped_run_says_so(tmp_path: Path) -> None:
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "run", max_minutes=0)
    assert rows_of(run._repr_html_())["status"] == "stopped"


def test_a_run_without_a_picture_is_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "run")
    monkeypatch.setattr("simsuite.notebooks.page._CHEAP", 10)
    assert not Table(run._repr_html_()).images, "results are large"
    (run.directory / "results.h5").write_bytes(b"damaged")
    monkeypatch.undo()
    assert not Table(run._repr_html_()).images
    (run.directory / "results.h5").unlink()
    assert rows_of(run_html(run.directory, run.summary))["status"] == "complete"


def test_numbers_with_errors_come_first() -> None:
    found = {"norm": 2.0, "noise": {"mean": [1.0, None], "mean_standard_error": [0.1, None], "samples": 4}}
    assert list(main_results("linear", found, {})) == [
        ("noise.mean.0", "1 ± 0.1"),
        ("noise.mean.1", "unknown"),
        ("norm", "2"),
        ("noise.samples", "4"),
    ]
    many = {f"n{i}": float(i) for i in range(20)}
    assert list(main_results("linear", many, {}))[-1] == ("", "and 8 more numbers in results")


@pytest.mark.parametrize("scenario", [PLATE, CALL, NOISE], ids=lambda each: each["solver"])
def test_a_simulation_is_a_table(scenario: dict[str, Any]) -> None:
    sim = simsuite.open_simulation(scenario, device="cpu")
    before = rows_of(sim._repr_html_())
    assert before["steps"] == "0"
    sim.advance(2)
    rows = rows_of(sim._repr_html_())
    assert rows["steps"] == "2"
    assert rows["time"].startswith(f"{sim.time:.6g} of ")
    for name, array in sim.state.items():
        assert rows[name] == f"{' × '.join(map(str, array.shape)) or 'scalar'}, {array.dtype}"
