"""Pictures: drawn for every solver, of runs of every size and state, and refused with a reason where there is none."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import h5py
import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from sm90 import others_long

from simsuite.assembly import make_problem
from simsuite.errors import UsageError
from simsuite.io.results_file import ResultsFile
from simsuite.pictures import draw
from simsuite.pictures.linear import linear_figure
from simsuite.pictures.recording import Recording, strided, thinned
from simsuite.pictures.sheet import COLOURS, _increasing
from simsuite.pictures.spectrum import draw_eigenvalues, draw_matrix
from simsuite.pictures.units import Unit, length_unit, prefixed, rounded, shortened, time_unit
from simsuite.scenario import load

HEAT = """solver = "heat"
title = "Plate"
grid = {{nx = {nx}, ny = {ny}, lx = {lx}, ly = {ly}}}
material = {{diffusivity = 1e-3}}
boundary = {{left = {{kind = "temperature", value = 0.0}}}}
time = {{end = 1.0}}
output = {{frames = 6}}
{more}
"""
PROBES = '[[probe]]\nname = "P $x$"\nx = 0.01\ny = 0.005\n[[probe]]\nname = "corner"\nx = 0.0\ny = 0.0\n'
REFERENCE = "[reference]\ntemperature = 0.0\n"
GBM = """solver = "gbm"
title = "Shares"
market = {{rate = 0.03}}
time = {{end = {end}, steps = 20}}
paths = {{count = 2048}}
output = {{store_paths = 4}}
{assets}{options}
"""
LINEAR = """solver = "linear"
title = "System"
system = {{kind = "discrete", matrix = {matrix}}}
initial = {{state = {{random = "normal", batch = {batch}}}}}
time = {{steps = 40}}
output = {{frames = 41}}
"""


def make_run(directory: Path, text: str, fill: Any, rows: int | None = None, status: str = "complete") -> Path:
    """A run whose rows are made by `fill(name, shape, time)`, without any solver."""
    directory.mkdir()
    scenario = directory / "case.toml"
    scenario.write_text(text, encoding="utf-8")
    loaded = load(scenario)
    problem = make_problem(loaded)
    layout = problem.layout
    attributes = {
        "title": loaded.model.title,
        "solver": problem.solver,
        "scenario": loaded.resolved_toml(),
        "device_name": "test",
        **problem.method,
    }
    with ResultsFile.create(directory / "results.h5", layout, attributes) as results:
        for series in layout.series:
            n = len(series.steps)
            for k in range(n if rows is None else rows):
                t = loaded.model.time.end * k / max(n - 1, 1) if problem.solver != "linear" else float(k)
                row = {series.coordinate.name: np.float64(t)}
                for v in layout.variables:
                    if series.dim in v.dims and v.name != series.coordinate.name:
                        shape = tuple(layout.sizes[d] for d in v.dims if d != series.dim)
                        row[v.name] = np.broadcast_to(fill(v.name, shape, t), shape)
                results.append(series.dim, row)
        if status == "complete" and "option" in layout.sizes:
            n = layout.sizes["option"]
            results.write_totals({"option_price": np.ones(n), "option_standard_error": np.full(n, 0.01)})
        if status == "complete" and problem.solver == "linear":
            results.write_totals(problem.analysis.totals())
        results.set_status(status)
    return directory


def heat_values(name: str, shape: tuple[int, ...], t: float) -> Any:
    if name == "temperature":
        y, x = np.indices(shape)
        return 300 + np.exp(-t) * (x - 0.3 * y)
    return np.exp(-t) - 1 if name.startswith("energy") else np.full(shape, np.exp(-t))


def uniform(name: str, shape: tuple[int, ...], t: float) -> Any:
    return np.full(shape, 0.0 if name.startswith("energy") else 300.0)


def gbm_values(name: str, shape: tuple[int, ...], t: float) -> Any:
    spread = np.linspace(-1, 1, shape[0]) if name != "price_mean" else np.zeros(shape[0])
    return 100 * np.exp(0.4 * np.sqrt(t) * spread).reshape((-1,) + (1,) * (len(shape) - 1))


def exposure_values(name: str, shape: tuple[int, ...], t: float) -> Any:
    if not name.startswith("exposure"):
        return gbm_values(name, shape, t)
    return (5.0 if "error" in name else 30.0) * np.sqrt(t) * np.ones(shape)


def linear_values(name: str, shape: tuple[int, ...], t: float) -> Any:
    if name == "norm":
        return 0.5**t
    component, sample = np.indices(shape)
    return np.cos(0.1 * t * (component % 7) + sample) * 0.9**t


def assets(n: int) -> str:
    return "".join(f'[[asset]]\nname = "asset {i}"\nspot = 100.0\nvolatility = {0.4 * i}\n' for i in range(n))


OPTIONS = '[[option]]\nstyle = "european"\npayoff = "call"\nstrike = 100.0\n' * 10


def picture(run: Path) -> np.ndarray:
    """The PNG of a run; warnings are errors. Checks that it is as wide as promised, and that text touches no edge."""
    path = run / "plot.png"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(run, path)
    image = (255 * matplotlib.image.imread(path)[:, :, :3]).astype(int)
    assert image.shape[1] == 1680
    assert 500 < image.shape[0] < 2400
    for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert (edge == 255).all()
    return image


def n_colours(image: np.ndarray) -> int:
    return len(np.unique(image.reshape(-1, 3) @ [65536, 256, 1]))


def has(image: np.ndarray, colour: str) -> bool:
    """Whether something is drawn in exactly this colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((np.abs(image - wanted).max(axis=2) <= 1).any())


