"""What `[[option]]` of style "expression" pays: arithmetic on functionals of the paths of assets."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence

from simsuite.expressions import Expression, ExpressionError

FUNCTIONALS = ("last", "mean", "geomean", "min", "max")

_APPLIED = rf"\b(?:{'|'.join(FUNCTIONALS)})\(\s*"  # a functional, to be followed by the name of an asset


def parse_payoff(text: str, assets: Sequence[str], constants: Mapping[str, float]) -> Expression:
    """The expression in variables such as ``"mean(A)"`` for all assets whose names can stand in one, and in named
    constants.

    Raises `ExpressionError`.
    """
    usable = [name for name in assets if _usable(name)]
    _check_names(text, assets)
    variables = tuple(f"{functional}({name})" for name in usable for functional in FUNCTIONALS)
    try:
        return Expression.parse(text, variables, constants)
    except ExpressionError as error:
        word = re.match(r"\w*", text[error.column :])
        raise ExpressionError(error.message, error.column, _help(word[0] if word else "", error, usable)) from None


def applied(text: str) -> list[tuple[str, str]]:
    """The functionals in a text, each with the name that it is applied to."""
    return [
        (match[1], match[2]) for match in re.finditer(rf"\b({'|'.join(FUNCTIONALS)})\(\s*([A-Za-z_]\w*)\s*\)", text)
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
    for match in re.finditer(rf"{_APPLIED}([A-Za-z_]\w*)\s*\)", text):
        if match[1] not in assets:
            message = f"there is no asset {match[1]!r}"
            raise ExpressionError(message, match.start(1), f"there is {', '.join(map(repr, assets))}")


def _help(word: str, error: ExpressionError, usable: Sequence[str]) -> str | None:
    """What to answer to a name that is none of the functionals."""
    if not usable:
        return "no asset has a name that can stand in an expression: letters, digits and _ only, such as A_1"
    if not error.message.startswith(("unknown ", f"`{word}` ")):
        return error.help
    name = word if word in usable else usable[0]
    return "of an asset: " + ", ".join(f"`{functional}({name})`" for functional in FUNCTIONALS)
