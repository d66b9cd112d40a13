"""What can be asked for of a run: drawn from its numbers, readable in every look, and refused with a reason."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from looking import BOOK, HEAT, SYSTEM, contrast, cut, overlaps, texts_of, unlabelled
from matplotlib.collections import Collection
from running import call

import simsuite
from simsuite.errors import UsageError
from simsuite.io.reading import open_results
from simsuite.pictures import draw
from simsuite.pictures.choices.labels import labels_of
from simsuite.pictures.choices.sheets import NAMES, available, sheet_of
from simsuite.pictures.choices.usual import usual
from simsuite.pictures.control import critical_phases
from simsuite.pictures.look import SIZES, THEMES, Look
from simsuite.pictures.recording import Recording

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The directories of a run of each solver."""
    place = tmp_path_factory.mktemp("runs")
    found = {}
    for name, text in (("heat", HEAT), ("gbm", BOOK), ("linear", SYSTEM)):
        (place / f"{name}.toml").write_text(text, encoding="utf-8")
        simsuite.run(place / f"{name}.toml", device="cpu", directory=place / name)
        found[name] = place / name
    return found


@contextlib.contextmanager
def recording(directory: Path, time: float | str | None = None) -> Iterator[Recording]:
    with open_results(directory / "results.h5") as file:
        yield Recording(directory, file, time)


HAS = {
    "heat": ["field", "flux", "material", "boundary", "probes", "balance"],
    "gbm": ["trajectory", "density", "convergence", "greeks", "exposure"],
    "linear": ["trajectory", "modes", "bode", "density"],
}


@pytest.mark.parametrize("solver", HAS)
def test_what_runs_have(runs: dict[str, Path], solver: str) -> None:
    with recording(runs[solver]) as run:
        assert available(run) == HAS[solver]


CASES = [(solver, name, "light", None) for solver, names in HAS.items() for name in names]
CASES += [("heat", "field", theme, size) for theme in THEMES for size in SIZES]
CASES += [(solver, "", "slides", "column") for solver in HAS]
CASES += [("gbm", "greeks", "slides", None), ("gbm", "greeks", "light", "column")]


@pytest.mark.parametrize(("solver", "name", "theme", "size"), CASES)
def test_nothing_overlaps_is_cut_or_has_no_name(
    runs: dict[str, Path], solver: str, name: str, theme: str, size: str | None
) -> None:
    look = Look(theme, size)
    with recording(runs[solver]) as run:
        figure = sheet_of([run], [name] if name else usual([run]), look).laid_out(look)
        assert figure.get_figwidth() == pytest.approx(look.width)
        assert overlaps(figure) == []
        assert cut(figure) == []
        assert unlabelled(figure) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("solver", HAS)
def test_letters_and_lines_are_seen_on_every_page(runs: dict[str, Path], solver: str, theme: str) -> None:
    look = Look(theme)
    with recording(runs[solver]) as run:
        figure = sheet_of([run], usual([run]), look).laid_out(look)
        page = figure.get_facecolor()
        words = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
        for ax in figure.axes:
            words += [ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels()]
        assert min(contrast(text.get_color(), page) for text in words if text.get_text()) > 4.5
        lines = [line for ax in figure.axes if not ax.images for line in ax.lines]
        assert min(contrast(line.get_color(), page) for line in lines) > 2.0


