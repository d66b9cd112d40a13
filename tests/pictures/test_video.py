"""Videos: their frames, sizes and colours, read back by ffmpeg, and what is said where none can be made."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import call
from test_pictures import HEAT, LINEAR, linear_values, make_run

from simsuite.errors import PackageMissing, SimsuiteError, UsageError
from simsuite.io.reading import open_results
from simsuite.pictures.look import Look
from simsuite.pictures.plates.colours import temperature_colours
from simsuite.pictures.plates.maps import Domain
from simsuite.pictures.recording import Recording
from simsuite.pictures.units import length_unit
from simsuite.pictures.video import ffmpeg as program
from simsuite.pictures.video.animation import animate
from simsuite.pictures.video.page import make_page
from simsuite.pictures.video.source import Source

COLOURS = (255 * temperature_colours()(np.arange(256))[:, :3]).round()


def values(name: str, shape: tuple[int, ...], t: float) -> Any:
    """Temperatures from 100 to 200: in the first frame a slope to the right, in the last one 200 everywhere."""
    if name != "temperature":
        return np.zeros(shape)
    slope = np.linspace(100.0, 200.0, shape[1])
    return np.broadcast_to(slope + t * (200 - slope), shape)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six frames of 40 x 20 cells."""
    return make_run(tmp_path / "run", HEAT.format(nx=40, ny=20, lx=2.0, ly=1.0, more=""), values)


@pytest.fixture
def reading() -> Callable[[Path], np.ndarray]:
    """Reads all frames of a video, uint8 [frame, row, column, 3]; skips where ffmpeg is not installed."""
    try:
        found = program.ffmpeg()
    except PackageMissing:
        pytest.skip("ffmpeg is not installed")

    def read(path: Path) -> np.ndarray:
        about = subprocess.run([found, "-hide_banner", "-i", path], capture_output=True, text=True).stderr
        match = re.search(r"Video:.*?, (\d+)x(\d+)", about)
        assert match is not None
        width, height = map(int, match.groups())
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-vf", "scale=in_color_matrix=bt709", "-fps_mode", "passthrough"]
        command = [found, "-loglevel", "error", "-i", path, *raw, "-"]
        data = subprocess.run(command, capture_output=True, check=True).stdout
        return np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)

    return read


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_frames_have_the_colours_of_the_results(
    run: Path, tmp_path: Path, suffix: str, reading: Callable[[Path], np.ndarray]
) -> None:
    path = tmp_path / f"x{suffix}"
    shares: list[float] = []
    told = animate(run, path, progress=shares.append)
    frames = reading(path)
    count, height, width, _ = frames.shape
    assert count == 6
    assert height % 2 == width % 2 == 0
    assert told == [f"wrote {path}: 6 frames of {width} x {height}, 3 s, 100 to 200 K"]
    left, top, across, up = 74, 62, 720, 360  # where the field is, each cell 18 pixels wide
    first, last = (frames[k, top : top + up, left : left + across].astype(float) for k in (0, -1))
    cell = np.arange(40) * 18 + 9
    wanted = COLOURS[np.minimum((np.linspace(0, 256, 40)).astype(int), 255)]
    within = 16 if suffix == ".mp4" else 6  # of 255: chroma at half the resolution; 200 colours of 256
    assert np.abs(first[180, cell] - wanted).max() <= within
    assert np.abs(first[40, cell] - first[320, cell]).max() <= within
    inner = last[16:-16, 16:-16]
    assert np.abs(inner - COLOURS[-1]).max() <= within
    assert np.abs(inner.mean(axis=(0, 1)) - COLOURS[-1]).max() <= within / 2
    bar = frames[:, top + up + 48 + 3, left : left + across].astype(int).sum(axis=2) < 300
    np.testing.assert_allclose(bar.sum(axis=1), [k / 5 * across for k in range(6)], atol=4)
    stamps = frames[:, 33:56, left : left + 200].reshape(count, -1).astype(int)
    assert all((np.abs(stamps[k] - stamps[k + 1]) > 60).any() for k in range(count - 1))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_limits_that_are_given_hold(run: Path, tmp_path: Path, reading: Callable[[Path], np.ndarray]) -> None:
    animate(run, tmp_path / "x.mp4", rate=12.0, limits=(150.0, 160.0), theme="dark")
    frames = reading(tmp_path / "x.mp4")
    field = frames[0, 62:422, 74:794].astype(float)
    assert np.abs(field[16:-16, 16:340] - COLOURS[0]).max() <= 12
    assert np.abs(field[16:-16, 450:-16] - COLOURS[-1]).max() <= 12
    np.testing.assert_allclose(frames[0, 2, 2], [0x14, 0x17, 0x1C], atol=4)


