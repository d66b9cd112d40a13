"""Plates: colours whose cold end is seen, names that cover nothing, runs that failed, scenarios before their run."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from looking import BOOK, HEAT, SYSTEM, cut, lightness, overlaps, texts_of, unlabelled
from matplotlib.patches import Circle, Polygon, Rectangle
from running import call

import simsuite
from simsuite.assembly import make_problem
from simsuite.errors import NumericalFailure, UsageError
from simsuite.io.directory import RunDirectory
from simsuite.io.reading import open_results
from simsuite.pictures.heat import heat_figure
from simsuite.pictures.look import Look
from simsuite.pictures.plates.colours import temperature_colours
from simsuite.pictures.previews.gbm import exact_fan
from simsuite.pictures.previews.sheet import preview_sheet
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet
from simsuite.plotting import draw_path
from simsuite.scenario import load

pytestmark = pytest.mark.usefixtures("one_thread")


def test_colours_grow_lighter_in_equal_steps_from_one_that_is_seen() -> None:
    found = lightness(temperature_colours()(np.arange(256))[:, :3])
    assert found[0] > 17  # of 100; inferno begins at 0
    assert found[-1] > 90
    steps = np.diff(found)
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()


def figure_of(directory: Path, text: str) -> Sheet:
    """The picture of a run that is made now."""
    (directory / "s.toml").write_text(text, encoding="utf-8")
    with contextlib.suppress(NumericalFailure):
        simsuite.run(directory / "s.toml", device="cpu", directory=directory / "run")
    with open_results(directory / "run" / "results.h5") as file:
        sheet = heat_figure(Recording(directory / "run", file))
        sheet.laid_out()
    return sheet


def test_the_picture_of_a_plate_has_no_empty_panel(tmp_path: Path) -> None:
    """At first it is 20 °C everywhere, which a map shows nothing of, and one edge and the residual are flat lines."""
    figure = figure_of(tmp_path, HEAT).figure
    assert [len(ax.images) for ax in figure.axes].count(1) == 1
    title = figure.axes[-1].get_title(loc="left") if figure.axes[-1].images else ""
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert any(t.endswith("at first 20 °C everywhere") for t in [*titles, title])
    (balance,) = (ax for ax in figure.axes if "Heat balance" in ax.get_title(loc="left"))
    sizes = [float(np.abs(line.get_ydata()).max()) for line in balance.lines]
    assert min(sizes) > 1e-3 * max(sizes)
    assert overlaps(figure) == []
    assert cut(figure) == []
    assert unlabelled(figure) == []


def test_outlines_are_those_of_the_scenario(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, HEAT).figure
    (ax,) = (ax for ax in figure.axes if ax.images)
    (box,) = (p for p in ax.patches if isinstance(p, Rectangle))
    np.testing.assert_allclose(box.get_bbox().get_points(), [[1, 1], [4, 3]])  # cm
    (disc,) = (p for p in ax.patches if isinstance(p, Circle))
    assert disc.center == pytest.approx((2, 2))
    assert disc.radius == pytest.approx(0.6)
    (triangle,) = (p for p in ax.patches if isinstance(p, Polygon))
    np.testing.assert_allclose(triangle.get_xy()[:3], [[5, 3], [7, 3], [6, 4.5]])
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["region", "heat source", "hottest cell"]


def test_all_of_many_probes_are_named_and_cover_nothing(tmp_path: Path) -> None:
    probes = ", ".join(
        f'{{name = "sensor {k}", x = {0.02 + 0.007 * (k % 5)}, y = {0.014 + 0.006 * (k // 5)}}}' for k in range(20)
    )
    head, _, tail = HEAT.partition("probe = [")
    figure = figure_of(tmp_path, f"{head}probe = [{probes}]\n{tail[tail.index('time') :]}").figure
    (ax,) = (ax for ax in figure.axes if ax.images)
    names = [text.get_text() for text in ax.texts if text.get_text().startswith("sensor")]
    assert len(names) == 20
    assert overlaps(figure) == []
    assert cut(figure) == []


GROWING = HEAT.replace("watts = 3.0", 'power = "1e6*T**2"')


def test_a_run_that_failed_shows_where(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, GROWING).figure
    failure = RunDirectory(tmp_path / "run").read_failure()
    assert failure is not None
    column, row = failure["cell"]
    words = [name for name, _ in texts_of(figure)]
    assert "failed" in words
    assert failure["error"] in words
    assert f"cell {column} along x, {row} along y" in failure["error"]
    (ax,) = (ax for ax in figure.axes if ax.images)
    (cross,) = (line for line in ax.lines if line.get_marker() == "x")
    np.testing.assert_allclose(cross.get_xydata()[0], [(column + 0.5) * 0.2, (row + 0.5) * 0.2])  # cm
    assert ax.get_title(loc="left").startswith("Last good temperature")


def test_what_failed_is_forgotten_when_the_run_goes_on(tmp_path: Path) -> None:
    figure_of(tmp_path, GROWING)
    assert (tmp_path / "run" / "failure.json").exists()
    (tmp_path / "s.toml").write_text(HEAT, encoding="utf-8")
    simsuite.run(tmp_path / "s.toml", device="cpu", directory=tmp_path / "run", fresh=True)
    assert not (tmp_path / "run" / "failure.json").exists()


# ---- scenarios before their run


def preview(directory: Path, text: str, look: Look = Look()) -> Sheet:
    (directory / "s.toml").write_text(text, encoding="utf-8")
    (directory / "place").mkdir()
    scenario = load(directory / "s.toml")
    sheet = preview_sheet(scenario, make_problem(scenario), directory / "place", look)
    sheet.laid_out(look)
    return sheet


def test_a_plate_before_its_run(tmp_path: Path) -> None:
    figure = preview(tmp_path, HEAT).figure
    words = {name for name, _ in texts_of(figure)}
    assert {"held at 20 °C", "insulated", "convection h = 50 W/(m²·K), to 20 °C"} <= words
    assert {"chip", "corner", "rim", "chip: 3 W", "Conductivity"} <= words
    (image,) = (ax.images[0] for ax in figure.axes if ax.images)
    shown = np.asarray(image.get_array())
    assert set(np.unique(shown)) == {5.0, 20.0, 80.0}
    x, y = np.meshgrid((np.arange(40) + 0.5) * 0.002, (np.arange(24) + 0.5) * 0.002)
    np.testing.assert_array_equal(shown == 80, (x > 0.01) & (x < 0.04) & (y > 0.01) & (y < 0.03))
    assert overlaps(figure) == []
    assert cut(figure) == []
    assert not list(tmp_path.glob("runs*"))


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ('h = 12.0, ambient = "25 + t"', "both faces: h = 12 W/(m²·K), to 25 + t °C"),
        ("h = 5.0, ambient = 20.0, faces = 1", "one face: h = 5 W/(m²·K), to 20 °C"),
    ],
)
def test_a_preview_says_what_goes_through_the_faces(tmp_path: Path, surface: str, words: str) -> None:
    figure = preview(
        tmp_path, f"surface = {{{surface}}}\n{HEAT}".replace('solver = "heat"', "") + 'solver = "heat"'
    ).figure
    assert words in {name for name, _ in texts_of(figure)}
    assert overlaps(figure) == []
    assert cut(figure) == []


def test_names_keep_clear_of_outlines(tmp_path: Path) -> None:
    """On the board whose chips have a probe of the same name in their middle."""
    text = (Path(__file__).parents[2] / "scenarios" / "circuit_board.toml").read_text(encoding="utf-8")
    figure = preview(tmp_path, text).figure
    for ax, names in zip(figure.axes, (["cpu", "cpu: 4.5 W", "regulator", "regulator: 1.5 W"], ["cpu", "regulator"])):
        written = [found for found in ax.texts if found.get_text()]
        assert sorted(found.get_text() for found in written) == names
        turn = np.linspace(0, 2 * np.pi, 2000)
        side = np.linspace(0, 1, 500)[:, None]
        corners = np.array([[(10, 5), (45, 5), (45, 45), (10, 45)], [(16, 18), (30, 18), (30, 32), (16, 32)]])
        lines = [a + side * (b - a) for c in corners for a, b in zip(c, np.roll(c, -1, axis=0))]
        lines.append(np.column_stack([60 + 5 * np.cos(turn), 25 + 5 * np.sin(turn)]))
        outlines = ax.transData.transform(np.concatenate(lines) / 10)  # mm to cm, as the map has it
        for found in written:
            box = found.get_window_extent()
            assert not ((outlines > box.min) & (outlines < box.max)).all(axis=1).any(), found.get_text()


@pytest.mark.parametrize(("text", "panels"), [(BOOK, 2), (SYSTEM, 5)])
def test_other_scenarios_before_their_run(tmp_path: Path, text: str, panels: int) -> None:
    figure = preview(tmp_path, text).figure
    assert len([ax for ax in figure.axes if ax.get_subplotspec() is not None]) == panels
    assert overlaps(figure) == []
    assert cut(figure) == []
    assert unlabelled(figure) == []


def test_the_fan_before_the_run_is_the_exact_one(tmp_path: Path) -> None:
    from scipy.stats import norm

    (tmp_path / "s.toml").write_text(BOOK, encoding="utf-8")
    model = load(tmp_path / "s.toml").model
    fan = exact_fan(model, 1)
    assert fan is not None
    t = fan.time[1:]
    for level, found in zip(fan.levels, fan.quantiles):
        right = 40 * np.exp((0.03 - 0.08) * t + 0.4 * np.sqrt(t) * norm.ppf(level))
        np.testing.assert_allclose(found[1:], right, rtol=2e-3)
    np.testing.assert_allclose(fan.mean[1:], 40 * np.exp(0.03 * t), rtol=1e-12)


def test_the_command_draws_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("board.toml").write_text(HEAT, encoding="utf-8")
    done = call(capsys, "plot", "board.toml")
    assert (done.returncode, done.stderr) == (0, "wrote board_preview.png\n")
    assert Path("board_preview.png").read_bytes().startswith(b"\x89PNG")
    assert call(capsys, "plot", "board.toml", "--what", "field").returncode == 2
    Path("bad.toml").write_text(HEAT.replace("nx = 40", "nx = -4"), encoding="utf-8")
    done = call(capsys, "plot", "bad.toml")
    assert done.returncode == 2
    assert "nx" in done.stderr
    with pytest.raises(UsageError, match="name it alone"):
        draw_path([Path("board.toml"), Path("board.toml")])
