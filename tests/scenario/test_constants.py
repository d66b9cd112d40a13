"""`[constants]`: named numbers give what their values would, wherever a number or an expression stands."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from running import no_hang
from schema_check import faults

import simsuite
from simsuite.errors import ScenarioError
from simsuite.scenario import Scenario, editor_schema, load

HEAT = """\
solver = "heat"
units = "degC"
[constants]
w = "35 mm"
h = 12
minute = "1 min"
area = "w*w"
cold = "20 degC"
n = 8
[grid]
nx = "2*n"
ny = 12
lx = "2*w"
ly = "w"
[material]
conductivity = "20 W/(m K)"
density = "2 g/cm^3"
specific_heat = "0.9 kJ/(kg K)"
[initial]
temperature = "cold"
[boundary]
left = {kind = "convection", h = "h", ambient = "cold + 2*sin(t/minute)"}
right = [{to = "w/2", kind = "temperature", value = "68 degF"}, {from = "w/2", kind = "flux", value = "1 kW/m²"}]
[[source]]
power = "4.5/(area*1e-3)*(x < w/2)*(t > minute)"
[[region]]
shape = "circle"
center = ["w", "w/2"]
radius = "5 mm"
conductivity = "400 W/m/K"
[[probe]]
name = "middle"
x = "w"
y = "50 %"
[time]
end = "2 min"
[output]
every = "minute"
[run]
device = "cpu"
""".replace('y = "50 %"', 'y = "w/2"')
HEAT_NUMBERS = """\
solver = "heat"
units = "degC"
grid = {nx = 16, ny = 12, lx = 0.07, ly = 0.035}
material = {conductivity = 20.0, density = 2000.0, specific_heat = 900.0}
initial = {temperature = 20.0}
time = {end = 120.0}
output = {every = 60.0}
run = {device = "cpu"}
[boundary]
left = {kind = "convection", h = 12.0, ambient = "20.0 + 2*sin(t/60.0)"}
right = [{to = 0.0175, kind = "temperature", value = 20.0}, {from = 0.0175, kind = "flux", value = 1000.0}]
[[source]]
power = "4.5/(AREA*1e-3)*(x < 0.035/2)*(t > 60.0)"
[[region]]
shape = "circle"
center = [0.035, 0.0175]
radius = 0.005
conductivity = 400.0
[[probe]]
name = "middle"
x = 0.035
y = 0.0175
""".replace("AREA", repr(0.035 * 0.035))

GBM = """\
solver = "gbm"
[constants]
K = 95
vol = "20 %"
r = "3 %"
half = "6 months"
[market]
rate = "r"
[[asset]]
spot = "K + 5"
volatility = [[0, "vol"], ["half", "1.5*vol"]]
dividends = [{time = "3 months", proportion = "1 %"}]
[time]
end = "1 year"
steps = "12*2"
[paths]
count = "2**10"
[[option]]
style = "asian"
payoff = "call"
strike = "K"
fixings = ["half", "12 months"]
[[option]]
style = "expression"
value = "max(last(A) - K, 0)*(max(A) > 1.1*K)"
[run]
device = "cpu"
"""
GBM_NUMBERS = """\
solver = "gbm"
market = {rate = 0.03}
time = {end = 1.0, steps = 24}
paths = {count = 1024}
run = {device = "cpu"}
[[asset]]
spot = 100.0
volatility = [[0, 0.2], [0.5, VOL]]
dividends = [{time = 0.25, proportion = 0.01}]
[[option]]
style = "asian"
payoff = "call"
strike = 95.0
fixings = [0.5, 1.0]
[[option]]
style = "expression"
value = "max(last(A) - 95.0, 0)*(max(A) > 1.1*95.0)"
""".replace("VOL", repr(1.5 * 0.2))

LINEAR = """\
solver = "linear"
[constants]
k = "200 N/m"
m = "500 g"
c = 0.3
tau = "1 ms"
[system]
kind = "continuous"
matrix = [[0, 1], ["-k/m", "-c/m"]]
input_matrix = [[0], ["1/m"]]
input = ["sin(t/tau)*k"]
[initial]
state = ["2*c", 0]
[time]
steps = 10
dt = "tau"
[run]
device = "cpu"
"""
LINEAR_NUMBERS = """\
solver = "linear"
initial = {state = [0.6, 0]}
time = {steps = 10, dt = 0.001}
run = {device = "cpu"}
[system]
kind = "continuous"
matrix = [[0, 1], [-400.0, -0.6]]
input_matrix = [[0], [2.0]]
input = ["sin(t/0.001)*200.0"]
"""
PAIRS = {"heat": (HEAT, HEAT_NUMBERS), "gbm": (GBM, GBM_NUMBERS), "linear": (LINEAR, LINEAR_NUMBERS)}


def scenario(directory: Path, text: str, *overrides: str) -> Scenario:
    (directory / "s.toml").write_text(text, encoding="utf-8")
    return load(directory / "s.toml", overrides)


def mistakes(directory: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario(directory, text, *overrides)
    return caught.value.report


@pytest.mark.parametrize("solver", PAIRS)
def test_a_scenario_with_constants_and_units_is_the_one_with_their_numbers(solver: str, tmp_path: Path) -> None:
    named, plain = (scenario(tmp_path, text) for text in PAIRS[solver])
    without = named.model.model_copy(update={"constants": None}).model_dump(mode="json", by_alias=True)
    expected = plain.model.model_dump(mode="json", by_alias=True)
    if solver == "gbm":
        payoffs = [s.model.payoff(s.model.option[1]) for s in (named, plain)]
        assert payoffs[0] == payoffs[1]
        assert payoffs[0].tree == payoffs[1].tree
    assert without == expected


@pytest.mark.parametrize("solver", PAIRS)
def test_what_is_written_loads_back(solver: str, tmp_path: Path) -> None:
    first = scenario(tmp_path, PAIRS[solver][0])
    again = scenario(tmp_path, first.resolved_toml())
    assert again.model == first.model
    assert again.resolved_toml() == first.resolved_toml()
    assert first.differences(again.resolved_toml()) == []


@pytest.mark.parametrize("solver", PAIRS)
def test_runs_have_the_same_bits(solver: str, tmp_path: Path) -> None:
    found = []
    for name, text in zip(("named", "plain"), PAIRS[solver]):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
        run = simsuite.run(tmp_path / f"{name}.toml", directory=tmp_path / name)
        found.append({key: np.asarray(value) for key, value in run.dataset.variables.items()})
    assert found[0].keys() == found[1].keys()
    for key, values in found[0].items():
        np.testing.assert_array_equal(values, found[1][key], err_msg=key)


@pytest.mark.parametrize("solver", PAIRS)
def test_editors_take_texts_for_numbers(solver: str) -> None:
    for text in PAIRS[solver]:
        for schema in (editor_schema(solver), editor_schema()):
            assert list(faults(tomllib.loads(text), schema, schema)) == []
    schema = editor_schema("heat")
    assert list(faults(tomllib.loads(HEAT) | {"grid": {"nx": -1, "ny": 1}}, schema, schema))


def test_an_override_changes_all_that_is_made_of_a_constant(tmp_path: Path) -> None:
    model = scenario(tmp_path, HEAT, "constants.w=40 mm", "constants.h=2*n").model
    assert (model.grid.lx, model.grid.ly, model.constants["area"]) == (0.08, 0.04, 0.04 * 0.04)
    assert model.boundary.left.h.value == 16.0
    first = scenario(tmp_path, HEAT)
    other = scenario(tmp_path, HEAT, "constants.h=13").resolved_toml()
    assert first.differences(other) == ["constants.h", "boundary.left.h"]
    unused = scenario(tmp_path, HEAT.replace("n = 8", "n = 8\nunused = 3"))
    assert first.differences(unused.resolved_toml()) == []


def test_other_values_compile_nothing_new(tmp_path: Path) -> None:
    texts = []
    for w in ("0.035", "-0.04"):
        power = scenario(tmp_path, HEAT.replace('power = "', 'power = "w*'), f"constants.w={abs(float(w))}")
        texts.append(power.model.source[0].power.scalar_source("f", ("x", "y", "t", "T"), simulated=False)[0])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ('a = "b"\nb = "2*c"\nc = "a + 1"', "is made of itself: `a` needs `b` needs `c` needs `a`"),
        ('a = "a + 1"', "is made of itself: `a` needs `a`"),
        ('a = "b + 1"', "unknown name `b`"),
        ("x = 1", "`x` is a variable of expressions"),
        ("pi = 3", "`pi` is a constant already"),
        ("sin = 3", "`sin` is a function of expressions"),
        ("if = 3", "`if` has a meaning of its own in expressions"),
        ('"a b" = 3', "`a b` cannot be the name of a constant"),
        ("a = true", "`a` must be a number, or text"),
        ("a = [1]", "`a` must be a number, or text"),
        ("a = inf", "`a` must be a finite number"),
        ('a = "1e300*1e300"', "has no finite value"),
        ('a = "1e300 km"', ""),
        ('a = "5 furlongz"', "unknown unit `furlongz`"),
        ('a = "2*x"', "unknown name `x`"),
        ('a = ""', "the expression is empty"),
        ('a = "5 dB"', "is no unit that a number can be converted from"),
    ],
)
def test_mistakes_in_constants(constants: str, said: str, tmp_path: Path) -> None:
    text = HEAT_NUMBERS.replace('solver = "heat"', "") + f"[constants]\n{constants}\n"
    text = 'solver = "heat"\n' + text
    if said:
        assert said in mistakes(tmp_path, text)
    else:
        assert scenario(tmp_path, text).model.constants == {"a": 1e303}


def test_every_mistake_is_told_and_those_that_follow_from_others_are_not(tmp_path: Path) -> None:
    report = mistakes(tmp_path, HEAT_NUMBERS + '[constants]\na = "1/0"\nb = "2*a"\nc = "nothing"\n')
    assert "divi" in report or "by 0" in report
    assert "unknown name `nothing`" in report
    assert report.endswith("2 mistakes")


def test_a_constant_that_comes_later_is_known_as_one(tmp_path: Path) -> None:
    text = HEAT_NUMBERS + '[constants]\nrate = "0.1/h"\nh = 25.0\n'
    assert scenario(tmp_path, text).model.constants["rate"] == 0.1 / 25.0
    assert "`h` is a unit and a constant here" in mistakes(tmp_path, text.replace("0.1/h", "5 h"))


def test_rates_and_times_of_gbm_are_in_years(tmp_path: Path) -> None:
    text = GBM.replace('r = "3 %"', 'r = "3 %/year"\nhorizon = "10 years"\ngrowth = "exp(r*horizon)"')
    model = scenario(tmp_path, text).model
    assert (model.market.rate.value, model.constants["horizon"]) == (0.03, 10.0)
    assert model.constants["growth"] == math.exp(0.3)


def test_no_table(tmp_path: Path) -> None:
    report = mistakes(tmp_path, 'constants = 5\nsolver = "heat"\n')
    assert "`constants` must be a table" in report


def test_a_variable_hides_no_constant_and_names_are_proposed(tmp_path: Path) -> None:
    report = mistakes(tmp_path, HEAT, "grid.lx=2*W", "boundary.left.h=hh*2")
    assert "unknown name `W`" in report
    assert "did you mean `w`?" in report
    assert "did you mean `h`?" in report


def test_bounds_are_checked_with_the_value(tmp_path: Path) -> None:
    assert "`h` must be at least 0, got -12" in mistakes(tmp_path, HEAT, "boundary.left.h=-h")
    assert "`lx` must be greater than 0, got -0.07" in mistakes(tmp_path, HEAT, "grid.lx=-2*w")
    assert "`nx` must be a whole number, got 0.5" in mistakes(tmp_path, HEAT, "grid.nx=n/16")


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c_1"]), st.floats(-1e6, 1e6), min_size=3),
    st.recursive(
        st.sampled_from(["a", "b", "c_1", "2", "x"]),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
            inner.map(lambda e: f"-{e}"),
            inner.map(lambda e: f"{e}**2"),
            inner.map(lambda e: f"abs({e})"),
        ),
        max_leaves=8,
    ),
)
def test_random_expressions_with_constants_have_the_value_that_python_has(
    constants: dict[str, float], text: str
) -> None:
    from simsuite.expressions import Expression

    expression = Expression.parse(text, ("x",), constants)
    try:
        expected = float(eval(text, {"abs": abs}, {**constants, "x": 0.7}))
    except OverflowError:
        assume(False)
    assert float(expression(x=0.7)) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    again = Expression.parse(expression.text, ("x",))
    assert again == expression
    assert again.tree == expression.tree
    assert not set(constants) & {name for name in expression.text.replace("abs", "").split() if name.isidentifier()}


def test_hostile_constants_come_to_an_end(tmp_path: Path) -> None:
    many = "\n".join(f'a{i} = "a{i + 1} + a{i + 1}"' for i in range(900)) + "\na900 = 1.0\n"
    with no_hang():
        constants = scenario(tmp_path, HEAT_NUMBERS + f"[constants]\n{many}").model.constants
        assert constants["a0"] == math.ldexp(1.0, 900)
        assert "more than 1000" in mistakes(
            tmp_path, HEAT_NUMBERS + "[constants]\n" + "\n".join(f"a{i} = 1" for i in range(1001))
        )
        for text in ("9**9**9**9", "(" * 500, "1" * 1990, "-" * 1900 + "1", "a.b", "lambda: 1", "2 m**9999999"):
            mistakes(tmp_path, HEAT_NUMBERS + f'[constants]\na = "{text}"\n')
