"""Manufactured solutions: the heat equation and its edges hold, by differences in many digits and by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest

from simsuite.errors import ScenarioError
from simsuite.expressions import Expression, ExpressionError, symbolic
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid import manufactured
from simsuite.solvers.heat.statement import discretise
from simsuite.verify.heat import cases

SPACE_TIME = ("x", "y", "t")
ONE = Expression.constant(1.0)
EDGES = {"left": ("x", -1), "right": ("x", 1), "bottom": ("y", -1), "top": ("y", 1)}


def in_space(text: str) -> Expression:
    return Expression.parse(text, ("x", "y"))


def of_temperature(text: str) -> Expression:
    return Expression.parse(text, ("x", "y", "T"))


def in_all(text: str) -> Expression:
    return Expression.parse(text, ("x", "y", "t", "T"))


CASES = {  # T, kx, ky, ρc, given sources
    "everything": (
        "1 + exp(-t)*sin(2*pi*x)*cos(pi*y) + x*y",
        "(1 + 0.5*sin(2*pi*x)*sin(2*pi*y))*(1 + 0.1*T)",
        "(1 + 0.5*sin(2*pi*x)*sin(2*pi*y))*(1 + 0.1*T)",
        "1 + 0.3*x*y",
        ["T*(1 - T)", "exp(-t)*x"],
    ),
    "orthotropic": ("exp(-x*t)*cosh(y) + 2", "2 + x", "3 + y*T**2", "2.5", []),
    "steel": ("300 + 50*exp(-1e-3*t)*sin(pi*x)*sin(pi*y)", "45*(1 - 1e-4*T)", "45.0", "7800*470.0", ["1e6*exp(-x)"]),
    "branches": ("x**2*y + t", "where(T > 1, 1 + (T - 1)**2, 1)", "max(T, 0.5)", "1.0", ["min(T, 1)"]),
}


def expressions(name: str):
    T, kx, ky, rho_c, given = CASES[name]
    return (
        Expression.parse(T),
        of_temperature(kx),
        of_temperature(ky),
        in_space(rho_c),
        [in_all(power) for power in given],
    )


def digits(text: str):
    """The function of x, y, t and T in many digits, by Python and mpmath."""
    library = {name: getattr(mpmath, name) for name in ("sin", "cos", "cosh", "exp")}
    library |= {"where": lambda condition, a, b: a if condition else b, "min": min, "max": max, "pi": math.pi}
    return eval(f"lambda x, y, t, T=None: {text}", library)


def flux(k: str, T: str, axis: str):
    """k ∂T/∂axis as a function of x, y, t."""
    order = (int(axis == "x"), int(axis == "y"), 0)
    return lambda *point: digits(k)(*point, digits(T)(*point)) * mpmath.diff(digits(T), point, order)


def points(count: int = 8) -> np.ndarray:
    return np.random.default_rng(2).uniform(0.05, 0.95, (count, 3))


def at(expression: Expression, point) -> float:
    assert expression.variables == SPACE_TIME
    return float(expression(**dict(zip(SPACE_TIME, point))))


@pytest.mark.parametrize("name", CASES)
def test_the_heat_equation_holds(name):
    T, kx, ky, rho_c, given = CASES[name]
    q = manufactured.source(*expressions(name))
    for point in points():
        with mpmath.workdps(60):
            place = tuple(map(mpmath.mpf, point))
            terms = [digits(rho_c)(*place) * mpmath.diff(digits(T), place, (0, 0, 1))]
            terms += [-mpmath.diff(flux(kx, T, "x"), place, (1, 0, 0))]
            terms += [-mpmath.diff(flux(ky, T, "y"), place, (0, 1, 0))]
            terms += [-digits(power)(*place, digits(T)(*place)) for power in given]
            expected, size = float(sum(terms)), float(max(map(abs, terms)))
        assert at(q, point) == pytest.approx(expected, abs=1e-12 * size)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", CASES)
def test_flux_at_edges(name, edge):
    T, kx, ky, *_ = CASES[name]
    axis, sign = EDGES[edge]
    into = manufactured.flux_in(*expressions(name)[:3], edge)
    for point in points(4):
        with mpmath.workdps(40):
            expected = sign * flux(kx if axis == "x" else ky, T, axis)(*map(mpmath.mpf, point))
        assert at(into, point) == pytest.approx(float(expected), rel=1e-12)


def test_heat_flows_in_where_it_is_hotter_outside():
    """T = x + 2y with k = (3, 5): what comes in at the right and the top leaves at the left and the bottom."""
    fluxes = [
        manufactured.flux_in(Expression.parse("x + 2*y"), Expression.constant(3), Expression.constant(5), edge).value
        for edge in EDGES
    ]
    assert fluxes == [-3.0, 3.0, -10.0, 10.0]


@pytest.mark.parametrize(
    ("T", "k", "expected"),
    [
        ("exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)", "1", "0"),
        ("exp(-2*pi**2*1e-4*t)*sin(pi*x)*sin(pi*y)", "1e-4", "0"),
        ("x**2 - y**2", "1", "0"),
        ("sqrt(1 + 2*x)", "T", "0"),  # ∂x(T ∂x T) = ∂²x T²/2
        ("erfc(x/sqrt(4*t))", "1", "0"),
        ("x**2*t", "1 + T", "x**2 - 2*t - 6*x**2*t**2"),
        ("7", "1 + T", "0"),
    ],
)
def test_sources_found_by_hand(T, k, expected):
    k = of_temperature(k)
    q = manufactured.source(Expression.parse(T), k, k, ONE, [])
    for point in points():
        assert at(q, point) == pytest.approx(at(Expression.parse(expected), point), abs=1e-14)


def test_nothing_is_left_where_nothing_is_needed():
    T = Expression.parse("exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)")
    assert manufactured.source(T, ONE, ONE, ONE, []) == Expression.constant(0.0, SPACE_TIME)
    given = [in_all("-T")]
    assert manufactured.source(Expression.parse("exp(-t)"), ONE, ONE, ONE, given).value == 0.0


def test_initial_and_edge_values():
    T = Expression.parse("20 + exp(-t)*sin(pi*x) + t*log(y)")
    assert manufactured.initial(T) == Expression.parse("20 + sin(pi * x)", ("x", "y"))
    assert manufactured.edge_value(T) == T
    assert manufactured.edge_value(Expression.constant(3.0)).variables == SPACE_TIME
    with pytest.raises(ExpressionError, match="divides by zero"):
        manufactured.initial(Expression.parse("exp(-x**2/t)/t"))


@pytest.mark.parametrize("edge", EDGES)
def test_ambient_temperatures_give_the_flux(edge):
    T, kx, ky, *_ = expressions("steel")
    into = manufactured.flux_in(T, kx, ky, edge)
    h, emissivity = Expression.parse("25 + 5*x*t"), Expression.constant(0.9)
    convection = manufactured.ambient_convection(T, into, h)
    radiation = manufactured.ambient_radiation(T, into, emissivity)
    hot = 0
    for point in points():
        expected = at(into, point)
        assert at(h, point) * (at(convection, point) - at(T, point)) == pytest.approx(expected, abs=1e-9)
        ambient = at(radiation, point)
        if math.isnan(ambient):  # nothing radiates less than nothing
            assert expected < -0.9 * 5.670374419e-8 * at(T, point) ** 4
        else:
            hot += 1
            assert 0.9 * 5.670374419e-8 * (ambient**4 - at(T, point) ** 4) == pytest.approx(expected, abs=1e-9)
    assert hot


def test_stefan_boltzmann_constant():
    """2π⁵k⁴/(15h³c²) from the constants that define the SI."""
    k, h, c = 1.380649e-23, 6.62607015e-34, 299792458
    assert pytest.approx(2 * math.pi**5 * k**4 / (15 * h**3 * c**2), rel=1e-9) == manufactured.STEFAN_BOLTZMANN


@pytest.mark.parametrize("name", CASES)
def test_sources_compile(name):
    q = manufactured.source(*expressions(name))
    compiled = numba.njit(error_model="numpy")(q.scalar_function(SPACE_TIME))
    for point in points(50):
        assert compiled(*point) == pytest.approx(at(q, point), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(("k", "function"), [("1 + floor(x)", "floor"), ("1 + T % 1", "%")])
def test_what_cannot_be_differentiated_is_refused(k, function):
    with pytest.raises(ExpressionError, match=f"`{function}` has no derivative"):
        manufactured.source(Expression.parse("x*y*t"), of_temperature(k), ONE, ONE, [])


COLD = {"left": {"kind": "convection", "h": 1e-4}, "right": {"kind": "radiation", "emissivity": 1e-6}}
COLD |= {"bottom": {"kind": "flux"}, "top": {"kind": "flux"}}


def test_surroundings_may_be_colder_than_anything_where_heat_does_not_go_by_their_fourth_power(heat: Callable) -> None:
    """The ambient temperature of a small h is a number in the equation, as is one in °C; that of a small emissivity is
    no number."""
    reference = {"temperature": "300 + 100*(x + y)*exp(-t)", "manufactured": True}
    given = {"reference": reference, "time": {"end": 1.0}}
    for units, right in (("K", COLD["right"] | {"emissivity": 1.0}), ("degC", {"kind": "flux"})):
        made = heat(**given, units=units, boundary=COLD | {"right": right}, material={"diffusivity": 1e-9}).made
        assert min(float(np.min(T)) for T in made.edges.temperatures(0.0)) > 0
        made = heat(**given, units=units, boundary=COLD | {"right": right}, material={"diffusivity": 1e-3}).made
        assert min(float(np.min(T)) for T in made.edges.temperatures(0.0)) < -600
    with pytest.raises(ScenarioError) as caught:
        heat(**given | {"reference": reference | {"temperature": "300 - 100*x*exp(-t)"}}, boundary=COLD)
    (mistake,) = caught.value.mistakes
    assert mistake.message.startswith("`ambient` of the right edge is nan at x = 1 m, y = 0.0625 m at the start")
    assert "a larger emissivity" in str(mistake.help)


def test_edges_through_which_a_reference_conducts_are_named(heat: Callable) -> None:
    """One that is left out is insulated; help for it says what to add, and for a given one what to change."""
    reference = {"temperature": "300 + 100*(x + y*y)*exp(-t)", "manufactured": True}
    given = {"left": {"kind": "temperature"}, "right": {"kind": "insulated"}}
    with pytest.raises(ScenarioError) as caught:
        heat(reference=reference, time={"end": 1.0}, boundary=given)
    right, top = caught.value.mistakes  # nothing flows at y = 0
    assert right.message == "the reference is not insulated at the right edge: its heat flux reaches 100 W/m²"
    assert right.help == 'write kind = "flux", whose value is derived'
    assert top.message == "the reference is not insulated at the top edge: its heat flux reaches 200 W/m²"
    assert top.help == 'write top = {kind = "flux"} under [boundary], whose value is derived'


def test_sources_and_edges_are_derived_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same solution on several grids, as in a refinement study: SymPy is asked once for each expression."""
    asked: Counter[tuple] = Counter()
    for name in ("derivative", "simplified"):

        def counted(*given, right=getattr(symbolic, name), name=name):
            asked[(name, *given)] += 1
            return right(*given)

        monkeypatch.setattr(symbolic, name, counted)
    # numbers that no other test has, so that nothing of it is kept from before
    plate = cases.manufactured("convection", "orthotropic", 8, {})
    plate["reference"]["temperature"] += " + 0.123456789*x*y*t"
    found = []
    for n in (8, 12, 16):
        mistakes: list = []
        plate["grid"] |= {"nx": n, "ny": n}
        found.append(discretise(HeatScenario.model_validate(plate), Path(), mistakes))
        assert not mistakes
    assert len(asked) > 5
    assert set(asked.values()) == {1}
    assert {made.sources[-1].text for made in found} == {found[0].sources[-1].text}