def test_the_field_is_that_of_the_results(runs: dict[str, Path]) -> None:
    with recording(runs["heat"], time=31.0) as run:
        figure = sheet_of([run], ["field"], Look()).laid_out()
        stored = run.file["temperature"][3]
        (image,) = figure.axes[0].images
        np.testing.assert_array_equal(np.asarray(image.get_array()), stored)
        assert image.norm.vmin == stored.min()
        assert image.norm.vmax == stored.max()
        assert "t = 30 s" in figure.axes[0].get_title(loc="left")
        words = [name for name, _ in texts_of(figure)]
        assert {"chip", "corner", "rim"} <= set(words)
        row, column = np.unravel_index(np.argmax(stored), stored.shape)
        hottest = next(line for line in figure.axes[0].lines if not isinstance(line.get_marker(), str))
        place = hottest.get_xydata()[0]
        np.testing.assert_allclose(place, [(column + 0.5) * 0.2, (row + 0.5) * 0.2], rtol=1e-12)  # cm
        assert any(word.endswith("°C") and word[:4] == f"{stored.max():.4g}"[:4] for word in words)


def test_probes_are_those_of_the_results(runs: dict[str, Path]) -> None:
    with recording(runs["heat"]) as run:
        ax = sheet_of([run], ["probes"], Look()).figure.axes[0]
        values = run.file["probe_temperature"][...]
        for i, line in enumerate(ax.lines):
            np.testing.assert_array_equal(line.get_ydata(), values[:, i])


