"""Greeks by bumping and Greeks of a book: against closed forms, quadrature and NumPy, over many seeds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run
from many_seeds import results_of_seeds
from scipy.special import ndtr

from simsuite.backends import open_backend
from simsuite.backends.program import compile_program
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.add_paths import with_added_paths
from simsuite.solvers.gbm.paths.joint_launches import JointStatement
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together

GREEKS = ("delta", "gamma", "vega", "rho", "theta")
DATES = [i / 12 for i in range(1, 13)]
DIGITAL = {"style": "digital", "payoff": "put", "strike": 105.0, "cash": 2.0}
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0, "direction": "down", "knock": "out", "level": 90.0}
NOTE = {
    "style": "autocallable", "observations": 2, "notional": 100.0, "coupon": 0.05, "coupon_level": 0.9,
    "protection": 0.7,
}  # fmt: skip
USUAL = exact.Terms.constant(100, 0.05, 0.05, 0.2, 1.0)
JUMPS = {"intensity": 0.8, "mean": -0.1, "deviation": 0.15}


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


def held(options, holdings, greeks="bumped"):
    return [option | {"greeks": greeks, "holding": holding} for option, holding in zip(options, holdings)]


def first(value):
    return value[0] if isinstance(value, list) else value


def scores(found, name, truth):
    """How far each run is off, in units of its standard error."""
    error = "standard_error" if name == "price" else f"{name}_standard_error"
    return np.array([(first(each[name]) - truth) / first(each[error]) for each in found])


def require_errors_as_told(z, label, least=0.85):
    assert np.abs(z).max() < 4.5, label
    assert abs(z.mean()) < 4 / math.sqrt(len(z)), label
    assert least < z.std(ddof=1) < 1.15, label


def on_dates(price):
    return exact.greeks_by_differences(
        lambda s, r, g, v: price(s, exact.Steps.constant(g, v, DATES), math.exp(-r)), 100.0, 0.05, 0.05, 0.2, 0.05
    )


@pytest.mark.parametrize("antithetic", [False, True])
def test_errors_of_bumped_greeks_and_of_their_book_are_as_told(cpu, antithetic):
    """Of a call, a digital and a barrier on dates, in a book with all of them."""
    truths = [
        exact.european_greeks(USUAL, 100, "call"),
        exact.digital_greeks(USUAL, 105, "put", 2.0),
        on_dates(lambda s, x, d: d * exact.barrier_on_dates(s, 100.0, x, "call", "down", "out", 90.0)),
    ]
    holdings = (3.0, -20.0, 2.0)
    paths = {"count": 8192, "antithetic": antithetic}
    made = problem(time={"steps": 12}, paths=paths, option=held((CALL, DIGITAL, BARRIER), holdings))
    found = results_of_seeds(made, 120, cpu)
    for i, truth in enumerate(truths):
        options = [each["options"][f"option{i + 1}"] for each in found]
        assert set(options[0]["greeks_method"].values()) == {"bumping"}
        for name in GREEKS:
            require_errors_as_told(scores(options, name, getattr(truth, name)), (i, name))
    books = [each["book"] for each in found]
    for name in GREEKS:
        total = sum(holding * getattr(truth, name) for holding, truth in zip(holdings, truths))
        require_errors_as_told(scores(books, name, total), name)
    total = sum(holding * truth.price for holding, truth in zip(holdings, truths))
    require_errors_as_told(scores(books, "value", total), "value")


Z = np.linspace(-9, 9, 20001)
WEIGHTS = np.exp(-Z * Z / 2) / np.exp(-Z * Z / 2).sum()


def after(spot, rate, volatility, time):
    return spot * np.exp((rate - volatility**2 / 2) * time + volatility * math.sqrt(time) * Z)


def above(spot, level, rate, volatility, time):
    return ndtr((np.log(spot / level) + (rate - volatility**2 / 2) * time) / (volatility * math.sqrt(time)))


def with_dividend(spot, rate, volatility, passed):
    """A call at 100 on a price that pays 5 after half a year."""
    later = np.maximum(after(spot, rate, volatility, 0.5 - passed) - 5.0, 1e-300)
    d = (np.log(later / 100.0) + (rate - volatility**2 / 2) * 0.5) / (volatility * math.sqrt(0.5))
    call = later * ndtr(d + volatility * math.sqrt(0.5)) - 100.0 * math.exp(-rate * 0.5) * ndtr(d)
    return math.exp(-rate * (0.5 - passed)) * float(WEIGHTS @ call)


def note(spot, rate, volatility, passed):
    """`NOTE`, whose levels are shares of 100: Gauss's rule between the prices at which it jumps on the first date."""
    time, half = 0.5 - passed, math.exp(-rate * 0.5)
    centre, deviation = math.log(spot / 100.0) + (rate - volatility**2 / 2) * time, volatility * math.sqrt(time)
    ends = [-9.0, *((math.log(level) - centre) / deviation for level in (0.9, 1.0)), 9.0]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    worth = 0.0
    for i, (low, high) in enumerate(itertools.pairwise(ends)):
        z = (low + high) / 2 + (high - low) / 2 * nodes
        later = np.exp(centre + deviation * z)
        protected, due = (above(later, level, rate, volatility, 0.5) for level in (0.7, 0.9))
        d = (np.log(later / 0.7) + (rate + volatility**2 / 2) * 0.5) / (volatility * math.sqrt(0.5))
        end = half * (0.05 * due + protected) + later * ndtr(-d)
        paid = (0.05 if i > 0 else 0.0) + (1.0 if i == 2 else end)
        worth += float(weights @ (paid * np.exp(-z * z / 2))) * (high - low) / 2 / math.sqrt(2 * math.pi)
    return 100.0 * math.exp(-rate * time) * worth


