"""Closed forms for geometric Brownian motion against published tables, QuantLib 1.44, mpmath and each other."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.closed_forms.quadrature import gauss_legendre

R5 = math.exp(-0.05)  # a year's discount at 5 %, the usual market: spot 100, no dividends, volatility 20 %
USUAL = (0.05, 0.05, 0.2, 1.0)  # rate, growth, volatility, end


def close(expected: float, digits: int):
    """To half a unit of the last digit given, and a little rounding."""
    return pytest.approx(expected, abs=0.6 * 10.0**-digits, rel=0)


def equidistant(n: int, end: float = 1.0, start: float | None = None) -> list[float]:
    if start is None:
        return [end * (i + 1) / n for i in range(n)]
    return [start + end * i / (n - 1) for i in range(n)]


# ---- quadrature


@pytest.mark.parametrize("n", [20, 400, 1000])
def test_gauss_legendre_weights_are_good_at_the_ends(n):
    """Those of the usual libraries are 1e-9 off there at n = 400: a function that lives there, 1 / sqrt(y + c)."""
    y, w = gauss_legendre(0.0, 2.0, n)
    c = 200 / n**2
    exactly = 2 * (math.sqrt(2 + c) - math.sqrt(c))
    assert w @ (1 / np.sqrt(y + c)) == pytest.approx(exactly, rel=1e-12)
    assert w @ y ** min(2 * n - 1, 60) == pytest.approx(2.0 ** (min(2 * n - 1, 60) + 1) / (min(2 * n - 1, 60) + 1))
    assert np.all(np.diff(y) > 0)


# ---- European and digital


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((100, 100, *USUAL, "call"), 10.450583572186),
        ((100, 100, *USUAL, "put"), 5.573526022257),
        ((100, 90, *USUAL, "call"), 16.699448408416),
        ((100, 110, *USUAL, "call"), 6.040088129724),
        ((100, 105, 0.05, 0.03, 0.25, 0.5, "call"), 5.520494749451),
        ((100, 105, 0.05, 0.03, 0.25, 0.5, "put"), 8.923052137509),
        ((60, 65, 0.08, 0.08, 0.3, 0.25, "call"), 2.133368444916),  # Haug
        ((100, 100, 0.03, 0.02, 0.35, 5.0, "call"), 32.320152681903),
        ((1, 1, *USUAL, "call"), 0.104505835721856),  # Giles
    ],
)
def test_black_scholes(arguments, expected):
    assert exact.european(*arguments) == close(expected, 12)


def test_european_greeks():
    greeks = exact.european_greeks(exact.Terms.constant(100, *USUAL), 100, "call")
    expected = (10.450583572186, 0.636830651176, 0.018762017346, 37.524034691694, 53.232481545376, -6.414027546438)
    assert dataclasses.astuple(greeks) == tuple(close(value, 12) for value in expected)
    vanna, volga = exact.european_vanna_volga(exact.Terms.constant(100, *USUAL), 100)
    assert (vanna, volga) == (close(-0.281430260188, 12), close(9.850059106570, 12))
    other = exact.european_greeks(exact.Terms.constant(100, *USUAL), 110, "call")
    assert (other.delta, other.vega) == (close(0.449647930637, 12), close(39.576048038819, 12))


def test_digital_options():
    call = exact.digital_greeks(exact.Terms.constant(100, *USUAL), 100, "call")
    assert (call.price, call.delta) == (close(0.532324815454, 12), close(0.018762017346, 12))
    assert exact.digital(100, 100, *USUAL, "put", cash=7.0) == pytest.approx(7 * (R5 - call.price), abs=1e-13)
    asset_or_nothing = exact.european(100, 100, *USUAL, "call") + 100 * call.price
    assert asset_or_nothing == close(63.683065117562, 12)


QUARTERS = (0.0, 0.25, 0.5, 0.75)
RATE, YIELD, VOLATILITY = (
    (QUARTERS, values) for values in ((0.01, 0.02, 0.03, 0.04), (0.0, 0.01, 0.01, 0.02), (0.15, 0.2, 0.25, 0.3))
)


def shifted(curve: exact.Curve, shift: float) -> exact.Curve:
    return curve[0], [value + shift for value in curve[1]]


def piecewise(rate: float = 0.0, volatility: float = 0.0, spot: float = 100.0, end: float = 1.0) -> exact.Terms:
    """The market of four quarters, its rates and volatilities shifted."""
    return exact.Terms.piecewise(spot, shifted(RATE, rate), YIELD, shifted(VOLATILITY, volatility), end)


@pytest.mark.parametrize(("strike", "expected"), [(90, 15.3613582887), (100, 9.8244713157), (110, 5.9416055123)])
def test_market_of_four_quarters(strike, expected):
    assert exact.european_price(piecewise(), strike, "call") == close(expected, 10)
    assert piecewise().deviation == close(0.2318404624, 10)


@pytest.mark.parametrize("payoff", ["call", "put"])
@pytest.mark.parametrize("family", [exact.european_greeks, exact.digital_greeks])
def test_greeks_are_derivatives(payoff, family):
    """Also where coefficients depend on time; the end between two of their dates."""
    end = 0.8

    def price(**market):
        return family(piecewise(**({"end": end} | market)), 105.0, payoff).price

    found = family(piecewise(end=end), 105.0, payoff)
    delta, gamma = exact.derivatives(lambda s: price(spot=s), 100.0, 10.0)
    assert found.delta == pytest.approx(delta, rel=1e-9)
    assert found.gamma == pytest.approx(gamma, rel=1e-7)
    assert found.vega == pytest.approx(exact.derivatives(lambda v: price(volatility=v), 0.0, 0.02)[0], rel=1e-9)
    assert found.rho == pytest.approx(exact.derivatives(lambda r: price(rate=r), 0.0, 0.01)[0], rel=1e-9)
    assert found.theta == pytest.approx(-exact.derivatives(lambda t: price(end=t), end, 0.04)[0], rel=1e-9)


def test_vanna_and_volga_are_derivatives():
    terms = piecewise(end=0.8)

    def greeks(shift):
        return exact.european_greeks(piecewise(volatility=shift, end=0.8), 105.0, "put")

    vanna, volga = exact.european_vanna_volga(terms, 105.0)
    assert vanna == pytest.approx(exact.derivatives(lambda v: greeks(v).delta, 0.0, 0.02)[0], rel=1e-9)
    assert volga == pytest.approx(exact.derivatives(lambda v: greeks(v).vega, 0.0, 0.02)[0], rel=1e-9)


def test_greeks_by_differences():
    found = exact.greeks_by_differences(
        lambda s, r, g, v: exact.european(s, 95, r, g, v, 0.7, "put"), 100, 0.05, 0.03, 0.2
    )
    expected = exact.european_greeks(exact.Terms.constant(100, 0.05, 0.03, 0.2, 0.7), 95, "put")
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(expected), rel=1e-8)


def test_parity_and_options_without_noise():
    call, put = (exact.european(100, 105, 0.05, 0.03, 0.25, 0.5, payoff) for payoff in ("call", "put"))
    assert call - put == pytest.approx(100 * math.exp(-0.01) - 105 * math.exp(-0.025), abs=1e-13)
    assert exact.lognormal_option(110.0, 0.0, 100.0, "call") == 10.0
    assert exact.lognormal_option(110.0, 0.0, 100.0, "put") == 0.0
    assert exact.lognormal_option(110.0, 0.3, 0.0, "call") == 110.0
    with pytest.raises(ValueError, match="volatility"):
        exact.european_greeks(exact.Terms.constant(100, 0.05, 0.05, 0.0, 1.0), 100, "call")
    with pytest.raises(ValueError, match="increasing"):
        exact.Terms.piecewise(100, ((0.0, 0.5, 0.5), (1, 2, 3)), YIELD, VOLATILITY, 1.0)


# ---- what Monte Carlo estimates scatter by


def test_scatter_of_prices():
    draw = exact.Sampling(100, 100, *USUAL, "call")
    assert draw.deviation("price") == close(14.719404091, 9)
    assert draw.deviation("price", antithetic=True) == close(7.352355589, 9)
    beta, ratio = draw.control()
    assert (beta, ratio) == (close(0.673614901, 9), close(0.145292040, 9))
    assert draw.mean("price") == close(10.450583572186, 11)
    probability = 0.532324815454 / R5
    assert draw.deviation("digital") == pytest.approx(R5 * math.sqrt(probability * (1 - probability)), abs=1e-11)


@pytest.mark.parametrize(
    ("estimator", "mean", "deviation", "digits"),
    [
        ("pathwise delta", 0.636830651176, 0.576381, 6),
        ("LR delta", 0.636830651176, 1.465833, 6),
        ("pathwise vega", 37.524034691694, 75.6923, 4),
        ("LR vega", 37.524034691694, 275.264, 3),
        ("LR gamma", 0.018762017346, 0.137632, 6),
        ("LR-pathwise gamma", 0.018762017346, 0.0279292, 7),
    ],
)
def test_scatter_of_greeks(estimator, mean, deviation, digits):
    draw = exact.Sampling(100, 100, *USUAL, "call")
    assert draw.mean(estimator) == pytest.approx(mean, rel=1e-10)
    assert draw.deviation(estimator) == close(deviation, digits)
    put = exact.european_greeks(exact.Terms.constant(100, *USUAL), 110, "put")
    greek = getattr(put, estimator.split()[1])
    assert exact.Sampling(100, 110, *USUAL, "put").mean(estimator) == pytest.approx(greek, rel=1e-10)


# ---- laws


def test_law_of_the_price():
    assert exact.price_mean(100, 0.05, 1) == close(105.127109637602, 12)
    assert exact.price_std(100, 0.05, 0.2, 1) == close(21.237438824298, 12)
    assert exact.price_skewness(0.2, 1) == close(0.614294762, 9)
    assert exact.price_excess_kurtosis(0.2, 1) == close(0.678365777, 9)
    quantiles = (64.70902043, 74.15811186, 90.04164054, 103.04545340, 117.92727678, 143.18548840, 164.09405357)
    for q, expected in zip((0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99), quantiles):
        assert exact.price_quantile(100, 0.05, 0.2, 1, q) == close(expected, 8)


@pytest.mark.parametrize(("level", "var", "es"), [(0.95, 25.84188814, 31.60552827), (0.99, 35.29097957, 39.41772139)])
def test_risk_of_a_holding(level, var, es):
    assert exact.value_at_risk(100, 0.05, 0.2, 1, level) == close(var, 8)
    assert exact.expected_shortfall(100, 0.05, 0.2, 1, level) == close(es, 8)


@pytest.mark.parametrize(
    ("t", "expected", "potential"),
    [
        (0.25, 4.03792103, 17.50819974),
        (0.5, 5.77990412, 25.56546583),
        (0.75, 7.16496609, 32.16687437),
        (1.0, 8.37397083, 38.05837876),
    ],
)
def test_exposure_of_a_forward(t, expected, potential):
    found = exact.forward_exposure(100, 100 * math.exp(0.05), 0.05, 0.0, 0.05, 0.2, t, 1.0)
    assert dataclasses.astuple(found) == (close(expected, 8), close(expected, 8), close(potential, 8))


def test_law_of_the_extremes():
    lows = [exact.minimum_tail(100, 0.05, 0.2, 1, level) for level in (70, 80, 90)]
    highs = [exact.maximum_tail(100, 0.05, 0.2, 1, level) for level in (110, 120, 130)]
    assert lows == [close(value, 10) for value in (0.0565780553, 0.2223688892, 0.5507990438)]
    assert highs == [close(value, 10) for value in (0.6782816876, 0.4127119427, 0.2292189444)]
    assert exact.maximum_excess(100, 0.05, 0.2, 1, 0) == close(120.1503704, 7)
    assert exact.minimum_tail(100, 0.05, 0.2, 1, 100) == exact.maximum_tail(100, 0.05, 0.2, 1, 99) == 1
    assert exact.maximum_tail(100, -0.5, 0.01, 1, 101) < 1e-15  # a factor that overflows, of one that underflows


@pytest.mark.parametrize(("dates", "expected"), [(12, 0.4410319497), (52, 0.4949099206), (252, 0.5247361803)])
def test_law_of_the_lowest_of_some_prices(dates, expected):
    assert exact.hit_on_dates(100, exact.Steps.equidistant(0.05, 0.2, 1, dates), "down", 90) == close(expected, 10)


# ---- Euler and Milstein


@pytest.mark.parametrize(
    ("steps", "weak", "euler", "milstein"),
    [
        (8, -0.01635671538, 1.079732246, 0.1462395534),
        (16, -0.008195665429, 0.7609713374, 0.07346051307),
        (32, -0.004102175056, 0.5371781307, 0.03681609134),
        (64, -0.002052175048, 0.3795168652, 0.01842958647),
        (128, -0.001026359646, 0.2682432215, 0.009220188745),
        (256, -0.0005132478839, 0.1896355662, 0.004611444542),
    ],
)
def test_errors_of_schemes(steps, weak, euler, milstein):
    assert exact.scheme_weak_error(100, 0.05, 1, steps) == pytest.approx(weak, rel=1e-9)
    assert exact.scheme_strong_error(100, 0.05, 0.2, 1, steps, "euler") == pytest.approx(euler, rel=1e-9)
    assert exact.scheme_strong_error(100, 0.05, 0.2, 1, steps, "milstein") == pytest.approx(milstein, rel=1e-9)
    error = exact.scheme_mean(100, 0.05, 1, steps) - exact.price_mean(100, 0.05, 1)
    assert error == pytest.approx(exact.scheme_weak_error(100, 0.05, 1, steps), abs=1e-12)


@pytest.mark.parametrize(
    ("steps", "weak", "euler", "milstein"),
    [(256, -0.05720550019, 0.5765515702, 0.2100510616), (512, -0.02873254566, 0.3946914501, 0.1059312810)],
)
def test_errors_of_schemes_of_highams(steps, weak, euler, milstein):
    """D. Higham, SIAM Review 43 (2001)."""
    assert exact.scheme_weak_error(1, 2, 1, steps) == pytest.approx(weak, rel=1e-9)
    assert exact.scheme_strong_error(1, 2, 1, 1, steps, "euler") == pytest.approx(euler, rel=1e-9)
    assert exact.scheme_strong_error(1, 2, 1, 1, steps, "milstein") == pytest.approx(milstein, rel=1e-9)


@pytest.mark.parametrize("scheme", ["euler", "milstein"])
def test_moments_of_schemes(scheme):
    """Of two steps, by quadrature over their normal variables."""
    z, w = np.polynomial.hermite_e.hermegauss(40)
    w = w / w.sum()
    h, dW = 0.5, math.sqrt(0.5) * z
    step = 1 + 0.1 * h + 0.4 * dW + (0.08 * (dW**2 - h) if scheme == "milstein" else 0.0)
    true = np.exp((0.1 - 0.08) * h + 0.4 * dW)
    assert exact.scheme_second_moment(3, 0.1, 0.4, 1, 2, scheme) == pytest.approx(9 * (w @ step**2) ** 2, rel=1e-13)
    assert exact.scheme_cross_moment(3, 0.1, 0.4, 1, 2, scheme) == pytest.approx(
        9 * (w @ (step * true)) ** 2, rel=1e-13
    )


# ---- Asian


@pytest.mark.parametrize(
    ("strike", "n", "geometric", "call", "put"),
    [
        (90, 12, 12.6429707319, 12.9199413728, 0.7860867295),
        (90, 52, 12.3919383095, 12.6702896257, 0.6928845328),
        (100, 12, 5.9402002216, 6.1560407664, 3.5344803682),
        (100, 52, 5.6374316204, 5.8538633822, 3.3887525344),
        (100, 252, 5.5655088313, 5.7818244079, 3.3539388379),
        (110, 12, 2.1443276252, 2.2902988584, 9.1810327052),
        (110, 52, 1.9127470767, 2.0582814418, 9.1054648390),
    ],
)
def test_asian_options(strike, n, geometric, call, put):
    fixings = equidistant(n)
    assert exact.geometric_asian(100, strike, *USUAL, fixings, "call") == close(geometric, 10)
    found = [exact.arithmetic_asian(100, strike, *USUAL, fixings, payoff) for payoff in ("call", "put")]
    assert found == [close(call, 10), close(put, 10)]
    mean = 100 * sum(math.exp(0.05 * t) for t in fixings) / n
    assert found[0] - found[1] == pytest.approx(R5 * (mean - strike), abs=1e-11)


@pytest.mark.parametrize(
    ("n", "expected"),
    [(12, (18.1859705, 13.1219940, 9.2881443)), (50, (17.6146296195, 12.5133443682, 8.6988164321))],
)
def test_asian_options_at_high_volatility(n, expected):
    found = [
        exact.arithmetic_asian(100, strike, 0.05, 0.05, 0.5, 1, equidistant(n), "call") for strike in (90, 100, 110)
    ]
    assert found == [close(value, 7 if n == 12 else 10) for value in expected]


LEVY = {  # months to the first fixing, fixings: the put; E. Levy's parameters as QuantLib's test suite has them
    (0, 2): 1.3939809367,
    (0, 4): 1.5864029543,
    (0, 8): 1.6718557820,
    (0, 12): 1.6992847185,
    (0, 26): 1.7283157114,
    (0, 52): 1.7406065922,
    (0, 100): 1.7464753985,
    (0, 250): 1.7502796102,
    (1, 8): 2.0876176677,
    (1, 12): 2.1118388964,
    (1, 52): 2.1484658152,
    (1, 250): 2.1570625626,
    (3, 12): 2.8583377886,
    (3, 52): 2.8888350270,
    (3, 250): 2.8960135253,
}


@pytest.mark.parametrize(("months", "n"), LEVY)
def test_asian_options_that_begin_later(months, n):
    fixings = equidistant(n, 11 / 12, months / 12)
    put = exact.arithmetic_asian(90, 87, 0.025, 0.025 - 0.06, 0.13, fixings[-1], fixings, "put")
    assert put == close(LEVY[months, n], 10)


def test_continuous_asian_options():
    """The limit of many fixings: Kemna and Vorst, Haug; arithmetic: V. Linetsky, Operations Research 52 (2004)."""
    found = [exact.continuous_geometric_asian(100, strike, *USUAL, "call") for strike in (90, 100, 110)]
    assert found == [close(value, 10) for value in (12.3176842778, 5.5468186338, 1.8446924540)]
    assert exact.continuous_geometric_asian(80, 85, 0.05, 0.08, 0.2, 0.25, "put") == close(4.6922, 4)
    assert exact.geometric_asian(100, 100, 0.06, 0.03, 0.2, 1, equidistant(10), "call") == close(5.3425606635, 10)

    def linetsky(n):
        return exact.arithmetic_asian(2, 2, 0.05, 0.05, 0.5, 1, equidistant(n), "call")

    coarse, middle, fine = (linetsky(n) for n in (32, 64, 128))
    assert (coarse - 6 * middle + 8 * fine) / 3 == close(0.2464156905, 7)


def test_two_fixings_are_a_basket():
    """The prices at two dates as two assets, in a market that depends on time."""
    steps = exact.Steps.piecewise(RATE, YIELD, VOLATILITY, (0.4, 0.9))
    first, second = (piecewise(end=end) for end in (0.4, 0.9))
    pair = (first.forward, second.forward), (first.deviation, second.deviation), first.deviation / second.deviation
    for payoff in ("call", "put"):
        basket = exact.two_asset_basket(*pair, (0.5, 0.5), 101.0, 1.0, payoff)
        assert exact.arithmetic_mean_option(100, 101, steps, payoff) == pytest.approx(basket, abs=1e-11)
    assert (100 * math.exp(steps.growth), steps.deviation) == pytest.approx((second.forward, second.deviation))


def test_asian_options_with_fixings_seen():
    """What was seen shifts the strike; at the first fixing, it is the price."""
    later = equidistant(9)
    seen = exact.arithmetic_asian(100, 100, *USUAL, later, "call", past=[90.0, 95.0, 130.0])
    assert seen == pytest.approx(0.75 * exact.arithmetic_asian(100, 885 / 9, *USUAL, later, "call"))
    now = [exact.arithmetic_asian(100, 101, *USUAL, [0.0, *later], "put")]
    assert now == pytest.approx([exact.arithmetic_asian(100, 101, *USUAL, later, "put", past=[100.0])], rel=1e-13)
    above = exact.arithmetic_asian(100, 50, *USUAL, [1.0], "call", past=[200.0])
    assert above == pytest.approx(R5 * (200 + 100 / R5 - 100) / 2, rel=1e-13)
    assert exact.arithmetic_asian(100, 50, *USUAL, [1.0], "put", past=[200.0]) == 0
    one = exact.european(100, 110, *USUAL, "call")
    assert exact.arithmetic_asian(100, 110, *USUAL, [1.0], "call") == pytest.approx(one, rel=1e-13)
    assert exact.geometric_asian(100, 110, *USUAL, [1.0], "call") == pytest.approx(one, rel=1e-13)
    with pytest.raises(ValueError, match="fixing later than now"):
        exact.arithmetic_asian(100, 100, *USUAL, [0.0], "call")


def test_greeks_of_asian_options():
    def price(family, spot, rate, growth, volatility):
        return family(spot, 100, rate, growth, volatility, 1.0, equidistant(12), "call", past=(95.0, 108.0))

    arguments = (100, 0.05, 0.03, 0.2)
    found = exact.geometric_asian_greeks(100, 100, 0.05, 0.03, 0.2, 1, equidistant(12), "call", past=(95.0, 108.0))
    expected = exact.greeks_by_differences(functools.partial(price, exact.geometric_asian), *arguments)
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(expected), rel=1e-8)


def test_theta_of_asian_options_is_time_going_by():
    found = exact.geometric_asian_greeks(100, 104, 0.05, 0.03, 0.2, 1, equidistant(12), "put", past=(95.0,))

    def waiting(more):
        fixings = [t + more for t in equidistant(12)]
        return exact.geometric_asian(100, 104, 0.05, 0.03, 0.2, 1 + more, fixings, "put", past=(95.0,))

    assert found.theta == pytest.approx(-exact.derivatives(waiting, 0.0, 0.02)[0], rel=1e-9)


def test_greeks_of_arithmetic_asian_options():
    """Delta and gamma also as mean slopes: the law of the mean relative to the spot does not depend on it."""
    found = exact.greeks_by_differences(
        lambda s, r, g, v: exact.arithmetic_asian(s, 100, r, g, v, 1.0, equidistant(12), "call"), 100, 0.05, 0.05, 0.2
    )
    assert found.delta == pytest.approx(0.593853926501, rel=1e-10)
    assert found.gamma == pytest.approx(0.030577981582, rel=1e-8)
    assert found.vega == pytest.approx(23.0341505194, rel=1e-10)


# ---- barrier


def haug(direction, knock, level):
    """E. Haug (2007), table of single barriers: rebate 3, knock-outs pay it at once."""
    return [
        exact.barrier(100, strike, 0.08, 0.04, 0.25, 0.5, "call", direction, knock, level, 3.0, rebate_at_hit=True)
        for strike in (90, 100, 110)
    ]


@pytest.mark.parametrize(
    ("direction", "knock", "level", "expected"),
    [
        ("down", "out", 95, (9.0246, 6.7924, 4.8759)),
        ("up", "out", 105, (2.6789, 2.3580, 2.3453)),
        ("down", "in", 95, (7.7627, 4.0109, 2.0576)),
        ("up", "in", 105, (14.1112, 8.4482, 4.5910)),
    ],
)
def test_barriers_of_haugs_table(direction, knock, level, expected):
    assert haug(direction, knock, level) == [close(value, 4) for value in expected]


@pytest.mark.parametrize(
    ("direction", "level", "expected"),
    [
        ("down", 90, (0.07187, 0.60638, 1.64005, 2.98495, 4.50952)),
        ("up", 110, (4.79148, 7.08268, 9.11008, 11.06148, 12.98351)),
    ],
)
def test_knock_ins_of_babsiri_and_noel(direction, level, expected):
    found = [
        exact.barrier(100, 100, 0.05, 0.03, v, 1, "call", direction, "in", level) for v in (0.1, 0.15, 0.2, 0.25, 0.3)
    ]
    assert found == [close(value, 5) for value in expected]


@pytest.mark.parametrize("knock", ["out", "in"])
@pytest.mark.parametrize("direction", ["down", "up"])
@pytest.mark.parametrize("strike", [85, 100, 125])
def test_puts_are_calls_seen_from_the_other_side(strike, direction, knock):
    """Exchange of price and strike, rate and yield, up and down: P. Carr and M. Chou, Risk 10 (1997)."""
    level, other = (90, "up") if direction == "down" else (112, "down")
    put = exact.barrier(100, strike, 0.05, 0.03, 0.3, 0.7, "put", direction, knock, level)
    call = exact.barrier(strike, 100, 0.02, -0.03, 0.3, 0.7, "call", other, knock, 100 * strike / level)
    if (strike > 100 * strike / level) == (other == "down"):
        assert put == pytest.approx(call, abs=1e-12)
    arguments = (100, strike, 0.05, 0.03, 0.3, 0.7, "put")
    both = sum(exact.barrier(*arguments, direction, kind, level) for kind in ("out", "in"))
    assert both == pytest.approx(exact.european(*arguments), abs=1e-12)


@pytest.mark.parametrize(("direction", "level"), [("down", 90), ("up", 112)])
def test_rebates(direction, level):
    """Paid at the end: what is hit and what is not makes a bond. Paid on the hit: worth more, by interest."""
    arguments = (100, 100, 0.05, 0.03, 0.3, 0.7, "call", direction)
    plain = [exact.barrier(*arguments, kind, level) for kind in ("out", "in")]
    paid = [exact.barrier(*arguments, kind, level, 10.0) for kind in ("out", "in")]
    assert sum(paid) - sum(plain) == pytest.approx(10 * math.exp(-0.035), abs=1e-12)
    hit = exact.hit_probability(100, 0.03, 0.3, 0.7, direction, level)
    assert paid[0] - plain[0] == pytest.approx(10 * math.exp(-0.035) * hit, abs=1e-12)
    assert exact.hit_discount(100, 0.0, 0.03, 0.3, 0.7, direction, level) == pytest.approx(hit, abs=1e-13)
    sooner = quad(
        lambda t: 0.05 * math.exp(-0.05 * t) * exact.hit_probability(100, 0.03, 0.3, t, direction, level), 1e-9, 0.7
    )[0]  # E e^{-r tau} by parts
    at_once = exact.hit_discount(100, 0.05, 0.03, 0.3, 0.7, direction, level)
    assert at_once == pytest.approx(math.exp(-0.035) * hit + sooner, abs=1e-9)
    assert exact.barrier(*arguments, "out", level, 10.0, True) == pytest.approx(plain[0] + 10 * at_once, abs=1e-12)


def test_barriers_that_are_hit_already_or_never():
    arguments = (100, 100, 0.05, 0.03, 0.3, 0.7, "call")
    vanilla = exact.european(*arguments)
    assert exact.barrier(*arguments, "down", "out", 100, 3.0) == 3 * math.exp(-0.035)
    assert exact.barrier(*arguments, "up", "out", 90, 3.0, rebate_at_hit=True) == 3
    assert exact.barrier(*arguments, "down", "in", 110, 3.0) == vanilla
    assert exact.barrier(*arguments, "down", "out", 5) == pytest.approx(vanilla, abs=1e-13)
    assert exact.barrier(*arguments, "up", "out", 5000) == pytest.approx(vanilla, abs=1e-11)


FIFTY = (100, 100, 0.1, 0.1, 0.3, 0.2, "call", "down", "out")  # Broadie, Glasserman and Kou, 50 dates


@pytest.mark.parametrize(
    ("level", "continuous", "corrected", "discrete"),
    [
        (85, 6.307575, 6.322282, 6.32224014),
        (87, 6.243846, 6.281283, 6.28119784),
        (89, 6.099473, 6.183747, 6.18359732),
        (90, 5.977242, 6.098384, 6.09819614),
        (91, 5.807772, 5.977296, 5.97706866),
        (93, 5.276814, 5.584639, 5.58433995),
        (96, 3.792265, 4.427518, 4.42662795),
        (97, 3.059563, 3.836231, 3.83397771),
        (98, 2.188607, 3.121027, 3.12633277),
    ],
)
def test_barriers_on_dates(level, continuous, corrected, discrete):
    assert exact.barrier(*FIFTY, level) == close(continuous, 6)
    assert exact.barrier(*FIFTY, exact.shifted_level(level, "down", 0.3, 0.2 / 50)) == close(corrected, 6)
    assert exact.discrete_barrier(*FIFTY, level, 50) == close(discrete, 8)


def test_barriers_on_more_and_fewer_dates():
    found = [exact.discrete_barrier(*FIFTY, 91, dates) for dates in (5, 25, 50, 125, 250)]
    assert found == [close(value, 8) for value in (6.18729003, 6.03202612, 5.97706866, 5.92125207, 5.89039693)]
    down = [exact.discrete_barrier(100, 100, *USUAL, "call", "down", "out", 90, dates) for dates in (12, 52, 252)]
    assert down == [close(value, 8) for value in (9.57337242, 9.17307128, 8.91387122)]
    up = [exact.discrete_barrier(100, 100, *USUAL, "call", "up", "out", 120, dates) for dates in (12, 52, 252)]
    assert up == [close(value, 8) for value in (1.84935356, 1.50624903, 1.32677004)]


def test_up_and_out_on_fifty_dates():
    expected = (0.80701928, 2.41819890, 4.61624989, 6.92176366, 8.95879399, 10.55094158, 11.68379323)
    expected += (12.43111754, 12.89402829)
    found = [
        exact.discrete_barrier(110, 100, 0.1, 0.1, 0.3, 0.2, "call", "up", "out", level, 50)
        for level in range(115, 160, 5)
    ]
    assert found == [close(value, 8) for value in expected]


def test_two_dates_are_two_assets():
    """In a market that depends on time, against the bivariate normal law."""
    steps = exact.Steps.piecewise(RATE, YIELD, VOLATILITY, (0.4, 0.9))
    first, second = (piecewise(end=end) for end in (0.4, 0.9))
    edges = [math.log(t.forward / 93) / t.deviation - t.deviation / 2 for t in (first, second)]
    alive = exact.bivariate_normal(*edges, first.deviation / second.deviation)
    assert exact.hit_on_dates(100, steps, "down", 93) == pytest.approx(1 - alive, abs=1e-13)
    one = exact.Steps(steps.growths[:1], steps.deviations[:1])
    assert exact.hit_on_dates(100, one, "down", 93) == pytest.approx(1 - ndtr(edges[0]), abs=1e-14)
    vanilla = exact.european_price(second, 104, "put") / second.discount
    out, knocked = (exact.barrier_on_dates(100, 104, steps, "put", "up", kind, 108, 2.0) for kind in ("out", "in"))
    assert out + knocked == pytest.approx(vanilla + 2, abs=1e-12)
    assert exact.barrier_on_dates(100, 104, steps, "put", "up", "out", 1e4) == pytest.approx(vanilla, abs=1e-12)


# ---- lookback


def test_continuous_lookbacks():
    assert exact.floating_lookback(100, *USUAL, "call") == close(17.2168022374, 10)
    assert exact.floating_lookback(100, *USUAL, "put") == close(14.2905677074, 10)
    found = [exact.fixed_lookback(100, strike, *USUAL, "call") for strike in (100, 110)]
    assert found == [close(19.1676252573, 10), close(11.2070213556, 10)]
    assert exact.fixed_lookback(100, 100, *USUAL, "put") == close(12.3397446874, 10)


def test_lookbacks_in_print():
    """Broadie, Glasserman and Kou, Finance and Stochastics 3 (1999), as in QuantLib's test suite."""
    for end, expected in ((1, 23.7884), (0.2, 10.7190)):
        assert exact.floating_lookback(100, 0.05, 0.05, 0.3, end, "call") == close(expected, 4)
    for seen, expected in ((100, 15.3526), (110, 16.8468), (120, 21.0645)):
        assert exact.floating_lookback(100, 0.1, 0.1, 0.3, 0.5, "put", extreme=seen) == close(expected, 4)


