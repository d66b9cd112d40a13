"""Derivatives, substitution and the way to SymPy and back, against differences in many digits."""

from __future__ import annotations

import math
import os
import random
import struct
import subprocess
import sys

import mpmath
import numba
import numpy as np
import pytest

from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.formula import formula
from simsuite.expressions.tree import FUNCTIONS, MOST_PARTS, Apply, IntegerPower, Name, Number, names_in, walk

VARIABLES = ("x", "y", "t")
SMOOTH = [  # wherever 0 < x, y, t < 1
    "sin(pi*x)*cos(2*y)/t",
    "tan(x*y) + asin(x*y) - acos(x - y) + atan(x/y)",
    "sinh(x)*cosh(y)*tanh(x + t)",
    "exp(-((x-0.5)**2 + (y-0.3*t)**2)/0.1)",
    "log(x*y) + log10(x + 2*y) - sqrt(x + t)",
    "erf(x - y) + erfc(2*x*t)",
    "atan2(y - 0.5, x - 0.5) * hypot(x, y)",
    "hypot(x, 3)*atan2(x, 0.7)",
    "x**3*y**-2 + t**8 - (x + y)**-5",
    "x**10 + x**-9*y",
    "x**1.2*y**0.25/t**2.5",
    "x**y + y**(x*t) + 2**x + e**y + pi**(x*y)",
    "(x*y)**pi/x",
    "1/(1 + x**2 + y**2)**1.5",
    "x/3 - y/7/t + 0.1*x*y",
    "1e-40*x + 1e35*x*y - 0.12345678901234567*x**2",
    "(1 + 0.5*sin(2*pi*x)*sin(2*pi*y))*(1 + 0.1*(x + exp(-t)))",
    "-x - -y*x + (-x*y)**3",
]
KINKED = [  # wherever -1 < x, y, t < 1, but for points nobody hits by chance
    "abs(x - y) * abs(x)",
    "sign(x)*x**2*y",
    "min(x*y, t, x**2)",
    "max(x, 0)**3 + max(x*y, y*t)",
    "where(x > 0.1, sin(x*y), x**2)",
    "where(x > 0, log(abs(x)), y)*x",
    "x**2 if x < y <= t else y*x**3",
    "step(x - y)*(x - y)**3",
    "(x > 0 and y > 0)*x*y + (x > 0 or not y > 0)*x**2 + (x != y)*x + (x == y) + (x >= y)*x",
    "where(floor(4*x) % 2 == 0, x*y, x**2) + (ceil(t) == 1)*x*t",
]


def digits(text: str):
    """The same function in 40 digits, by Python and mpmath."""
    library = {name: getattr(mpmath, name) for name in FUNCTIONS if hasattr(mpmath, name)}
    library |= {"abs": abs, "min": min, "max": max, "pi": math.pi, "e": math.e}
    library |= {"step": lambda a: mpmath.mpf(a > 0), "where": lambda condition, a, b: a if condition else b}
    return eval(f"lambda x, y, t: {text}", library)


def points(kinked: bool, count: int = 6) -> np.ndarray:
    return np.random.default_rng(11).uniform(-0.95 if kinked else 0.05, 0.95, (count, 3))


def assert_derivative(text: str, orders: tuple[int, int, int]) -> None:
    expression = Expression.parse(text)
    for name, order in zip(VARIABLES, orders):
        for _ in range(order):
            expression = expression.derivative(name)
    assert expression.variables == VARIABLES
    for point in points(text in KINKED):
        with mpmath.workdps(40):
            expected = float(mpmath.diff(digits(text), tuple(map(mpmath.mpf, point)), orders))
        assert float(expression(**dict(zip(VARIABLES, point)))) == pytest.approx(expected, rel=2e-12, abs=1e-12)


@pytest.mark.parametrize("orders", [(1, 0, 0), (0, 1, 0), (0, 0, 1)], ids=VARIABLES)
@pytest.mark.parametrize("text", SMOOTH + KINKED)
def test_first_derivatives(text, orders):
    assert_derivative(text, orders)


