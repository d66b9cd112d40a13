"""What reports say of runs and sweeps of all solvers, in whatever state, and of whoever wrote their names."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import h5py
import numpy as np
import pytest
from exported_runs import GBM, NAMES, runs_in
from pages import Element, data_of, doubles, parsed, require_good_page, tables
from running import call

import simsuite
from simsuite.reporting import report
from simsuite.reporting.page import LARGEST, Page, Section
from simsuite.reporting.toml_text import highlighted

pytestmark = pytest.mark.usefixtures("one_thread")

Runs = Callable[..., simsuite.Run]
Captured = pytest.CaptureFixture[str]
SCRIPT = "</script><script>hacked()</script>"
IMAGE = '"><img src=x onerror="hacked()">'


@pytest.fixture
def run_of(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run of a solver, in a directory of its own."""
    return runs_in(tmp_path, tmp_path_factory)


def chart_of(page: Element, title: str) -> dict[str, np.ndarray]:
    """The lines of a chart by their names, and its x."""
    figure = next(f for f in page.all("figure", "chart") if f.one("h3").text.startswith(title))
    data = data_of(figure)
    return {"x": doubles(data["x"])} | {each["name"]: doubles(each["values"]) for each in data["series"]}


def test_heat_tells_temperatures_the_balance_and_the_claimed_error(run_of: Runs) -> None:
    run = run_of("heat")
    page = parsed(run.report())
    require_good_page(page)
    assert page.one("h1").text == NAMES[0]
    found = tables(page)
    rows = {row[0]: row[1:] for row in found["Temperatures at the end, and how far they may be off"]}
    assert float(rows["max"][0]) == pytest.approx(run.results["max"], rel=1e-9)
    assert rows["max"][1] == "K"
    assert {f"probe {name}" for name in NAMES} <= rows.keys()
    low, high = run.results["range"]
    assert rows["time error"][0] == f"{run.results['time_error']:.2g}"
    assert f"{run.results['time_error'] * (high - low):.2g} K of" in rows["time error"][2]
    (ledger,) = (rows for caption, rows in found.items() if caption.startswith("Heat since the start"))
    heat = {row[0]: float(row[1]) for row in ledger[1:]}
    assert heat["stored"] == pytest.approx(heat["boundary"] + heat["source"] - heat["residual"], rel=1e-9, abs=1e-12)
    lines = chart_of(page, "Probes")
    with h5py.File(run.directory / "results.h5") as file:
        assert np.array_equal(lines["x"], file["sample_time"][...])
        for k, name in enumerate(NAMES):
            assert np.array_equal(lines[name], file["probe_temperature"][:, k])


def test_options_have_their_errors_intervals_and_greeks(run_of: Runs) -> None:
    run = run_of("gbm", option__0__greeks=True)
    page = parsed(run.report())
    require_good_page(page)
    found, option = tables(page), run.results["options"][NAMES[0]]
    rows = {row[0]: row[1:] for row in found["Options: price ± standard error, in units of price"]}
    value, error = map(float, rows[NAMES[0]][0].split(" ± "))
    assert value == pytest.approx(option["price"], abs=option["standard_error"] / 10)
    assert error == pytest.approx(option["standard_error"], rel=0.05)
    assert list(map(float, rows[NAMES[0]][1].split(" .. "))) == pytest.approx(option["ci95"], rel=1e-6)
    greeks = {(row[0], row[1], row[2]): row[3] for row in found["Greeks ± standard error"][1:]}
    delta = float(greeks[NAMES[0], "delta", NAMES[0]].split(" ± ")[0])
    assert delta == pytest.approx(option["delta"][0], abs=option["delta_standard_error"][0])
    lines = chart_of(page, "Mean prices")
    with h5py.File(run.directory / "results.h5") as file:
        assert np.array_equal(lines[NAMES[1]], file["price_mean"][:, 1])


def test_sobol_points_and_portfolios_have_reports(tmp_path: Path) -> None:
    asset = GBM["asset"][0] | {"holding": 2.0}
    risky = GBM | {"asset": [asset, GBM["asset"][1]], "output": {"exposure": True, "risk": {"levels": [0.9]}}}
    run = simsuite.run(risky, device="cpu", directory=tmp_path / "risk")
    page = parsed(run.report())
    require_good_page(page)
    (risk,) = (rows for caption, rows in tables(page).items() if caption.startswith("Risk of the loss"))
    assert float(risk[1][1]) == pytest.approx(run.results["risk"]["levels"]["0.9"]["value_at_risk"], rel=1e-6)
    assert len(chart_of(page, "Exposure")) > 3
    points = {"paths.sampling": "sobol", "paths.count": 4096}
    run = simsuite.run(GBM, points, device="cpu", directory=tmp_path / "sobol")
    page = parsed(run.report())
    require_good_page(page)
    assert "Options: price ± standard error, in units of price" in tables(page)


