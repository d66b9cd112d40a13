"""Numbers that are written as text: arithmetic with the constants of the scenario, or a number with a unit.

Every key that takes a number takes "2*w" as well, where `w` stands in `[constants]`, and "5 mm" where it has a unit. A
`Section` replaces such texts by their numbers before pydantic sees them. A text that gives no number is left as it is:
pydantic refuses it, and `fault` tells what is wrong with it.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, Union, get_args, get_origin

from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario.schedule import Schedule
from simsuite.scenario.units import PLAIN, YEARS, Scales, Unit, UnitError, quantity

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Terms:
    """What numbers written as text may refer to. constants: named numbers. scales: what units stand for."""

    constants: Mapping[str, float] = field(default_factory=dict)
    scales: Scales = field(default_factory=Scales)


def terms_of(context: object) -> Terms:
    """The terms in a context of pydantic's; without any, none are known."""
    found = context.get("terms") if isinstance(context, Mapping) else None
    return found if isinstance(found, Terms) else Terms()


def number(text: str, terms: Terms, unit: Unit | None, taken: Collection[str] | None = None) -> float:
    """The number that a text stands for, in the unit of its key, or as `quantity` says if it is for no key. taken:
    names that are no units, those of the constants by default. Raises `ExpressionError` or `UnitError`."""
    measured = quantity(text, unit, terms.scales, terms.constants if taken is None else taken)
    value = float(Expression.parse(text, (), terms.constants)()) if measured is None else measured
    if not math.isfinite(value):
        raise ExpressionError(f"`{text.strip()}` has no finite value")
    return value


@dataclass(frozen=True)
class _Numbers:
    """What a field of a section can hold.

    kinds: types, of elements where it is a list. words: texts that it takes as they are. by_name: whether it is a table
    of numbers. unit: of its numbers.
    """

    kinds: frozenset[type]
    words: frozenset[str]
    by_name: bool
    unit: Unit

    @property
    def any(self) -> bool:
        """Whether it can hold numbers, and no text that could be taken for one."""
        return str not in self.kinds and not self.kinds.isdisjoint((int, float, complex, Schedule, Expression))


def as_numbers(section: type[BaseModel], values: Mapping[str, object], terms: Terms) -> dict[str, object]:
    """The keys of a section with numbers in place of texts that stand for such."""
    found = dict(values)
    for key, numbers in _fields(section).items():
        value = found.get(key)
        if isinstance(value, dict) and numbers.by_name:
            found[key] = {name: _read(item, numbers, terms) for name, item in value.items()}
        elif isinstance(value, (str, list)):
            found[key] = _read(value, numbers, terms)
    return found


def _read(value: object, numbers: _Numbers, terms: Terms, depth: int = 0) -> object:
    if isinstance(value, list):
        inner = [_read(item, numbers, terms, depth + 1) for item in value]
        if depth == 1 and Schedule in numbers.kinds and value:  # a time, and the value from then on
            inner[0] = _number(value[0], numbers, terms, YEARS)
        return inner
    return _number(value, numbers, terms, numbers.unit)


def _number(value: object, numbers: _Numbers, terms: Terms, unit: Unit) -> object:
    """The number that a value stands for if it is a text that does, else the value."""
    if not isinstance(value, str) or value in numbers.words:
        return value
    try:
        if Expression in numbers.kinds:
            measured = quantity(value, unit, terms.scales, terms.constants)
            return value if measured is None else measured
        found = number(value, terms, unit)
    except (ExpressionError, UnitError):
        return value
    return int(found) if found.is_integer() and numbers.kinds.isdisjoint((float, complex, Schedule)) else found


def unit_of(section: type[BaseModel], key: str) -> Unit:
    """What a key of a section is measured in."""
    tables = (base.__dict__.get("measured_in", {}) for base in section.__mro__)
    return next((table[key] for table in tables if key in table), PLAIN)


@functools.cache
def _fields(section: type[BaseModel]) -> dict[str, _Numbers]:
    """The fields of a section that hold numbers, by their keys."""
    found = {}
    for name, info in section.model_fields.items():
        key, leaves = info.alias or name, list(_leaves(info.annotation))
        kinds = frozenset(leaf for leaf in leaves if isinstance(leaf, type))
        words = frozenset(leaf for leaf in leaves if isinstance(leaf, str))
        numbers = _Numbers(kinds, words, dict in leaves, unit_of(section, key))
        if numbers.any:
            found[key] = numbers
    return found


def _leaves(annotation: object) -> Iterator[object]:
    """The types that a field may hold, itself or in lists and tables, and words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _leaves(parts[0])
    elif origin is Literal:
        yield from parts
    elif origin is dict:
        yield dict
        yield from _leaves(parts[1])
    elif origin in (Union, types.UnionType, list):
        for part in parts:
            yield from _leaves(part)
    else:
        yield annotation