@pytest.mark.parametrize(
    ("nx", "ny", "lx", "ly"),
    others_long(
        [
            (40, 40, 1.0, 1.0),
            (8, 64, 0.02, 1.0),
            (64, 8, 1.0, 0.02),
            (1, 1, 1.0, 1.0),
            (1, 30, 1e-6, 1.0),
            (30, 12, 2.0, 1.0),
        ],
        {(8, 64, 0.02, 1.0), (64, 8, 1.0, 0.02), (1, 1, 1.0, 1.0)},
        several=True,
    ),
)
def test_heat_of_every_shape(tmp_path: Path, nx: int, ny: int, lx: float, ly: float) -> None:
    more = PROBES.replace("0.01", str(lx / 2)).replace("0.005", str(ly / 2))
    image = picture(make_run(tmp_path / "run", HEAT.format(nx=nx, ny=ny, lx=lx, ly=ly, more=more), heat_values))
    assert n_colours(image) > 60
    assert has(image, COLOURS[0])  # the first probe, as a dot and a line
    assert has(image, COLOURS[1])


def test_heat_with_reference_shows_the_error(tmp_path: Path) -> None:
    text = HEAT.format(nx=20, ny=20, lx=1.0, ly=1.0, more=REFERENCE)
    with_error = picture(make_run(tmp_path / "a", text, heat_values))
    without = picture(make_run(tmp_path / "b", text.replace(REFERENCE, ""), heat_values))
    assert with_error.shape == without.shape
    assert (with_error != without).any()


def test_uniform_field_and_single_frame(tmp_path: Path) -> None:
    text = HEAT.format(nx=20, ny=10, lx=2.0, ly=1.0, more="")
    whole = picture(make_run(tmp_path / "a", text, uniform))
    single = picture(make_run(tmp_path / "b", text, uniform, rows=1, status="running"))
    assert n_colours(whole) > 20
    assert n_colours(single) > 20


def test_unfinished_is_marked(tmp_path: Path) -> None:
    text = HEAT.format(nx=20, ny=20, lx=1.0, ly=1.0, more="")
    done = picture(make_run(tmp_path / "a", text, heat_values))
    stopped = picture(make_run(tmp_path / "b", text, heat_values, rows=3, status="stopped"))
    assert has(stopped, "#b23a00")
    assert not has(done, "#b23a00")


@pytest.mark.parametrize(("n", "options", "end"), [(1, "", 1.0), (2, OPTIONS, 1.0), (5, OPTIONS, 30.0)])
def test_gbm(tmp_path: Path, n: int, options: str, end: float) -> None:
    image = picture(make_run(tmp_path / "run", GBM.format(assets=assets(n), options=options, end=end), gbm_values))
    assert n_colours(image) > 60
    assert has(image, COLOURS[1])  # the mean


