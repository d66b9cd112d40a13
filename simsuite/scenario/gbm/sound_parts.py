"""What is left of a Monte Carlo scenario without its faulty parts, so that mistakes between the others are found in the
same round: tables that are faulty are replaced by the least that stands for them, faulty options are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from simsuite.scenario.spans import KeyPath, Table

_STAND_IN = {"market": {"rate": 0.0}, "paths": {"count": 1 << 30}, "output": {}, "run": {}, "title": ""}
_OF_ALL = {("paths", "target_standard_error"), ("paths", "regression"), ("output", "risk"), ("output", "exposure")}


@dataclass(frozen=True)
class SoundParts:
    """data: a scenario. options: the place in the file of each of its options. faulty: tables that are not as they are
    in the file, elements of lists with their places."""

    data: Table
    options: list[int]
    faulty: frozenset[KeyPath]

    def in_file(self, path: KeyPath) -> KeyPath | None:
        """The place in the file of a mistake that is found in `data`; None where a part that is not sound may be the
        reason."""
        if path[:1] == ("option",) and len(path) > 1:
            path = ("option", self.options[int(path[1])], *path[2:])
        roots = {key[0] for key in self.faulty}
        if path[:1] in self.faulty or path[:2] in self.faulty:
            return None
        if path[:2] in _OF_ALL and roots & {"asset", "option", "book"}:  # it may be about the parts that are left out
            return None
        if (path[:1] == ("paths",) and "time" in roots) or (path[2:] == ("dividend_yield",) and "market" in roots):
            return None
        return path


def sound_parts(data: Table, mistakes: Iterable[KeyPath]) -> SoundParts | None:
    """The sound parts of a scenario; None if they are too few. data: the contents of the file. mistakes: the paths of
    its mistakes."""
    faulty = frozenset(path[: 2 if path[:1] in (("asset",), ("option",)) else 1] for path in mistakes)
    if () in faulty or ("asset",) in faulty or ("option",) in faulty:
        return None
    found = {key: value for key, value in data.items() if (key,) not in faulty}
    found |= {key: _STAND_IN[key] for (key, *_) in faulty if key in _STAND_IN}
    if ("time",) in faulty:
        found["time"] = _with_numbers(data.get("time"), ("end", "steps"))
    given = enumerate(data.get("option", []))
    options = [i for i, option in given if ("option", i) not in faulty and isinstance(option, Mapping)]
    found["option"] = [{"name": f"option{i + 1}", **data["option"][i]} for i in options]
    found["asset"] = [
        _asset(asset) if ("asset", i) in faulty else asset for i, asset in enumerate(data.get("asset", []))
    ]
    if None in (found.get("time"), *found["asset"]):
        return None
    return SoundParts(found, options, faulty)


def _asset(asset: object) -> Table | None:
    """The least of an asset that options on it need; None if that is not sound."""
    found = _with_numbers(asset, ("spot",))
    if found is None or not isinstance(asset, dict) or not isinstance(asset.get("name", ""), str):
        return None
    return {**found, **{key: asset[key] for key in ("name",) if key in asset}, "volatility": 0.1}


def _with_numbers(table: object, keys: Iterable[str]) -> Table | None:
    """A table of these keys only; None unless it has a positive number for each."""
    if not isinstance(table, dict):
        return None
    found = {key: table.get(key) for key in keys}
    good = all(isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in found.values())
    return found if good else None
