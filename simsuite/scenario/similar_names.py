"""What somebody may have meant who named a file that is not there; names of data files."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff")
DATA = (".npy", ".npz", ".csv", ".mtx", *IMAGES)
SCENARIOS = (".toml",)
_ALIKE = 0.7
_LISTED = 8


def near_file(path: Path, suffixes: Sequence[str]) -> str | None:
    """A file with nearly the same name and one of these suffixes, as a path beside it; None if there is none."""
    names = _names(path.parent, suffixes)
    names.sort(key=lambda name: Path(name).suffix != path.suffix)
    stems = {Path(name).stem.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(path.stem.lower(), stems, 1, _ALIKE)
    return str(path.with_name(stems[close[0]])) if close else None


def files_there(path: Path, suffixes: Sequence[str]) -> str | None:
    """Names of the first files beside a path with one of these suffixes, in words; None if there is none."""
    names = _names(path.parent, suffixes)
    if not names:
        return None
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there are {', '.join(names[:_LISTED])}{more}" if len(names) > 1 else f"there is only {names[0]}"


def _names(directory: Path, suffixes: Sequence[str]) -> list[str]:
    """The names of the files in a directory with one of these suffixes, in order."""
    try:
        names = sorted(entry.name for entry in directory.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return []
    return [name for name in names if Path(name).suffix.lower() in suffixes]