@pytest.mark.parametrize("rows", [None, 1])
def test_gbm_with_its_exposure(tmp_path: Path, rows: int | None) -> None:
    held = assets(1).replace("spot", "holding = 2.0\nspot")
    text = GBM.format(assets=held, options=OPTIONS, end=1.0).replace(
        "store_paths = 4", "store_paths = 4, exposure = true"
    )
    status = "complete" if rows is None else "running"
    image = picture(make_run(tmp_path / "run", text, exposure_values, rows, status))
    assert has(image, COLOURS[0])
    assert rows == 1 or has(image, COLOURS[2])


def test_gbm_after_its_first_frame(tmp_path: Path) -> None:
    text = GBM.format(assets=assets(2), options=OPTIONS, end=1.0)
    assert n_colours(picture(make_run(tmp_path / "run", text, gbm_values, rows=1, status="running"))) > 20


@pytest.mark.parametrize(
    ("matrix", "batch", "rows"),
    [
        ("[[0.9]]", 1, 41),
        ('{generator = "rotation", angle = 0.1}', 64, 41),
        ('{generator = "rotation", angle = 0.1}', 64, 1),
        ('{generator = "markov", states = 500, up = 0.3, down = 0.3}', 2, 41),
    ],
)
def test_linear(tmp_path: Path, matrix: str, batch: int, rows: int) -> None:
    status = "complete" if rows == 41 else "failed"
    text = LINEAR.format(matrix=matrix, batch=batch)
    image = picture(make_run(tmp_path / "run", text, linear_values, rows=rows, status=status))
    assert n_colours(image) > 20


@pytest.mark.parametrize(
    "matrix",
    [
        '{generator = "heat1d", points = 300}',
        '{generator = "springs", masses = 3, stiffness = 1e6}',
        "[[0.0, 1.0], [0.0, 0.0]]",
        "[[0.0]]",
        "[[1e-9, 0.0, 0.0], [0.0, -1e9, 5.0], [0.0, -5.0, 0.0]]",
    ],
)
def test_linear_in_continuous_time(tmp_path: Path, matrix: str) -> None:
    text = LINEAR.format(matrix=matrix, batch=1).replace("discrete", "continuous").replace("40}", "40, dt = 1e-9}")
    assert n_colours(picture(make_run(tmp_path / "run", text, linear_values))) > 20


@pytest.mark.parametrize(("frames", "dots"), [(41, True), (81, False)])
def test_few_frames_have_a_dot_each(tmp_path: Path, frames: int, dots: bool) -> None:
    """A line through frames that are far apart hides what a state does between two of them."""
    text = LINEAR.format(matrix='{generator = "rotation", angle = 0.1}', batch=1)
    text = text.replace("steps = 40", "steps = 80").replace("frames = 41", f"frames = {frames}")
    run = make_run(tmp_path / "run", text, linear_values)
    with h5py.File(run / "results.h5") as file:
        trajectories = linear_figure(Recording(run, file)).figure.axes[0]
        assert [line.get_marker() == "o" for line in trajectories.lines] == [dots, dots]


