"""Standard errors and intervals of payoffs that jump, and of those that no path has hit: against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, problem, run
from scipy.special import ndtr, ndtri
from scipy.stats import t as student
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.gbm.closed_forms import european_greeks
from simsuite.solvers.gbm.closed_forms.terms import Terms
from simsuite.solvers.gbm.error_allowances.payoff_jumps import payoff_jumps_of
from simsuite.solvers.gbm.reference_prices.prices import reference_price
from simsuite.solvers.gbm.statistics.statistics import Estimate

pytestmark = pytest.mark.usefixtures("one_thread")

DIGITAL = {"style": "digital", "payoff": "call", "cash": 10.0}
BARRIER = {"style": "barrier", "payoff": "call", "dates": 1}
SPOT = ASSET["spot"]
Z_FAR = 3.0


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return open_backend("cpu")


def scored(backend: Any, **changes: Any) -> list[tuple[float, bool]]:
    """Of each option: (price - exact) / standard error, and whether the interval holds the exact price."""
    p = problem(**changes)
    found = []
    for option, result in zip(p.scenario.option, run(p, backend)[0]["options"].values()):
        exact, (low, high) = reference_price(p.scenario, option), result["ci95"]
        assert result["standard_error"] > 0
        assert exact is not None
        found.append(((result["price"] - exact) / result["standard_error"], low <= exact <= high))
    return found


def a_digital(rng: np.random.Generator, volatility: float) -> dict[str, Any]:
    return DIGITAL | {"payoff": str(rng.choice(["call", "put"])), "strike": strike(rng, volatility, 1.2)}


def a_barrier(rng: np.random.Generator, volatility: float, dates: int) -> dict[str, Any]:
    up, knock = bool(rng.integers(2)), str(rng.choice(["in", "out"]))
    level = SPOT * math.exp(abs(rng.normal()) * 1.2 * volatility * (1 if up else -1))
    where = {"direction": "up" if up else "down", "knock": knock, "level": level, "rebate": 5.0, "dates": dates}
    payoff = str(rng.choice(["call", "put"]))
    return BARRIER | where | {"payoff": payoff, "strike": strike(rng, volatility, 0.6)}


def strike(rng: np.random.Generator, volatility: float, spread: float) -> float:
    return float(SPOT * math.exp(rng.normal() * spread * volatility))


def test_of_random_digitals_and_barriers_by_sobol_points(cpu):
    """An up-and-out call was 25 standard errors off, as none of its replicates had a point beyond the jump."""
    rng, found = np.random.default_rng(11), []
    for seed in range(1000, 1060):
        volatility = rng.uniform(0.1, 0.6)
        options = [a_digital(rng, volatility), *(a_barrier(rng, volatility, dates) for dates in (1, 1, 2, 2))]
        found += scored(
            cpu,
            run={"seed": seed},
            asset=[{"spot": SPOT, "volatility": volatility}],
            time={"steps": 2},
            paths={"count": 1 << 14, "sampling": "sobol", "replicates": 16},
            option=options,
        )
    z = np.abs([z for z, _ in found])
    assert len(z) == 300
    assert np.mean(z > Z_FAR) < 0.01
    assert np.sqrt(np.mean(z**2)) < 1.1
    assert np.mean([held for _, held in found]) >= 0.93


@pytest.mark.parametrize("replicates", others_long([4, 16], {4}))
def test_of_digitals_by_few_replicates(cpu, replicates):
    """Their means lie on a lattice: standard errors were 0 in one of 7 cases, intervals held 83 and 68 %."""
    rng, found = np.random.default_rng(replicates), []
    for seed in range(36):
        found += scored(
            cpu,
            run={"seed": seed},
            paths={"count": 1024 * replicates, "sampling": "sobol", "replicates": replicates},
            option=[a_digital(rng, 0.2) for _ in range(8)],
        )
    held = [held for _, held in found]
    assert len(held) == 288
    assert 0.93 <= np.mean(held) <= 0.995
    assert np.mean([abs(z) > Z_FAR for z, _ in found]) < 0.01


@pytest.mark.parametrize("s", others_long([0.2, 1.0], {1.0}))
def test_of_calls_by_few_replicates(cpu, s):
    """The highest of all points decides how far they are off: 7 to 9 % of them were more than three errors."""
    rng, found = np.random.default_rng(5), []
    for seed in range(60):
        found += scored(
            cpu,
            run={"seed": seed},
            asset=[{"spot": SPOT, "volatility": s}],
            time={"steps": 2},
            paths={"count": 1 << 14, "sampling": "sobol", "replicates": 8},
            option=[CALL | {"strike": strike(rng, s, 0.5)}, _alive_far_out(rng, s), _alive_far_out(rng, s)],
        )
    assert np.mean([abs(z) > Z_FAR for z, _ in found]) < 0.015
    assert np.mean([held for _, held in found]) >= 0.93


def _alive_far_out(rng: np.random.Generator, volatility: float) -> dict[str, Any]:
    """A call that a high price does not make void, on two dates."""
    up = bool(rng.integers(2))
    level = SPOT * math.exp(abs(rng.normal()) * volatility * (1 if up else -1))
    where = {"direction": "up" if up else "down", "knock": "in" if up else "out", "level": level, "dates": 2}
    return BARRIER | where | {"strike": strike(rng, volatility, 0.5)}


@pytest.mark.parametrize("antithetic", others_long([False, True], {True}))
def test_of_digitals_that_few_random_paths_hit(cpu, antithetic):
    """Hits are a Poisson number of mean 0.1 to 30; intervals without the part for what is not seen hold 81 %."""
    rng, found, count = np.random.default_rng(3), [], 2048
    for seed in range(60):
        likely = np.exp(rng.uniform(np.log(0.1), np.log(30), 6)) / count
        strikes = SPOT * np.exp(0.05 - 0.02 - 0.2 * ndtri(likely))
        found += scored(
            cpu,
            run={"seed": seed},
            paths={"count": count, "antithetic": antithetic},
            option=[DIGITAL | {"strike": float(k)} for k in strikes],
        )
    assert np.mean([held for _, held in found]) >= 0.93
    assert np.mean([abs(z) > Z_FAR for z, _ in found]) < 0.015


def test_where_no_path_paid(cpu):
    """A digital whose cash is known, a call with a tail in closed form, an Asian of which nothing is known."""
    n, far = 4096, 300.0
    options = [DIGITAL | {"strike": far}, CALL | {"strike": far}, ASIAN | {"strike": far, "control_variate": False}]
    p = problem(paths={"count": n}, time={"steps": 2}, option=options)
    digital, call, asian = run(p, cpu)[0]["options"].values()
    bound = 1 - 0.05 ** (1 / n)
    for option in (digital, call, asian):
        assert option["price"] == 0
        assert option["unseen_probability_ci95"] == [0.0, pytest.approx(bound)]
        assert "no path paid" in option["remark"]
    assert digital["standard_error"] == pytest.approx(p.discount * 10 * math.sqrt(2 / ((n + 2) * (n + 3))))
    assert digital["ci95"] == [0.0, pytest.approx(3 / n * 10 * p.discount, rel=0.1)]  # the rule of three
    above = european_greeks(Terms.constant(SPOT, 0.05, 0.05, 0.2, 1.0), far, "call").price
    assert 0 < above < call["ci95"][1] < 30 * 3 / n
    assert asian["standard_error"] is None
    assert asian["ci95"] == [0.0, None]


def test_where_all_paths_paid_the_same(cpu):
    """The digital is not certain to pay; without volatility it is, and so is what cannot pay at all."""
    down = BARRIER | {"direction": "down", "knock": "out", "payoff": "put", "level": 90.0, "strike": 85.0, "dates": 2}
    for volatility, time in ((0.2, {"steps": 2}), (0.0, {"steps": 2})):
        p = problem(
            asset=[{"spot": SPOT, "volatility": volatility}], time=time, option=[DIGITAL | {"strike": 20.0}, down]
        )
        digital, impossible = run(p, cpu)[0]["options"].values()
        assert digital["price"] == pytest.approx(p.discount * 10, rel=1e-15)
        assert (digital["standard_error"] > 0) == (volatility > 0)
        assert digital["ci95"][1] == digital["price"]
        assert ("all paths paid the same" in digital.get("remark", "")) == (volatility > 0)
        assert impossible["price"] == impossible["standard_error"] == 0
        assert "remark" not in impossible


PAIR = [ASSET, {"name": "B", "spot": 50.0, "volatility": 0.0}]
CERTAIN = [
    (ASIAN | {"payoff": "put", "strike": 0.0}, 0.0),
    (ASIAN | {"payoff": "put", "strike": 50.0, "past_fixings": [500.0], "fixings": 4}, 0.0),
    ({"style": "lookback", "payoff": "put", "strike_type": "fixed", "strike": 0.0}, 0.0),
    ({"style": "lookback", "payoff": "put", "strike_type": "fixed", "strike": 0.0, "monitoring": "continuous"}, 0.0),
    ({"style": "basket", "payoff": "put", "strike": 0.0}, 0.0),
    ({"style": "basket", "payoff": "put", "strike": 40.0, "combine": "max"}, 0.0),
    (BARRIER | {"direction": "up", "knock": "out", "level": 120.0, "strike": 130.0}, 0.0),
    ({"style": "american", "payoff": "put", "strike": 0.0}, 0.0),
    ({"style": "expression", "value": "max(-mean(A) - 3, 0)"}, 0.0),
    ({"style": "expression", "value": "where(min(A) > -1, 4, last(A))"}, 4.0),
]


def test_what_is_certain_by_its_terms_is_exact(cpu):
    """Also its Greeks: by the rate that of a bond, by time the interest on it, all others 0; and no remark on paths
    that pay something else, as there are none."""
    correlated = {"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]}
    options = [option | {"greeks": True} for option, _ in CERTAIN]
    p = problem(asset=PAIR, market=correlated, time={"end": 2.0, "steps": 4}, option=options)
    for (_, pays), found in zip(CERTAIN, run(p, cpu)[0]["options"].values()):
        worth = pays * math.exp(-0.1)
        assert found["price"] == pytest.approx(worth, rel=1e-15)
        assert found["standard_error"] == 0
        assert found["ci95"] == [found["price"], found["price"]]
        assert "remark" not in found
        for greek, value in {"delta": [0, 0], "gamma": [0, 0], "rho": -2 * worth, "theta": 0.05 * worth}.items():
            if greek not in found.get("reasons", {}):
                assert found[greek] == pytest.approx(value, rel=1e-14)
                assert not np.any(found[f"{greek}_standard_error"])


@pytest.mark.parametrize(
    "option",
    [
        ASIAN | {"payoff": "put", "strike": 50.0, "past_fixings": [500.0], "fixings": 4, "average": "geometric"},
        ASIAN | {"payoff": "put", "strike": 1.0},
        BARRIER | {"direction": "up", "knock": "in", "payoff": "put", "strike": 100.0, "level": 1e4, "dates": 4},
        {"style": "expression", "value": "max(20 - max(last(A), min(A)), 0)"},
    ],
)
def test_what_hardly_ever_pays_is_not_exact(cpu, option):
    """The geometric mean is 0 with any of its prices, whatever was fixed before."""
    (found,) = run(problem(time={"steps": 4}, option=[option]), cpu)[0]["options"].values()
    assert found["price"] == 0
    assert found["standard_error"] is None
    assert found["reasons"]["standard_error"] == "all paths gave the same, and what others would give is not known"


@pytest.mark.parametrize("multilevel", [False, True])
def test_what_is_certain_delays_no_target(cpu, multilevel):
    """A run ends as soon as the call beside it has its error; what has not paid yet, though it may, makes it go on."""
    never, rare = ASIAN | {"payoff": "put", "strike": 0.0}, ASIAN | {"strike": 1000.0, "control_variate": False}
    count = 1 << 17
    paths = {"count": count, "target_standard_error": 0.2} | ({"multilevel": True} if multilevel else {"batch": 8192})
    for other, stops in ((never, True), (rare, False)):
        p = problem(time={"steps": 8, "scheme": "euler"}, paths=paths, option=[CALL, other])
        assert (_paths_made(p, cpu) < count // 2) is stops


def _paths_made(p: Any, backend: Any) -> int:
    """By a run that is asked at each of its looks whether it has its target."""
    stepper = p.stepper(backend, p.initial())
    while stepper.step < p.clock.end:
        if p.next_look(stepper.step) == stepper.step > 0:
            p.settle(stepper)
        look = p.next_look(stepper.step + 1) or p.clock.end
        stepper.advance(min(look, p.clock.end) - stepper.step)
    return p.results(copied(stepper.observe("time")))["paths"]


def test_deltas_by_sobol_points(cpu):
    """That of a call jumps at the strike: z of 96 of them."""
    rng, z = np.random.default_rng(7), []
    for seed in range(12):
        strikes = [strike(rng, 0.2, 1.0) for _ in range(8)]
        p = problem(
            run={"seed": seed},
            paths={"count": 1 << 14, "sampling": "sobol", "replicates": 16},
            option=[CALL | {"strike": k, "greeks": True} for k in strikes],
        )
        for k, option in zip(strikes, run(p, cpu)[0]["options"].values()):
            exact = european_greeks(Terms.constant(SPOT, 0.05, 0.05, 0.2, 1.0), k, "call").delta
            z.append((option["delta"][0] - exact) / option["delta_standard_error"][0])
    assert np.mean(np.abs(z) > Z_FAR) < 0.01


SIZES = [
    (DIGITAL | {"strike": 110.0}, 10.0),
    (BARRIER | {"direction": "up", "knock": "out", "strike": 90.0, "level": 130.0}, 40.0),
    (BARRIER | {"direction": "down", "knock": "in", "strike": 90.0, "level": 95.0, "rebate": 2.0}, 3.0),
    (CALL, 0.0),
    ({"style": "expression", "value": "where(last(A) > 120, last(A), 3 * (last(A) < 70))"}, 120.0),
    (CALL | {"asset": "A", "greeks": True}, 0.0),
    (ASIAN, 0.0),
]


def test_sizes_of_jumps():
    p = problem(option=[option for option, _ in SIZES], time={"steps": 2})
    for mean, (_, size) in zip(p.payoffs.prices, SIZES):
        assert payoff_jumps_of(p)[mean.value].size == pytest.approx(size, rel=1e-9)
    greeks = p.payoffs.greek_means[5]
    assert payoff_jumps_of(p)[greeks["delta", 0].value].size == pytest.approx(1.0, rel=1e-9)  # strike / spot
    moved = math.log(1.0) - 0.05 + 0.02  # the noise at the strike
    assert payoff_jumps_of(p)[greeks["vega", 0].value].size == pytest.approx(100 * abs(moved - 0.04) / 0.2, rel=1e-6)


@pytest.mark.parametrize(("volatility", "end"), [(0.2, 1.0), (0.5, 10.0), (1.5, 10.0), (9.0, 1.0)])
def test_rounding_of_huge_prices_is_no_jump(volatility, end):
    """The rho of a call cancels where prices are huge: what rounding leaves there is far more than the jump, strike
    times years."""
    by_words = {"style": "expression", "value": "max(last(A) - 100, 0)"}
    asset, options = {"spot": SPOT, "volatility": volatility}, [CALL | {"greeks": True}, by_words | {"greeks": True}]
    p = problem(asset=[asset], time={"end": end}, option=options)
    for greeks in p.payoffs.greek_means:
        assert payoff_jumps_of(p)[greeks["rho", 0].value].size == pytest.approx(100.0 * end, rel=1e-9)
        assert payoff_jumps_of(p)[greeks["delta", 0].value].size == pytest.approx(1.0, rel=1e-9)


def test_the_error_of_rho_at_large_volatility(cpu):
    p = problem(asset=[{"spot": SPOT, "volatility": 0.5}], time={"end": 10.0}, option=[CALL | {"greeks": True}])
    (call,) = run(p, cpu)[0]["options"].values()
    exact = 100.0 * 10.0 * math.exp(-0.5) * ndtr((0.5 - 0.5**2 * 5) / (0.5 * math.sqrt(10.0)))
    assert abs(call["rho"] - exact) < 4 * call["rho_standard_error"] < 0.5 * exact


def test_the_size_of_a_jump_at_an_earlier_date():
    """Root mean square of what a call is worth at the end, from the level at half a year; without noise, its value."""
    option = BARRIER | {"direction": "up", "knock": "in", "strike": 100.0, "level": 140.0, "dates": 2}
    flat = [[0.0, 0.2], [0.5, 0.0]]
    for volatility in (0.2, flat):
        p = problem(option=[option], asset=[{"spot": SPOT, "volatility": volatility}], time={"steps": 2})
        rng = np.random.default_rng(0)
        v = 0.2**2 / 2 if volatility != flat else 0.0
        end = 140 * np.exp(0.025 - v / 2 + math.sqrt(v) * rng.normal(size=1 << 20))
        paid = max(math.sqrt(np.mean(np.maximum(end - 100, 0) ** 2)), 40.0)
        assert payoff_jumps_of(p)[p.payoffs.prices[0].value].size == pytest.approx(paid, rel=2e-3)


def test_degrees_of_freedom_of_a_sum():
    """A known part adds to the variance and to the degrees of freedom; alone it is normal."""
    estimate = Estimate(1.0, 3.0, freedom=4)
    found = estimate.widened(4.0)
    assert found.standard_error == 5.0
    assert found.freedom == pytest.approx(4 * (25 / 9) ** 2)
    assert found.ci95[1] == pytest.approx(1 + 5 * student(found.freedom).ppf(0.975))
    assert Estimate(1.0, 0.0, freedom=4).widened(2.0).ci95[1] == pytest.approx(1 + 2 * 1.959963984540054)
    assert Estimate(1.0, 1e-100, freedom=4).widened(2.0).freedom == math.inf  # of a share of 1e-200, beyond all numbers
    assert estimate.widened(0.0) == estimate
    assert math.isnan(Estimate(1.0, math.nan).widened(1.0).standard_error)
