"""Reports in a browser: the field against results.h5 by pointer and by keys, sorting, print, phones, colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numba
import numpy as np
import pytest
from browsers import TEXTS, browser
from exported_runs import GBM, LINEAR

import simsuite

PLATE = {
    "solver": "heat",
    "title": "<script>window.hacked = 1</script>" + "a long title " * 9,
    "units": "degC",
    "grid": {"nx": 24, "ny": 10, "lx": 2.4, "ly": 1.0},
    "material": {"diffusivity": 0.05},
    "initial": {"temperature": "20 + 300*exp(-30*((x-0.4)**2 + (y-0.3)**2))"},
    "boundary": {"left": {"kind": "temperature", "value": "20 + 5*sin(9*t)"}},
    "time": {"end": 0.4},
    "output": {"frames": 5},
    "probe": [{"name": f'"><img src=x onerror="window.hacked=1">{k}', "x": 0.2 + k / 10, "y": 0.5} for k in range(10)],
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def runs(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The directories of runs and of a sweep, with their reports. They are made where there is a browser."""
    place, threads = tmp_path_factory.mktemp("reports"), numba.get_num_threads()
    numba.set_num_threads(1)
    found = {}
    for name, scenario in (("heat", PLATE), ("linear", LINEAR), ("gbm", GBM)):
        simsuite.run(scenario, device="cpu", directory=place / name).report()
        found[name] = place / name
    some = {"constants.h": [30.0, 4.0, 200.0], "time.end": [0.01, -1.0]}
    varied = PLATE | {"constants": {"h": 1.0}, "initial": {"temperature": "h*x"}}
    simsuite.sweep(varied, some, device="cpu", directory=place / "sweep", workers=1).report()
    numba.set_num_threads(threads)
    return found | {"sweep": place / "sweep"}


@pytest.fixture
def opened(chromium: Any, runs: dict[str, Path]) -> Iterator[Any]:
    """A function that opens the report on a run; errors of the page and what it asks of a network fail the test."""
    wrong: list[str] = []
    pages = []

    def open_report(name: str, **options: Any) -> Any:
        page = chromium.new_page(**({"viewport": {"width": 1000, "height": 900}} | options))
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append(r.url))
        page.goto((runs[name] / "report.html").as_uri())
        pages.append(page)
        return page

    yield open_report
    for page in pages:
        assert page.evaluate("window.hacked === undefined")
        page.close()
    assert not wrong


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def told(text: str) -> tuple[float, float, float]:
    """x, y and the value in a readout."""
    x, y, value = re.search(r"x = (\S+) m, y = (\S+) m: (\S+) °C", text).groups()  # type: ignore[union-attr]
    return number(x), number(y), number(value)


def step_of(page: Any) -> float:
    text = page.locator(".field > figcaption").inner_text()
    return float(re.search(r"right to ± (\S+) °C", text)[1])  # type: ignore[index]


def test_the_slider_and_the_keys_show_the_cells_of_the_results(opened: Any, runs: dict[str, Path]) -> None:
    page = opened("heat")
    with h5py.File(runs["heat"] / "results.h5") as file:
        values, times, xs, ys = (file[name][...] for name in ("temperature", "time", "x", "y"))
    step, readout = step_of(page), page.locator(".cross-hair")
    map_, slider = page.locator("canvas.map"), page.locator("input.frame")
    pictures = set()
    for frame in range(5):
        slider.focus()
        slider.press("Home")
        for _ in range(frame):
            slider.press("ArrowRight")
        assert number(page.locator(".field output").inner_text().split()[2]) == pytest.approx(times[frame])
        assert slider.get_attribute("aria-valuetext") == page.locator(".field output").inner_text()
        map_.focus()
        for key in ("Home", *["ArrowDown"] * 9, *["ArrowRight"] * (3 * frame), *["ArrowUp"] * frame):
            map_.press(key)
        x, y, value = told(readout.inner_text())
        assert (x, y) == (pytest.approx(xs[3 * frame]), pytest.approx(ys[frame]))
        assert abs(value - values[frame, frame, 3 * frame]) <= step
        pictures.add(page.evaluate("document.querySelector('canvas.map').toDataURL()"))
    assert len(pictures) == 5
    map_.press("PageUp")  # beyond the last time: nothing happens
    map_.press("End")
    map_.press("Shift+ArrowUp")
    x, y, value = told(readout.inner_text())
    assert abs(value - values[4, 9, 23]) <= step
    map_.press("PageDown")
    assert abs(told(readout.inner_text())[2] - values[3, 9, 23]) <= step


