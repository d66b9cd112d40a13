"""Expressions: what they mean, that all targets agree, and that nothing but arithmetic gets through."""

import dis
import math
import pickle
import warnings

import numba
import numpy as np
import pytest

from simsuite.backends.numba_cuda import import_numba_cuda
from simsuite.core import Clock
from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.homogeneous import degree
from simsuite.expressions.magnitude import magnitudes
from simsuite.expressions.parser import parse
from simsuite.solvers.table import FunctionTable

VARIABLES = ("x", "y", "t")
RTOL = 4e-15  # SciPy's erfc differs from libm's by a few ulp in the tail; most functions by less than one


def value(text, **values):
    return float(Expression.parse(text)(**values))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3 - 4/8", 6.5),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("7 // 2 + 7 % 4", 6.0),
        ("-7 // 2 + -7 % 4", -3.0),
        ("1 < 2 < 3", 1.0),
        ("1 < 3 < 2", 0.0),
        ("not 0 and 1 or 0", 1.0),
        ("5 if 1 > 2 else 6", 6.0),
        ("where(1, 2, 3)", 2.0),
        ("min(3, 1, 2) + max(3, 1, 2)", 4.0),
        ("sin(pi/2) + log(e)", 2.0),
        ("step(0) + step(1e-300)", 1.0),
        ("sign(-3) + sign(0)", -1.0),
        ("floor(-1.5) + ceil(1.2)", 0.0),
        ("floor(-1e-20)", -1.0),
        ("erf(0.5) + erfc(0.5)", 1.0),
        ("hypot(3, 4) + atan2(0, 1)", 5.0),
        ("0**0", 1.0),
        ("\n  1\r\n + 2\t", 3.0),
    ],
)
def test_values(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("text", ["ceil(-0.5)", "ceil(0*x)", "ceil(-x*0)", "floor(-0.0)"])
def test_rounding_keeps_the_sign_of_zero(text):
    expression = Expression.parse(text)
    found = (expression(x=1.0), expression.scalar_function(VARIABLES)(1.0, 0.0, 0.0))
    assert {math.copysign(1, zero) for zero in found} == {1.0 if text == "ceil(0*x)" else -1.0}


def test_arrays_broadcast():
    x, y = np.arange(4.0)[None, :], np.arange(3.0)[:, None]
    result = Expression.parse("x + 10*y")(x=x, y=y, t=0.0)
    np.testing.assert_array_equal(result, x + 10 * y)
    assert Expression.parse("1.5")().shape == ()


def test_repeated_parts_are_computed_once():
    function = Expression.parse("sin(x)*y + sin(x)**3 + where(y > 0, sin(x), 1)").scalar_function(VARIABLES)
    assert [step.argval for step in dis.get_instructions(function)].count("sin") == 1
    branches = Expression.parse("where(x > 0, log(x), 1) + where(x > -5, 2, log(x)) + where(x < 0, 3, log(x))")
    assert branches.scalar_function(VARIABLES)(-1.0, 0.0, 0.0) == 6.0


def test_singular_values_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value("1/x", x=0.0) == math.inf
        assert math.isnan(value("log(x)", x=-1.0))
        assert value("where(x > 0, log(x), 0)", x=-1.0) == 0.0


def test_names_and_identity():
    e = Expression.parse("x*sin(pi*x) + t")
    assert e.names == {"x", "t"}
    assert e.depends_on("t")
    assert not e.depends_on("y")
    assert str(e) == "x*sin(pi*x) + t"
    assert e == Expression.parse("x*sin(pi*x) + t")
    assert e != Expression.parse("x*sin(pi*x) + t", ("x", "t"))
    assert hash(e) == hash(Expression.parse("x*sin(pi*x) + t"))
    assert pickle.loads(pickle.dumps(e))(x=1.0, t=2.0) == e(x=1.0, t=2.0)
    with pytest.raises(TypeError, match="needs values for t"):
        e(x=1.0)
    with pytest.raises(TypeError, match="needs arguments for t"):
        e.scalar_function(("x",))


def test_constants():
    assert Expression.constant(2).value == 2.0
    assert Expression.constant(-0.1, VARIABLES) == Expression.parse("-0.1")
    assert Expression.parse("2*pi").value == 2 * math.pi
    with pytest.raises(ValueError, match="depends on x"):
        _ = Expression.parse("x").value
    with pytest.raises(ValueError, match="finite"):
        Expression.constant(math.inf)


def test_applied_names_can_be_variables():
    e = Expression.parse("max(mean(A) - min(A), 0)", ("mean(A)", "min(A)"))
    assert e.names == {"mean(A)", "min(A)"}
    assert e(**{"mean(A)": 5.0, "min(A)": 2.0}) == 3.0
    assert e.scalar_function(("mean(A)", "min(A)"))(5.0, 2.0) == 3.0


AGREEING = [
    "sin(x)*cos(y)/t",
    "x**2 * y**3 / t**-1",
    "x**-4 + x**8",
    "where(x > 0, log(x), 0)",
    "sqrt(x) if x > 0 and log(x) > 0.1 else 7",
    "x > 0 or sqrt(-x) > 1",
    "min(x, y, t)",
    "max(x, y)",
    "floor(x) + 3*ceil(y)",
    "sign(x) + step(y)",
    "x % y",
    "x // y",
    "abs(x)**y",
    "x**y",
    "x**0.5",
    "1 if x < y < t else 2",
    "not x != y",
    "erf(x)",
    "erfc(x)",
    "hypot(x, y)",
    "atan2(x, y)",
    "sinh(x)",
    "cosh(y)",
    "tanh(t)",
    "exp(x)*log10(abs(y))*sqrt(abs(t))",
    "asin(x/9)",
    "acos(x/9)",
    "atan(x)",
    "tan(x)",
    "x/(0*x)",
    "x - -1.5",
    "pi*e",
]


@pytest.mark.parametrize("text", AGREEING)
def test_compiled_agrees_with_numpy(text):
    expression = Expression.parse(text)
    x, y, t = np.random.default_rng(7).uniform(-5, 5, (3, 200))
    compiled = numba.njit(error_model="numpy")(expression.scalar_function(VARIABLES))
    expected = np.broadcast_to(expression(x=x, y=y, t=t), x.shape)
    result = np.array([compiled(*point) for point in zip(x, y, t)])
    np.testing.assert_allclose(result, expected, rtol=RTOL, atol=0)


@pytest.mark.parametrize("text", [t for t in AGREEING if t not in ("x**y", "x**0.5", "x/(0*x)")])
def test_plain_python_agrees_and_takes_one_branch(text):
    """Uncompiled, `log(-1)` raises: only in a branch that is taken."""
    expression = Expression.parse(text)
    function = expression.scalar_function(VARIABLES)
    for point in np.random.default_rng(8).uniform(-5, 5, (50, 3)).tolist():
        assert function(*point) == pytest.approx(float(expression(**dict(zip(VARIABLES, point)))), rel=RTOL)


SINGULAR = [
    *(
        "exp(1e5*x)",
        "log(x - 1)",
        "log10(x - 2)",
        "sqrt(-x)",
        "1/(x - x)",
        "-x/(0*y)",
        "1/(0*1)",
        "(x < 2)/(x > 2)",
        "0/(0*x)",
    ),
    *("(x - 1)**-3", "x % (0*y)", "x // (0*y)", "(x - 1)**-0.5", "(-x)**0.5", "(1e300*x)**1.5"),
    *("sinh(1e4*x)", "cosh(-1e4*x)", "sin(x/(0*y))", "asin(2*x)", "1e300*x*1e300", "where(x > 2, 1/(0*1), 3)"),
]


@pytest.mark.parametrize("text", [*AGREEING, *SINGULAR])
def test_simulated_function_follows_numpy_into_inf_and_nan(text):
    expression = Expression.parse(text)
    function = expression.simulated_function(VARIABLES)
    points = [np.array([1.0, 0.5, -2.0]), *np.random.default_rng(8).uniform(-5, 5, (20, 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [function(*point) for point in points]
    expected = [float(expression(**dict(zip(VARIABLES, point)))) for point in points]
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=0)


@pytest.mark.parametrize(
    "text", ["exp(1e5*t)", "log(t)", "sqrt(t - 1)", "1/t", "1/(x - x) - t", "t % (0*t)", "(t < 9)/(t > 9)"]
)
def test_tables_hold_inf_and_nan_on_every_backend(backend, text):
    expression = Expression.parse(text)
    x = np.array([0.0, 1.0])
    table = FunctionTable(backend, Clock((0, 4), (0.0, 4.0)), np.float64, [(expression, x, x)])
    table.fill(0, 4)
    expected = np.broadcast_to(expression(x=x, y=x, t=np.arange(4.0)[:, None]), (4, 2))
    np.testing.assert_allclose(backend.to_host(table.array)[:4], expected, rtol=RTOL, atol=0)


def test_compiles_for_cuda():
    cuda = import_numba_cuda()
    if getattr(cuda, "implementation", "") != "NVIDIA" or not hasattr(cuda, "compile"):
        pytest.skip("needs numba-cuda, not its simulator")
    function = Expression.parse(" + ".join(f"({text})" for text in AGREEING)).scalar_function(VARIABLES)
    signature = numba.float64(numba.float64, numba.float64, numba.float64)
    code, _ = cuda.compile(function, signature, cc=(9, 0), device=True, abi="c", abi_info={"abi_name": "field"})
    assert "field" in code


@pytest.mark.parametrize(
    "text", ["+".join(["x"] * 150), "(" * 80 + "x" + ")" * 80, "(x**8)**8", "1 if x else " * 60 + "2"]
)
def test_large_but_legal(text):
    expression = Expression.parse(text)
    assert expression.scalar_function(VARIABLES)(1.5, 0.0, 0.0) == pytest.approx(float(expression(x=1.5)), rel=1e-13)


CONDITION = "write `where(condition, value, other value)`, or `value if condition else other value`"
WHERE = "write `where(..)` with the same arguments: `where(condition, value, other value)`"


@pytest.mark.parametrize(
    ("text", "column", "message", "help"),
    [
        ("1 + z", 4, "unknown name `z`", "known here: `x`, `y`, `t`, `pi`, `e`"),
        ("X", 0, "unknown name `X`", "did you mean `x`?"),
        ("x^2", 1, "`^` is no operator here", "write `**` for powers"),
        ("(x) ^ 2", 4, "`^` is no operator here", "write `**` for powers"),
        ("2 x", 2, "an operator is missing here", "write `2*x` to multiply"),
        ("1e5x", 3, "an operator is missing here", "write `1e5*x` to multiply"),
        ("3 min(x, y)", 2, "an operator is missing here", "write `3*min` to multiply"),
        ("2 pi", 2, "an operator is missing here", "write `2*pi` to multiply"),
        ("20 C", 3, "`20` has a unit, `C`, which has no place within an expression", "write the plain number"),
        ("x + 10 min", 7, "`10` has a unit, `min`, which has no place within an expression", "write the plain number"),
        ("1e5 W/m^2", 4, "`1e5` has a unit, `W`, which has no place within an expression", "write the plain number"),
        ("25 °C", 3, "`25` has a unit, `°C`, which has no place within an expression", "write the plain number"),
        ("90 %", 3, "`90` has a unit, `%`, which has no place within an expression", "write the plain number"),
        ("1e5*if(t > 1, 2, 3)", 4, "`if` is not a function here", WHERE),
        ("2 if t > 1", 2, "this `if` has no `else`", CONDITION),
        ("if t > 1 then 2", 0, "there is no value before this `if`", CONDITION),
        ("t > 1 ? 2 : 3", 6, "a `?` has no place in an expression", CONDITION),
        ("2(x)", 0, "only functions can be called", "write `*` to multiply"),
        ("x(2)", 0, "`x` is not a function", "write `x*(...)` to multiply"),
        ("1 + ln(x)", 4, "unknown function `ln`", "write `log(x)`"),
        ("1e6*((t % 0) < 5)", 10, "`%` by 0 has no value", "divide by something that is not 0"),
        ("(x/-0.0 < 5)", 3, "`/` by 0 has no value", "divide by something that is not 0"),
        ("5 > x // 0", 9, "`//` by 0 has no value", "divide by something that is not 0"),
        ("sine(x)", 0, "unknown function `sine`", "did you mean `sin`?"),
        ("sin(x, y)", 0, "`sin` takes 1 argument, not 2", None),
        ("hypot(x)", 0, "`hypot` takes 2 arguments, not 1", None),
        ("max(x)", 0, "`max` takes at least 2 arguments, not 1", None),
        ("sin", 0, "`sin` is a function", "call it: `sin(...)`"),
        ("x.real", 0, "attributes (`.`) are not allowed", "only arithmetic and named functions are"),
        ("x = 1", 2, "`=` is no operator here", "write `==` to compare"),
        ("x && y", 2, "`&&` is no operator here", "write `and`"),
        ("(x + (y)", 0, "this `(` is never closed", None),
        ("x + y)", 5, "this `)` closes nothing", None),
        ("x +", 3, "the expression ends too early", None),
        ("  x y", 4, "this is not an arithmetic expression", None),
        ("2*π", 2, "`π` has no place in an expression", "write `pi`"),
        ("1e999", 0, "this number is too large", None),
        ("", 0, "the expression is empty", None),
    ],
)
def test_mistakes(text, column, message, help):
    with pytest.raises(ExpressionError) as caught:
        Expression.parse(text)
    assert (caught.value.message, caught.value.column, caught.value.help) == (message, column, help)


HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0]",
    "x.__class__",
    "getattr(x, y)",
    "lambda: 1",
    "[x for x in y]",
    "(x := 1)",
    "x[0]",
    "{x: y}",
    "f'{x}'",
    "'a'",
    "1j",
    "True",
    "None",
    "...",
    "max(*x)",
    "sin(x=1)",
    "x in y",
    "await x",
    "yield",
    "x; y",
    "x # y",
    "1 if x",
    "x\0",
    "9" * 1999,
    "9" * 3000,
    "(" * 1000 + ")" * 1000,
    "-" * 1999 + "1",
    "1+" * 999 + "1",
    "not " * 490 + "x",
    "ｘ",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused(text):
    with pytest.raises(ExpressionError) as caught:
        Expression.parse(text)
    assert 0 <= caught.value.column <= len(text)
    assert caught.value.message


def test_magnitudes_are_those_of_what_is_added():
    """Also of branches that are not taken, and of none where a number is not finite."""
    sizes = {
        "x - y": 5.0,
        "3 * (x - y) / 2": 7.5,
        "(x - y) ** 2": 25.0,
        "max(x - y, 0)": 5.0,
        "where(x > y, 1, 10 * (x - y))": 50.0,
        "exp(x) - exp(x)": 2 * math.exp(2),
        "(x > y) + 1": 2.0,
        "x / (y - 3)": 0.0,
    }
    values = {"x": np.array(2.0), "y": np.array(3.0)}
    found = magnitudes([parse(text, ("x", "y")) for text in sizes], values)
    assert found == pytest.approx(list(sizes.values()), rel=1e-12)


def test_degrees_are_those_of_scaled_values():
    """And none is found where scaling both variables changes values by no power of the factor."""
    x, y, factor = 2.0, 3.0, 1.7
    texts = {
        "max(x - 2*y, 0) + hypot(x, y)": 1,
        "x*y / (x + y)**3": -1,
        "where(x > 2*y, x, y) * sqrt(x*y)": 2,
        "x**0.5 * exp(log(x/y)) + sqrt(y)": 0.5,
        "(x > y or not x) + x // y + atan2(x, y) + sign(x)": 0,
        "x**0 + 1": 0,
        "x % y - abs(-x)": 1,
    }
    for text, expected in texts.items():
        assert degree(parse(text, ("x", "y")), ("x", "y")) == expected, text
        scaled, plain = value(text, x=factor * x, y=factor * y), value(text, x=x, y=y)
        assert scaled == pytest.approx(factor**expected * plain, rel=1e-12, abs=1e-300), text
    for text in ("x + 1", "exp(x)", "x > 1", "max(x, x*y)", "x**y", "min(x, 3)", "x / (0*1)", "where(x > 1, x, y)"):
        assert degree(parse(text, ("x", "y")), ("x", "y")) is None, text
    assert degree(parse("x + y", ("x", "y")), ("x",)) is None
