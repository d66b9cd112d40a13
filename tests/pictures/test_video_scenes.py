"""Videos of prices and of states: what each frame shows, against the numbers in results.h5."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch
from test_video import reading as reading

import simsuite
from simsuite.io.reading import open_results
from simsuite.pictures.look import Look
from simsuite.pictures.recording import Recording
from simsuite.pictures.video.animation import animate
from simsuite.pictures.video.prices import price_scene
from simsuite.pictures.video.scene import MOST_FRAMES, Film, Scene, evenly
from simsuite.pictures.video.states import state_scene

pytestmark = pytest.mark.usefixtures("one_thread")
MARKET = {
    "solver": "gbm",
    "title": "Two shares",
    "market": {"rate": 0.05},
    "asset": [
        {"name": "calm", "spot": 100.0, "volatility": 0.2},
        {"name": "wild", "spot": 50.0, "volatility": 1.5},  # so that its prices need a logarithmic axis
    ],
    "time": {"end": 1.0, "steps": 8},
    "paths": {"count": 8192},
    "output": {"frames": 9},
}
SPRING = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[0.0, 1.0], [-4.0, -0.1]]},
    "initial": {"state": [[1.0, 0.0], [0.0, 1.0]]},
    "time": {"dt": 0.1, "steps": 60},
    "output": {"frames": 61},
}
CLOUD = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[-1.0]], "noise_matrix": [[0.5]]},
    "initial": {"state": [2.0], "copies": 3000},
    "time": {"dt": 0.25, "steps": 12},
    "output": {"frames": 13},
}
WALK = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": {"generator": "markov", "states": 12, "up": 0.3, "down": 0.35}},
    "initial": {"state": {"unit": [0, 11]}},
    "time": {"steps": 40},
    "output": {"frames": 11},
}
LATTICE = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": {"generator": "lattice_walk", "nx": 6, "ny": 5}},
    "initial": {"state": {"unit": [14]}},
    "time": {"steps": 20},
    "output": {"frames": 6},
}
PAIRED = CLOUD | {
    "system": {"kind": "continuous", "matrix": [[-1.0, 0.0], [1.0, -1.0]], "noise_matrix": [[0.5], [0.0]]},
    "initial": {"state": [2.0, 0.0], "copies": 300},
}
ALL = {"market": MARKET, "spring": SPRING, "cloud": CLOUD, "paired": PAIRED, "walk": WALK, "lattice": LATTICE}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    place = tmp_path_factory.mktemp("scenes")
    for name, scenario in ALL.items():
        simsuite.run(scenario, device="cpu", directory=place / name)
    return {name: place / name for name in ALL}


@contextlib.contextmanager
def scene(directory: Path) -> Iterator[tuple[Recording, Scene]]:
    with open_results(directory / "results.h5") as file:
        run = Recording(directory, file)
        yield run, (price_scene if run.solver == "gbm" else state_scene)(run, "about it")


@pytest.mark.parametrize("name", ALL)
def test_a_frame_shows_nothing_of_what_is_still_to_come(name: str, runs: Mapping[str, Path]) -> None:
    """Right of the line that stands at the present, panels over time have no more than the names of curves; the bar
    and the stamp go on."""
    with scene(runs[name]) as (run, of):
        film = Film(of, Look("light"))
        frames = [frame.astype(int) for frame in film.frames()]
        assert {frame.shape for frame in frames} == {(film.height, film.width, 3)}
        assert film.height % 2 == film.width % 2 == 0
        bar = [(frame[-2].sum(axis=1) < 300).sum() / film.width for frame in frames]
        np.testing.assert_allclose(bar, np.linspace(0, 1, len(frames)), atol=2 / film.width)
        stamps = [of.stamp(k) for k in of.frames]
        assert len(set(stamps)) == len(stamps) == run.frames
        assert stamps[-1].split()[-1] in ("year", "s", "steps")
        figure = of.sheet.figure
        timed = [ax for ax in figure.axes if any(_is_now(line) for line in ax.lines)]
        assert bool(timed) == (name in ("market", "spring", "cloud", "paired"))
        dpi = film.height / figure.get_figheight()
        assert abs(dpi - figure.dpi) < 1
        middle = len(frames) // 2
        for ax in timed:
            (now,) = (line for line in ax.lines if _is_now(line))
            of.move(of.frames[middle])
            box, x = ax.get_window_extent(), int(ax.transData.transform((now.get_xdata()[0], 0))[0])
            rows = slice(int(figure.bbox.height - box.y1) + 4, int(figure.bbox.height - box.y0) - 8)
            later, sooner = (slice(x + 4, int(box.x1) - 4), slice(int(box.x0) + 8, x - 4))
            empty = frames[middle].copy()
            for name in ax.texts:
                at = name.get_window_extent().padded(2)
                empty[
                    int(figure.bbox.height - at.y1) : int(figure.bbox.height - at.y0) + 1, int(at.x0) : int(at.x1)
                ] = 255
            assert (empty[rows, later] == 255).all()
            assert (frames[middle][rows, sooner] < 200).any()
            assert (frames[-1][rows, later] < 200).any()


def _is_now(line: Line2D) -> bool:
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 2 and x[0] == x[1] and list(y) == [0, 1]


@pytest.mark.parametrize("name", ["market", "spring", "paired"])
def test_names_stand_at_the_ends_of_their_curves(name: str, runs: Mapping[str, Path]) -> None:
    """In every frame beside the line of the present, at the height of the curve or moved so that none overlap; in the
    order of the values."""
    with scene(runs[name]) as (run, of):
        film = Film(of, Look("light"))
        for frame, _ in zip(of.frames, film.frames()):
            for a, ax in enumerate(ax for ax in of.sheet.figure.axes if any(_is_now(line) for line in ax.lines)):
                (now,) = (line.get_xdata()[0] for line in ax.lines if _is_now(line))
                if name == "market":
                    levels = run.numbers("quantile", ...)
                    wanted = {f"{100 * q:g} %": y for q, y in zip(levels, run.numbers("price_quantile", ..., frame, a))}
                    wanted["mean"] = float(run.numbers("price_mean", frame, a))
                elif name == "spring":
                    wanted = dict(zip(("X₀", "X₁"), run.numbers("state", frame, ..., -1))) if a == 1 else {}
                else:
                    wanted = dict(zip(("X₀", "X₁"), run.numbers("state_mean", frame)))
                names = {text.get_text(): text for text in ax.texts}
                assert set(names) == set(wanted)
                boxes = [names[each].get_window_extent() for each in sorted(wanted, key=lambda each: wanted[each])]
                gaps = [high.y0 - low.y1 for low, high in itertools.pairwise(boxes)]
                assert min(gaps, default=0) > -1 or len(set(wanted.values())) < len(wanted)
                for each, text in names.items():
                    assert text.get_visible()
                    assert text.xy == pytest.approx((now, wanted[each]), rel=1e-9)
                    assert text.get_window_extent().x0 > ax.transData.transform((now, 0))[0]


def test_densities_of_prices_are_those_between_quantiles_and_the_exact_one(runs: Mapping[str, Path]) -> None:
    """Both over the larger of their maxima, so that every frame holds them."""
    with scene(runs["market"]) as (run, of):
        right = of.sheet.figure.axes[1::2]
        for k in (1, 4, 8):
            of.move(k)
            for a, ax in enumerate(right):
                bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
                edges = run.numbers("price_quantile", slice(None), k, a)
                np.testing.assert_allclose([bar.get_y() for bar in bars], edges[:-1], rtol=1e-12)
                ends = np.log(edges) if ax.get_yscale() == "log" else edges
                shares = np.diff([0.05, 0.25, 0.5, 0.75, 0.95])
                (law,) = ax.lines
                density, price = law.get_data()
                widths = np.array([bar.get_width() for bar in bars])
                assert max(*widths, *density) == pytest.approx(1.0, rel=1e-12)
                scale = (shares / (widths * np.diff(ends)))[0]
                np.testing.assert_allclose(scale * widths * np.diff(ends), shares, rtol=1e-9)
                where = np.log(price) if ax.get_yscale() == "log" else price
                within = scale * np.trapezoid(density, where)
                assert 0.97 < within <= 1.0 + 1e-3
                assert ax.get_xlim()[1] > 1
                low, high = ax.get_ylim()
                assert low <= edges[0]
                assert high >= edges[-1]
        assert [ax.get_yscale() for ax in right] == ["linear", "log"]
        of.move(0)
        assert all(len(ax.lines[0].get_xdata()) == 0 for ax in right)
        limits = [(ax.get_xlim(), ax.get_ylim()) for ax in of.sheet.figure.axes]
        of.move(8)
        assert [(ax.get_xlim(), ax.get_ylim()) for ax in of.sheet.figure.axes] == limits


def test_the_plane_has_the_way_of_each_sample_so_far(runs: Mapping[str, Path]) -> None:
    with scene(runs["spring"]) as (run, of):
        state, plane = run.numbers("state", ...), of.sheet.figure.axes[-1]
        for frame in (0, 17, 60):
            of.move(frame)
            for j, (way, dot) in enumerate(zip(plane.lines[::2], plane.lines[1::2])):
                np.testing.assert_array_equal(np.array(way.get_data()).T, state[: frame + 1, :, j])
                np.testing.assert_array_equal(np.array(dot.get_data())[:, 0], state[frame, :, j])


def test_a_batch_is_counted_at_each_time(runs: Mapping[str, Path]) -> None:
    with scene(runs["cloud"]) as (run, of):
        ax = of.sheet.figure.axes[-1]
        (bars,) = (patch for patch in ax.patches if isinstance(patch, StepPatch))
        for frame in (0, 1, 6, 12):
            of.move(frame)
            values, edges, _ = bars.get_data()
            counted = run.numbers("state", frame, 0)
            assert values.max() == 1.0
            assert ax.get_ylim()[1] > 1
            counts = np.histogram(counted, edges)[0]
            assert counts.sum() == 3000
            np.testing.assert_allclose(values, counts / counts.max(), rtol=1e-12)


def test_bars_that_go_beyond_the_axis_are_marked(runs: Mapping[str, Path]) -> None:
    """A walk begins at one place with 1, and its axis ends where later frames do."""
    with scene(runs["walk"]) as (run, of):
        state = run.numbers("state", ...)
        for frame in (0, 1, run.frames - 1):
            of.move(frame)
            for j, start in enumerate((0, 11)):
                ax = of.sheet.figure.axes[j]
                assert ax.get_ylim()[1] < 1
                assert ax.get_ylim()[1] > state[1:].max()
                arrows = [x for line in ax.lines for x in line.get_xdata()]
                assert arrows == ([start] if frame == 0 else [])
                assert [t.get_text() for t in ax.texts if t.get_visible()] == (["to 1"] if frame == 0 else [])


@pytest.mark.parametrize("name", ["walk", "lattice"])
def test_distributions_are_those_of_the_frame(name: str, runs: Mapping[str, Path]) -> None:
    with scene(runs[name]) as (run, of):
        state = run.numbers("state", ...)
        for frame in (0, 3, run.frames - 1):
            of.move(frame)
            for j in range(state.shape[2]):
                ax = of.sheet.figure.axes[j]
                if name == "walk":
                    now, last = (patch.get_data().values for patch in ax.patches if isinstance(patch, StepPatch))
                    np.testing.assert_array_equal(last, state[-1, :, j])
                else:
                    (image,) = (each for each in ax.get_children() if isinstance(each, AxesImage))
                    now = np.asarray(image.get_array()).ravel()
                np.testing.assert_array_equal(now, state[frame, :, j])


@pytest.mark.parametrize(("name", "suffix"), [("market", ".mp4"), ("spring", ".gif"), ("walk", ".mp4")])
def test_videos_have_all_frames(name: str, suffix: str, runs: Mapping[str, Path], tmp_path: Path, reading: Any) -> None:
    path, shares = tmp_path / f"x{suffix}", list[float]()
    (told,) = animate(runs[name], path, theme="dark", progress=shares.append)
    frames = reading(path)
    count, height, width, _ = frames.shape
    assert told.startswith(f"wrote {path}: {count} frames of {width} x {height}, ")
    assert count == ALL[name]["output"]["frames"]  # type: ignore[index]
    np.testing.assert_allclose(frames[0, 2, 2], [0x14, 0x17, 0x1C], atol=6)
    assert (np.abs(frames[0].astype(int) - frames[-1]) > 60).any()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_of_very_many_frames_some_are_left_out() -> None:
    assert evenly(5) == [0, 1, 2, 3, 4]
    some = evenly(10 * MOST_FRAMES)
    assert len(some) == MOST_FRAMES
    assert (some[0], some[-1]) == (0, 10 * MOST_FRAMES - 1)
