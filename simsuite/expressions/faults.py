"""What is wrong with a text that is no arithmetic at all, as a colleague would say it.

Python's own messages differ from version to version, and know nothing of units or of the functions here.
"""

from __future__ import annotations

import re

from simsuite.expressions.foreign import WHERE
from simsuite.expressions.tree import CONSTANTS, FUNCTIONS, MAX_DEPTH, ExpressionError, NumberWithUnit

FOREIGN = {"^": "write `**` for powers", "&": "write `and`", "|": "write `or`", "~": "write `not`"}
_CHARACTERS = {
    "²": "write `**2`",
    "³": "write `**3`",
    "π": "write `pi`",
    "·": "write `*`",
    "×": "write `*`",
    "÷": "write `/`",
    "√": "write `sqrt(..)`",
    **dict.fromkeys("‹〈⟨", "write `<`"),
    **dict.fromkeys("›〉⟩", "write `>`"),
    **dict.fromkeys("−–—", "write `-`"),
    **dict.fromkeys("⋅∙∗", "write `*`"),
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "?": WHERE,
}
# possessive, so that an exponent is never taken for a word behind the number
_NUMBER = r"(?<![\w.])(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d+)?+"
_KEYWORDS = ("and", "or", "not", "if", "else", "in", "is", "for", "then", "lambda")
_ANY_KEYWORD = rf"(?:{'|'.join(_KEYWORDS)})\b"
_WORD_AFTER_NUMBER = re.compile(rf"({_NUMBER})\s*((?!{_ANY_KEYWORD})[A-Za-z_µ°Ω%][A-Za-z0-9_µ°Ω]*)")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])\d+,\d+(?:[eE][-+]?\d+)?(?![\w.,])")
_PER_CENT = re.compile(rf"({_NUMBER})\s*(%)\s*(?=$|[*/),])")  # what follows is no divisor


def number_with_unit(text: str, variables: tuple[str, ...]) -> NumberWithUnit | None:
    """The first number with a unit behind it: a word that no expression in `variables` could have there, or a % sign
    that divides by nothing."""
    for match in _WORD_AFTER_NUMBER.finditer(text):
        if match[2] != "%" and not _is_known(match[2], text[match.end() :], variables):
            return NumberWithUnit(match[1], match[2], match.start(2))
    per_cent = _PER_CENT.search(text)
    return NumberWithUnit(per_cent[1], "%", per_cent.start(2)) if per_cent else None


def _is_known(word: str, rest: str, variables: tuple[str, ...]) -> bool:
    """Whether a word is a name of the language where it stands: functions are, before a bracket."""
    if rest.lstrip().startswith("("):
        return word in FUNCTIONS or any(name.partition("(")[0] == word for name in variables)
    return word in variables or word in CONSTANTS


def character_fault(text: str, variables: tuple[str, ...]) -> ExpressionError | None:
    """The error for the first character that no expression can have; for a letter it says which names there are."""
    for column, character in enumerate(text):
        if character in "#\\;`'\"@$?\0" or (not character.isprintable() and not character.isspace()):
            message = f"a {_shown(character)} has no place in an expression"
            return ExpressionError(message, column, _CHARACTERS.get(character))
        if not character.isascii():
            message = f"`{character}` has no place in an expression"
            help = names_known(variables) if character.isalpha() else None
            return ExpressionError(message, column, _CHARACTERS.get(character, help))
    return None


def names_known(variables: tuple[str, ...]) -> str:
    """Which names an expression may have."""
    return "known here: " + ", ".join(f"`{name}`" for name in (*variables, *CONSTANTS))


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"control character (U+{ord(character):04X})"


def syntax_fault(text: str, column: int, variables: tuple[str, ...]) -> ExpressionError:
    """What is wrong with a text that Python's parser refuses at `column`."""
    known = (
        _bracket_fault(text)
        or decimal_comma(text)
        or _condition_fault(text)
        or _word_fault(text)
        or number_with_unit(text, variables)
    )
    return known or _operator_fault(text, column)


def decimal_comma(text: str) -> ExpressionError | None:
    """What to say of a text that is no expression, if it has a number with a decimal comma; None if it has none."""
    found = _DECIMAL_COMMA.search(text)
    if found is None:
        return None
    number = found[0]
    return ExpressionError(
        f"`{number}` has a decimal comma", found.start(), f"write a point: {number.replace(',', '.')}"
    )


def _bracket_fault(text: str) -> ExpressionError | None:
    opened: list[int] = []
    for i, character in enumerate(text):
        if character == "(":
            opened.append(i)
        elif character == ")":
            if not opened:
                return ExpressionError("this `)` closes nothing", i)
            opened.pop()
    if len(opened) > MAX_DEPTH:
        return ExpressionError("the expression is nested too deeply", opened[MAX_DEPTH])
    if opened:
        return ExpressionError("this `(` is never closed", opened[-1])
    return None


def _condition_fault(text: str) -> ExpressionError | None:
    """The error for an `if` as other languages have it; None if there is none."""
    if match := re.search(r"(?:^|[-+*/%<>=(,])\s*(if)\b(\s*\()?", text):
        if match[2]:
            same = "write `where(..)` with the same arguments: `where(condition, value, other value)`"
            return ExpressionError("`if` is not a function here", match.start(1), same)
        return ExpressionError("there is no value before this `if`", match.start(1), WHERE)
    if (match := re.search(r"\bif\b", text)) and not re.search(r"\belse\b", text):
        return ExpressionError("this `if` has no `else`", match.start(), WHERE)
    return None


def _word_fault(text: str) -> ExpressionError | None:
    """The error for `mod` between two numbers, a function without brackets, or bars around an absolute value; None if
    there is no such thing."""
    if match := re.search(r"(?<=[\w)])\s+(mod)\s+(?=[\w(])", text):
        return ExpressionError("`mod` is no operator here", match.start(1), "write `%`")
    if match := re.search(rf"\b({'|'.join(FUNCTIONS)})\s+((?!{_ANY_KEYWORD})[A-Za-z_]\w*|{_NUMBER})", text):
        return ExpressionError(f"`{match[1]}` is a function", match.start(), f"write `{match[1]}({match[2]})`")
    if match := re.search(r"(?:^|[-+*/%(,])\s*(\|)(?!\|)", text):
        return ExpressionError("`|` is no operator here", match.start(1), "write `abs(..)`")
    return None


def _operator_fault(text: str, column: int) -> ExpressionError:
    if match := re.search(r"&&|\|\||!(?!=)", text):
        word = {"&&": "and", "||": "or", "!": "not"}[match[0]]
        return ExpressionError(f"`{match[0]}` is no operator here", match.start(), f"write `{word}`")
    if match := _WORD_AFTER_NUMBER.search(text):
        help = f"write `{match[1]}*{match[2]}` to multiply"
        return ExpressionError("an operator is missing here", match.start(2), help)
    if match := re.search(r"=([<>])", text):
        return ExpressionError(f"`{match[0]}` is no operator here", match.start(), f"write `{match[1]}=`")
    if match := re.search(r"(?<![<>=!])=(?!=)", text):
        return ExpressionError("`=` is no operator here", match.start(), "write `==` to compare")
    if re.search(r"([-+*/%<>=,^&|]|\b(and|or|not|if|else))\s*$", text):
        return ExpressionError("the expression ends too early", len(text.rstrip()))
    return ExpressionError("this is not an arithmetic expression", column)