def test_the_pointer_shows_the_cell_below_it(opened: Any, runs: dict[str, Path]) -> None:
    page = opened("heat")
    with h5py.File(runs["heat"] / "results.h5") as file:
        values, xs, ys = (file[name][...] for name in ("temperature", "x", "y"))
    step = step_of(page)
    page.locator("canvas.map").scroll_into_view_if_needed()
    box = page.locator("canvas.map").bounding_box()
    left, width, top, high = box["x"] + 52, box["width"] - 66, box["y"] + 8, box["height"] - 92
    generator = np.random.default_rng(3)
    for i, j in zip(generator.integers(0, 24, 12), generator.integers(0, 10, 12)):
        page.mouse.move(left + (i + 0.5) / 24 * width, top + (1 - (j + 0.5) / 10) * high)
        x, y, value = told(page.locator(".pointer").inner_text())
        assert (x, y) == (pytest.approx(xs[i]), pytest.approx(ys[j]))
        assert abs(value - values[4, j, i]) <= step
    page.mouse.down()
    assert told(page.locator(".cross-hair").inner_text())[0] == pytest.approx(xs[i])
    page.mouse.up()
    page.mouse.move(left - 30, top)
    assert page.locator(".pointer").inner_text() == ""


def test_cuts_and_colours_can_be_chosen(opened: Any) -> None:
    page = opened("heat")
    picture = "(kind) => document.querySelector('canvas.' + kind).toDataURL()"
    before = [page.evaluate(picture, "line"), page.evaluate(picture, "map")]
    page.get_by_label("along y").check()
    assert page.evaluate(picture, "line") != before[0]
    page.get_by_label("of this time").check()
    assert page.evaluate(picture, "map") != before[1]


def test_a_map_has_the_colours_of_its_values(opened: Any, runs: dict[str, Path]) -> None:
    """The colour of a cell away from the cross-hair, by Matplotlib's own table."""
    import matplotlib

    page = opened("heat")
    with h5py.File(runs["heat"] / "results.h5") as file:
        values = file["temperature"][...]
    share = (values[4] - values.min()) / (values.max() - values.min())
    cells = [(4, 3), (0, 0), (20, 9), (7, 1)]
    colours = """(cells) => {
      const canvas = document.querySelector('canvas.map'), scale = canvas.width / parseFloat(canvas.style.width);
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const [width, high] = [parseFloat(canvas.style.width) - 66, parseFloat(canvas.style.height) - 92];
      return cells.map(([i, j]) => {
        const [x, y] = [52 + (i + 0.5) / 24 * width, 8 + (1 - (j + 0.5) / 10) * high];
        const at = 4 * (Math.round(y * scale) * canvas.width + Math.round(x * scale));
        return [...pixels.slice(at, at + 4)];
      });
    }"""
    for (i, j), colour in zip(cells, page.evaluate(colours, cells)):
        wanted = 255 * np.array(matplotlib.colormaps["inferno"](float(share[j, i])))
        assert np.abs(np.array(colour) - wanted).max() <= 4