def heat_flux(tmp_path: Path, text: str, field: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """The size of the flow as drawn of a plate with a temperature of one's own."""
    from test_pictures import make_run

    def fill(name: str, shape: tuple[int, ...], t: float) -> np.ndarray:
        if name != "temperature":
            return np.zeros(shape)
        ny, nx = shape
        x, y = np.meshgrid((np.arange(nx) + 0.5) / nx * 0.08, (np.arange(ny) + 0.5) / ny * 0.048)
        return field(x, y)

    with recording(make_run(tmp_path / "run", text, fill)) as run:
        (image,) = sheet_of([run], ["flux"], Look()).figure.axes[0].images
        return np.asarray(image.get_array())


def test_the_flux_of_a_slope_is_the_same_everywhere(tmp_path: Path) -> None:
    text = "\n".join(line for line in HEAT.splitlines() if "region" not in line and "polygon" not in line)
    flux = heat_flux(tmp_path, text, lambda x, y: 300 + 40 * x - 30 * y)
    np.testing.assert_allclose(flux, 20.0 * 50, rtol=1e-9)


def test_the_flux_through_layers_in_series_is_the_same_in_all(tmp_path: Path) -> None:
    """1/k = sum of thicknesses over conductivities: a layer of 20 and one of 80 W/(m K), which meet at a face."""
    head, _, tail = HEAT.partition("region = [")
    regions = 'region = [{shape = "rectangle", x = [0.04, 0.1], y = [-1.0, 1.0], conductivity = 80.0}]\n'
    text = head + regions + tail[tail.index("source = [") :]
    flux = heat_flux(tmp_path, text, lambda x, y: 300 + np.where(x < 0.04, x / 20, 0.04 / 20 + (x - 0.04) / 80) * 1e3)
    np.testing.assert_allclose(flux, 1e3, rtol=1e-9)


def test_bars_of_a_density_are_those_of_the_exact_law(runs: dict[str, Path]) -> None:
    """By the law of Kolmogorov and Smirnov; the mean of all bars is that of all paths."""
    from scipy.stats import kstwobign, norm

    with recording(runs["gbm"]) as run:
        axes = sheet_of([run], ["density"], Look()).figure.axes
        for a, (spot, sigma) in enumerate(((100.0, 0.25), (40.0, 0.4))):
            high, counts = run.file["price_bin_end"][:, a], run.file["price_histogram"][:, a]
            assert counts.sum() == 16384
            law = norm(np.log(spot) + 0.03 - sigma**2 / 2, sigma)
            furthest = np.abs(np.cumsum(counts) / 16384 - law.cdf(np.log(high))).max()
            assert furthest * 128 < kstwobign.isf(1e-6)
            (bars,) = axes[a].patches
            values, at, _ = bars.get_data()
            assert float(values @ np.diff(at)) == pytest.approx(1.0, rel=1e-12)
            middle = (at[1:] + at[:-1]) / 2
            assert float((values * np.diff(at)) @ middle) == pytest.approx(run.file["price_mean"][-1, a], rel=2e-3)
            (mean,) = (line for line in axes[a].lines if len(set(line.get_xdata())) == 1)
            assert mean.get_xdata()[0] == run.file["price_mean"][-1, a]


def test_payoffs_are_distributed_as_their_price_says(runs: dict[str, Path]) -> None:
    """The mean of the discounted payoff over the bars is the price; the share that pays nothing is N(-d2)."""
    from scipy.stats import norm

    with recording(runs["gbm"]) as run:
        axes = sheet_of([run], ["density"], Look()).figure.axes
        call, put = (ax for ax in axes if "nothing on" in ax.get_title(loc="left"))
        for ax, o, share in (
            (call, 0, norm.cdf(-(0.03 - 0.25**2 / 2) / 0.25)),
            (put, 1, norm.cdf((np.log(40 / 35) + 0.03 - 0.4**2 / 2) / 0.4)),
        ):
            said = float(ax.get_title(loc="left").partition("nothing on ")[2].partition(" %")[0]) / 100
            assert said == pytest.approx(share, abs=5 * 0.5 / 128)
            values, at, _ = ax.patches[0].get_data()
            paid = float((values * np.diff(at)) @ ((at[1:] + at[:-1]) / 2))
            # the plain mean over the paths, whose price is known with a control variate; the last 0.1 % is not drawn
            assert paid == pytest.approx(run.file["option_price"][o], rel=0.05)


def test_value_at_risk_stands_where_the_share_of_losses_is(runs: dict[str, Path]) -> None:
    with recording(runs["gbm"]) as run:
        high, counts = run.file["loss_bin_end"][...], run.file["loss_histogram"][...]
        share = np.cumsum(counts) / counts.sum()
        width = high[1] - high[0]
        for level, at in zip(run.file["level"][...], run.file["value_at_risk"][...]):
            assert np.interp(level, share, high) == pytest.approx(at, abs=width)
        ax = sheet_of([run], ["density"], Look()).figure.axes[-1]
        marks = {line.get_xdata()[0] for line in ax.lines}
        assert set(run.file["value_at_risk"][...]) | set(run.file["expected_shortfall"][...]) == marks


def test_bands_are_mean_and_deviation(runs: dict[str, Path]) -> None:
    with recording(runs["linear"]) as run:
        ax = sheet_of([run], ["trajectory"], Look()).figure.axes[0]
        state = run.file["state"][...]
        bands = [c for c in ax.collections if isinstance(c, Collection)]
        assert len(bands) == 2
        for i, band in enumerate(bands):
            y = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
            mean, spread = state[:, i].mean(axis=1), state[:, i].std(axis=1, ddof=1)
            assert y.max() == pytest.approx((mean + spread).max(), rel=1e-9)
            assert y.min() == pytest.approx((mean - spread).min(), rel=1e-9)
        names = {text.get_text() for text in ax.texts}
        assert names == {"speed", "sensor"}


def test_inputs_are_drawn_with_their_names(runs: dict[str, Path]) -> None:
    with recording(runs["linear"]) as run:
        ax = sheet_of([run], ["trajectory"], Look()).figure.axes[1]
        assert ax.get_ylabel() == "push"
        (line,) = ax.lines
        t, u = line.get_data()
        np.testing.assert_allclose(u, np.sin(t), atol=1e-12)
        assert line.get_drawstyle() == "steps-post"


def test_several_runs_have_one_scale(runs: dict[str, Path], tmp_path: Path) -> None:
    simsuite.run(runs["heat"] / "scenario.toml", {"source.0.watts": 9.0}, device="cpu", directory=tmp_path / "hot")
    with recording(runs["heat"]) as first, recording(tmp_path / "hot") as second:
        figure = sheet_of([first, second], ["field", "probes"], Look()).laid_out()
        maps = [ax.images[0] for ax in figure.axes if ax.images]
        every = np.concatenate([first.file["temperature"][-1].ravel(), second.file["temperature"][-1].ravel()])
        assert {(m.norm.vmin, m.norm.vmax) for m in maps} == {(every.min(), every.max())}
        lines = [ax for ax in figure.axes if ax.get_title(loc="left") == "Probes"]
        assert len(lines) == 2
        assert lines[0].get_ylim() == lines[1].get_ylim()
        assert overlaps(figure) == []
        assert cut(figure) == []


def test_convergence_of_several_runs(tmp_path: Path) -> None:
    text = HEAT.replace("region = [", "unused = [").partition("unused")[0]
    text += 'boundary = {left = {kind = "temperature", value = 0.0}, right = {kind = "temperature", value = 0.0}}\n'
    text += 'initial = {temperature = "sin(pi*x/0.08)"}\ntime = {end = 20.0, method = "exact"}\n'
    text += '[reference]\ntemperature = "sin(pi*x/0.08)*exp(-20/(2000*900)*(pi/0.08)**2*t)"\n'
    text = text.replace('method = "exact"', 'stepper = "exact"').replace('units = "degC"\n', "")
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    directories = []
    for n in (10, 20, 40):
        directories.append(tmp_path / str(n))
        simsuite.run(tmp_path / "s.toml", {"grid.nx": n}, device="cpu", directory=directories[-1])
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(recording(each)) for each in directories]
        ax = sheet_of(found, ["convergence"], Look()).figure.axes[0]
        largest = ax.lines[0]
        np.testing.assert_allclose(largest.get_xdata(), [2, 4, 8])  # mm
        errors = np.asarray(largest.get_ydata())
        assert np.log2(errors[2] / errors[1]) == pytest.approx(2, abs=0.1)
        with pytest.raises(UsageError, match="several runs"):
            sheet_of(found[:1], ["convergence"], Look())


