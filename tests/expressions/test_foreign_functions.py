"""Functions and operators of other languages: each is refused with what to write, and that has the same values."""

import re

import numpy as np
import pytest
import scipy.special

from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.foreign import TRANSLATIONS

SAME = {
    "mod(7*x, 3)": lambda x, y: np.mod(7 * x, 3),
    "fmod(x, y)": np.fmod,
    "Mod(x, y + 1)": lambda x, y: np.mod(x, y + 1),
    "pow(x, 2)": lambda x, y: x**2,
    "power(x + y, -x)": lambda x, y: np.power(x + y, -x),
    "pow(-x, 3)": lambda x, y: np.power(-x, 3),
    "1/mod(x, 0.3)": lambda x, y: 1 / np.mod(x, 0.3),
    "2**exp2(x)": lambda x, y: 2 ** np.exp2(x),
    "ln(x)": lambda x, y: np.log(x),
    "log2(x)": lambda x, y: np.log2(x),
    "log(x, 7)": lambda x, y: np.log(x) / np.log(7),
    "exp2(x - y)": lambda x, y: np.exp2(x - y),
    "heaviside(x - y)": lambda x, y: np.heaviside(x - y, 0),
    "Heaviside(x - y)": lambda x, y: np.heaviside(x - y, 0),
    "ifelse(x < y, x, 2*y)": lambda x, y: np.where(x < y, x, 2 * y),
    "clip(x, 0.3, y)": lambda x, y: np.clip(x, 0.3, y),
    "cbrt(x - y)": lambda x, y: np.cbrt(x - y),
    "round(3*x)": lambda x, y: np.round(3 * x),
    "trunc(3*(x - y))": lambda x, y: np.trunc(3 * (x - y)),
    "div(x, y)": np.floor_divide,
    "asinh(x - y)": lambda x, y: np.arcsinh(x - y),
    "acosh(x + 1)": lambda x, y: np.arccosh(x + 1),
    "atanh(x/2)": lambda x, y: np.arctanh(x / 2),
    "arctan2(x, y)": np.arctan2,
    "cot(x)": lambda x, y: 1 / np.tan(x),
    "cosd(90*x)": lambda x, y: np.cos(np.radians(90 * x)),
    "degrees(x)": lambda x, y: np.degrees(x),
    "expit(x - y)": lambda x, y: scipy.special.expit(x - y),
    "maximum(x, y)": np.maximum,
    "SQRT(x)": lambda x, y: np.sqrt(x),
}


def help_of(text):
    with pytest.raises(ExpressionError) as caught:
        Expression.parse(text, ("x", "y"))
    return caught.value.help


@pytest.mark.parametrize("text", SAME)
def test_what_to_write_has_the_same_values(text):
    """Of the function's own library, wherever it stands in the text."""
    help, call = help_of(text), re.search(r"[A-Za-z]\w*\(.*", text)[0]
    written = call.lower() if "did you mean" in help else help.split("`")[1]
    x, y = np.random.default_rng(3).uniform(0.1, 1.7, (2, 50))
    found = Expression.parse(text.replace(call, written), ("x", "y"))(x=x, y=y)
    np.testing.assert_allclose(found, SAME[text](x, y), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_every_translation_can_be_parsed(name):
    """Where the number of arguments does not fit, it is shown for letters."""
    if name == "if":  # a word of the language, which the parser of Python meets first
        return
    help = help_of(f"{name}()")
    assert help.startswith(f"for `{name}(a")
    Expression.parse(help.split("`")[3], ("a", "b", "c"))


def test_long_arguments_are_not_repeated():
    assert help_of(f"mod({'+'.join(['x'] * 100)}, 2)") == "for `mod(a, b)` write `a % b`"


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("x mod 10", "write `%`"),
        ("10 mod x", "write `%`"),
        ("2*sin x", "write `sin(x)`"),
        ("|x - y|", "write `abs(..)`"),
        ("2*|x|", "write `abs(..)`"),
        ("where(x < 60, 1e6)", "write `where(x < 60, 1000000, 0)`, 0 being its value elsewhere"),
        ("np.sin(x)", "write `sin` alone"),
        ("math.pi*x", "write `pi` alone"),
        ("rect(x)", "multiply comparisons, which are 1 where they hold and 0 elsewhere: `(t > 1)*(t < 2)`"),
    ],
)
def test_other_notations_are_answered(text, help):
    assert help_of(text) == help


@pytest.mark.parametrize(("text", "help"), [("(t => 5)", "write `>=`"), ("x*(t =< 5)", "write `<=`")])
def test_a_comparison_the_wrong_way_round_is_turned(text: str, help: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression.parse(text, ("x", "t"))
    assert caught.value.help == help


@pytest.mark.parametrize(
    ("text", "number", "place"),
    [
        ("400,0", "400.0", 0),
        ("0,045*(1 + 0,001*t)", "0.045", 0),
        ("2*t + 1,5e-3", "1.5e-3", 6),
        ("sin(0,5*t)", "0.5", 4),
        ("x*(1,5)", "1.5", 3),
    ],
)
def test_a_decimal_comma_is_told(text: str, number: str, place: int) -> None:
    with pytest.raises(ExpressionError) as refused:
        Expression.parse(text)
    assert f"`{number.replace('.', ',')}` has a decimal comma" in str(refused.value)
    assert refused.value.help == f"write a point: {number}"
    assert refused.value.column == place


@pytest.mark.parametrize("text", ["max(1,5)", "min(2,t,3,5)", "where(t,1,2)"])
def test_commas_between_arguments_are_none(text: str) -> None:
    assert Expression.parse(text).text == text


@pytest.mark.parametrize("text", ["t, x", "sin(t, x)", "(1 + t"])
def test_other_mistakes_are_told_as_before(text: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        Expression.parse(text)
    assert "decimal comma" not in str(refused.value)