@pytest.mark.parametrize("orders", [(2, 0, 0), (1, 1, 0)], ids=["xx", "xy"])
@pytest.mark.parametrize("text", SMOOTH + KINKED)
def test_second_derivatives(text, orders):
    assert_derivative(text, orders)


def test_every_operation_is_differentiated():
    operations = {n.op for text in SMOOTH + KINKED for n in walk(Expression.parse(text).tree) if isinstance(n, Apply)}
    assert operations == OPERATIONS.keys() - {"//"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x**3", "3 * x**2"),
        ("sin(pi*x)", "pi * cos(pi * x)"),
        ("exp(-2*x)", "-2 * exp(-2 * x)"),
        ("x**y", "y * x**(y - 1)"),
        ("1/x", "-1 / x**2"),
        ("x/3", "1 / 3"),
        ("sqrt(x)", "0.5 / sqrt(x)"),
        ("abs(x)", "sign(x)"),
        ("max(x, 0)", "where(x > 0, 1, 0)"),
        ("0.1*x + 0.2*x - 0.3*x", "0.0"),
        ("floor(y)*x", "floor(y)"),
    ],
)
def test_results_are_short(text, expected):
    assert str(Expression.parse(text).derivative("x")) == expected


@pytest.mark.parametrize("text", ["y*sin(t)", "3", "floor(y)", "step(x)", "x > 0", "sign(x)"])
def test_what_does_not_vary_has_derivative_zero(text):
    derivative = Expression.parse(text).derivative("x")
    assert derivative == Expression.constant(0.0, VARIABLES)
    assert derivative.is_literal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("floor(x)", "`floor` has no derivative"),
        ("y + ceil(x*y)", "`ceil` has no derivative"),
        ("x % 1", "`%` has no derivative"),
        ("y // x", "`//` has no derivative"),
        ("x/(0*1)", "divides by zero"),
        ("x*log(-1)", "logarithm of a negative"),
        ("x*sqrt(-2)", "root"),
        ("1e30**8*x*1e30**8", "too large"),
    ],
)
def test_what_has_no_derivative_is_refused(text, message):
    with pytest.raises(ExpressionError, match=message):
        Expression.parse(text).derivative("x")


def test_deep_nesting_is_refused_or_right():
    text = "x"
    for _ in range(180):
        text = f"sin({text})"
    with pytest.raises(ExpressionError, match="nested too deeply"):
        Expression.parse(text).derivative("x")
    long = Expression.parse("+".join(f"x**{n % 7 + 1}" for n in range(150)) + "+" + "+".join(["sin(x*y)"] * 30))
    assert float(long.derivative("x")(x=1.0, y=0.0)) == sum(n % 7 + 1 for n in range(150))


def test_long_sums_are_not_deep():
    parts = [Expression.parse("+".join(f"sin({n}*x)" for n in range(k, 600, 5)), ("x",)) for k in range(5)]
    total = Expression.parse("a+b+c+d+e", tuple("abcde")).substitute(**dict(zip("abcde", parts)))
    derivative = total.derivative("x")
    assert float(derivative(x=0.0)) == 599 * 600 / 2
    assert str(derivative).count("cos") == 599
    assert str(derivative).count("(") < 2 * 599


@pytest.mark.parametrize("text", SMOOTH + KINKED)
def test_the_way_to_sympy_and_back_keeps_values(text):
    expression = Expression.parse(text)
    back = expression.simplified()
    x, y, t = points(text in KINKED, 50).T
    np.testing.assert_allclose(back(x=x, y=y, t=t), expression(x=x, y=y, t=t), rtol=1e-12, atol=1e-14)
    assert back.simplified() == back


def test_every_double_comes_back():
    rng = random.Random(5)
    x = Expression.parse("x")
    values = [struct.unpack("d", rng.randbytes(8))[0] for _ in range(200)]
    values += [round(rng.uniform(-10, 10), n) for n in range(17)] + [5e-324, 1.7976931348623157e308, 0.1, 1e23, math.pi]
    for value in filter(math.isfinite, values):
        assert Expression.constant(value).simplified().value == value
        numbers = [n.value for n in walk(Expression.combine("*", value, x).simplified().tree) if isinstance(n, Number)]
        assert [abs(n) for n in numbers] == [abs(value)]