def test_linear_has_trajectories_and_modes(run_of: Runs) -> None:
    run = run_of("linear")
    page = parsed(run.report())
    require_good_page(page)
    lines = chart_of(page, "State")
    with h5py.File(run.directory / "results.h5") as file:
        assert np.array_equal(lines["x"], file["time"][...])
        assert np.array_equal(lines["component 1, sample 1"], file["state"][:, 1, 1])
        assert np.array_equal(chart_of(page, "Frobenius norm")["norm"], file["norm"][...])
    found = tables(page)
    modes = found["Analysis, slowest"]
    assert modes[0][1:3] == ["real (1/s)", "imag (rad/s)"]
    assert float(modes[1][1]) == pytest.approx(-0.1, rel=1e-9)  # x'' + 0.2 x' + 4 x = 0
    assert float(modes[1][2]) == pytest.approx(np.sqrt(4 - 0.01), rel=1e-9)
    states = found["State: a row for each component, a column for each sample"]
    assert np.allclose(np.array([row[1:] for row in states[1:]], float), run.results["state"], rtol=1e-9)


def test_the_scenario_is_shown_to_the_letter(run_of: Runs) -> None:
    run = run_of("heat")
    page = parsed(run.report())
    shown = page.one("pre", "toml").text
    assert shown == (run.directory / "scenario.toml").read_text(encoding="utf-8")
    assert tomllib.loads(shown)["title"] == NAMES[0]
    assert [each.text for each in page.one("pre", "toml").all("span", "key")][:2] == ["solver", "title"]


