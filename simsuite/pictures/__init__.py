"""Pictures of runs: one figure per solver, drawn from its result file."""

from __future__ import annotations

import warnings
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.plugins import is_solver, part_of

FORMATS = (".png", ".svg", ".pdf")


def draw(directory: Path, path: Path) -> None:
    """Draw the run in `directory`, as far as it got, into `path`: a .png, .svg or .pdf file.

    Raises UsageError for another suffix, where there is no run, and for a run without frames.
    """
    with warnings.catch_warnings():
        # Such a warning would print a character of the text, which may be a control character of the terminal.
        warnings.filterwarnings("ignore", "Glyph")
        _draw(Path(directory), Path(path))


def require_format(path: Path) -> None:
    """Raises UsageError unless a file of that name can be drawn, by its suffix."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"cannot draw {path}: its name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def _draw(directory: Path, path: Path) -> None:
    require_format(path)
    results = directory / "results.h5"
    if not results.exists():
        raise UsageError(f"{directory} holds no run (no results.h5 in it)")
    from simsuite.io.reading import open_results, unreadable
    from simsuite.pictures.recording import Recording

    with open_results(results) as file:
        run = Recording(directory, file)
        if not is_solver(run.solver):
            raise UsageError(f"{results} was made by solver {run.solver!r}, which is not installed here")
        figure_of = part_of(run.solver, "picture")
        if figure_of is None:
            raise UsageError(f"{results} was made by solver {run.solver!r}, which has no pictures")
        if run.frames == 0:
            raise UsageError(f"the run in {directory} has no frames yet: there is nothing to draw")
        try:
            figure = figure_of(run)
        except (OSError, LookupError, RuntimeError, ValueError) as error:
            if run.finished:
                raise
            raise unreadable(results, error) from error  # Arrays may have been written only in part before a power cut.
    try:
        figure.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
