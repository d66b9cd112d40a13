"""Which values the members of a sweep have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simsuite.errors import UsageError
from simsuite.sweeps.plan import Axis, Law, Plan, make_plan, parse_axis

MOST = 10_000


def plan(*texts: str, paired: bool = False, count: int | None = None, latin: bool = False, seed: int = 1) -> Plan:
    return make_plan([parse_axis(text) for text in texts], paired, count, latin, seed, MOST)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=5,10,20", (5, 10, 20)),
        ("a=1.5", (1.5,)),
        ("a=linspace(1, 5, 9)", (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)),
        ("a=geomspace(1,100,3)", (1.0, 10.0, 100.0)),
        ("time.stepper=adi, rkl2", ("adi", "rkl2")),
        ("time.stepper=adi,5", ("adi", 5)),
        ("a='x, y', 'z'", ("x, y", "z")),
        ("a=[1,2],[3,4]", ([1, 2], [3, 4])),
        ("a=[[1,2],[3,4]]", ([1, 2], [3, 4])),
        ("a=true,false", (True, False)),
        ("constants.w=5 mm, 6 mm", ("5 mm", "6 mm")),
        ("a=uniform(1,5)", Law("uniform", 1.0, 5.0)),
    ],
)
def test_values(text: str, values: object) -> None:
    axis = parse_axis(text)
    assert axis.key == text.partition("=")[0]
    assert axis.values == values


@pytest.mark.parametrize(
    "text",
    [
        *("a", "=5", "a=", "a=1,,2", "a=linspace(1,2)", "a=linspace(1,2,0)", "a=linspace(1,2,1.5)"),
        *("a=linspace(a,b,3)", "a=linspace(nan,1,3)", "a=geomspace(-1,1,3)", "a=geomspace(0,1,3)"),
        *("a=normal(1,0)", "a=uniform(2,1)", "a=loguniform(0,1)", "a=uniform(1,2,3)"),
    ],
)
def test_values_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError):
        parse_axis(text)


def test_all_combinations_in_order() -> None:
    found = plan("a=1,2", "b=x,y,z")
    assert found.members == ((1, "x"), (1, "y"), (1, "z"), (2, "x"), (2, "y"), (2, "z"))
    assert (found.keys, found.shape, found.is_product) == (("a", "b"), (2, 3), True)
    assert found.words(4) == "a=2 b=y"


def test_pairs() -> None:
    found = plan("a=1,2,3", "b=x,y,z", paired=True)
    assert found.members == ((1, "x"), (2, "y"), (3, "z"))
    assert (found.shape, found.is_product) == ((3,), False)
    with pytest.raises(UsageError, match="`a` 2, `b` 3"):
        plan("a=1,2", "b=1,2,3", paired=True)


@pytest.mark.parametrize("latin", [False, True])
def test_samples_follow_their_laws(latin: bool) -> None:
    """Mean and standard deviation of 4000 samples; a Latin hypercube has one in each of 4000 strata."""
    n = 4000
    found = plan("a=uniform(2,6)", "b=loguniform(1,100)", "c=normal(5,0.5)", "d=x,y", count=n, latin=latin)
    a, b, c, d = zip(*found.members)
    within = 4 / math.sqrt(n)
    assert np.mean(a) == pytest.approx(4, abs=within * 4 / math.sqrt(12))
    assert np.std(a) == pytest.approx(4 / math.sqrt(12), rel=within)
    logs = np.log(np.array(b, float))
    assert logs.mean() == pytest.approx(math.log(100) / 2, abs=within * math.log(100) / math.sqrt(12))
    assert np.mean(c) == pytest.approx(5, abs=within * 0.5)
    assert np.std(c) == pytest.approx(0.5, rel=within)
    assert abs(d.count("x") / n - 0.5) < within / 2
    if latin:
        strata = np.floor((np.array(a, float) - 2) / 4 * n).astype(int)
        assert sorted(strata) == list(range(n))
    again = plan("a=uniform(2,6)", "b=loguniform(1,100)", "c=normal(5,0.5)", "d=x,y", count=n, latin=latin)
    assert again == found
    other = plan("a=uniform(2,6)", "b=loguniform(1,100)", "c=normal(5,0.5)", "d=x,y", count=n, latin=latin, seed=2)
    assert other != found


def test_what_cannot_be_swept() -> None:
    with pytest.raises(UsageError, match="nothing varies"):
        plan()
    with pytest.raises(UsageError, match="varied twice"):
        plan("a=1", "a=2")
    with pytest.raises(UsageError, match="drawn at random"):
        plan("a=uniform(1,2)")
    with pytest.raises(UsageError, match="a way to draw samples"):
        plan("a=1,2", latin=True)
    with pytest.raises(UsageError, match="has 40000 members"):
        plan("a=linspace(0,1,200)", "b=linspace(0,1,200)")
    with pytest.raises(UsageError, match="has 20000 members"):
        make_plan([Axis("a", Law("uniform", 0.0, 1.0))], False, 20000, False, 1, MOST)
