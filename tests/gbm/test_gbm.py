"""Monte Carlo on geometric Brownian motion: prices and laws against closed forms, on the CPU."""

from __future__ import annotations

import math
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, problem, run, two_assets

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms import (
    european,
    geometric_asian,
    price_mean,
    price_quantile,
    price_std,
)
from simsuite.solvers.gbm.payoffs.functionals import Dates
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS, exact
from simsuite.solvers.gbm.statistics.statistics_scalars import digits

# discounted payoff of the call of `problem()`: standard deviation, and that of the mean of an antithetic pair
CALL_PRICE, CALL_SD, CALL_PAIR_SD = 10.450583572186, 14.719404091, 7.352355589


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


# ---- Monte Carlo against closed forms


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("antithetic", [False, True])
def test_european_price_and_its_error_bar(cpu, precision, antithetic):
    """Over many seeds, errors are as large as the standard errors say: no larger, no smaller."""
    z = []
    for seed in range(1, 31):
        results, _ = run(
            problem(run={"seed": seed, "precision": precision}, paths={"count": 16384, "antithetic": antithetic}), cpu
        )
        option = results["options"]["option1"]
        z.append((option["price"] - CALL_PRICE) / option["standard_error"])
    assert max(map(abs, z)) < 4
    assert 0.55 < np.abs(z).mean() < 1.05