@pytest.mark.parametrize("growth", [0.0, 1e-9, 0.03, -0.04])
def test_continuous_floating_lookbacks_by_the_formula(growth):
    """B. Goldman, H. Sosin and M. Gatto, J. Finance 34 (1979), a call that has seen 97; its limit without growth."""
    d, sigma, end, seen = 0.25 * math.sqrt(0.7), 0.25, 0.7, 97.0
    b = growth if abs(growth) > 1e-6 else 1e-6  # where cancellation in the formula is about 1e-9
    a1 = (math.log(100 / seen) + (b + sigma**2 / 2) * end) / d
    power = (100 / seen) ** (-2 * b / sigma**2)
    expected = 100 * math.exp(b * end) * ndtr(a1) - seen * ndtr(a1 - d)
    expected += 100 * sigma**2 / (2 * b) * (power * ndtr(-a1 + 2 * b * end / d) - math.exp(b * end) * ndtr(-a1))
    found = exact.floating_lookback(100, 0.05, growth, 0.25, 0.7, "call", extreme=seen)
    assert found == pytest.approx(math.exp(-0.035) * expected, abs=1e-11 if b == growth else 1e-4)


def test_lookbacks_on_dates():
    put = [exact.floating_lookback(100, *USUAL, "put", dates) for dates in (12, 252)]
    assert put == [close(10.877111176, 9), close(13.472695027, 9)]
    call = [exact.floating_lookback(100, *USUAL, "call", dates) for dates in (12, 52, 252)]
    assert call == [close(14.681842718, 9), close(15.936473621, 9), close(16.620946249, 9)]


