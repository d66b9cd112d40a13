"""Jumps, dividends in cash, the schemes of Euler and Milstein: laws and prices against closed forms, on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, problem, run
from scipy.special import ndtr
from scipy.stats import poisson

from simsuite.backends import open_backend
from simsuite.errors import ScenarioError
from simsuite.solvers.gbm.closed_forms import (
    merton,
    scheme_cross_moment,
    scheme_mean,
    scheme_second_moment,
    scheme_strong_error,
)
from simsuite.solvers.gbm.closed_forms.quadrature import gauss_legendre
from simsuite.solvers.gbm.logarithms import LN2, ZERO
from simsuite.solvers.gbm.market.jumps import poisson_table
from simsuite.solvers.gbm.paths.tables import tables

pytestmark = pytest.mark.usefixtures("one_thread")

JUMPS = {"intensity": 1.0, "mean": -0.1, "deviation": 0.15}
PUT = CALL | {"payoff": "put"}


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


def end_prices(problem, state) -> np.ndarray:
    """[asset, path], in units of the spots."""
    return problem.end_growth[:, None] * np.exp2(state["x"].astype(np.float64))


def stored(problem, state) -> np.ndarray:
    """[step, path] prices of the first asset, of which each step is a frame."""
    centre = np.concatenate([[0.0], problem.dynamics.centre()[0]])
    return 100 * np.exp2(state["paths"][:, 0] + centre[:, None])


def assert_honest(errors_in_deviations: list[float]) -> None:
    assert max(map(abs, errors_in_deviations)) < 4
    assert 0.55 < np.abs(errors_in_deviations).mean() < 1.05


def assert_mean(sample: np.ndarray, expected: float) -> None:
    assert abs(sample.mean() - expected) < 4 * sample.std() / math.sqrt(sample.size)


# ---- jumps


@pytest.mark.parametrize("mean", [1e-4, 1 / 252, 1.0, 60.0, 9000.0])
def test_numbers_of_jumps_follow_poissons_law(mean):
    first, thresholds = poisson_table(mean)
    n = np.arange(first, first + len(thresholds))
    found = (thresholds.astype(np.float64) + 1) / 2.0**64
    np.testing.assert_allclose(found, poisson.cdf(n, mean), rtol=1e-9, atol=1e-13)
    assert np.all(thresholds[1:] >= thresholds[:-1])
    assert int(thresholds[-1]) == 2**64 - 1
    assert poisson.cdf(first - 1, mean) < 2.0**-64


@pytest.mark.parametrize(
    ("precision", "steps", "intensity"), [("float64", 3, 2.5), ("float32", 1, 2.5), ("mixed", 4, 400.0)]
)
def test_moments_of_logarithms_with_jumps(cpu, precision, steps, intensity):
    """Mean, variance and third moment, whose sampling errors come from the sample."""
    jumps, t = {"intensity": intensity, "mean": -0.12, "deviation": 0.1}, 1.5
    m, d = jumps["mean"], jumps["deviation"]
    p = problem(
        run={"precision": precision}, asset=[ASSET | {"jumps": jumps}], time={"end": t, "steps": steps},
        paths={"count": 1 << 18}, option=[],
    )  # fmt: skip
    _, state = run(p, cpu)
    logarithm = np.log(end_prices(p, state)[0])
    mean = (0.05 - 0.02 - intensity * math.expm1(m + d * d / 2) + intensity * m) * t
    central = logarithm - mean
    assert_mean(central, 0.0)
    assert_mean(central**2, (0.04 + intensity * (m * m + d * d)) * t)
    assert_mean(central**3, intensity * (m**3 + 3 * m * d * d) * t)


@pytest.mark.parametrize("antithetic", [False, True])
def test_mertons_prices_and_their_error_bars(cpu, antithetic):
    errors = []
    for seed in range(1, 31):
        p = problem(
            run={"seed": seed}, asset=[ASSET | {"jumps": JUMPS}], time={"steps": 3},
            paths={"count": 8192, "antithetic": antithetic}, option=[CALL],
        )  # fmt: skip
        results = run(p, cpu)[0]
        option = results["options"]["option1"]
        errors.append((option["price"] - 12.7612885936) / option["standard_error"])
        assert abs(results["assets"]["A"]["mean"] - 100 * math.exp(0.05)) < 4 * 29 / math.sqrt(8192)
    assert_honest(errors)


def test_two_jumping_assets_and_one_that_does_not(cpu):
    """Jumps of different assets have nothing to do with each other, nor with the diffusion."""
    p = problem(
        asset=[ASSET | {"jumps": JUMPS}, ASSET, ASSET | {"jumps": JUMPS | {"intensity": 5.0}}],
        market={"correlation": [[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]},
        paths={"count": 1 << 18},
        option=[CALL | {"asset": name, "payoff": payoff} for name in "AC" for payoff in ("call", "put")],
    )
    results, state = run(p, cpu)
    prices = iter(results["options"].values())
    for intensity in (1.0, 5.0):
        for payoff in ("call", "put"):
            found = next(prices)
            expected = merton(100, 100, 0.05, 0.05, 0.2, 1, intensity, -0.1, 0.15, payoff)
            assert abs(found["price"] - expected) < 4 * found["standard_error"]
    y = state["x"] * LN2
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert_mean(y[a] * y[b], 0.5 * 0.04)


def test_rare_jumps_do_not_escape_the_quantiles(cpu):
    """Of paths whose jumps are many deviations long: quantiles of the very sample."""
    rare = {"intensity": 0.05, "mean": -1.5, "deviation": 0.1}
    p = problem(
        asset=[{"spot": 100.0, "volatility": 0.05, "jumps": rare}], paths={"count": 20_000},
        output={"quantiles": [0.001, 0.02, 0.5]}, option=[],
    )  # fmt: skip
    results, state = run(p, cpu)
    sample = np.log(100 * end_prices(p, state)[0])
    width = LN2 * p.dynamics.spread(np.array([1]))[0, 0] / 512
    assert width < 0.003
    for q, price in results["assets"]["A"]["quantiles"].items():
        assert abs(math.log(price) - np.quantile(sample, float(q))) < width + 1e-9


def test_antithetic_twins_jump_as_often(cpu):
    """The mean of a pair in logarithms has no normal number left in it."""
    p = problem(asset=[ASSET | {"jumps": JUMPS}], paths={"count": 4096, "antithetic": True}, option=[])
    y = run(p, cpu)[1]["x"][0] * LN2
    jumped = (y[::2] + y[1::2]) / 2 - JUMPS["intensity"] * 0.1
    counts = jumped / JUMPS["mean"]
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-12)
    assert set(np.round(counts)) >= {0.0, 1.0, 2.0, 3.0}


def test_more_jumps_than_a_table_has():
    with pytest.raises(ScenarioError, match="more than 10000 jumps in a step cannot be computed yet"):
        problem(asset=[ASSET | {"jumps": JUMPS | {"intensity": 1e4}}], time={"end": 1.5, "steps": 1})


# ---- dividends in cash


def after(strike: float, s: np.ndarray, volatility: float, years: float, payoff: str) -> np.ndarray:
    """Black and Scholes, for an array of spots."""
    discounted, root = strike * math.exp(-0.05 * years), volatility * math.sqrt(years)
    with np.errstate(divide="ignore"):
        d1 = np.log(s / discounted) / root + root / 2
    call = s * ndtr(d1) - discounted * ndtr(d1 - root)
    return call if payoff == "call" else call - s + discounted


def with_cash(spot: float, volatility: float, paid: list[tuple[float, float]], end: float, payoff: str) -> float:
    """The price of an option on 100, by quadrature over the normal numbers of each dividend date."""
    z, weights = gauss_legendre(-9.0, 9.0, 240)
    weights = weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    prices, mass, before = np.array([spot]), np.ones(1), 0.0
    for t, cash in paid:
        h = t - before
        factor = np.exp((0.05 - volatility**2 / 2) * h + volatility * math.sqrt(h) * z)
        prices = np.maximum(np.outer(prices, factor) - cash, 0.0).ravel()
        mass, before = np.outer(mass, weights).ravel(), t
    value = np.where(prices > 0, after(100.0, np.maximum(prices, 1e-300), volatility, end - before, payoff), 0.0)
    if payoff == "put":
        value = np.where(prices > 0, value, 100.0 * math.exp(-0.05 * (end - before)))
    return math.exp(-0.05 * before) * float(mass @ value)


@pytest.mark.parametrize("paid", [[(0.5, 7.0)], [(0.25, 5.0), (0.75, 20.0)], [(0.5, 70.0)]])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_prices_with_dividends_in_cash(cpu, precision, paid):
    """The largest one takes some prices to 0."""
    p = problem(
        run={"precision": precision},
        asset=[{"spot": 120.0, "volatility": 0.4, "dividends": [{"time": t, "cash": c} for t, c in paid]}],
        time={"steps": 4}, paths={"count": 1 << 18}, option=[CALL, PUT, ASIAN],
    )  # fmt: skip
    results, state = run(p, cpu)
    for name, payoff in (("option1", "call"), ("option2", "put")):
        found = results["options"][name]
        assert abs(found["price"] - with_cash(120.0, 0.4, paid, 1.0, payoff)) < 4 * found["standard_error"]
    forward = 120 * math.exp(0.05) - sum(c * math.exp(0.05 * (1 - t)) for t, c in paid)
    sample = 120 * end_prices(p, state)[0]
    if paid[0][1] < 70:
        assert_mean(sample, forward)
    else:
        share = ndtr((math.log(70 / 120) - (0.05 - 0.08) * 0.5) / (0.4 * math.sqrt(0.5)))
        assert_mean(np.float64(sample == 0), share)
        assert results["assets"]["A"]["mean"] > forward
        assert np.all(state["x"][state["x"] < -1000] == state["x"].dtype.type(ZERO))
    assert results["assets"]["A"]["mean"] == pytest.approx(sample.mean(), rel=1e-6)
    assert results["assets"]["A"]["std"] == pytest.approx(sample.std(ddof=1), rel=1e-5)
    for q, price in results["assets"]["A"]["quantiles"].items():
        expected = np.quantile(sample, float(q))
        assert price == pytest.approx(expected, rel=3e-3)


def test_dividends_at_one_step_are_paid_in_order(cpu):
    """Path by path, against prices without: cash, a share, cash again; and later one that takes all."""
    paid = [{"time": 0.5, "cash": 10.0}, {"time": 0.5, "proportion": 0.1}, {"time": 0.52, "cash": 3.0}]
    p, plain = (
        problem(
            asset=[{"spot": 100.0, "volatility": 0.3, "dividends": dividends}],
            time={"steps": 4}, output={"frames": 5, "store_paths": 500}, paths={"count": 500},
            option=[ASIAN, {"style": "expression", "value": "min(A)"}, {"style": "expression", "value": "geomean(A)"}],
        )
        for dividends in ([*paid, {"time": 0.75, "cash": 95.0}], [])
    )  # fmt: skip
    results, state = run(p, cpu)
    free = stored(plain, run(plain, cpu)[1])
    growth = free[1:] / free[:-1]
    expected = [free[0], free[1], (free[1] * growth[1] - 10) * 0.9 - 3]
    expected.append(np.maximum(expected[-1] * growth[2] - 95, 0))
    expected = np.array([*expected, expected[-1] * growth[3]])
    np.testing.assert_allclose(stored(p, state), expected, rtol=1e-12, atol=1e-12)
    assert 0 < np.count_nonzero(expected[-1] == 0) < 500
    averages = np.maximum(expected[1:].mean(0) - 100, 0), np.minimum(expected.min(0), 100)
    for name, pays in zip(("option1", "option2", "option3"), (*averages, np.prod(expected[1:], 0) ** 0.25)):
        assert results["options"][name]["price"] == pytest.approx(math.exp(-0.05) * pays.mean(), rel=1e-11)


def test_a_price_of_nothing(cpu):
    """Dividends beyond any price, without volatility: all is 0, no fault, and it can be kept."""
    asset = {"spot": 100.0, "volatility": 0.0, "dividends": [{"time": 0.5, "cash": 500.0}, {"time": 1.0, "cash": 1.0}]}
    p = problem(asset=[asset], time={"steps": 2}, paths={"count": 3}, option=[PUT])
    results, state = run(p, cpu)
    assert results["options"]["option1"]["price"] == pytest.approx(100 * math.exp(-0.05), rel=1e-15)
    assert results["assets"]["A"]["mean"] == pytest.approx(0, abs=1e-12)
    assert set(results["assets"]["A"]["quantiles"].values()) == {0.0}
    assert all(np.isfinite(a).all() for a in state.values())  # or no checkpoint could be written


def test_a_dividend_without_volatility(cpu):
    asset = {"spot": 100.0, "volatility": 0.0, "dividends": [{"time": 0.5, "cash": 20.0}]}
    results, _ = run(problem(asset=[asset], time={"steps": 2}, paths={"count": 3}, option=[CALL]), cpu)
    expected = (100 * math.exp(0.025) - 20) * math.exp(0.025)
    assert results["assets"]["A"]["mean"] == pytest.approx(expected, rel=1e-14)
    assert results["assets"]["A"]["quantiles"]["0.5"] == pytest.approx(expected, rel=1e-5)


# ---- schemes


@pytest.mark.parametrize("scheme", ["euler", "milstein"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_weak_errors_of_schemes_are_theirs(cpu, scheme, precision):
    """Mean and second moment are those of the scheme, and not those of the exact law."""
    p = problem(
        run={"precision": precision}, market={"rate": 0.05, "drift": 0.5}, asset=[ASSET | {"volatility": 0.4}],
        time={"steps": 4, "scheme": scheme}, paths={"count": 1 << 18}, option=[],
    )  # fmt: skip
    _, state = run(p, cpu)
    price = end_prices(p, state)[0]
    mean, square = scheme_mean(1, 0.5, 1, 4), scheme_second_moment(1, 0.5, 0.4, 1, 4, scheme)
    assert_mean(price, mean)
    assert_mean(price**2, square)
    assert abs(price.mean() - math.exp(0.5)) > 10 * price.std() / 512
    assert abs((price**2).mean() - math.exp(1.16)) > 10 * (price**2).std() / 512


@pytest.mark.parametrize("scheme", ["euler", "milstein"])
def test_strong_errors_of_schemes_are_theirs(cpu, scheme):
    """From the same random numbers as the exact scheme."""
    made = {}
    for name in ("exact", scheme):
        p = problem(
            asset=[ASSET | {"volatility": 0.3}], time={"steps": 4, "scheme": name}, paths={"count": 1 << 18}, option=[]
        )
        made[name] = end_prices(p, run(p, cpu)[1])[0]
    error = (made[scheme] - made["exact"]) ** 2
    assert_mean(error, scheme_strong_error(1, 0.05, 0.3, 1, 4, scheme) ** 2)
    assert_mean(made[scheme] * made["exact"], scheme_cross_moment(1, 0.05, 0.3, 1, 4, scheme))


@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("scheme", ["euler", "milstein"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-13), ("mixed", 1e-13), ("float32", 3e-6)])
def test_paths_of_schemes(cpu, scheme, antithetic, precision, tolerance):
    """Step by step in NumPy from the increments of the exact scheme: two assets, coefficients that change."""
    rate, volatility = [[0.0, 0.08], [0.5, 0.01]], [[0.0, 0.5], [0.6, 0.9]]
    made = {}
    for name in ("exact", scheme):
        p = problem(
            run={"precision": precision},
            market={"rate": rate, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
            asset=[ASSET | {"dividends": [{"time": 0.6, "proportion": 0.1}]}, ASSET | {"volatility": volatility}],
            time={"steps": 5, "scheme": name},
            paths={"count": 400, "antithetic": antithetic},
            output={"frames": 6, "store_paths": 400},
            option=[],
        )
        made[name] = p, run(p, cpu)[1]["paths"].astype(np.float64)
    dw = LN2 * np.diff(made["exact"][1], axis=0)  # sigma dW
    growth = np.array([0.016, 0.016, 0.009, 0.002, 0.002])[:, None, None]
    variance = np.array([[0.008] * 5, [0.05, 0.05, 0.05, 0.162, 0.162]]).T[:, :, None]
    factor = 1 + growth + dw + ((dw**2 - variance) / 2 if scheme == "milstein" else 0)
    factor[2, 0] *= 0.9
    expected = np.cumprod(np.maximum(factor, 0), axis=0)
    p, y = made[scheme]
    found = np.exp2(y[1:] + p.dynamics.centre()[:, :].T[:, :, None])
    assert factor.min() > 0 or scheme == "euler"
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance / 10)  # a step may leave next to nothing


def test_eulers_prices_stay_at_zero(cpu):
    """Volatility 2, steps of a year: a step takes the price to 0 if z < -(1 + g) / 2."""
    p = problem(
        asset=[{"spot": 100.0, "volatility": 2.0}], time={"end": 3.0, "steps": 3, "scheme": "euler"},
        paths={"count": 1 << 16}, option=[PUT], output={"quantiles": [0.2, 0.9]},
    )  # fmt: skip
    results, state = run(p, cpu)
    price = end_prices(p, state)[0]
    alive = ndtr(1.05 / 2) ** 3
    assert_mean(np.float64(price > 0), alive)
    assert results["assets"]["A"]["quantiles"]["0.2"] == 0 < results["assets"]["A"]["quantiles"]["0.9"]
    assert results["assets"]["A"]["mean"] == pytest.approx(100 * price.mean(), rel=1e-12)


def test_schemes_with_jumps_and_cash(cpu):
    """All at once: the mean is known, as the jumps are compensated."""
    p = problem(
        asset=[ASSET | {"jumps": JUMPS, "dividends": [{"time": 0.5, "cash": 10.0}]}],
        time={"steps": 4, "scheme": "milstein"}, paths={"count": 1 << 17}, option=[],
    )  # fmt: skip
    _, state = run(p, cpu)
    half = (1 + 0.05 / 4) ** 2
    assert_mean(100 * end_prices(p, state)[0], (100 * half - 10) * half)


def test_control_variates_rest_where_their_means_are_unknown(cpu):
    for changes in ({"asset": [ASSET | {"jumps": JUMPS}]}, {"time": {"steps": 2, "scheme": "euler"}}):
        assert problem(option=[ASIAN], **changes).payoffs.controls == (None,)
    shares = problem(asset=[ASSET | {"dividends": [{"time": 1.0, "proportion": 0.1}]}], option=[ASIAN])
    assert shares.payoffs.controls != (None,)
    assert shares.dynamics.lognormal


def test_rows_of_tables_have_one_length():
    """Kernels find row a of each at a times that length."""
    changing = ASSET | {"volatility": [[0.0, 0.2], [0.5, 0.3]]}
    paying = ASSET | {"dividends": [{"time": 1.0, "cash": 1.0}]}
    for assets, names in (([changing] * 2, ["scale"]), ([paying] * 2, ["cash"])):
        p = problem(asset=assets, time={"steps": 5}, option=[CALL])
        made = tables(p, p.dtype)
        for name in (*names, "centre"):
            assert made[name].shape[1] == made["due"].size == 6