@pytest.mark.parametrize(("name", "variable"), [("linear", "state"), ("heat", "probe_temperature")])
def test_lines_tell_their_values_at_the_cursor(opened: Any, runs: dict[str, Path], name: str, variable: str) -> None:
    page = opened(name)
    with h5py.File(runs[name] / "results.h5") as file:
        values, times = file[variable][...], file["time" if name == "linear" else "sample_time"][...]
    values = values.transpose(0, 2, 1).reshape(len(times), -1) if values.ndim == 3 else values
    chart = page.locator("figure.chart").first
    canvas = chart.locator("canvas")
    canvas.focus()
    canvas.press("Home")
    for k in range(4):
        assert number(chart.locator("caption").inner_text().split()[3]) == pytest.approx(times[k], rel=1e-9)
        shown = [number(text) for text in chart.locator("td").all_inner_texts()]
        assert shown == pytest.approx(list(values[k]), rel=1e-9)
        canvas.press("ArrowRight")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 15, box["y"] + 60)
    assert number(chart.locator("caption").inner_text().split()[3]) == pytest.approx(times[-1], rel=1e-9)
    before = canvas.evaluate("each => each.toDataURL()")
    chart.locator("input").first.uncheck()
    assert canvas.evaluate("each => each.toDataURL()") != before


def test_members_are_sorted_by_numbers(opened: Any) -> None:
    page = opened("sweep")
    table = page.locator("table.sortable")
    column = "table => [...table.tBodies[0].rows].map(row => row.cells[1].textContent)"
    table.get_by_role("button", name="constants.h").click()
    assert table.evaluate(column) == ["4", "4", "30", "30", "200", "200"]
    table.get_by_role("button", name="constants.h").press("Enter")
    assert table.evaluate(column) == ["200", "200", "30", "30", "4", "4"]
    assert table.locator("th[aria-sort=descending]").count() == 1
    table.get_by_role("button", name="max").click()
    results = table.evaluate("table => [...table.tBodies[0].rows].map(row => row.cells[5].textContent)")
    assert results[3:] == ["–"] * 3  # what failed comes last
    assert sorted(map(float, results[:3])) == list(map(float, results[:3]))


@pytest.mark.parametrize("name", ["heat", "linear", "gbm", "sweep"])
def test_nothing_is_wider_than_a_phone(opened: Any, name: str) -> None:
    page = opened(name, viewport={"width": 360, "height": 740}, device_scale_factor=2, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for canvas in page.locator("canvas").all():
        if canvas.is_visible():
            box = canvas.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
    if name == "heat":
        box = page.locator("canvas.map").bounding_box()
        page.locator("canvas.map").tap(position={"x": 60, "y": box["height"] / 3})
        assert told(page.locator(".cross-hair").inner_text())[0] == pytest.approx(0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["heat", "gbm", "sweep"])
def test_texts_stand_out_from_what_is_behind_them(opened: Any, name: str, scheme: str) -> None:
    page = opened(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = page.evaluate(TEXTS)
    assert len(found) > 100
    assert min(found)[0] >= 4.5, min(found)


@pytest.mark.parametrize("name", ["heat", "linear", "gbm", "sweep"])
def test_it_prints(opened: Any, name: str, tmp_path: Path) -> None:
    page = opened(name, color_scheme="dark")
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    data = (tmp_path / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if name == "heat":
        assert not page.locator("input.frame").is_visible()
        assert not page.locator("canvas.map").is_visible()
        assert page.locator(".stills img").count() == 4
        assert all(each.is_visible() for each in page.locator(".stills img").all())


def test_without_scripts_there_are_frames_and_all_numbers(chromium: Any, runs: dict[str, Path]) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((runs["heat"] / "report.html").as_uri())
    assert page.locator(".stills img").first.is_visible()
    assert not page.locator("canvas.map").is_visible()
    context.close()


def test_what_gets_into_a_page_is_not_run(chromium: Any, runs: dict[str, Path], tmp_path: Path) -> None:
    """Were the escaping broken, the policy of the page would still let no other script act."""
    text = (runs["linear"] / "report.html").read_text("utf-8")
    (tmp_path / "x.html").write_text(text.replace("<main>", "<main><script>window.hacked = 1</script>"), "utf-8")
    page = chromium.new_page()
    page.goto((tmp_path / "x.html").as_uri())
    assert page.evaluate("window.hacked === undefined")
    page.close()