def test_members_of_a_sweep_are_called_by_what_varies(tmp_path: Path) -> None:
    (tmp_path / "book.toml").write_text(BOOK, encoding="utf-8")
    simsuite.sweep(tmp_path / "book.toml", {"paths.count": [1024, 4096]}, directory=tmp_path / "s", device="cpu")
    with recording(tmp_path / "s/members/0000") as first, recording(tmp_path / "s/members/0001") as second:
        wanted = ["paths.count = 1024", "paths.count = 4096"]
        assert labels_of([first, second]) == wanted
        figure = sheet_of([first, second], ["convergence"], Look()).laid_out()
        assert [text.get_text() for text in figure.legends[0].get_texts()] == wanted
        assert overlaps(figure) == []
        assert cut(figure) == []


def test_crossings_of_margins_are_explained(tmp_path: Path) -> None:
    """|L| of 7/(s + 1)³ is 1 at ω² = 7^(2/3) - 1, and its phase is -180° at ω² = 3."""
    text = """solver = "linear"
[system]
kind = "continuous"
A = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, -1.0]]
B = [[0.0], [0.0], [7.0]]
C = [[1.0, 0.0, 0.0]]
input = [0.0]
[initial]
x0 = [0.0, 0.0, 0.0]
[time]
end = 1.0
dt = 0.1
[analysis]
margins = true
bode = {from = 0.1, to = 10.0}
"""
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    simsuite.run(tmp_path / "s.toml", device="cpu", directory=tmp_path / "s")
    with recording(tmp_path / "s") as run:
        figure = sheet_of([run], ["bode"], Look()).laid_out()
    key = {text.get_text(): line for text, line in zip(figure.legends[0].get_texts(), figure.legends[0].get_lines())}
    assert list(key) == ["magnitude 1: phase margin", "phase 180°: gain margin"]
    for words, at in (
        ("magnitude 1: phase margin", np.sqrt(7 ** (2 / 3) - 1)),
        ("phase 180°: gain margin", np.sqrt(3)),
    ):
        for ax in figure.axes:
            dashes = key[words].get_linestyle(), key[words]._dash_pattern
            (line,) = [each for each in ax.lines if (each.get_linestyle(), each._dash_pattern) == dashes]
            assert line.get_xdata() == pytest.approx([at, at], rel=1e-6)


