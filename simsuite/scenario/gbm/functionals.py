"""What `[[option]]` of style "expression" pays: arithmetic on functionals of the paths of assets."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence

from simsuite.expressions import Expression, ExpressionError

FUNCTIONALS = ("last", "mean", "geomean", "min", "max")

_OF_NAME = re.compile(rf"\b({'|'.join(FUNCTIONALS)})\(([^(),]*)\)")


def parse_payoff(text: str, assets: Sequence[str]) -> Expression:
    """The expression in variables such as ``"mean(A)"`` for all assets whose names can stand in one.

    Raises `ExpressionError`.
    """
    usable = [name for name in assets if _usable(name)]
    for match in _OF_NAME.finditer(text):
        name = match[2].strip().strip("\"'")
        if name not in usable and (name in assets or re.fullmatch(r"[A-Za-z_]\w*", name)):
            raise _wrong_asset(name, assets, match.start(2))
    variables = tuple(f"{functional}({name})" for name in usable for functional in FUNCTIONALS)
    try:
        return Expression.parse(text, variables)
    except ExpressionError as error:
        word = re.match(r"\w*", text[error.column :])
        raise ExpressionError(error.message, error.column, _help(word[0] if word else "", error, usable)) from None


def _usable(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _wrong_asset(name: str, assets: Sequence[str], column: int) -> ExpressionError:
    if name not in assets:
        return ExpressionError(f"there is no asset {name!r}", column, f"there is {', '.join(map(repr, assets))}")
    message = f"the name of the asset {name!r} cannot stand in an expression"
    return ExpressionError(message, column, "rename the asset: letters, digits and _ only, such as A_1")


def _help(word: str, error: ExpressionError, usable: Sequence[str]) -> str | None:
    """What to answer to a name that is none of the functionals."""
    if not usable:
        return "no asset has a name that can stand in an expression: letters, digits and _ only, such as A_1"
    if not error.message.startswith(("unknown ", f"`{word}` ")):
        return error.help
    name = word if word in usable else usable[0]
    return "of an asset: " + ", ".join(f"`{functional}({name})`" for functional in FUNCTIONALS)