@pytest.mark.parametrize(
    "text",
    [
        'a = "x # no comment \\" = 5" # one\n[b."c d"]\n[[e]]\nf.g = -1e-3\nh = [1, 2.5, true]\n',
        "s = '''\n[no.table]\n</script>'''\nt = \"\"\"a = 1\n\"\"\"\n",
        'broken = "no end\n[\x07\u202e',
        "",
    ],
)
def test_colours_leave_every_character_of_toml(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(f"<!DOCTYPE html>\n<pre>{highlighted(text)}</pre>", encoding="utf-8")
    shown = parsed(tmp_path / "t.html").one("pre").text
    assert shown == text.replace("\x07", "\\x07").replace("\u202e", "\\u202e")
    if "no.table" in text:
        assert "table" not in [s.attributes["class"] for s in parsed(tmp_path / "t.html").all("span")]


@pytest.mark.parametrize("hostile", [SCRIPT, IMAGE, "${title} $style", "<!--", "]]>"])
def test_what_users_name_is_text_and_nothing_else(run_of: Runs, hostile: str, tmp_path: Path) -> None:
    scenario = {
        "solver": "heat",
        "title": hostile,
        "grid": {"nx": 4, "ny": 3},
        "material": {"diffusivity": 0.3},
        "initial": {"temperature": "x"},
        "boundary": {"left": {"kind": "temperature", "value": 1.0}},
        "time": {"end": 0.01},
        "probe": [{"name": hostile, "x": 0.5, "y": 0.25}],
    }
    run = simsuite.run(scenario, device="cpu", directory=tmp_path / "run")
    summary = json.loads((run.directory / "summary.json").read_text("utf-8"))
    strange = {"warnings": [hostile], "device_name": hostile, "stepper_reason": hostile}
    (run.directory / "summary.json").write_text(json.dumps(summary | strange), "utf-8")
    with (run.directory / "log.txt").open("a") as log:
        log.write(f"2026-01-01T00:00:00+00:00 {hostile}\n")
    place = tmp_path / "<b>&quot;"
    shutil.move(run.directory, place)
    report(place, tmp_path / "report.html")
    page = parsed(tmp_path / "report.html")
    require_good_page(page)
    assert page.one("h1").text == hostile
    assert [each["name"] for each in data_of(next(iter(page.all("figure", "chart"))))["series"]] == [hostile]
    assert f"Warning: {hostile}" in page.text
    assert [script.attributes.get("type") for script in page.all("script")].count(None) == 1
    assert not [image for image in page.all("img") if image.attributes["src"] == "x"]


def test_a_run_that_was_stopped_or_killed_has_a_report(run_of: Runs) -> None:
    run = run_of("heat", stopped=True)
    page = parsed(run.report())
    require_good_page(page)
    assert page.one("p", "status").text.startswith("Stopped")
    assert "bad" in page.one("p", "status").attributes["class"]
    (run.directory / "summary.json").unlink()
    with h5py.File(run.directory / "results.h5", "r+") as file:
        file.attrs.modify("status", np.array(b"running", "S16"))
    report(run.directory, run.directory / "report.html")
    page = parsed(run.directory / "report.html")
    require_good_page(page)
    assert page.one("p", "status").text.startswith("Killed")
    assert "There are no final results" in page.text
    assert f"simsuite resume {run.directory}" in page.text
    assert list(page.all("figure", "field"))


def test_results_are_open_once_at_a_time(run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5 refuses to open a file twice in different ways, which is what happens where a run just goes on."""
    opened, most = [], []

    class Counted(h5py.File):  # type: ignore[misc]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            opened.append(self)
            most.append(sum(bool(each) for each in opened))  # a file that is closed is False

    monkeypatch.setattr(h5py, "File", Counted)
    run_of("heat").report()
    assert len(most) > 1
    assert set(most) == {1}


def test_a_run_that_failed_says_why(tmp_path: Path) -> None:
    growing = {
        "solver": "heat",
        "grid": {"nx": 4, "ny": 3},
        "material": {"diffusivity": 0.3},
        "initial": {"temperature": 300.0},
        "source": [{"power": "exp(T - 290)"}],
        "boundary": {"left": {"kind": "temperature", "value": 300}},
        "time": {"end": 5.0, "dt": 0.01, "stepper": "explicit"},
    }
    with pytest.raises(simsuite.NumericalFailure):
        simsuite.run(growing, device="cpu", directory=tmp_path / "run")
    report(tmp_path / "run", tmp_path / "report.html")
    page = parsed(tmp_path / "report.html")
    require_good_page(page)
    assert page.one("p", "status").text.startswith("Failed: NaN or Inf")


def test_a_sweep_has_all_members_with_units_and_those_that_failed(tmp_path: Path) -> None:
    plate = {
        "solver": "heat",
        "title": IMAGE,
        "units": "degC",
        "grid": {"nx": 4, "ny": 3},
        "material": {"diffusivity": 0.3},
        "constants": {"hot": 1.0},
        "initial": {"temperature": "20 + hot*x"},
        "boundary": {"left": {"kind": "temperature", "value": 20}},
        "time": {"end": 0.02},
    }
    vary = {"constants.hot": [1.0, 5.0], "time.end": [0.01, -1.0]}
    found = simsuite.sweep(plate, vary, device="cpu", directory=tmp_path / "sweep", workers=1)
    page = parsed(found.report(tmp_path / "s.html"))
    require_good_page(page)
    assert page.one("p", "status").text == "Complete: 4 of 4 members ended, 2 failed"
    rows = tables(page)["Members with their results"]
    assert rows[0][:5] == ["member", "constants.hot", "time.end (s)", "status", "min (°C)"]
    assert [row[3] for row in rows[1:]] == ["complete", "failed", "complete", "failed"]
    for row in rows[1:]:
        if row[3] == "complete":
            results = found.members[int(row[0])]["results"]
            assert float(row[5]) == pytest.approx(results["max"], rel=1e-9)
    failed = tables(page)["Members that failed"]
    assert [row[0] for row in failed[1:]] == ["1", "3"]
    assert page.one("pre", "toml").text == (tmp_path / "sweep/members/scenario.toml").read_text("utf-8")


def test_a_search_tells_what_it_found(tmp_path: Path) -> None:
    plain = GBM | {"paths": {"count": 500}}
    found = simsuite.sweep(
        plain, {"asset.0.volatility": [0.1, 0.4]}, device="cpu", directory=tmp_path / "goal",
        goal=f"options.{NAMES[0]}.price", target=16.0,
    )  # fmt: skip
    report(tmp_path / "goal", tmp_path / "goal.html")
    page = parsed(tmp_path / "goal.html")
    require_good_page(page)
    assert f"{found.value:.6g}" in page.text
    assert "at which" in page.text


def test_a_report_is_never_larger_than_its_limit() -> None:

    sections = [Section("Large", "<p>" + "x" * LARGEST + "</p>"), Section("Small", "<p>kept</p>")]
    text = Page("A page", "kind", "Complete", True, sections).html(datetime.now(UTC))
    assert len(text.encode()) < LARGEST
    assert "kept" in text
    assert "left out: with it, 20 MB" in text
    assert text.count("<h2>Large</h2>") == 1


def test_the_command_writes_into_the_directory_or_where_it_is_told(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("linear").directory
    done = call(capsys, "report", directory)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"wrote {directory}/report.html\n"
    done = call(capsys, "report", directory / "results.h5", "-o", directory / "x.htm", "--json")
    assert json.loads(done.stdout) == {"status": "written", "files": [f"{directory}/x.htm"]}
    assert (directory / "x.htm").stat().st_size > 1e4
    assert not list(directory.glob("*.new"))


def test_what_cannot_be_written_is_told(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("linear").directory
    done = call(capsys, "report", directory, "-o", directory / "x.pdf")
    assert (done.returncode, "must end in .html" in done.stderr) == (2, True)
    done = call(capsys, "report", directory, "-o", directory / "none" / "x.html")
    assert (done.returncode, "cannot write" in done.stderr) == (2, True)
    done = call(capsys, "report", directory.parent / "nothing")
    assert (done.returncode, "holds no run" in done.stderr) == (2, True)
    with h5py.File(directory / "results.h5", "r+") as file:
        file.attrs["solver"] = "page"
    done = call(capsys, "report", directory)
    assert (done.returncode, "which has no reports" in done.stderr) == (2, True)