def random_tree(rng: random.Random, depth: int):
    if depth == 0:
        return rng.choice([Name("x"), Name("y"), Number(rng.choice([2.0, 0.1, -3.5, math.pi, 1e-9, -math.e]))])
    kind = rng.randrange(4)
    if kind == 0:
        return IntegerPower(random_tree(rng, depth - 1), rng.choice([-2, -1, 2, 3]))
    binary = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or", "atan2", "min"]
    op, count = rng.choice([("neg", 1), ("not", 1), ("abs", 1), ("where", 3), *((op, 2) for op in binary)])
    return Apply(op, tuple(random_tree(rng, rng.randrange(depth)) for _ in range(count)))


def test_texts_of_trees_say_what_the_trees_mean():
    rng = random.Random(3)
    x, y = np.random.default_rng(3).uniform(-3, 3, (2, 20))
    for _ in range(500):
        tree = random_tree(rng, 5)
        made = Expression("", ("x", "y"), tree, names_in(tree))
        read = Expression.parse(formula(tree), ("x", "y"))
        np.testing.assert_array_equal(read(x=x, y=y), made(x=x, y=y))


def test_substitution_happens_at_once():
    k = Expression.parse("x + 10*T**2", ("x", "y", "T"))
    swapped = k.substitute(x=Expression.parse("T", ("T",)), T=Expression.parse("x*t"), other=Expression.parse("y"))
    assert swapped.variables == ("y", "T", "x", "t")
    assert swapped.names == {"T", "x", "t"}
    assert str(swapped) == "T + 10 * (x * t)**2"
    assert float(swapped(T=3.0, x=2.0, t=0.5)) == 13.0
    assert k.substitute() == Expression.parse("x + 10 * T**2", ("x", "y", "T"))


def test_a_branch_that_is_never_taken_may_be_singular():
    kernel = Expression.parse("where(t > 0, exp(-x**2/t)/t, step(t) + (not 1))")
    assert kernel.substitute(t=Expression.constant(0.0)).simplified().value == 0.0
    with pytest.raises(ExpressionError, match="divides by zero"):
        Expression.parse("x/t").substitute(t=Expression.constant(0.0)).simplified()


def test_results_have_limits():
    wide = Expression.parse("+".join(["x*y*t"] * 150))
    many = Expression.parse("*".join(["x"] * 150))
    with pytest.raises(ExpressionError, match=f"more than {MOST_PARTS}"):
        many.substitute(x=wide)
    deep = Expression.parse("-" * 150 + "x")
    with pytest.raises(ExpressionError, match="nested too deeply"):
        deep.substitute(x=deep)


@pytest.mark.parametrize("text", SMOOTH + KINKED)
def test_derivatives_compile(text):
    derivative = Expression.parse(text).derivative("x")
    compiled = numba.njit(error_model="numpy")(derivative.scalar_function(VARIABLES))
    for point in points(text in KINKED):
        expected = float(derivative(**dict(zip(VARIABLES, point))))
        assert compiled(*point) == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_results_are_the_same_in_every_process():
    """The order of terms decides how sums are rounded, and a resumed run must not differ."""
    code = "from simsuite.expressions import Expression as E; print(E.parse({!r}).derivative('x').simplified())"
    code = code.format(" + ".join(f"({text})" for text in SMOOTH))
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert len(texts.pop()) > 500


def test_what_is_kept_belongs_to_name_text_and_variables() -> None:
    x_first, y_first = (Expression.parse("x**2*y + x*y**3", variables) for variables in (("x", "y"), ("y", "x")))
    for _ in range(2):
        assert str(x_first.derivative("x")) == "y**3 + 2 * x * y"
        assert str(x_first.derivative("y")) != str(x_first.derivative("x"))
        for expression in (x_first, y_first):
            assert expression.derivative("x").variables == expression.variables
            assert expression.simplified().variables == expression.variables
