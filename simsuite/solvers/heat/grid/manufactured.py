"""Manufactured solutions: the source, edge and initial values with which a given temperature solves the heat equation.

    q = ρc ∂T/∂t - ∂x(kx ∂x T) - ∂y(ky ∂y T) - Σ given

makes T(x, y, t) the solution of ρc ∂T/∂t = ∇·(k∇T) + Σ given + q; kx, ky, ρc and the given sources may depend on T.
At the edges, with the heat flux into the domain f = k ∂T/∂n (n points outwards), T itself is the edge temperature and

    convection   h (a - T) = f          a = T + f / h
    radiation    εσ (a⁴ - T⁴) = f       a = (T⁴ + f / (εσ))^¼

(Roache, Code Verification by the Method of Manufactured Solutions, J. Fluids Eng. 124, 2002.) SI units throughout.
Everything here raises `ExpressionError` where a derivative is needed that does not exist. Where k or ∂T/∂n jumps, as
with `where` or `step`, q lacks the heat that a jump of the flux would set free: the flux must be continuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from simsuite.expressions import Expression
from simsuite.scenario.heat.physics import STEFAN_BOLTZMANN

_PLACE = ("x", "y")
_PLACE_AND_TIME = ("x", "y", "t")
_OUTWARDS = {"left": -1.0, "right": 1.0, "bottom": -1.0, "top": 1.0}

combine = Expression.combine


def source(T: Expression, kx: Expression, ky: Expression, rho_c: Expression, given: Sequence[Expression]) -> Expression:
    """q (W/m³) in x, y, t. T in x, y, t; kx, ky, rho_c and the given sources in x, y, t and T."""
    heating = combine("*", rho_c.substitute(T=T), T.derivative("t"))
    into = [_gradient(k, T, axis).derivative(axis) for k, axis in ((kx, "x"), (ky, "y"))]
    into += [power.substitute(T=T) for power in given]
    return _in(_PLACE_AND_TIME, reduce(lambda a, b: combine("-", a, b), into, heating))


def flux_in(T: Expression, kx: Expression, ky: Expression, edge: str) -> Expression:
    """f (W/m²) in x, y, t through the edge `left`, `right`, `bottom` or `top`, for x and y on it."""
    k, axis = (kx, "x") if edge in ("left", "right") else (ky, "y")
    return _in(_PLACE_AND_TIME, combine("*", _OUTWARDS[edge], _gradient(k, T, axis)))


def initial(T: Expression) -> Expression:
    """T at t = 0, in x and y."""
    return _in(_PLACE, T.substitute(t=Expression.constant(0.0)))


def edge_value(T: Expression) -> Expression:
    """The temperature at an edge, in x, y, t."""
    return replace(T, variables=_PLACE_AND_TIME)


def ambient_convection(T: Expression, flux_in: Expression, h: Expression) -> Expression:
    """The ambient temperature in x, y, t with which convection of coefficient h, W/(m²·K), gives the flux `flux_in`."""
    return _in(_PLACE_AND_TIME, combine("+", T, combine("/", flux_in, h)))


def ambient_radiation(T: Expression, flux_in: Expression, emissivity: Expression) -> Expression:
    """The ambient temperature (K) in x, y, t with which radiation gives the flux `flux_in`; NaN where no temperature is
    cold enough."""
    fourth = combine("+", _FOURTH_POWER.substitute(T=T), combine("/", flux_in, _radiance(emissivity)))
    return _in(_PLACE_AND_TIME, _FOURTH_ROOT.substitute(a=fourth))


_FOURTH_POWER = Expression.parse("T**4", ("T",))
_FOURTH_ROOT = Expression.parse("sqrt(sqrt(a))", ("a",))


def _radiance(emissivity: Expression) -> Expression:
    return combine("*", emissivity, STEFAN_BOLTZMANN)


def _gradient(k: Expression, T: Expression, axis: str) -> Expression:
    """The expression k ∂T/∂axis, in which T also replaces the variable T in k."""
    return combine("*", k.substitute(T=T), T.derivative(axis))


def _in(variables: tuple[str, ...], expression: Expression) -> Expression:
    """The expression simplified, as a function of these variables, even if not all of them occur in it."""
    return replace(expression.simplified(), variables=variables)
