"""Keys that may be written by another name, as `A` for `matrix`: `Section.other_names` lists them.

A scenario is read as if it had the keys themselves, so that nothing behind knows of other names; reports of mistakes
point at what is written. Where a table has both, the other name is left as it is, and is then a mistake.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel

from simsuite.scenario.overrides import Override
from simsuite.scenario.shape import candidates, fields_of
from simsuite.scenario.spans import KeyPath, Spans, Table

Renamed = Mapping[KeyPath, KeyPath]
"""Paths that a file writes by another name, each with the path as the model has it."""


def by_keys(data: Table, model: type[BaseModel]) -> Renamed:
    """Give keys of `data` their own names, and return which ones had another. Only tables of the root are looked at."""
    found: dict[KeyPath, KeyPath] = {}
    for section, other, key in _names(model):
        table = data.get(section)
        if isinstance(table, dict) and other in table and key not in table:
            data[section] = {key if name == other else name: value for name, value in table.items()}
            found[section, other] = section, key
    return found


def override_by_keys(override: Override, model: type[BaseModel]) -> Override:
    """The override with the key itself in place of another name of it."""
    names = [name for name, _ in override.names]
    for section, other, key in _names(model):
        if names[:2] == [section, other]:
            (first, (_, span), *rest) = override.names
            return replace(override, names=(first, (key, span), *rest))
    return override


def spans_by_keys(spans: Spans, renamed: Renamed) -> Spans:
    """Where keys and values stand, by the paths as the model has them."""
    if not renamed:
        return spans

    def path(written: KeyPath) -> KeyPath:
        return (*renamed[written[:2]], *written[2:]) if written[:2] in renamed else written

    return replace(
        spans,
        keys={path(written): span for written, span in spans.keys.items()},
        values={path(written): span for written, span in spans.values.items()},
    )


def key_of(model: type[BaseModel], parts: tuple[str, ...]) -> tuple[str, ...]:
    """A key as the model has it, of which the last part may be another name; it may also stand alone."""
    for section, other, key in _names(model):
        if parts in ((section, other), (other,)):
            return section, key
    return parts


def further_names(model: type[BaseModel]) -> Mapping[KeyPath, tuple[str, ...]]:
    """The other names of keys, by the paths of these keys."""
    found: dict[KeyPath, tuple[str, ...]] = {}
    for section, other, key in _names(model):
        found[section, key] = (*found.get((section, key), ()), other)
    return found


@functools.cache
def _names(model: type[BaseModel]) -> tuple[tuple[str, str, str], ...]:
    """The sections that have keys with other names: the section, such a name, and its key."""
    return tuple(
        (section, other, key)
        for section in fields_of(model)
        for table in candidates(model, (section,))
        for other, key in getattr(table, "other_names", {}).items()
    )