def test_lookbacks_on_one_and_two_dates():
    one = exact.fixed_lookback(100, 103, 0.05, 0.03, 0.3, 0.7, "call", dates=1)
    assert one == pytest.approx(exact.european(100, 103, 0.05, 0.03, 0.3, 0.7, "call"), abs=1e-12)
    pair = (100 * math.exp(0.0105), 100 * math.exp(0.021)), (0.3 * math.sqrt(0.35), 0.3 * math.sqrt(0.7)), 0.5**0.5
    for strike, payoff, combine in ((103, "call", "max"), (98, "put", "min")):
        two = exact.fixed_lookback(100, strike, 0.05, 0.03, 0.3, 0.7, payoff, dates=2)
        assert two == pytest.approx(exact.best_or_worst(*pair, strike, math.exp(-0.035), payoff, combine), abs=1e-12)


@pytest.mark.parametrize(("strike", "sign"), [(104.0, 1), (97.0, -1)])
def test_extremes_in_a_market_that_depends_on_time(strike, sign):
    """Of today and three dates: two by the bivariate normal law, the first by one more integral."""
    steps = exact.Steps.piecewise(RATE, YIELD, VOLATILITY, (0.2, 0.4, 0.9))
    first, *later = (piecewise(end=end) for end in (0.2, 0.4, 0.9))
    growths = [math.exp(t.growth - first.growth) for t in later]
    deviations = tuple(math.sqrt(t.variance - first.variance) for t in later)
    family, payoff, combine, inner = (
        (exact.maximum_excess_on_dates, "call", "max", max)
        if sign > 0
        else (exact.minimum_shortfall_on_dates, "put", "min", min)
    )

    def given(z):
        price = first.forward * math.exp(first.deviation * z - first.variance / 2)
        base = inner(price, strike)
        pair = (price * growths[0], price * growths[1]), deviations, deviations[0] / deviations[1]
        beyond = exact.best_or_worst(*pair, base, 1.0, payoff, combine)
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (sign * (base - strike) + beyond)

    kink = (math.log(strike / first.forward) + first.variance / 2) / first.deviation
    expected = sum(quad(given, low, high, epsabs=1e-12)[0] for low, high in ((-9, kink), (kink, 9)))
    assert family(100, steps, strike) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("dates", [None, 12])
