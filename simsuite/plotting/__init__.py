"""Pictures of what a path names: runs, a sweep, or a scenario that has not been run."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.io.directory import RunDirectory

VIDEOS = (".mp4", ".gif")


def draw_path(
    paths: Sequence[Path],
    output: Path | None = None,
    what: Sequence[str] = (),
    time: float | str | None = None,
    theme: str = "light",
    size: str | None = None,
) -> list[str]:
    """Draw runs on one sheet, a sweep, or what a scenario says, whichever the paths name; returns what is to be told.

    output: the file, .png, .svg or .pdf, or of a single run .mp4 or .gif; default: plot.png in the directory of the
    first, of a scenario NAME_preview.png. what, time, theme, size: as `simsuite.pictures.draw` takes them; of a sweep
    what has names of results.

    Raises UsageError for files that cannot be drawn or written, and for what there is not.
    """
    first = paths[0]
    if (first / "sweep.json").is_file():
        return [_sweep(paths, output, what, time, theme, size)]
    if _is_scenario(first):
        return _preview(paths, output, what, time, theme, size)
    directories = [RunDirectory.of(path).path for path in paths]
    if output is not None and output.suffix.lower() in VIDEOS:
        if what or size is not None or time is not None or len(paths) > 1:
            raise UsageError("a video shows one run at all times: it takes a theme only")
        from simsuite.pictures.video.animation import animate

        return animate(directories[0], output, theme=theme)
    from simsuite.pictures import draw
    from simsuite.plotting.first_paths import first_payoffs

    path = output if output is not None else directories[0] / "plot.png"
    told = draw(directories[0], path, what, time, theme, size, directories[1:], first_payoffs)
    return [*told, f"wrote {path}"]


def _is_scenario(path: Path) -> bool:
    """Whether a path names a scenario, and not the copy of it that a run keeps."""
    return path.suffix == ".toml" and not path.is_dir() and not (path.parent / "results.h5").exists()


def _sweep(
    paths: Sequence[Path],
    output: Path | None,
    what: Sequence[str],
    time: float | str | None,
    theme: str,
    size: str | None,
) -> str:
    from simsuite.pictures import require_format
    from simsuite.pictures.look import Look
    from simsuite.pictures.sweeps import draw_sweep

    if len(paths) > 1:
        raise UsageError("a sweep has a sheet of its own: name it alone")
    if time is not None:
        raise UsageError("a sweep is drawn over its keys, not at a time; name one of its members for that")
    path = output if output is not None else paths[0] / "plot.png"
    require_format(path)
    draw_sweep(paths[0], path, what, Look(theme, size))
    return f"wrote {path}"


def _preview(
    paths: Sequence[Path],
    output: Path | None,
    what: Sequence[str],
    time: float | str | None,
    theme: str,
    size: str | None,
) -> list[str]:
    """Draw what a scenario says, before it is run."""
    path = paths[0]
    told = []
    if len(paths) > 1:
        raise UsageError("a scenario has a sheet of its own: name it alone, or name the directories of runs")
    if what or time is not None:
        of = RunDirectory.of(path)
        there = f"`simsuite plot {of.path}` draws its run" if of.exists else f"`simsuite run {path}` first"
        raise UsageError(
            f"{path} is a scenario, which is drawn as it is before the run, without --what and --time: {there}"
        )
    from simsuite.assembly import make_problem
    from simsuite.pictures import require_format, writing
    from simsuite.pictures.look import Look
    from simsuite.pictures.previews.sheet import preview_sheet
    from simsuite.scenario import load

    target = output if output is not None else Path(f"{path.stem}_preview.png")
    require_format(target)
    scenario = load(path)
    problem = make_problem(scenario)
    look = Look(theme, size)
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        sheet = preview_sheet(scenario, problem, Path(place), look)
        with writing(target):
            sheet.save(target, look)
    if RunDirectory.of(path).exists:
        told.append(f"this is before the run: `simsuite plot {RunDirectory.of(path).path}` draws what that found")
    return [*told, f"wrote {target}"]
