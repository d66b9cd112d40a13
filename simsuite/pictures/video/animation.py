"""Videos of runs: one scale for all frames, the time, and a bar that shows how far they are.

Of a plate they show its temperature, of a Monte Carlo run its prices, of a linear system its states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.io.reading import open_results
from simsuite.pictures.look import Look
from simsuite.pictures.plates.colours import temperature_colours
from simsuite.pictures.plates.fields import clock_of
from simsuite.pictures.recording import Recording
from simsuite.pictures.units import rounded
from simsuite.pictures.video.ffmpeg import encoder
from simsuite.pictures.video.page import make_page
from simsuite.pictures.video.prices import price_scene
from simsuite.pictures.video.scene import Film, Scene
from simsuite.pictures.video.source import Source
from simsuite.pictures.video.states import state_scene

_SECONDS = 10.0  # that a video lasts, where that takes no more than _FASTEST and no less than _SLOWEST frames a second
_FASTEST, _SLOWEST = 25.0, 2.0
SCENES: dict[str, Callable[[Recording, str], Scene]] = {"gbm": price_scene, "linear": state_scene}


def animate(
    directory: Path,
    output: Path,
    rate: float | None = None,
    limits: tuple[float, float] | None = None,
    theme: str = "light",
    progress: Callable[[float], None] = lambda share: None,
) -> list[str]:
    """Make a video, .mp4 or .gif, of the frames of the run in `directory`; returns what is to be told.

    rate: frames a second; default: such that it lasts some ten seconds. limits: of a plate the temperatures of the
    first and the last colour; default: the least and the largest one of all frames. progress: is told how much is done,
    0 to 1.

    Raises UsageError for runs of which no video is made, wrong limits and files that cannot be written, PackageMissing
    without ffmpeg, and SimsuiteError where it fails.
    """
    look = Look(theme)
    if limits is not None and not limits[0] < limits[1]:
        raise UsageError(f"limits must go upwards, but {limits[0]:g} is not less than {limits[1]:g}")
    if rate is not None and not 0 < rate <= 240:
        raise UsageError(f"a video may have 0 to 240 frames a second, not {rate:g}")
    if not (directory / "results.h5").exists():
        raise UsageError(f"{directory} holds no run (no results.h5 in it)")
    with open_results(directory / "results.h5") as file:
        run = Recording(directory, file)
        if run.solver == "heat":
            return _plate(run, output, rate, limits, look, progress)
        if run.solver not in SCENES:
            raise UsageError(f"videos are of runs of heat, gbm and linear, not of {run.solver} as in {directory}")
        if limits is not None:
            raise UsageError(f"limits are of a plate's temperature, which the {run.solver} run in {directory} has not")
        if run.frames < 2:
            raise UsageError(f"the run in {directory} has {run.frames} frame, of which no video is made")
        return _scene(run, output, rate, look, progress)


def _scene(
    run: Recording, output: Path, rate: float | None, look: Look, progress: Callable[[float], None]
) -> list[str]:
    subtitle = f"{run.solver}   |   {run.attribute('precision')}   |   {run.attribute('device_name')}"
    scene = SCENES[run.solver](run, subtitle)
    film, count = Film(scene, look), len(scene.frames)
    speed = _speed(count, rate)
    with encoder(output, film.width, film.height, speed, film.palette) as sink:
        for i, frame in enumerate(film.frames()):
            sink(frame)
            progress((i + 1) / count)
    return [f"wrote {output}: {count} frames of {film.width} x {film.height}, {count / speed:.3g} s"]


def _speed(frames: int, rate: float | None) -> float:
    return rate or min(max(frames / _SECONDS, _SLOWEST), _FASTEST)


def _plate(
    run: Recording,
    output: Path,
    rate: float | None,
    limits: tuple[float, float] | None,
    look: Look,
    progress: Callable[[float], None],
) -> list[str]:
    source, frames = Source(run), run.frames
    # to find the limits takes about a fifth of the time
    found = limits or source.limits(lambda frame: progress(0.2 * (frame + 1) / frames))
    before = 0.0 if limits else 0.2
    unit, clock = run.unit("temperature"), clock_of(run)
    label = f"Temperature ({unit})"
    page = make_page(run.title, source.domain, source.size, found, label, temperature_colours(), look)
    height, width = page.background.shape[:2]
    speed = _speed(frames, rate)
    with encoder(output, width, height, speed, page.palette) as sink:
        for frame, indices in enumerate(source.indices(found)):
            text = f"t = {rounded(run.time[frame] * clock.scale)} {clock.name}"
            sink(page.frame(indices, text, frame / (frames - 1)))
            progress(before + (1 - before) * (frame + 1) / frames)
    reach = f"{rounded(found[0])} to {rounded(found[1])} {unit}"
    return [f"wrote {output}: {frames} frames of {width} x {height}, {frames / speed:.3g} s, {reach}"]
