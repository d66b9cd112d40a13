"""Pictures of runs, drawn from their result files: one figure per solver, or what is asked for."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.errors import SimsuiteError, UsageError
from simsuite.plugins import is_solver, part_of
from simsuite.words import measured

if TYPE_CHECKING:
    from simsuite.pictures.recording import Repeat

FORMATS = (".png", ".svg", ".pdf")


def draw(
    directory: Path,
    path: Path,
    what: Sequence[str] = (),
    time: float | str | None = None,
    theme: str = "light",
    size: str | None = None,
    others: Sequence[Path] = (),
    repeat: Repeat | None = None,
) -> list[str]:
    """Draw the run in `directory`, as far as it got, into `path`: a .png, .svg or .pdf file.

    what: names of what is drawn, "field", "probes" ..; default: an overview. time: of which fields are shown, in the
    run's unit of time or as "2 min": the nearest frame is taken. theme: "light", "dark", "paper" or "slides". size:
    "column" or "page", the widths of journals. others: directories of further runs, drawn on the same sheet with the
    same scale. repeat: makes the first paths of a Monte Carlo run again, for what is not drawn without them. Returns
    what is to be told, such as which frame was taken.

    Raises UsageError for another suffix, where there is no run, for a run without frames, and for names that there are
    not, which says which there are.
    """
    with warnings.catch_warnings():
        # Such a warning would print a character of the text, which may be a control character of the terminal.
        warnings.filterwarnings("ignore", "Glyph")
        return _draw([Path(directory), *map(Path, others)], Path(path), list(what), time, theme, size, repeat)


def require_format(path: Path) -> None:
    """Raises UsageError unless a file of that name can be drawn, by its suffix."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"cannot draw {path}: its name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def _draw(
    directories: list[Path],
    path: Path,
    what: list[str],
    time: float | str | None,
    theme: str,
    size: str | None,
    repeat: Repeat | None,
) -> list[str]:
    require_format(path)
    for directory in directories:
        if not (directory / "results.h5").exists():
            raise UsageError(f"{directory} holds no run (no results.h5 in it)")
    from simsuite.io.reading import open_results, unreadable
    from simsuite.pictures.choices.sheets import sheet_of
    from simsuite.pictures.choices.usual import usual
    from simsuite.pictures.look import Look
    from simsuite.pictures.recording import Recording

    look, told = Look(theme, size), []
    with contextlib.ExitStack() as stack:
        runs = []
        for directory in directories:
            run = Recording(directory, stack.enter_context(open_results(directory / "results.h5")), time, repeat)
            _require_frames(run.directory, run.solver, run.frames)
            runs.append(run)
            if time is not None:
                told.append(_nearest(run))
        try:
            if not what and len(runs) == 1 and not look.narrow:
                figure = part_of(runs[0].solver, "picture")(runs[0])
            else:
                figure = sheet_of(runs, what or usual(runs), look)
        except SimsuiteError:
            raise
        except (OSError, LookupError, RuntimeError, ValueError) as error:
            if all(run.finished for run in runs):
                raise
            # Arrays may have been written only in part before a power cut.
            raise unreadable(directories[0] / "results.h5", error) from error
    with writing(path):
        figure.save(path, look)
    return told


def _require_frames(directory: Path, solver: str, frames: int) -> None:
    results = directory / "results.h5"
    if not is_solver(solver):
        raise UsageError(f"{results} was made by solver {solver!r}, which is not installed here")
    if part_of(solver, "picture") is None:
        raise UsageError(f"{results} was made by solver {solver!r}, which has no pictures")
    if frames == 0:
        raise UsageError(f"the run in {directory} has no frames yet: there is nothing to draw")


def _nearest(run: object) -> str:
    """Which frame is shown of a run, in words."""
    from simsuite.pictures.recording import Recording

    assert isinstance(run, Recording)
    at = measured(f"{run.time[run.shown]:.6g}", run.unit("time"))
    return f"{run.directory}: frame {run.shown} of {run.frames - 1}, at {at}, is the nearest"


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of the disk from in here become UsageErrors that name the file."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
