"""What is left of a heat scenario without its faulty sections, so that mistakes between the others are found as well.

Sections that say when, how and what is stored are replaced by the least that stands for them; a mistake in any
other section, such as [grid], leaves too little to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simsuite.scenario.spans import KeyPath

_REPLACED = ("run", "time", "output", "probe", "event", "title")


@dataclass(frozen=True)
class SoundParts:
    """data: a scenario. faulty: sections that are not as they are in the file."""

    data: dict[str, object]
    faulty: frozenset[str | int]

    def in_file(self, path: KeyPath) -> KeyPath | None:
        """The place in the file of a mistake that is found in `data`; None where a section that was replaced may be the
        reason."""
        return None if not path or path[0] in self.faulty else path


def sound_parts(data: Mapping[str, object], mistakes: Iterable[KeyPath]) -> SoundParts | None:
    """The sound parts of a scenario; None if they are too few. data: the contents of the file. mistakes: the paths of
    its mistakes."""
    places = list(mistakes)
    faulty = frozenset(path[0] for path in places if path)
    if () in places or not faulty <= set(_REPLACED):
        return None
    if "probe" in faulty:  # events are about probes
        faulty |= {"event"}
    found: dict[str, object] = {key: value for key, value in data.items() if key not in faulty}
    output = found.get("output")
    if "event" in faulty and isinstance(output, Mapping):  # looks are at events
        found["output"] = {key: value for key, value in output.items() if key != "looks"}
    if "time" in faulty:
        time = data.get("time")
        steady = time.get("steady", False) if isinstance(time, Mapping) else None
        if not isinstance(steady, bool):  # whether the problem is steady cannot be known
            return None
        found["time"] = {"steady": True} if steady else {"end": 1.0}
    return SoundParts(found, faulty)