@pytest.mark.parametrize(
    ("solver", "name", "words"),
    [
        ("heat", "nothing", "there is no picture called 'nothing'; the heat run in .* has field, flux, material"),
        ("heat", "density", "a heat run has no density; that in .* has field, flux"),
        ("heat", "error", r"has no error: the scenario has no \[reference\]"),
        ("gbm", "field", "a gbm run has no field; that in .* has trajectory, density"),
        ("linear", "exposure", "a linear run has no exposure"),
    ],
)
def test_what_there_is_not(runs: dict[str, Path], tmp_path: Path, solver: str, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draw(runs[solver], tmp_path / "x.png", [name])


def test_other_wrong_choices(runs: dict[str, Path], tmp_path: Path) -> None:
    for words, wrong in (
        ("there is no theme 'blue': take light, dark, paper or slides", {"theme": "blue"}),
        ("there is no size 'a4': take column or page", {"size": "a4"}),
        ("cannot read 'soon' as a time", {"time": "soon"}),
        ("have nothing in common", {"others": [runs["gbm"]]}),
        ("cannot read '3 kg' as a time", {"time": "3 kg"}),
    ):
        with pytest.raises(UsageError, match=words):
            draw(runs["heat"], tmp_path / "x.png", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize(("time", "frame"), [(0.0, 0), (24.0, 2), ("26", 3), ("0.5 min", 3), (1e9, 6), (-5.0, 0)])
def test_the_nearest_frame_is_taken_and_told(
    runs: dict[str, Path], tmp_path: Path, time: float | str, frame: int
) -> None:
    told = draw(runs["heat"], tmp_path / "x.png", ["field"], time)
    assert told == [f"{runs['heat']}: frame {frame} of 6, at {10 * frame} s, is the nearest"]


def test_the_command_and_python(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(capsys, "plot", runs["heat"], "--what", "field,probes", "--theme", "dark", "-o", "a.png")
    assert (done.returncode, done.stderr) == (0, "wrote a.png\n")
    dark = matplotlib.image.imread("a.png")
    np.testing.assert_allclose(dark[0, 0, :3] * 255, [0x14, 0x17, 0x1C], atol=1)
    run = simsuite.load(runs["heat"])
    assert run.plot("b.png", ["field", "probes"], theme="dark") == Path("b.png")
    np.testing.assert_array_equal(matplotlib.image.imread("b.png"), dark)
    done = call(capsys, "plot", runs["gbm"], "--what", "field")
    assert done.returncode == 2
    assert set(NAMES) == {
        "field", "flux", "material", "boundary", "probes", "balance", "error", "convergence", "trajectory", "density",
        "greeks", "exposure", "modes", "bode",
    }  # fmt: skip


def test_fields_in_vector_files_are_pixels(runs: dict[str, Path], tmp_path: Path) -> None:
    """A cell of a map is no polygon of its own: the file stays small, and has an image in it."""
    draw(runs["heat"], tmp_path / "a.svg", ["field", "flux"])
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text.count("<image") >= 2
    assert len(text) < 400_000
    draw(runs["heat"], tmp_path / "a.pdf", ["field"], size="column")
    assert b"/Subtype /Image" in (tmp_path / "a.pdf").read_bytes()


def test_critical_phases_are_those_that_a_loop_may_cross() -> None:
    assert critical_phases(-200, 10) == [-180]
    assert critical_phases(0, 270) == [180]
    assert critical_phases(-600, 200) == [-540, -180, 180]
    assert critical_phases(-30, 30) == [-180]
