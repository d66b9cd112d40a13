"""What somebody may have meant who named a file that is not there."""

from __future__ import annotations

import difflib
from pathlib import Path

_ALIKE = 0.7


def near_file(path: Path, suffix: str | None = None) -> str | None:
    """A file with nearly the same name and this suffix, or any, as a path beside it; None if there is none."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return None
    names = [name for name in names if suffix in (None, Path(name).suffix)]
    names.sort(key=lambda name: Path(name).suffix != path.suffix)
    stems = {Path(name).stem.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(path.stem.lower(), stems, 1, _ALIKE)
    return str(path.with_name(stems[close[0]])) if close else None
