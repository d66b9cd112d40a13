"""`[constants]`: named numbers for any expression and any number of a scenario."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, TypeAlias

from pydantic import Field

from simsuite.errors import Mistake
from simsuite.expressions import ExpressionError, NumberWithUnit
from simsuite.expressions.tree import CONSTANTS, FUNCTIONS
from simsuite.scenario.numbers import Terms, number
from simsuite.scenario.spans import Table
from simsuite.scenario.units import Scales, UnitError, looks_like_quantity

MOST = 1000
Constants: TypeAlias = Annotated[
    dict[str, float] | None,
    Field(
        None,
        description='named numbers, for any number and any expression of the file: with w = 0.05 or w = "5 cm", '
        'lx = "2*w". They may be made of each other; those with a unit are taken in SI units, temperatures in that of '
        "the scenario, times of gbm in years",
    ),
]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = {
    **dict.fromkeys(("x", "y", "t", "T"), "is a variable of expressions"),
    **dict.fromkeys(CONSTANTS, "is a constant already"),
    **dict.fromkeys(FUNCTIONS, "is a function of expressions"),
    **dict.fromkeys(keyword.kwlist, "has a meaning of its own in expressions"),
}


def terms_in(data: Table) -> tuple[Terms, list[Mistake]]:
    """What numbers and expressions of a scenario may refer to, and the mistakes in its constants. data: the contents of
    the file."""
    material, given = data.get("material"), data.get("constants")
    scales = Scales(
        celsius=data.get("units") == "degC",
        years=data.get("solver") == "gbm",
        diffusive=isinstance(material, Mapping) and "diffusivity" in material,
    )
    if given is None:
        return Terms(scales=scales), []
    if not isinstance(given, dict):
        message = "`constants` must be a table"
        return Terms(scales=scales), [Mistake(("constants",), message, "write the section [constants], with w = 0.05")]
    if len(given) > MOST:
        return Terms(scales=scales), [Mistake(("constants",), f"has more than {MOST} constants")]
    return _values(given, scales)


def _values(given: Table, scales: Scales) -> tuple[Terms, list[Mistake]]:
    needs = {name: _needed(value) & given.keys() for name, value in given.items()}
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = [str(name) for name in error.args[1]]
        message = f"is made of itself: {' needs '.join(f'`{name}`' for name in circle[::-1])}"
        return Terms(scales=scales), [Mistake(("constants", circle[-1]), message)]
    known: dict[str, float] = {}
    found: dict[str, Mistake] = {}
    for name in order:
        if needs[name] <= known.keys():  # else a constant that it needs is at fault
            try:
                known[name] = _value(name, given[name], Terms(known, scales), given)
            except _Faulty as error:
                found[name] = error.mistake
    return Terms(known, scales), [found[name] for name in given if name in found]


class _Faulty(Exception):
    """A constant that has no value."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake


def _value(name: str, value: object, terms: Terms, given: Table) -> float:
    path = ("constants", name)
    if not _NAME.fullmatch(name):
        help = "letters from a to z, digits and _, and no digit in front"
        raise _Faulty(Mistake(path, f"`{name}` cannot be the name of a constant", help, on_key=True))
    if name in _TAKEN:
        raise _Faulty(Mistake(path, f"`{name}` {_TAKEN[name]}", "take another name", on_key=True))
    if isinstance(value, str):
        try:
            return number(value, terms, None, [other for other in given if other != name])
        except NumberWithUnit as error:
            help = 'a number with one unit is a text of its own: "5 mm"'
            raise _Faulty(Mistake(path, error.message, help, error.column)) from None
        except ExpressionError as error:
            raise _Faulty(Mistake(path, error.message, error.help, error.column)) from None
        except UnitError as error:
            raise _Faulty(Mistake(path, error.message, None, error.column)) from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Faulty(Mistake(path, 'must be a number, or text such as "2*w" or "5 mm"'))
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _Faulty(Mistake(path, "must be a finite number"))
    return found


def _needed(value: object) -> set[str]:
    """The names in the text of a constant; none in one that cannot be read."""
    if not isinstance(value, str) or looks_like_quantity(value):
        return set()
    try:
        tree = ast.parse(value.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
