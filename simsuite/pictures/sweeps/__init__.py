"""Pictures of sweeps: what comes out over the values of the keys."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from simsuite.errors import UsageError
from simsuite.pictures.look import Look
from simsuite.pictures.sheet import LIGHT
from simsuite.pictures.sweeps.figure import sweep_figure
from simsuite.pictures.sweeps.study import Study


def draw_sweep(directory: Path, path: Path, what: Sequence[str] = (), look: Look = LIGHT) -> None:
    """Draw the sweep in `directory`, as far as it got, into `path`: a .png, .svg or .pdf file. what: the results that
    are shown, by dotted name; by default those that people look for first. look: theme and size.

    Raises UsageError for a name that no result has, where no member is complete, and where the file cannot be written;
    SimsuiteError where the sweep is damaged.
    """
    figure = sweep_figure(Study.of(directory), what)
    with warnings.catch_warnings():
        # Such a warning would print a character of the text, which may be a control character of the terminal.
        warnings.filterwarnings("ignore", "Glyph")
        try:
            figure.save(path, look)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
