"""What runs that are shown together are called."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from simsuite.errors import SimsuiteError
from simsuite.pictures.recording import Recording
from simsuite.pictures.units import shortened
from simsuite.sweeps.directory import SweepDirectory
from simsuite.sweeps.plan import value_in_words

_LONGEST = 34  # letters


def labels_of(runs: Sequence[Recording]) -> list[str]:
    """A name for each run by which it is told from the others: its title; else what varies, where all are members of a
    sweep; else its directory."""
    titles = [run.title for run in runs]
    if len(set(titles)) == len(runs):
        return [shortened(title, _LONGEST) for title in titles]
    names = [run.directory.resolve().name for run in runs]
    varied = [varied_in(run.directory) for run in runs]
    for found in (varied, names):
        if all(found) and len(set(found)) == len(runs):
            return [shortened(each, _LONGEST) for each in found]
    return [shortened(str(run.directory), _LONGEST) for run in runs]


def varied_in(directory: Path) -> str:
    """The keys that a sweep varies with their values in a member of it, "paths.count = 4096"; "" for other runs."""
    place = directory.resolve()
    sweep = SweepDirectory(place.parent.parent)
    if not place.name.isdecimal() or sweep.member(int(place.name)) != place or not sweep.plan.exists():
        return ""
    with contextlib.suppress(SimsuiteError, IndexError):
        _, plan, _ = sweep.stored()
        settings = plan.settings(int(place.name))
        return ", ".join(f"{key} = {value_in_words(value)}" for key, value in settings.items())
    return ""