def test_strikes_beyond_what_was_seen(dates):
    """Strikes on the far side only add what is certain; floating and fixed strikes agree."""
    fixed = functools.partial(exact.fixed_lookback, 100, dates=dates)
    floating = functools.partial(exact.floating_lookback, 100, dates=dates)
    market = (0.05, 0.03, 0.3, 0.7)
    assert fixed(80, *market, "call", extreme=110) == pytest.approx(
        fixed(110, *market, "call") + 30 * math.exp(-0.035), abs=1e-12
    )
    assert fixed(120, *market, "put", extreme=90) == pytest.approx(
        fixed(90, *market, "put") + 30 * math.exp(-0.035), abs=1e-12
    )
    forward = math.exp(-0.035) * (100 * math.exp(0.021) - 110)
    assert floating(*market, "put", extreme=110) == pytest.approx(fixed(110, *market, "call") - forward, abs=1e-12)


# ---- several assets


def bivariate_by_quadrature(h, k, rho):
    if abs(rho) == 1:
        return ndtr(min(h, k)) if rho == 1 else max(ndtr(h) - ndtr(-k), 0.0)
    root = math.sqrt(1 - rho**2)
    break_at = [k / rho] if rho and -9 < k / rho < h else None

    def given(x):
        return math.exp(-x * x / 2) * ndtr((k - rho * x) / root)

    return quad(given, -9, h, epsabs=1e-13, limit=400, points=break_at)[0] / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("rho", [-1.0, -0.999, -0.6, 0.0, 0.3, 0.95, 0.9999, 1.0])
