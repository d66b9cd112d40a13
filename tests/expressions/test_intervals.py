"""Bounds of expressions: no value lies outside, and where an expression may be Inf or NaN there are none."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from test_expressions import AGREEING, SINGULAR
from test_expressions_cuda import VARIABLES, made_up

from simsuite.expressions import Expression
from simsuite.expressions.changes import searched_changes
from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.intervals import bounds, bounds_within

LAST_DIGITS = 1e-13


def values(expression: Expression, ranges: dict[str, tuple[float, float]]) -> np.ndarray:
    ends = np.array(list(ranges.values())).T
    where = np.random.default_rng(3).uniform(*ends, (3000, len(ranges)))
    corners = np.array(np.meshgrid(*ends.T)).reshape(len(ranges), -1).T
    return expression(**dict(zip(ranges, np.concatenate([where, corners]).T)))


def assert_bounded(expression: Expression, ranges: dict[str, tuple[float, float]]) -> bool:
    """Whether there are bounds."""
    lower, upper = bounds(expression.tree, ranges)
    found = values(expression, ranges)
    assert math.isnan(lower) == math.isnan(upper)
    if math.isnan(lower):
        return False
    assert np.all(np.isfinite(found)), expression.text
    slack = LAST_DIGITS * max(abs(lower), abs(upper))
    assert np.all((lower - slack <= found) & (found <= upper + slack)), expression.text
    return True


RANGES = [(-2.0, 3.0), (0.25, 4.0), (0.0, 1.0), (-1.0, -0.5), (2.0, 2.0), (-100.0, 1000.0)]


@pytest.mark.parametrize("text", [*AGREEING, *SINGULAR])
def test_no_value_lies_outside(text: str) -> None:
    expression = Expression.parse(text, VARIABLES)
    for i in range(len(RANGES)):
        assert_bounded(expression, dict(zip(VARIABLES, RANGES[i:] + RANGES[:i])))


def test_no_value_of_random_expressions_lies_outside() -> None:
    source = random.Random(5)
    known = 0
    for _ in range(1000):
        expression = Expression.from_tree(made_up(source, [*OPERATIONS], 4), VARIABLES)
        known += assert_bounded(expression, {name: source.choice(RANGES) for name in VARIABLES})
    assert known > 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x*(1 - x)", (0.0, 0.25)),
        ("1/(1 + x*x - x)", (1.0, 4 / 3)),
        ("sin(2*pi*x)", (-1.0, 1.0)),
        ("sin(x) + cos(x)", (1.0, math.sqrt(2))),
        ("cos(pi*x/2)", (0.0, 1.0)),
        ("tan(x)", (0.0, math.tan(1))),
        ("exp(-(x - 0.5)**2/1e-4)", (0.0, 1.0)),
        ("(x - 0.5)**2 + (y - 0.25)**2", (0.0, 0.25 + 0.5625)),
        ("hypot(x - 0.5, y)", (0.0, math.hypot(0.5, 1))),
        ("where(x > 0.5, sqrt(x - 0.5), 0)", (0.0, math.sqrt(0.5))),
        ("where(x > 0.25 and not y < 2, 1/(x - x), 3)", (3.0, 3.0)),
        ("2**(x - y)", (0.5, 2.0)),
        ("where(x < 0.2, x % 0.3, 0)", (0.0, 0.2)),
        ("where(x > 0.31 and x < 0.59, x // 0.3, 1)", (1.0, 1.0)),
    ],
)
def test_bounds_are_tight_enough_to_be_of_use(text: str, expected: tuple[float, float]) -> None:
    found = bounds(Expression.parse(text).tree, {"x": (0.0, 1.0), "y": (0.0, 1.0)})
    assert found == pytest.approx(expected, abs=0.05)


def test_the_sign_of_a_zero_is_not_known() -> None:
    """-0.0 == 0.0, but atan2 tells them apart."""
    x = np.array([0.0, 0.0, 1.0, -2.0]), np.array([-0.0, 0.0, 1.0, -2.0])
    y = np.array([-1.0, 2.0, -0.0, 3.0])
    lower, upper = bounds_within(Expression.parse("atan2(x, y)", ("x", "y")).tree, {"x": x, "y": (y, y)})
    np.testing.assert_array_equal(lower == upper, [False, True, True, True])
    np.testing.assert_array_equal(lower[1:], np.arctan2(x[0], y)[1:])


@pytest.mark.parametrize("text", ["x % y", "x // y"])
def test_periods_end_where_they_are_computed_to_end(text: str) -> None:
    """Numbers on both sides of a multiple of another one, down to neighbours."""
    rng, expression = np.random.default_rng(8), Expression.parse(text, ("x", "y"))
    y = rng.uniform(0.01, 3.0, 2000)
    multiples = y * rng.integers(-1000, 1000, 2000)
    within = 0
    for width in (0, 1, 2, 1000, 2**40):
        spread = np.abs(np.spacing(multiples)) * width
        x = multiples - spread * rng.uniform(size=2000), multiples + spread * rng.uniform(size=2000)
        lower, upper = bounds_within(expression.tree, {"x": x, "y": (y, y)})
        for share in (0.0, 0.3, 0.5, 0.9, 1.0):
            values = expression(x=x[0] + share * (x[1] - x[0]), y=y)
            assert np.all((lower <= values) & (values <= upper))
        within += np.count_nonzero(upper - lower < 0.5 * y)
    assert within > 1000


@pytest.mark.parametrize(
    "text", ["1/x", "log(x)", "sqrt(x - 0.1)", "exp(1000*x)", "1/(y - 0.3)", "0/exp(1000*x)", "x//(0*x)"]
)
def test_where_a_value_may_be_infinite_there_are_no_bounds(text: str) -> None:
    assert math.isnan(bounds(Expression.parse(text).tree, {"x": (0.0, 1.0), "y": (0.0, 1.0)})[0])


def test_bounds_may_be_infinite_where_that_is_asked_for() -> None:
    """As those of exponentials that overflow; no value that is a number lies outside."""
    source, rng = random.Random(7), np.random.default_rng(7)
    known = 0
    for _ in range(1000):
        expression = Expression.from_tree(made_up(source, [*OPERATIONS, *["exp", "cosh", "/"] * 5], 5), VARIABLES)
        ends = {
            name: np.sort(rng.choice([1.0, 30.0, 1e3], 40) * rng.normal(size=(2, 40)), axis=0) for name in VARIABLES
        }
        lower, upper = bounds_within(expression.tree, {name: (a, b) for name, (a, b) in ends.items()}, infinite=True)
        assert np.array_equal(np.isnan(lower), np.isnan(upper))
        finite = np.isfinite(lower) & np.isfinite(upper)
        slack = LAST_DIGITS * np.where(finite, np.abs(lower) + np.abs(upper), 0.0)
        for _ in range(20):
            found = expression(**{name: rng.uniform(a, b) for name, (a, b) in ends.items()})
            outside = (found < lower - slack) | (found > upper + slack)
            assert not np.any(outside), expression.text
        known += np.count_nonzero(np.isinf(lower) | np.isinf(upper))
    assert known > 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/(1 + exp(-1e6*x))", (1.0, 1.0)),
        ("1/(1 + exp(1e6*x))", (0.0, 0.0)),
        ("1/cosh(1e4*x)", (0.0, 0.0)),
        ("exp(1e6*x)", (math.inf, math.inf)),
    ],
)
def test_what_overflows_on_the_way_is_bounded(text: str, expected: tuple[float, float]) -> None:
    x = np.array([0.5]), np.array([0.6])
    lower, upper = bounds_within(Expression.parse(text).tree, {"x": x}, infinite=True)
    assert (float(lower[0]), float(upper[0])) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("x**9", "x**10", "x**-9", "x**-10", "(x - 1)**11*y", "abs(x)**12.5", "x**20"),
        *("atan2(x, y)", "atan2(sin(x), cos(y))", "x % y", "x // y", "(x**3) % (y + 0.5)", "7 % x", "x//(y*y + 0.1)"),
    ],
)
def test_no_value_lies_outside_of_the_bounds(text: str) -> None:
    """Powers of whole numbers above 8, angles, and periods that change themselves, in boxes of all sizes."""
    rng, f = np.random.default_rng(), Expression.parse(text, ("x", "y"))
    low, width = rng.uniform(-3, 3, (2, 5000)), 10 ** rng.uniform(-8, 0.7, (2, 5000))
    low[0, ::7] = 0.0
    lower, upper = bounds_within(f.tree, {"x": (low[0], low[0] + width[0]), "y": (low[1], low[1] + width[1])})
    for _ in range(20):
        share = np.where(rng.random((2, 5000)) < 0.1, rng.integers(0, 2, (2, 5000)), rng.random((2, 5000)))
        with np.errstate(all="ignore"):
            values = np.broadcast_to(f(x=low[0] + share[0] * width[0], y=low[1] + share[1] * width[1]), 5000)
        slack = 1e-14 * np.abs(values)
        assert not np.any(np.isfinite(values) & ((values < lower - slack) | (values > upper + slack)))


SINE, COSINE = math.asin(0.5**0.1), math.acos(0.2 ** (1 / 9))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(((t - 4.3)/1e-3)**10 < 1)", [4.299, 4.301]),
        ("(((t - 4.3)/1e-3)**9 > 1)", [4.301]),
        (
            "(sin(t)**10 > 0.5)",
            [k * math.pi + s for k in range(4) for s in (SINE, math.pi - SINE)][:6],
        ),
        ("abs(sin(5*t)**20)", []),
        ("max(0.2, cos(t)**9)", [COSINE, 2 * math.pi - COSINE, 2 * math.pi + COSINE]),
        ("(atan2(sin(2*t), cos(2*t)) > 2.5)", [k * math.pi + s for k in range(4) for s in (1.25, math.pi / 2)][:6]),
        ("(t % (1 + 0.05*t) < 0.2)", [s for k in range(7) for s in (k / (1 - k / 20), (k + 0.2) / (1 - k / 20))][1:14]),
        ("(1/t > 2)", [0.5]),
        ("((t - 1)**9 > 0.001)", [1 + 0.001 ** (1 / 9)]),
    ],
)
def test_all_jumps_are_found(text: str, expected: list[float]) -> None:
    found, complete = searched_changes(Expression.parse(text, ("t",)).tree, "t", 0.0, 10.0)
    assert complete
    places = [t for t in found if not any(abs(t - s) < 1e-9 for s in (0.0, 10.0))]
    for place in expected:
        assert np.min(np.abs(np.array(places) - place)) < 1e-9, f"{place} is not among {places}"
    if "%" not in text and "max" not in text:
        assert len(places) == len(expected)
