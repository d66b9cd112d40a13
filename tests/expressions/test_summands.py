"""Parts that an expression adds up from, as functions of one variable."""

from __future__ import annotations

import pytest

from simsuite.expressions import Expression
from simsuite.expressions.summands import summands


def parts(text: str) -> set[str]:
    variables = ("x", "t")
    return {
        Expression.from_tree(tree, variables).text for tree in summands(Expression.parse(text, variables).tree, "t")
    }


def texts(*expected: str) -> set[str]:
    """As they are written when they are made of trees."""
    return {Expression.from_tree(Expression.parse(text, ("x", "t")).tree, ("x", "t")).text for text in expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 + exp(t)", ["exp(t)"]),
        ("exp(t) - sin(t)", ["exp(t)", "sin(t)"]),
        ("-(x*exp(t) + 2*sin(t))/4", ["exp(t)", "sin(t)"]),
        ("(exp(t) + sin(t))*cosh(t)/sqrt(t)", ["exp(t)*cosh(t)/sqrt(t)", "sin(t)*cosh(t)/sqrt(t)"]),
        ("(2 + exp(t) + sin(t))*cosh(t)", ["exp(t)*cosh(t)", "sin(t)*cosh(t)", "cosh(t)"]),
        ("(1 + 3*sin(t))*(t - 3)", ["(1 + 3*sin(t))*(t - 3)"]),
        ("(exp(t) + sin(t))*(cosh(t) - t)", ["exp(t)*cosh(t)", "exp(t)*t", "sin(t)*cosh(t)", "sin(t)*t"]),
        ("where(x < 1, exp(t) + sin(t), 5)", ["where(x < 1, exp(t), 0)", "where(x < 1, sin(t), 0)"]),
        ("max(0, exp(t) + sin(t))", ["max(0, exp(t) + sin(t))", "exp(t)", "sin(t)"]),
        ("exp(-((t - 3)/0.1)**2)", ["exp(-((t - 3)/0.1)**2)"]),
        ("x + 1", []),
    ],
)
def test_what_an_expression_adds_up_from(text: str, expected: list[str]) -> None:
    assert parts(text) == texts(*expected)


def test_an_expression_of_very_many_parts_stays_whole() -> None:
    """A product of sums of four has four to the power of their number."""
    text = "*".join(f"(sin({k}*t) + cos({k}*t) + exp({k}*t) + cosh({k}*t))" for k in range(2, 8))
    assert len(parts(text)) == 24 + 1  # the product itself, and what its factors add up from


def test_parts_that_add_up_give_the_whole() -> None:
    f = Expression.parse("(exp(t) + sin(t))*(cosh(t) + t)/(1 + t*t)", ("t",))
    found = [Expression.from_tree(tree, ("t",)) for tree in summands(f.tree, "t")]
    assert len(found) == 4
    for t in (-1.5, 0.3, 2.0):
        assert sum(float(part(t=t)) for part in found) == pytest.approx(float(f(t=t)), rel=1e-14)
