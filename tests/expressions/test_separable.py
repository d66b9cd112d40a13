"""Fields as sums of products of functions of fewer variables: which are found, and that only rounding changes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simsuite.expressions import Expression
from simsuite.expressions.separable import Pair, separate

VARIABLES = ("x", "y", "t", "T")
PLATE = ((0.0, 1.0), (0.0, 1.0), (0.0, 1.0))
SPOT = "exp(-((x - {0})**2 + (y - {1})**2)/{2})"
SEPARABLE = {
    "1e6*exp(-((x - 0.1*t)**2 + (y - 0.5)**2)/1e-4)": 1,
    "3e5*" + SPOT.format("0.5 - 0.3*cos(5*t)", "0.5 - 0.3*sin(5*t)", "1e-3"): 1,
    SPOT.format(0.5, 0.5, 1e-10): 1,
    f"{SPOT.format(0.25, 0.5, 0.01)} + 2*{SPOT.format(0.75, 't', 0.02)}": 2,
    "sin(pi*x)*sin(pi*y)*exp(-t)": 1,
    "-x*y/(1 + t)": 1,
    "7": 1,
    "t": 1,
    "x*sin(t)": 1,
    "y**2 - t": 1,
    "x + y": 2,
    "x - y - t - 1": 2,
    "x*y + x + y + 1": 1,
    "(1 + t)*sin(x) + (1 + t)*cos(y)": 2,
    "(x*y)**3/(2 + y)": 1,
    "(x + y)**2": 3,
    "(x + t*y - 0.3)**3": 4,
    "(x - y)**7": 8,
    "(x + y)/(2 + t)": 2,
    "x/((1 + y)*(1 + t))": 1,
    "exp(x + y)**-2": 1,
    "sin(2*pi*(x - y - t))": 2,
    "cos(3*x + 2*y)*x*y": 2,
    "sin(x + y)**2": 3,
    "sinh(x - 0.5*y)": 2,
    "sinh(5*(x - y))": 2,
    "cosh(30*(x - y))": 2,
    "cosh(300*(x - y))": 2,
    "sqrt(x*y)": 1,
    "sqrt((x - 1)*y*(y - 2))": 1,
    "abs((x - 0.5)*(y - 0.3))": 1,
    "(4*x*y)**1.5": 1,
    "((x - 0.5)*y)**9": 1,
    "where(0.4 < x < 0.6 and 0.4 < y < 0.6, 1e6, 0)": 1,
    "where(x > t, y, 2)": 2,
    "where(y > 0.5*t, 1e6*x, 1)": 2,
    "where(x > 0.5 or y > 0.5, 1, 0)": 2,
    "0 if x > 0.5 and y > 0.5 else x": 2,
    "(x > 0.3)*step(y - 0.2)*(not t > 0.5)": 1,
    "hypot(x, t)*atan2(y, 1 + t)*floor(4*x)": 1,
    "max(x, 0.5)*min(y, t)": 1,
    "exp(1000*(x - 1) - 1000*y)": 1,
    "exp(90*x + 90*y - 100)": 1,
    "exp(600*x*(1 - x) - y)": 1,
    "x*y - y*x": 1,
}
INSEPARABLE = [
    *("exp(x*y)", "hypot(x, y)", "where(x > y, 1, 0)", "where(hypot(x - 0.5, y - 0.5) < 0.1, 1e6, 0)", "max(x, y)"),
    *("1/(1 + x + y)", "(x - y)**8", "sqrt(x + y)", "tanh(x + y)", "atan2(y, x)", "floor(x + y)", "(x + y) % 0.5"),
    *("(x + y) // 0.5", "abs(x - y)", "x**y", "(2 + x*y)**0.5", "exp(-hypot(x - 0.5, y)/0.1)", "log(1 + x*y)"),
    "sqrt((x - 0.5)*(y - 0.5))",  # is a number where both are negative
    "sqrt((x - 2)*y)",  # is none, but 0 at y = 0
    *("exp(1000*x - 1000*y)", "exp(1000*x)*exp(-1000*y)", "(1e200*x)*(1e200*y)", "1e200*x*(1e-200*y)"),  # too large
    *("x/y", "log(x)*y", "y/(x - 0.3)", "1/(0*1)*x*y", "where(x > 0.3, sqrt(x - 0.3), 0)*y"),  # infinite, or may be
    *("x*T", "20*(310 - T)", "T"),
    " + ".join(f"x**{n}*y**{n}" for n in range(2, 9)) + " + sin(x)*cos(y) + cos(x)*sin(3*y)",  # nine terms
]


def random_points(ranges: tuple[tuple[float, float], ...] = PLATE, count: int = 5000) -> dict[str, Any]:
    low, high = np.array(ranges).T
    return dict(zip(("x", "y", "t"), np.random.default_rng(11).uniform(low, high, (count, 3)).T))


def total(pairs: tuple[Pair, ...], where: dict[str, Any]) -> np.ndarray:
    factors = [(a(**where), b(**where)) for a, b in pairs]
    assert all(np.all(np.isfinite(values)) for pair in factors for values in pair)
    return sum(a * b for a, b in factors)


def assert_same(text: str, pairs: tuple[Pair, ...], tolerance: float = 1e-13) -> None:
    where = random_points()
    expected = Expression.parse(text, VARIABLES)(**where)
    error = np.max(abs(total(pairs, where) - expected))
    assert error <= tolerance * np.max(abs(expected)) + 1e-300


@pytest.mark.parametrize("text", SEPARABLE)
def test_is_found(text: str) -> None:
    pairs = separate(Expression.parse(text, VARIABLES), *PLATE)
    assert pairs is not None
    assert len(pairs) == SEPARABLE[text]
    assert {(a.variables, b.variables) for a, b in pairs} == {(("x", "t"), ("y", "t"))}
    assert_same(text, pairs)


@pytest.mark.parametrize("text", INSEPARABLE)
def test_is_left_alone(text: str) -> None:
    assert separate(Expression.parse(text, VARIABLES), *PLATE) is None


def test_what_needs_no_y_goes_with_x() -> None:
    pairs = separate(Expression.parse("5*sin(t)*y*x"), *PLATE)
    assert pairs is not None
    assert [str(factor) for factor in pairs[0]] == ["5 * sin(t) * x", "y"]
    pairs = separate(Expression.parse("-3*t**2"), *PLATE)
    assert pairs is not None
    assert not pairs[0][1].names


def test_bounds_hold_in_the_given_ranges_only() -> None:
    away = ((0.1, 2.0), (0.1, 1.0), (0.0, 10.0))
    for text in ("x/y", "log(x)*y", "exp(-y/(x*4))", "exp(-x**2/(4*(t + 0.1)) - y**2/(4*(t + 0.1)))/(t + 0.1)"):
        pairs = separate(Expression.parse(text), *away)
        assert (pairs is None) == (text == "exp(-y/(x*4))")
    assert separate(Expression.parse("exp(100*(x + y))"), *PLATE) is not None
    assert separate(Expression.parse("exp(100*(x + y))"), *away) is not None
    assert separate(Expression.parse("exp(100*(x + y))"), (0.0, 8.0), (0.0, 1.0), (0.0, 1.0)) is None


def test_no_factor_is_large_where_the_exponents_are() -> None:
    """Alone, one exponential would be Inf and the other 0."""
    pairs = separate(Expression.parse("exp(1500*(x - 1) + 1000*(1 - y) - 1000)"), *PLATE)
    assert pairs is not None
    largest = [np.max(abs(factor(**random_points()))) for factor in pairs[0]]
    assert all(0.1 < value < 10 for value in largest)


def test_digits_lost_to_cancellation_are_noticed() -> None:
    """10⁶ is squared in the form multiplied out, and cancels."""
    assert separate(Expression.parse("(x + 1e6 - (y + 1e6))**2"), *PLATE) is None
    assert separate(Expression.parse("(x + 1e6 - 1e6 - y)**2"), *PLATE) is not None


def test_a_jump_stays_where_it_is_to_the_bit() -> None:
    expression = Expression.parse("where(0.1 + 0.2 < x and y*3 <= 0.3 + t, 1e6, 0)")
    pairs = separate(expression, *PLATE)
    assert pairs is not None
    ulps = np.spacing(0.3) * np.arange(-20, 20)
    where = {"x": 0.3 + ulps[:, None], "y": 0.1 + 0.3 * ulps, "t": 0.0}
    np.testing.assert_array_equal(total(pairs, where), expression(**where))


def test_is_the_same_in_every_process() -> None:
    """The order of what is added must not depend on how Python scatters names."""
    code = (
        "from simsuite.expressions import Expression; from simsuite.expressions.separable import separate; "
        "print(separate(Expression.parse('sin(x + y)*(x + y + t)**2*exp(x)*cos(t)*y'), *[(0.0, 1.0)]*3))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert "None" not in found.pop()


X_FACTORS = ["x", "(x - 0.3*t)", "sin(3*x + t)", "where(x > t, 2, x)", "exp(-(x - 0.1*t)**2/0.01)", "hypot(x, t)"]
Y_FACTORS = ["y", "(y + t)", "cos(3*y)", "(y < 0.7)", "exp(-(y - 0.5)**2/0.01)", "(y*t + 1)**2", "max(y, 0.2)"]
FACTORS = (st.sampled_from([*X_FACTORS, "(1 + t)"]), st.sampled_from(Y_FACTORS))
COEFFICIENTS = st.sampled_from(["0.5", "1", "1.5", "2.25", "3"])
ONE_TERM = ["{c}*{a}*{b}", "-{a}/({c} + {b}**2)", "exp(-{c}*{a} - {b})", "abs({c}*{a}*{b})", "sqrt({c}*abs({a}*{b}))"]
ONE_TERM += ["(abs({a})*{c}*abs({b}))**0.7", "where({a} > 0.4 and {b} > 0.4, {c}, 0)"]
TWO_TERMS = [
    "sin({c}*{a} + {b})",
    "cos({a} - {c}*{b})",
    "cosh({a} - {c}*{b})",
    "sinh({c}*{a} + {b})",
    "({a} + {c}*{b})",
]

KINDS = ["one", "two", "square", "sum", "difference", "product", "where"]


@st.composite
def made_up(draw: st.DrawFn, most: int = 8) -> tuple[str, int]:
    """The text of an expression and the number of terms that it has as it is written."""

    def parts() -> dict[str, str]:
        return {"a": draw(FACTORS[0]), "b": draw(FACTORS[1]), "c": draw(COEFFICIENTS)}

    kind = draw(st.sampled_from(KINDS)) if most > 1 else "one"
    if kind == "one":
        return draw(st.sampled_from(ONE_TERM)).format(**parts()), 1
    if kind == "two":
        return draw(st.sampled_from(TWO_TERMS)).format(**parts()), 2
    if kind == "square":
        return f"({draw(st.sampled_from(TWO_TERMS)).format(**parts())})**2", 3
    if kind == "product":
        left, n = draw(made_up(most=most // 2))
        right, m = draw(made_up(most=most // n))
        return f"({left})*({right})", n * m
    left, n = draw(made_up(most=most - 1))
    right, m = draw(made_up(most=most - n))
    if kind == "where":
        return f"where({draw(st.one_of(*FACTORS))} > 0.3, {left}, {right})", n + m
    return f"({left}) {'+' if kind == 'sum' else '-'} ({right})", n + m


@settings(max_examples=80, deadline=None, derandomize=True)
@given(made_up())
def test_products_add_up_to_the_field(made: tuple[str, int]) -> None:
    text, terms = made
    assume(terms <= 8)
    where = random_points()
    largest = np.max(abs(Expression.parse(text)(**where)))
    assume(largest > 0.1)  # no digits lost to terms that cancel
    pairs = separate(Expression.parse(text), *PLATE)
    assert pairs is not None
    assert len(pairs) <= 8
    assert_same(text, pairs)