def test_bivariate_normal_law(rho):
    for h, k in ((0.3, -0.7), (0.0, 0.0), (0.0, 1.2), (-0.4, 0.0), (1.5, 1.4), (-2.0, -2.5), (-1e-300, 0.5)):
        assert exact.bivariate_normal(h, k, rho) == pytest.approx(bivariate_by_quadrature(h, k, rho), abs=1e-13)
    assert exact.bivariate_normal(math.inf, 0.3, rho) == pytest.approx(ndtr(0.3), abs=1e-15)
    assert exact.bivariate_normal(-math.inf, 0.3, rho) == 0


@pytest.mark.parametrize(("rho", "expected"), [(-0.5, 2.7619174627), (0, 2.4793446013), (0.5, 2.1378097435)])
def test_exchange_options(rho, expected):
    forwards = (22 * math.exp(0.02), 20 * math.exp(0.03))
    deviations = (0.2 * math.sqrt(0.5), 0.15 * math.sqrt(0.5))
    assert exact.exchange(forwards, deviations, rho, math.exp(-0.05)) == close(expected, 10)
    assert exact.exchange((100 / R5, 100 / R5), (0.2, 0.3), 0.5, R5) == close(10.5243157811, 10)
    spread = exact.two_asset_basket(forwards, deviations, rho, (1, -1), 0.0, math.exp(-0.05), "call")
    assert spread == close(expected, 10)


