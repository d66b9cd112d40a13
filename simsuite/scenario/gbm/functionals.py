"""What `[[option]]` of style "expression" pays: arithmetic on functionals of the paths of assets."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.tree import FUNCTIONS

FUNCTIONALS = ("last", "mean", "geomean", "min", "max")
AT = "at"  # at(A, t); all but `last` may be of a part of the time: mean(A, from, to)

_ALL = "|".join((*FUNCTIONALS, AT))
_APPLIED = rf"\b(?:{_ALL})\(\s*"  # a functional, to be followed by the name of an asset
_NUMBER = r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*)\s*"
_TIMED = re.compile(rf"\b({_ALL})\(\s*([A-Za-z_]\w*)\s*,{_NUMBER}(?:,{_NUMBER})?\)")


@dataclass(frozen=True)
class Timed:
    """A functional of the price at a time or between two, as an expression has it. times: in years. columns: where each
    of them stands in the text."""

    functional: str
    asset: str
    times: tuple[float, ...]
    columns: tuple[int, ...]

    @property
    def variable(self) -> str:
        return f"{self.functional}({', '.join([self.asset, *map(repr, self.times)])})"


def timed(text: str, constants: Mapping[str, float]) -> list[Timed]:
    """The functionals at a time or between two in a text. Whatever a constant is named is a number in `min` and `max`,
    which are functions of numbers, too."""
    found = []
    for match in _TIMED.finditer(text):
        functional, asset, *texts = match.groups()
        given = [number for number in texts if number is not None]
        numbers = [constants.get(number, math.nan) if number[0].isidentifier() else float(number) for number in given]
        fits = len(given) == (1 if functional == AT else 2) and not any(map(math.isnan, numbers))
        if fits and functional != "last" and not (functional in FUNCTIONS and asset in constants):
            columns = tuple(match.start(3 + i) for i in range(len(given)))
            found.append(Timed(functional, asset, tuple(numbers), columns))
    return found


def read_variable(variable: str) -> tuple[str, str, tuple[float, ...]]:
    """Functional, asset and times of a variable of `parse_payoff`."""
    functional, _, rest = variable.rstrip(")").partition("(")
    asset, *times = rest.split(", ")
    return functional, asset, tuple(map(float, times))


def parse_payoff(text: str, assets: Sequence[str], constants: Mapping[str, float]) -> Expression:
    """The expression in variables such as ``"mean(A)"`` for all assets whose names can stand in one, and in named
    constants.

    Raises `ExpressionError`.
    """
    usable = [name for name in assets if _usable(name)]
    _check_names(text, assets)
    whole = [f"{functional}({name})" for name in usable for functional in FUNCTIONALS]
    parts = [part.variable for part in timed(text, constants) if part.asset in usable]
    variables = tuple(dict.fromkeys([*whole, *parts]))
    try:
        return Expression.parse(text, variables, constants)
    except ExpressionError as error:
        word = re.match(r"\w*", text[error.column :])
        raise ExpressionError(error.message, error.column, _help(word[0] if word else "", error, usable)) from None


def applied(text: str, constants: Mapping[str, float]) -> list[tuple[str, str]]:
    """The functionals in a text, each with the name that it is applied to."""
    whole = re.finditer(rf"\b({'|'.join(FUNCTIONALS)})\(\s*([A-Za-z_]\w*)\s*\)", text)
    return [(match[1], match[2]) for match in whole] + [
        (part.functional, part.asset) for part in timed(text, constants)
    ]


def _usable(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _check_names(text: str, assets: Sequence[str]) -> None:
    """Raises `ExpressionError` for a name that cannot be used, in better words than the parser, which knows of no
    assets."""
    for name in assets:
        match = None if _usable(name) else re.search(rf"{_APPLIED}([\"']?{re.escape(name)}[\"']?\s*)\)", text)
        if match:
            message = f"the name of the asset {name!r} cannot stand in an expression"
            raise ExpressionError(message, match.start(1), "rename the asset: letters, digits and _ only, such as A_1")
    for match in re.finditer(rf"(?:{_APPLIED}|\b(?:at|mean|geomean)\(\s*)([A-Za-z_]\w*)\s*[),]", text):
        if match[1] not in assets and (match[0].endswith(")") or not match[0].startswith(("min", "max"))):
            message = f"there is no asset {match[1]!r}"
            raise ExpressionError(message, match.start(1), f"there is {', '.join(map(repr, assets))}")


def _help(word: str, error: ExpressionError, usable: Sequence[str]) -> str | None:
    """What to answer to a name that is none of the functionals."""
    if not usable:
        return "no asset has a name that can stand in an expression: letters, digits and _ only, such as A_1"
    if not error.message.startswith(("unknown ", f"`{word}` ")):
        return error.help
    name = word if word in usable else usable[0]
    whole = ", ".join(f"`{functional}({name})`" for functional in FUNCTIONALS)
    return f"of an asset: {whole}, `at({name}, t)`, `mean({name}, from, to)` and so on, times in years"