@pytest.mark.parametrize(
    ("nx", "ny", "lx", "ly", "size"),
    [
        (40, 20, 2.0, 1.0, (720, 360)),
        (1024, 1024, 1.0, 1.0, (1024, 1024)),
        (4000, 2000, 2.0, 1.0, (1200, 600)),
        (3, 5, 3.0, 5.0, (432, 720)),
        (10, 1000, 1.0, 100.0, (167, 1000)),
        (30, 30, 2.0, 1.0, (720, 360)),
    ],
)
def test_sizes(tmp_path: Path, nx: int, ny: int, lx: float, ly: float, size: tuple[int, int]) -> None:
    def cheap(name: str, shape: tuple[int, ...], t: float) -> Any:
        return np.zeros(()) if name != "temperature" else np.broadcast_to(np.float64(t), shape)

    text = HEAT.format(nx=nx, ny=ny, lx=lx, ly=ly, more="").replace("frames = 6", "frames = 2")
    directory = make_run(tmp_path / "run", text, cheap)
    with open_results(directory / "results.h5") as file:
        source = Source(Recording(directory, file))
        assert source.size == size
        indices = list(source.indices((0.0, 1.0)))
        assert [each.shape for each in indices] == [size[::-1]] * 2
        assert [int(each.max()) for each in indices] == [0, 255]


def test_the_top_row_is_the_top_edge(tmp_path: Path) -> None:
    def rising(name: str, shape: tuple[int, ...], t: float) -> Any:
        return np.zeros(shape) if name != "temperature" else np.indices(shape)[0].astype(float)

    directory = make_run(tmp_path / "run", HEAT.format(nx=8, ny=8, lx=1.0, ly=1.0, more=""), rising)
    with open_results(directory / "results.h5") as file:
        field = next(Source(Recording(directory, file)).indices((0.0, 7.0)))
        assert field[0, 0] == 255
        assert field[-1, 0] == 0


@pytest.mark.parametrize("size", [(720, 34), (620, 318), (1192, 612)])
def test_pages_have_even_sides(size: tuple[int, int]) -> None:
    """At these sizes the inches of a figure, times its resolution, are less than the pixels by a rounding error, which
    Matplotlib 3.10 cuts off."""
    domain = Domain(nx=size[0], ny=size[1], lx=2.0, ly=1.0, unit=length_unit(2.0))
    page = make_page("Plate", domain, size, (0.0, 1.0), "K", temperature_colours(), Look())
    rows, columns = page.field
    height, width, _ = page.background.shape
    assert (height % 2, width % 2) == (0, 0)
    assert (columns.stop - columns.start, rows.stop - rows.start) == size


def test_without_ffmpeg_it_is_said_what_to_install(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(PackageMissing, match=r"pip install 'simsuite\[video\]'"):
        animate(run, tmp_path / "x.mp4")
    assert not list(tmp_path.glob("*.mp4"))


def test_an_ffmpeg_that_fails_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "ffmpeg"
    broken.write_text("#!/bin/sh\necho no such codec >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(program, "ffmpeg", lambda: str(broken))
    (tmp_path / "x.mp4").write_text("before")
    with pytest.raises(SimsuiteError, match=r"could not make .*x\.mp4: no such codec"):
        animate(run, tmp_path / "x.mp4")
    assert (tmp_path / "x.mp4").read_text() == "before"
    assert not list(tmp_path.glob(".video-*"))


def test_wrong_wishes(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = make_run(tmp_path / "other", LINEAR.format(matrix="[[0.9]]", batch=1), linear_values)
    short = make_run(tmp_path / "short", HEAT.format(nx=4, ny=4, lx=1.0, ly=1.0, more=""), values, rows=1)
    for words, args in (
        ("must go upwards", (run, tmp_path / "x.mp4", None, (2.0, 1.0))),
        ("0 to 240 frames a second", (run, tmp_path / "x.mp4", 0.0)),
        ("which the linear run", (other, tmp_path / "x.mp4", None, (1.0, 2.0))),
        ("has 1 frame, of which no video", (short, tmp_path / "x.mp4")),
        ("holds no run", (tmp_path, tmp_path / "x.mp4")),
        ("its name must end in", (run, tmp_path / "x.avi")),
    ):
        with pytest.raises(UsageError, match=words):
            animate(*args)  # type: ignore[arg-type]
    done = call(capsys, "animate", run, "--limits", "20")
    assert done.returncode == 2
    assert "--limits takes two temperatures" in done.stderr
    done = call(capsys, "plot", run, "--what", "field", "-o", tmp_path / "x.mp4")
    assert done.returncode == 2
    assert "it takes a theme only" in done.stderr


def test_the_commands(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], reading: Callable[[Path], np.ndarray]
) -> None:
    done = call(capsys, "animate", run, "--fps", 5)
    assert done.returncode == 0
    assert re.fullmatch(rf"wrote {run}/video.mp4: 6 frames of \d+ x \d+, 1.2 s, 100 to 200 K\n", done.stderr)
    done = call(capsys, "plot", run, "-o", tmp_path / "x.gif")
    assert done.returncode == 0
    assert len(reading(tmp_path / "x.gif")) == len(reading(run / "video.mp4")) == 6