@pytest.mark.parametrize(
    ("rho", "best", "worst"),
    [
        (0.9, 17.56515417, 10.89735540),
        (0.5, 21.61919246, 6.84331711),
        (0, 24.55587689, 3.90663268),
        (-0.5, 26.71508044, 1.74742913),
    ],
)
def test_the_better_and_the_worse_of_two(rho, best, worst):
    price = functools.partial(exact.best_or_worst, (100 / R5, 100 / R5), (0.3, 0.3), rho, 100, R5)
    assert price("call", "max") == close(best, 8)
    assert price("call", "min") == close(worst, 8)
    swap = exact.exchange((100 / R5, 100 / R5), (0.3, 0.3), rho, R5)  # the better is the second and this
    assert price("call", "max") - price("put", "max") == pytest.approx(100 + swap - 100 * R5, abs=1e-11)
    assert price("call", "min") - price("put", "min") == pytest.approx(100 - swap - 100 * R5, abs=1e-11)


@pytest.mark.parametrize(
    ("rho", "expected"), [(-0.5, 7.9883371019), (0, 9.7213109459), (0.5, 11.1137942585), (0.9, 12.0904937913)]
)
def test_baskets_of_two(rho, expected):
    pair = (100 / R5, 100 / R5), (0.2, 0.3), rho
    call, put = (exact.two_asset_basket(*pair, (0.5, 0.5), 100, R5, payoff) for payoff in ("call", "put"))
    assert call == close(expected, 10)
    assert call - put == pytest.approx(100 - 100 * R5, abs=1e-11)