def test_eigenvalues_are_on_the_side_they_belong(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", LINEAR.format(matrix="[[0.5, 0.0], [0.0, -1.5]]", batch=1), linear_values)
    with h5py.File(run / "results.h5") as file:
        ax = Figure().add_subplot()
        draw_eigenvalues(Recording(run, file), ax)
        inside, outside = (line.get_xydata().tolist() for line in ax.lines[:2])
        assert (inside, outside) == ([[0.5, 0.0]], [[-1.5, 0.0]])
        assert ax.get_title(loc="left") == "Eigenvalues of A: unstable"
        low, high = ax.get_xlim()
        assert low < -1.5
        assert high > 1
        matrix = Figure().add_subplot()
        draw_matrix(Recording(run, file), matrix)
        np.testing.assert_array_equal(np.nan_to_num(matrix.images[0].get_array()), [[0.5, 0.0], [0.0, 1.5]])


@pytest.mark.parametrize("n", [7, 90, 900, 5000, 300_000])
def test_numbers_of_columns_do_not_touch(tmp_path: Path, n: int) -> None:
    matrix = f'{{generator = "markov", states = {n}, up = 0.3, down = 0.2, format = "csr"}}'
    run = make_run(tmp_path / "run", LINEAR.format(matrix=matrix, batch=1), linear_values, rows=1)
    with h5py.File(run / "results.h5") as file:
        figure = Figure(figsize=(8.0, 6.0))
        ax = figure.add_axes((0.1, 0.1, 0.105, 0.14))  # as large as in the picture of a run
        draw_matrix(Recording(run, file), ax)
        figure.canvas.draw()
        low, high = ax.get_xlim()
        shown = [t for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
        boxes = [label.get_window_extent() for label in shown]
        assert len(boxes) >= 2
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_axes_are_not_as_narrow_as_rounding(tmp_path: Path) -> None:
    text = LINEAR.format(matrix='[["1j", 0.0], [0.0, "1e-17-2j"]]', batch=1).replace("discrete", "continuous")
    run = make_run(tmp_path / "run", text.replace("40}", "40, dt = 0.1}"), linear_values)
    with h5py.File(run / "results.h5") as file:
        ax = Figure().add_subplot()
        draw_eigenvalues(Recording(run, file), ax)
        assert ax.get_xlim() == (-1.0, 1.0)


def test_other_formats(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", LINEAR.format(matrix="[[0.9]]", batch=1), linear_values)
    draw(run, tmp_path / "a.svg")
    draw(run, tmp_path / "b.svg")
    draw(run, tmp_path / "a.PDF")
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")[:600]
    assert (tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        draw(tmp_path, tmp_path / "plot.bmp")
    with pytest.raises(UsageError, match="holds no run"):
        draw(tmp_path / "missing", tmp_path / "plot.png")
    run = make_run(tmp_path / "run", LINEAR.format(matrix="[[0.9]]", batch=1), linear_values, rows=0, status="running")
    with pytest.raises(UsageError, match="no frames yet"):
        draw(run, tmp_path / "plot.png")
    full = make_run(tmp_path / "full", LINEAR.format(matrix="[[0.9]]", batch=1), linear_values)
    with pytest.raises(UsageError, match="cannot write"):
        draw(full, tmp_path / "nowhere" / "plot.png")


def test_a_long_title_is_cut(tmp_path: Path) -> None:
    text = LINEAR.format(matrix="[[0.9]]", batch=1).replace('"System"', '"' + "Wide $title_ " * 15 + '"')
    picture(make_run(tmp_path / "run", text, linear_values, rows=5, status="stopped"))


def test_large_fields_are_averaged_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simsuite.pictures.recording._SLAB_BYTES", 1000)
    values = np.random.default_rng(1).normal(size=(1, 37, 53))
    field = Recording(Path(), {"T": values}).field("T", 0, 10)  # type: ignore[arg-type]
    assert field.block == (4, 6)
    assert field.values.shape == (10, 9)
    np.testing.assert_allclose(field.values[0, 0], values[0, :4, :6].mean(), rtol=1e-14)
    np.testing.assert_allclose(field.values[9, 8], values[0, 36:, 48:].mean(), rtol=1e-14)
    assert (field.low, field.high) == (values.min(), values.max())


def test_thinned_lines_keep_extremes_and_ends() -> None:
    x = np.arange(100_000.0)
    y = np.sin(x)
    y[77_777] = 9.0
    tx, ty = thinned(x, y, 1000)
    assert len(tx) < 1100
    assert ty.max() == 9.0
    assert (tx[0], tx[-1]) == (0.0, 99_999.0)
    assert (np.diff(tx) > 0).all()
    assert len(range(1001)[strided(1001, 500)]) <= 500


def test_labels_are_moved_apart_as_little_as_possible() -> None:
    np.testing.assert_allclose(_increasing(np.array([0.0, 3.0, 1.0, 5.0])), [0.0, 2.0, 2.0, 5.0])


def test_numbers_for_readers() -> None:
    assert rounded(-1.5e-8) == "−1.5 × 10⁻⁸"
    assert rounded(float("nan")) == "–"
    assert (length_unit(0.4).name, length_unit(1.0).name, length_unit(3e-5).name) == ("cm", "m", "µm")
    assert (time_unit(120.0).name, time_unit(0.05).name, time_unit(36000.0).name) == ("s", "ms", "h")
    assert (prefixed(2e5, "J m-1").name, prefixed(2e5, "J m-1").scale) == ("kJ/m", 1e-3)
    assert prefixed(2e5, "K m2 s-1") == Unit("K·m²/s", 1.0)
    assert shortened("a\n b" + "c" * 50, 8) == "a bcccc…"
