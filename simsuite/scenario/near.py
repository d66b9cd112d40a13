"""What somebody may have meant who named a file that is not there; names of data files."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff")
DATA = (".npy", ".npz", ".csv", ".mtx", *IMAGES)
SCENARIOS = (".toml",)
_ALIKE = 0.7


def near_file(path: Path, suffixes: Sequence[str]) -> str | None:
    """A file with nearly the same name and one of these suffixes, as a path beside it; None if there is none."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return None
    names = [name for name in names if Path(name).suffix.lower() in suffixes]
    names.sort(key=lambda name: Path(name).suffix != path.suffix)
    stems = {Path(name).stem.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(path.stem.lower(), stems, 1, _ALIKE)
    return str(path.with_name(stems[close[0]])) if close else None