def with_jumps(spot, rate, volatility, passed):
    return exact.merton_digital(spot, 100.0, rate, rate, volatility, 1.0 - passed, 0.8, -0.1, 0.15, "call")


def greeks_of(price):
    def slope(f, h):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    def by_spot(h):
        return price(100.0 + h, 0.05, 0.2, 0.0)

    bend = (16 * (by_spot(1) + by_spot(-1)) - by_spot(2) - by_spot(-2) - 30 * by_spot(0)) / 12
    return {
        "delta": slope(by_spot, 0.5),
        "gamma": bend,
        "vega": slope(lambda h: price(100.0, 0.05, 0.2 + h, 0.0), 0.002),
        "rho": slope(lambda h: price(100.0, 0.05 + h, 0.2, 0.0), 0.001),
        "theta": slope(lambda h: price(100.0, 0.05, 0.2, h), 0.002),
    }


CASES = {  # option, what its asset has, its price by quadrature, the Greeks that are bumped
    "cash": (CALL, {"dividends": [{"time": 0.5, "cash": 5.0}]}, with_dividend, GREEKS),
    "note": (NOTE, {}, note, ("vega", "rho", "theta")),
    "jumps": (CALL | {"style": "digital"}, {"jumps": JUMPS}, with_jumps, GREEKS[:4]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_greeks_that_no_other_way_gives(cpu, case, precision):
    option, more, price, bumped = CASES[case]
    truth = greeks_of(price)
    paths = {"count": 8192, "antithetic": precision == "float32"}
    made = problem(
        run={"precision": precision}, asset=[ASSET | more], time={"steps": 4}, paths=paths,
        option=held([option], [0.0], "auto"),
    )  # fmt: skip
    found = [each["options"]["option1"] for each in results_of_seeds(made, 100, cpu)]
    assert tuple(name for name, how in found[0]["greeks_method"].items() if how == "bumping") == bumped
    for name in bumped:
        require_errors_as_told(scores(found, name, truth[name]), name, least=0.75)


def test_a_basket_against_other_random_numbers(cpu):
    """The dearer of two, by NumPy: the payoff has slopes almost everywhere."""
    market = {"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]}
    basket = {"style": "basket", "combine": "max", "payoff": "call", "strike": 100.0, "weights": [1.0, 2.0]}
    made = problem(
        market=market, asset=[ASSET, {"spot": 50.0, "volatility": 0.3}], paths={"count": 1 << 16},
        option=held([basket], [1.0]),
    )  # fmt: skip
    found = run(made, cpu)[0]["options"]["option1"]
    z = np.random.default_rng(7).standard_normal((2, 1 << 18))
    w = np.stack([z[0], 0.5 * z[0] + math.sqrt(0.75) * z[1]])
    ends = [s * np.exp(0.05 - v * v / 2 + v * x) for s, v, x in zip((100.0, 50.0), (0.2, 0.3), w)]
    values = np.stack([ends[0], 2.0 * ends[1]])
    which, paid = values.argmax(axis=0), values.max(axis=0) > 100.0
    for a, (spot, volatility) in enumerate([(100.0, 0.2), (50.0, 0.3)]):
        slope = math.exp(-0.05) * values[a] * (paid & (which == a))
        for name, each in (("delta", slope / spot), ("vega", slope * (w[a] - volatility))):
            error = math.hypot(found[f"{name}_standard_error"][a], each.std() / math.sqrt(len(each)))
            assert abs(found[name][a] - each.mean()) < 4.5 * error, (name, a)


@pytest.mark.parametrize("option", [CALL, DIGITAL], ids=lambda option: option["style"])
def test_bumps_follow_their_rule(option):
    """s n^(-1/5), s n^(-1/7) and s / 128, where s is 20 %."""
    jumps = option is DIGITAL
    joint = problem(paths={"count": 1 << 15}, option=held([option], [0.0])).joint
    sizes = {name: greek.size for (_, name, _), greek in joint.bumped.items()}
    fifth, seventh, small = 2.0**-3, 2.0 ** (-15 / 7), 2.0**-7
    assert sizes["delta"] == pytest.approx(20 * (fifth if jumps else small))
    assert sizes["gamma"] == pytest.approx(20 * (seventh if jumps else fifth))
    assert sizes["vega"] == pytest.approx(0.2 * (fifth if jumps else small))
    assert sizes["rho"] == pytest.approx(0.2 * (fifth if jumps else small))
    assert sizes["theta"] == pytest.approx(fifth if jumps else small)
    assert joint.made == 5 * 4 + 1


MIXED = [
    DIGITAL | {"greeks": "bumped", "holding": 2.0, "maturity": 0.75},
    CALL | {"greeks": "auto", "asset": "B", "holding": 1.0},
    ASIAN | {"greeks": True, "holding": -3.0},
    NOTE | {"greeks": "auto"},
]


def mixed(count=400, batch=None, options=MIXED):
    return problem(
        market={"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
        asset=[ASSET, {"spot": 40.0, "volatility": 0.3, "jumps": JUMPS}],
        time={"end": 1.0, "steps": 8},
        paths={"count": count} | ({"batch": batch} if batch else {}),
        option=options,
        output={"frames": 3},
    )


def test_runs_that_are_cut_anywhere_have_the_same_bits(backend):
    p = mixed(count=40)
    whole, cut = outcome(p, backend), outcome(p, backend, [1, 2, 3, 1])
    for name, value in whole.items():
        np.testing.assert_array_equal(value, cut[name], err_msg=name)


def test_batches_and_a_restart_amid_one_change_no_bit(cpu):
    p = mixed(count=3000, batch=1024)
    results = run(p, cpu)[0]
    whole = run(mixed(count=3000), cpu)[0]
    assert results["options"] == whole["options"]
    assert results["book"] == whole["book"]
    stepper = p.stepper(cpu, p.initial())
    stepper.advance(13)
    again = p.stepper(cpu, copied(stepper.snapshot()))
    again.advance(p.clock.end - 13)
    assert p.results(copied(again.observe("time"))) == results


def test_paths_can_be_added_to_a_book_and_bumps_begin_anew(cpu):
    """Bumps depend on the number of paths; a book without them goes on."""
    plain = [option | {"greeks": True} for option in MIXED[:3]]
    for options, begin in ((plain, 1024), (MIXED, 0)):
        before, more = mixed(1500, options=options), mixed(4000, options=options)
        stepper = before.stepper(cpu, before.initial())
        stepper.advance(before.clock.end)
        start = with_added_paths(more, before, copied(stepper.snapshot()), cpu)
        assert int(start.arrays["done"][0]) == begin
        stepper = more.stepper(cpu, start)
        stepper.advance(more.clock.end - start.step)
        assert more.results(copied(stepper.observe("time"))) == run(more, cpu)[0]


def test_memory_is_at_least_what_is_allocated(cpu):
    allocated = []

    class Counting(type(cpu)):
        def array(self, host):
            allocated.append(super().array(host))
            return allocated[-1]

        def zeros(self, shape, dtype):
            allocated.append(super().zeros(shape, dtype))
            return allocated[-1]

    p = mixed(count=1500, batch=1024)
    p.stepper(Counting(), p.initial())
    held_bytes = sum(a.nbytes for a in allocated)
    assert held_bytes <= p.device_bytes() < 3 * held_bytes


def test_other_options_keep_their_bits(cpu):
    """An option that asks for nothing has the results of a run without those that do."""
    beside = run(mixed(), cpu)[0]["options"]["option3"]
    alone = run(mixed(options=[MIXED[2] | {"holding": 0.0}]), cpu)[0]
    assert alone["options"]["option1"] == beside
    assert "book" not in alone


def test_reasons_say_what_cannot_be_bumped_either(cpu):
    american = {"style": "american", "payoff": "put", "strike": 100.0, "exercise": 4, "greeks": "auto"}
    rate = [[0.0, 0.05], [0.5, 0.04]]
    found = run(problem(market={"rate": rate}, time={"steps": 4}, option=[american]), cpu)[0]["options"]["option1"]
    assert found["delta"] == [None]
    assert "rule of exercise" in found["reasons"]["delta"]
    at_spot = {"style": "expression", "value": "max(max(A) - 100, 0)", "greeks": "bumped"}
    found = run(problem(time={"steps": 4}, option=[at_spot]), cpu)[0]["options"]["option1"]
    assert "kink" in found["reasons"]["delta"]
    assert found["vega"][0] > 0
    still = problem(asset=[{"spot": 100.0, "volatility": 0.0}], option=[DIGITAL | {"greeks": "bumped"}])
    found = run(still, cpu)[0]["options"]["option1"]
    assert found["vega"] == [None]
    assert "no volatility" in found["reasons"]["vega"]
    jumping = problem(asset=[ASSET | {"jumps": JUMPS}], option=[CALL | {"greeks": "auto"}])
    found = run(jumping, cpu)[0]["options"]["option1"]
    assert found["theta"] is None
    assert "jumps" in found["reasons"]["theta"]


# ---- the book


def test_a_book_that_cancels_has_no_error(cpu):
    """An option and the same one short: nothing is left on any path, but for errors that scatter does not show."""
    for options in ((CALL, CALL), (DIGITAL, DIGITAL)):
        both, one = held(options, (2.0, -2.0), "auto"), held(options[:1], (2.0,), "auto")
        book, single = (
            run(problem(time={"steps": 4}, paths={"count": 1 << 14}, option=each), cpu)[0]["book"]
            for each in (both, one)
        )
        for name in ("value", *GREEKS):
            assert first(book[name]) == pytest.approx(0, abs=1e-12)
            assert first(book[f"{name}_standard_error"]) < 0.2 * first(single[f"{name}_standard_error"])


def test_the_book_of_one_option_is_that_option(cpu):
    for option in (CALL, ASIAN, DIGITAL):
        results = run(problem(time={"steps": 4}, option=held([option], [3.0], True)), cpu)[0]
        alone, book = results["options"]["option1"], results["book"]
        for name in GREEKS:
            assert first(book[name]) == pytest.approx(3 * first(alone[name]), rel=1e-12)
            error = 3 * first(alone[f"{name}_standard_error"])
            assert first(book[f"{name}_standard_error"]) == pytest.approx(error, rel=0.02)
        assert book["value"] == pytest.approx(3 * alone["price"], rel=1e-12)
        assert book["value_standard_error"] == pytest.approx(3 * alone["standard_error"], rel=0.02)


def test_a_call_less_a_put_has_the_error_of_a_forward(cpu):
    n = 1 << 14
    put = CALL | {"payoff": "put"}
    results, state = run(problem(paths={"count": n}, option=held([CALL, put], [1.0, -1.0], True)), cpu)
    forward = math.exp(-0.05) * 100 * math.exp(0.05 - 0.02) * np.exp2(state["x"][0])
    error = forward.std() / math.sqrt(n - 1)
    assert results["book"]["value_standard_error"] == pytest.approx(error, rel=1e-6)
    assert results["book"]["delta_standard_error"][0] == pytest.approx(error / 100, rel=0.02)
    apart = [option["standard_error"] for option in results["options"].values()]
    assert error > 1.1 * math.hypot(*apart)


def test_sums_and_errors_of_a_book_of_several_maturities(cpu):
    """Calls and geometric Asian options that end sooner or later, long and short; with Sobol points all at the end."""
    geometric = ASIAN | {"average": "geometric"}
    options = [CALL | {"maturity": 0.5}, CALL, geometric, DIGITAL | {"maturity": 0.5}]
    holdings = (4.0, -3.0, 5.0, 10.0)
    half = exact.Terms.constant(100, 0.05, 0.05, 0.2, 0.5)
    truths = [
        exact.european_greeks(half, 100, "call"),
        exact.european_greeks(USUAL, 100, "call"),
        exact.geometric_asian_greeks(100, 100, 0.05, 0.05, 0.2, 1.0, DATES, "call"),
        exact.digital_greeks(half, 105, "put", 2.0),
    ]
    made = problem(time={"steps": 12}, paths={"count": 4096}, option=held(options, holdings, True))
    found = results_of_seeds(made, 80, cpu)
    for name in ("value", *GREEKS):
        key = "price" if name == "value" else name
        total = sum(holding * getattr(truth, key) for holding, truth in zip(holdings, truths))
        require_errors_as_told(scores([each["book"] for each in found], name, total), name)
        each = found[0]["options"].values()
        parts = [holding * first(option[key]) for holding, option in zip(holdings, each)]
        assert first(found[0]["book"][name]) == pytest.approx(math.fsum(parts), rel=1e-12)


def test_a_book_with_control_variates(cpu):
    """Asian options of several strikes: each has its own control; what is told is their sum, with no less than its
    error."""
    strikes, holdings = (90.0, 100.0, 110.0), (1.0, -2.0, 3.0)
    options = [ASIAN | {"strike": strike} for strike in strikes]
    made = problem(time={"steps": 12}, paths={"count": 4096}, option=held(options, holdings, True))
    found = results_of_seeds(made, 60, cpu)
    steps = exact.Steps.constant(0.05, 0.2, DATES)
    truth = math.exp(-0.05) * sum(
        holding * exact.arithmetic_mean_option(100.0, strike, steps, "call")
        for holding, strike in zip(holdings, strikes)
    )
    require_errors_as_told(scores([each["book"] for each in found], "value", truth), "value", least=0.5)
    plain = problem(
        time={"steps": 12}, paths={"count": 4096},
        option=held([option | {"control_variate": False} for option in options], holdings, True),
    )  # fmt: skip
    assert found[0]["book"]["value_standard_error"] < run(plain, cpu)[0]["book"]["value_standard_error"] / 10


def test_a_greek_that_an_option_lacks_is_not_summed(cpu):
    options = [CALL | {"name": "call", "holding": 1.0, "greeks": True}, CALL | {"name": "bare", "holding": 2.0}]
    book = run(problem(option=options), cpu)[0]["book"]
    assert book["delta"] == [None]
    assert book["reasons"]["delta"] == "'bare' has none"
    assert book["value"] > 0


def test_programs_for_gpus_compile():
    p = mixed()
    statement = JointStatement(p.scenario, p.dynamics, p.joint.payoffs, p.frame_steps, p.batch, p.joint)
    for rows in rows_together(statement):
        assert compile_program(PAYOFFS, payoffs_program(statement, rows)[0], "sm_90")