@pytest.mark.parametrize(("antithetic", "deviation", "per_path"), [(False, CALL_SD, 1), (True, CALL_PAIR_SD, 2)])
def test_standard_error_against_the_exact_sampling_noise(cpu, antithetic, deviation, per_path):
    n = 1 << 20
    option = run(problem(paths={"count": n, "antithetic": antithetic}), cpu)[0]["options"]["option1"]
    expected = deviation / math.sqrt(n / per_path)
    assert option["standard_error"] == pytest.approx(expected, rel=5e-3)
    half = (option["ci95"][1] - option["ci95"][0]) / 2
    assert half == pytest.approx(1.959963984540054 * option["standard_error"], rel=1e-9)
    assert sum(option["ci95"]) / 2 == pytest.approx(option["price"], rel=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("steps", [12, 36])
def test_asian_prices(cpu, precision, steps):
    found = run(
        problem(
            run={"precision": precision},
            time={"steps": steps},
            paths={"count": 1 << 18, "antithetic": True},
            option=[
                ASIAN | {"fixings": 12},
                ASIAN | {"fixings": 12, "average": "geometric"},
                ASIAN | {"fixings": 12, "payoff": "put"},
                ASIAN | {"fixings": 12, "strike": 110.0},
                ASIAN,
            ],
        ),
        cpu,
    )[0]["options"]
    exact_prices = [6.1560407664, 5.9402002216, 3.5344803682, 2.2902988584]
    for name, expected in zip(("option1", "option2", "option3", "option4"), exact_prices):
        assert abs(found[name]["price"] - expected) < 4 * found[name]["standard_error"]
        assert found[name]["standard_error"] < 0.02
    same = found["option5"] == found["option1"]  # every step is a fixing: of 12 the same ones, of 36 others
    assert same == (steps == 12)


def test_fixings_fall_on_the_nearest_steps():
    assert Dates(12).steps(252).tolist() == [*range(21, 253, 21)]
    assert Dates(3).steps(10).tolist() == [3, 7, 10]
    assert Dates(10).steps(10).tolist() == [*range(1, 11)]
    assert len(set(Dates(9).steps(10).tolist())) == 9
    many = Dates(10**6 - 1).steps(10**9)
    assert (many.nbytes, many[-1]) == (8 * (10**6 - 1), 10**9)


def test_average_of_prices_at_other_steps_than_the_last(cpu):
    """Fixings that do not divide the steps: against the closed form for the dates that were used."""
    found = run(
        problem(
            time={"end": 2.0, "steps": 10},
            paths={"count": 1 << 18},
            option=[ASIAN | {"fixings": 3, "average": "geometric", "payoff": "put"}],
        ),
        cpu,
    )[0]["options"]["option1"]
    expected = geometric_asian(100, 100, 0.05, 0.05, 0.2, 2.0, [0.6, 1.4, 2.0], "put")
    assert abs(found["price"] - expected) < 4 * found["standard_error"]


def test_put_call_parity(cpu):
    """Exact path by path, hence to round-off: call - put = discounted (mean of S_T - strike)."""
    results, _ = run(problem(paths={"count": 5000}, option=[CALL, CALL | {"payoff": "put"}]), cpu)
    call, put = (results["options"][name]["price"] for name in ("option1", "option2"))
    assert call - put == pytest.approx(math.exp(-0.05) * (results["assets"]["A"]["mean"] - 100), abs=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_mean_deviation_and_quantiles_follow_the_lognormal_law(cpu, precision):
    n, t = 1 << 18, 2.0
    assets = [ASSET | {"dividend_yield": 0.03}, {"spot": 7.0, "volatility": 0.5, "name": "X"}]
    p = problem(run={"precision": precision}, asset=assets, time={"end": t, "steps": 8}, paths={"count": n}, option=[])
    results, _ = run(p, cpu)
    for name, spot, growth, volatility in (("A", 100.0, 0.02, 0.2), ("X", 7.0, 0.05, 0.5)):
        found, s = results["assets"][name], volatility * math.sqrt(t)
        deviation = price_std(spot, growth, volatility, t)
        assert abs(found["mean"] - price_mean(spot, growth, t)) < 4 * deviation / math.sqrt(n)
        w = math.exp(s**2)
        kurtosis = w**4 + 2 * w**3 + 3 * w**2 - 3
        assert abs(found["std"] / deviation - 1) < 4 * math.sqrt((kurtosis - 1) / 4 / n)
        for q, price in found["quantiles"].items():
            expected = price_quantile(spot, growth, volatility, t, float(q))
            z = (math.log(expected / spot) - (growth - volatility**2 / 2) * t) / s
            error = math.sqrt(float(q) * (1 - float(q)) / n) / (math.exp(-z * z / 2) / math.sqrt(2 * math.pi))
            assert abs(math.log(price / expected)) < 4 * s * error
    assert list(found["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]


@pytest.mark.parametrize("n", [2, 3, 31, 1000, 40_000])
def test_statistics_of_the_very_sample(cpu, n):
    """Mean and deviation to round-off, quantiles to their stated bound, against NumPy on the same paths."""
    levels = [0.001, 0.05, 0.37, 0.5, 0.95, 0.999]
    results, state = run(problem(paths={"count": n}, output={"quantiles": levels}, time={"end": 4.0, "steps": 3}), cpu)
    price, found = 100 * np.exp(4 * 0.03) * np.exp2(state["x"][0]), results["assets"]["A"]
    assert found["mean"] == pytest.approx(price.mean(), rel=1e-13)
    assert found["std"] == pytest.approx(price.std(ddof=1), rel=1e-12)
    for q in levels:
        assert abs(math.log(found["quantiles"][f"{q:g}"] / np.quantile(price, q))) < 0.2 * 2.0 / 512
    payoff = math.exp(-0.2) * np.maximum(price - 100, 0)
    option = results["options"]["option1"]
    assert option["price"] == pytest.approx(payoff.mean(), rel=1e-12)
    assert option["standard_error"] == pytest.approx(payoff.std(ddof=1) / math.sqrt(n), rel=1e-11)


def test_variance_of_a_price_that_hardly_moves(cpu):
    """A volatility of 1e-9: the deviation of the price is 1e-9 of it, and keeps its digits."""
    calm = {"spot": 100.0, "volatility": 1e-9}
    results, _ = run(problem(asset=[calm], paths={"count": 1 << 16}), cpu)
    assert results["assets"]["A"]["std"] == pytest.approx(100 * math.exp(0.05) * 1e-9, rel=0.02)
    option = results["options"]["option1"]  # forward less strike, known to the noise of the forward
    assert option["standard_error"] == pytest.approx(100 * 1e-9 / 256, rel=0.02)


def test_no_volatility_no_error(cpu):
    still = {"spot": 100.0, "volatility": 0.0}
    p = problem(asset=[still], time={"steps": 4}, option=[CALL, ASIAN], paths={"count": 1500})
    results, _ = run(p, cpu)
    forward = 100 * math.exp(0.05)
    asset = results["assets"]["A"]
    assert asset["mean"] == pytest.approx(forward, rel=1e-14)
    assert asset["std"] < 1e-12
    assert asset["quantiles"]["0.5"] == pytest.approx(forward, rel=1e-14)
    assert results["options"]["option1"]["price"] == pytest.approx(math.exp(-0.05) * (forward - 100), rel=1e-13)
    assert results["options"]["option1"]["standard_error"] < 1e-14
    mean = 100 * np.exp(0.05 * np.arange(1, 5) / 4).mean()
    assert results["options"]["option2"]["price"] == pytest.approx(math.exp(-0.05) * (mean - 100), rel=1e-13)


def test_one_path_has_no_error_bar(cpu):
    results, _ = run(problem(paths={"count": 1}), cpu)
    assert results["options"]["option1"]["standard_error"] is None
    assert results["options"]["option1"]["ci95"] == [None, None]
    assert results["assets"]["A"]["std"] is None
    assert results["assets"]["A"]["quantiles"]["0.05"] == results["assets"]["A"]["quantiles"]["0.95"]


def test_quantiles_of_money_beside_a_share_that_pays_cash(cpu):
    """Its price cannot be 0: the share's can. Every path has the same, and quantiles were up to 1e-6 off."""
    share = ASSET | {"name": "share", "dividends": [{"time": 0.5, "cash": 1.0}]}
    money = {"name": "money", "spot": 250000.0, "volatility": 0.0}
    results, _ = run(problem(market={"rate": 0.04}, asset=[share, money], option=[]), cpu)
    found = results["assets"]["money"]
    assert set(found["quantiles"].values()) == {found["mean_exact"]}
    assert {bound for pair in found["quantile_ci95"].values() for bound in pair} == {found["mean_exact"]}


def test_correlations(cpu):
    """Of the logarithms: across assets the given ones, along a path min(s, t)."""
    rho = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])
    n = 20_000
    p = problem(
        market={"correlation": rho.tolist()},
        asset=[ASSET, {"spot": 5.0, "volatility": 0.4}, {"spot": 5.0, "volatility": 0.1}],
        time={"end": 3.0, "steps": 6},
        paths={"count": n},
        output={"frames": 4, "store_paths": n},
    )
    _, state = run(p, cpu)
    log = state["paths"].astype(np.float64)  # [frame, asset, path]
    for frame in (1, 2, 3):
        assert np.abs(np.corrcoef(log[frame]) - rho).max() < 4 / math.sqrt(n)
    for i, j in ((1, 2), (1, 3), (2, 3)):
        assert np.corrcoef(log[i, 0], log[j, 0])[0, 1] == pytest.approx(math.sqrt(i / j), abs=4 / math.sqrt(n))
        assert np.corrcoef(log[i, 0], (log[j] - log[i])[1])[0, 1] == pytest.approx(0, abs=4 / math.sqrt(n))


def test_drift_takes_the_place_of_the_rate_but_not_of_the_discount(cpu):
    results, _ = run(problem(market={"rate": 0.05, "drift": 0.10}, paths={"count": 1 << 17}), cpu)
    option = results["options"]["option1"]
    expected = european(100, 100, 0.05, 0.10, 0.2, 1.0, "call")
    assert abs(option["price"] - expected) < 4 * option["standard_error"]
    assert results["assets"]["A"]["mean"] == pytest.approx(100 * math.exp(0.1), rel=3e-3)


def test_antithetic_twins_mirror_each_other(cpu):
    p = two_assets(count=100, antithetic=True)
    _, state = run(p, cpu)
    np.testing.assert_array_equal(state["x"][:, ::2], -state["x"][:, 1::2])
    plain = run(two_assets(count=50), cpu)[1]
    np.testing.assert_allclose(state["x"][:, ::2], plain["x"], rtol=0, atol=1e-15)


def test_single_precision_draws_from_the_same_law_within_its_digits(cpu):
    """The terminal logarithm of many float32 steps against the exact one of the same normals."""
    p = problem(run={"precision": "float32"}, time={"steps": 1000}, paths={"count": 4096}, output={"store_paths": 4096})
    _, state = run(p, cpu)
    x = state["x"][0].astype(np.float64) * math.log(2)
    assert state["x"].dtype == np.float32
    assert abs(x.mean()) < 4 * 0.2 / 64
    assert abs(x.std() / 0.2 - 1) < 4 / math.sqrt(2 * 4096)


# ---- what a run says about itself


def test_rows_and_totals_match_the_layout(cpu):
    p = two_assets(count=3000, batch=1024)
    (series,) = p.layout.series
    assert series.steps == (32, 33, 34, 35)  # after three batches of 10 steps
    stepper = p.stepper(cpu, p.initial())
    lengths = {**p.layout.sizes}
    for step, time in zip(series.steps, (0.0, 0.45, 1.05, 1.5)):
        stepper.advance(step - stepper.step)
        observed = copied(stepper.observe("time"))
        rows = p.rows("time", observed)
        assert rows["time"] == pytest.approx(time)
        growing = {v.name: v for v in p.layout.variables if "time" in v.dims}
        assert rows.keys() == {*growing, "time"}
        for name, variable in growing.items():
            assert rows[name].shape == tuple(lengths[d] for d in variable.dims if d != "time"), name
        if step == series.steps[0]:
            np.testing.assert_array_equal(rows["price_quantile"], np.tile([100.0, 40.0], (5, 1)))
            np.testing.assert_array_equal(rows["price_std"], [0, 0])
            np.testing.assert_array_equal(rows["path"], np.tile([100.0, 40.0], (7, 1)))
    totals = p.totals(observed)
    fixed = {v.name: v for v in p.layout.variables if v.values is None and "time" not in v.dims}
    assert totals.keys() == fixed.keys()
    results = p.results(observed)
    assert results["paths"] == 3000
    assert list(results["options"]) == ["option1", "option2", "option3", "option4"]
    assert [results["options"][o]["price"] for o in results["options"]] == totals["option_price"].tolist()
    np.testing.assert_array_equal(rows["price_mean"], [results["assets"][a]["mean"] for a in "AB"])


def test_stored_paths_are_the_first_ones(cpu):
    p = two_assets(count=64)
    _, state = run(p, cpu)
    np.testing.assert_array_equal(state["paths"][-1], state["x"][:, :7])
    assert problem(output={"store_paths": 0}).layout.sizes.keys() == {"asset", "quantile", "option", "price_bin"}
    assert problem(paths={"count": 20}).stored == 20
    assert problem(paths={"count": 5000}).stored == 64


def test_results_before_the_end_name_no_price(cpu):
    p = two_assets(count=64)
    stepper = p.stepper(cpu, p.initial())
    stepper.advance(5)
    observed = copied(stepper.observe("time"))
    assert p.results(observed)["options"] == {}
    assert p.results(observed)["assets"]["A"]["std"] > 0  # of the last frame that was passed
    assert p.totals(observed) == {}


@pytest.mark.parametrize("batch", [None, 1024])
def test_device_bytes_are_those_allocated(cpu, batch):
    allocated = []

    class Counting(CpuBackend):
        def array(self, host):
            allocated.append(super().array(host))
            return allocated[-1]

        def zeros(self, shape, dtype):
            allocated.append(super().zeros(shape, dtype))
            return allocated[-1]

    p = two_assets(count=3000, batch=batch)
    p.stepper(Counting(), p.initial())
    passing = 8 * p.passing_arrays * p.batch  # which is one chunk of payoffs
    assert p.device_bytes() == sum(a.nbytes for a in allocated) + passing


def test_device_bytes_count_the_tables_without_making_them():
    steps = {"end": 1.0, "steps": 10**9}
    twelve = problem(time=steps, option=[ASIAN | {"fixings": 12, "control_variate": False}])
    none = problem(time=steps, option=[CALL])
    average = 8 * twelve.batch
    passing = 8 * (twelve.passing_arrays - none.passing_arrays) * twelve.batch
    assert twelve.device_bytes() - none.device_bytes() == (10**9 - 1) * (4 + 8 + 8) + average + passing


def test_default_batches_fit_in_a_gibibyte():
    small = problem(paths={"count": 10**6})
    assert (small.batch, small.n_batches) == (10**6, 1)
    large = problem(paths={"count": 10**9})
    assert large.batch == 1 << 24
    assert (large.n_batches - 1) * large.batch < 10**9 <= large.n_batches * large.batch
    wide = problem(paths={"count": 10**9}, asset=[ASSET] * 40)
    assert wide.batch % 1024 == 0
    assert 40 * 8 * wide.batch <= 1 << 30 < 40 * 8 * (wide.batch + 1024)


def test_a_price_beyond_all_bounds_is_a_fault(cpu):
    p = problem(market={"drift": 100.0}, time={"end": 9.0, "steps": 3}, option=[], paths={"count": 10})
    stepper = p.stepper(cpu, p.initial())
    stepper.advance(p.clock.end)
    assert p.fault(copied(stepper.observe("time"))) == "path 0 of asset 'A'"


def test_the_largest_spot_is_no_fault(cpu):
    spot = {"spot": 1e100, "volatility": 0.2}
    results, _ = run(problem(asset=[spot], option=[CALL | {"strike": 1e100}]), cpu)
    plain, _ = run(problem(), cpu)
    assert results["options"]["option1"]["price"] == pytest.approx(1e98 * plain["options"]["option1"]["price"])


# ---- exact sums


def test_exact_sums_lose_nothing_whatever_the_order():
    rng = np.random.default_rng(2)
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-300, 300, 2000)
    values = np.concatenate([values, [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.7e308, -1.7e308, 1e16, 1.0, -1e16]])
    totals = set()
    for order in (values, values[::-1], rng.permutation(values)):
        limbs = np.zeros(LIMBS, np.int64)
        for v in order:
            k, *parts = digits(v)
            limbs[k : k + 3] += parts
        totals.add(exact(limbs))
    assert totals == {sum(map(Fraction, values.tolist()))}


# ---- the shipped scenario


def test_shipped_scenario(cpu):
    text = (Path(__file__).parents[2] / "scenarios" / "gbm.toml").read_text()
    results, _ = run(GbmProblem.from_scenario(GbmScenario.model_validate(tomllib.loads(text)), Path()), cpu)
    for name, expected in (("call", CALL_PRICE), ("monthly average", 6.1560407664)):
        option = results["options"][name]
        assert abs(option["price"] - expected) < 4 * option["standard_error"]


def test_the_file_does_not_say_that_prices_are_multiples_of_the_spot():
    described = {variable.name: variable.attrs["long_name"] for variable in problem().layout.variables}
    assert described["option_price"] == "discounted mean of the payoff (in units of price)"
    assert described["price_mean"] == "mean of the price over all paths (in units of price)"
    assert not [words for words in described.values() if "of the spot price" in words]