def test_spreads():
    """T. Hurd and Z. Zhou, SIAM J. Financial Mathematics 1 (2010)."""
    forwards = (100 * math.exp(0.05), 96 * math.exp(0.05))
    found = [
        exact.two_asset_basket(forwards, (0.2, 0.1), 0.5, (1, -1), strike, math.exp(-0.1), "call") for strike in (2, 4)
    ]
    assert found == [close(7.542323895850, 11), close(6.653065107469, 11)]
    turned = exact.two_asset_basket(forwards[::-1], (0.1, 0.2), 0.5, (-1, 1), 4, math.exp(-0.1), "call")
    assert turned == pytest.approx(found[1], abs=1e-11)


KREKEL = ([100.0] * 4, 0.4 * math.sqrt(5))


@pytest.mark.parametrize(
    ("rho", "strike", "expected"),
    [
        (0.5, 50, 54.3101760503819),
        (0.5, 60, 47.4811264983729),
        (0.5, 70, 41.5225192321722),
        (0.5, 80, 36.3517843455707),
        (0.5, 90, 31.8768031971831),
        (0.5, 110, 24.6605295130932),
        (0.5, 120, 21.7625788671709),
        (0.5, 130, 19.2493294434234),
        (0.5, 140, 17.0655419939920),
        (0.5, 150, 15.1640102889333),
        (-0.1, 100, 17.7569163337537),
        (0.1, 100, 21.6920964834602),
        (0.3, 100, 25.0292992371184),
        (0.8, 100, 32.0412264523680),
        (0.95, 100, 33.9186874338078),
    ],
)
def test_baskets_of_four(rho, strike, expected):
    call = exact.equicorrelated_basket(*KREKEL, rho, [0.25] * 4, strike, 1.0, "call")
    assert call == pytest.approx(expected, abs=5e-11)


def test_baskets_of_equals():
    two = exact.equicorrelated_basket((90.0, 110.0), 0.3, 0.4, (0.7, 0.3), 95, R5, "put")
    assert two == pytest.approx(
        exact.two_asset_basket((90.0, 110.0), (0.3, 0.3), 0.4, (0.7, 0.3), 95, R5, "put"), abs=1e-11
    )
    one = R5 * exact.lognormal_option(100, 0.3, 95, "call")
    assert exact.equicorrelated_basket([100.0] * 5, 0.3, 1.0, [0.2] * 5, 95, R5, "call") == pytest.approx(
        one, abs=1e-11
    )
    with pytest.raises(ValueError, match="common direction"):
        exact.equicorrelated_basket(*KREKEL, -0.4, [0.25] * 4, 100, 1.0, "call")


# ---- jumps


def test_merton():
    jumps = (1.0, -0.1, 0.15)
    found = [exact.merton(100, strike, *USUAL, *jumps, "call") for strike in (90, 100, 110)]
    assert found == [close(value, 10) for value in (18.6983161868, 12.7612885936, 8.2583486989)]
    put = exact.merton(100, 110, *USUAL, *jumps, "put")
    assert found[2] - put == pytest.approx(100 - 110 * R5, abs=1e-12)
    assert exact.merton(100, 90, *USUAL, 0.0, -0.1, 0.15, "call") == pytest.approx(16.699448408416, abs=1e-12)
    many = exact.merton(100, 100, *USUAL, 4e4, 0.0, 0.001, "call")  # small jumps are noise
    assert many == pytest.approx(exact.european(100, 100, 0.05, 0.05, math.sqrt(0.08), 1, "call"), abs=1e-4)


@pytest.mark.parametrize("strike", [70.0, 100.0, 125.0])
@pytest.mark.parametrize(
    ("volatility", "end", "jumps"),
    [(0.2, 1.0, (1.0, -0.1, 0.15)), (0.15, 0.5, (6.0, 0.05, 0.02)), (0.3, 2.0, (0.2, -0.6, 0.3))],
)
def test_digitals_where_prices_jump(volatility, end, jumps, strike):
    """Against the inversion of the characteristic function of the logarithm (J. Gil-Pelaez, Biometrika 38, 1951), by
    SciPy's quadrature, P(log S_T > k) = 1/2 + 1/pi int Im(e^{-iuk} phi(u)) / u du; and against the slope of calls."""
    rate, growth, (intensity, mean, deviation) = 0.05, 0.02, jumps
    drift = growth - volatility**2 / 2 - intensity * math.expm1(mean + deviation**2 / 2)

    def integrand(u):
        jumped = intensity * end * (np.exp(1j * u * mean - (u * deviation) ** 2 / 2) - 1)
        away = math.log(100 / strike) + drift * end
        return np.exp(1j * u * away - (u * volatility) ** 2 * end / 2 + jumped).imag / u

    above = 0.5 + quad(integrand, 0, 60 / volatility, limit=2000)[0] / math.pi
    market = (rate, growth, volatility, end, *jumps)
    call, put = (exact.merton_digital(100, strike, *market, payoff, 7.0) for payoff in ("call", "put"))
    assert call == pytest.approx(7 * math.exp(-rate * end) * above, abs=1e-7)
    assert call + put == pytest.approx(7 * math.exp(-rate * end), abs=1e-12)
    slope, _ = exact.derivatives(lambda x: exact.merton(100, x, *market, "call"), strike, 1.0)
    assert call / 7 == pytest.approx(-slope, abs=1e-7)


def test_digitals_without_noise_but_jumps():
    """With jumps of one size and no volatility the price is one of a few: above the strike as long as none falls."""
    terms = (100, 95, 0.05, 0.05, 0.0, 1.0, 0.5, -0.2, 0.0)
    assert exact.merton_digital(*terms, "call") == pytest.approx(R5 * math.exp(-0.5), abs=1e-12)
    assert exact.merton_digital(*terms, "put") == pytest.approx(R5 * (1 - math.exp(-0.5)), abs=1e-12)
    assert exact.merton_digital(100, 90, *USUAL, 0.0, -0.1, 0.15, "call", 3.0) == pytest.approx(
        exact.digital(100, 90, *USUAL, "call", 3.0), abs=1e-13
    )


# ---- early exercise


LONGSTAFF_SCHWARTZ = [  # spot, volatility, years: 50 dates a year, all times
    (36, 0.2, 1, 4.47781111, 4.48667442),
    (36, 0.2, 2, 4.84022554, 4.84830403),
    (36, 0.4, 1, 7.10126545, 7.10898029),
    (36, 0.4, 2, 8.50678300, 8.51418491),
    (38, 0.2, 1, 3.25012387, 3.25719653),
    (38, 0.2, 2, 3.74475930, 3.75138079),
    (38, 0.4, 1, 6.14758538, 6.15458978),
    (40, 0.2, 1, 2.31406848, 2.31957426),
    (40, 0.2, 2, 2.88455918, 2.88995125),
    (40, 0.4, 1, 5.31196568, 5.31829384),
    (40, 0.4, 2, 6.91707060, 6.92345764),
    (42, 0.2, 1, 1.61697666, 1.62115529),
    (42, 0.2, 2, 2.21236299, 2.21672390),
    (42, 0.4, 1, 4.58246850, 4.58816012),
    (42, 0.4, 2, 6.24430989, 6.25023617),
    (44, 0.2, 1, 1.10986796, 1.11296213),
    (44, 0.2, 2, 1.68982761, 1.69333042),
    (44, 0.4, 1, 3.94768648, 3.95278487),
    (44, 0.4, 2, 5.64123603, 5.64673134),
]


@pytest.mark.parametrize(("spot", "volatility", "years", "bermudan", "american"), LONGSTAFF_SCHWARTZ)
def test_early_exercise(spot, volatility, years, bermudan, american):
    """The puts of F. Longstaff and E. Schwartz, Review of Financial Studies 14 (2001), table 1."""
    price = functools.partial(exact.bermudan, spot, 40, 0.06, 0.06, volatility, years, payoff="put")
    fine, coarse = price(50 * years), price(25 * years)
    assert fine == close(bermudan, 8)
    assert coarse < fine < american
    assert 2 * fine - coarse == pytest.approx(american, abs=1e-3)  # the gap to all times is nearly one over the dates


def by_tree(spot, strike, rate, growth, volatility, end, dates, payoff, between=100):
    """J. Cox, S. Ross and M. Rubinstein's tree, `between` steps from one date to the next."""
    n = dates * between
    h = end / n
    up = math.exp(volatility * math.sqrt(h))
    p, discount = (math.exp(growth * h) - 1 / up) / (up - 1 / up), math.exp(-rate * h)
    sign = 1 if payoff == "call" else -1
    values = np.zeros(n + 1)
    for i in range(n, -1, -1):
        if i < n:
            values = discount * (p * values[1:] + (1 - p) * values[:-1])
        if i and i % between == 0:
            values = np.maximum(values, sign * (spot * up ** np.arange(-i, i + 1, 2.0) - strike))
    return values[0]


@pytest.mark.parametrize(
    "arguments",
    [
        (100, 95, 0.05, -0.05, 0.25, 1.0, 10, "call"),
        (100, 110, 0.05, -0.02, 0.25, 1.0, 10, "put"),  # yield above rate: the boundary jumps at the end
        (100, 100, 0.0, -0.04, 0.2, 2.0, 5, "put"),  # without interest early exercise never pays
    ],
)
def test_early_exercise_by_a_tree(arguments):
    assert exact.bermudan(*arguments) == pytest.approx(by_tree(*arguments), abs=0.02)


def test_early_exercise_that_never_pays():
    call = exact.european(100, 105, 0.05, 0.05, 0.2, 1.0, "call")
    assert exact.bermudan(100, 105, 0.05, 0.05, 0.2, 1.0, 20, "call") == pytest.approx(call, abs=1e-11)
    put = exact.european(100, 105, 0.0, -0.02, 0.2, 1.0, "put")
    assert exact.bermudan(100, 105, 0.0, -0.02, 0.2, 1.0, 20, "put") == pytest.approx(put, abs=1e-11)
    one = exact.european(100, 105, 0.05, 0.03, 0.2, 1.0, "put")
    assert exact.bermudan(100, 105, 0.05, 0.03, 0.2, 1.0, 1, "put") == pytest.approx(one, abs=1e-12)
    with pytest.raises(ValueError, match="at least 0"):
        exact.bermudan(100, 100, -0.01, -0.01, 0.2, 1.0, 4, "put")
