"""What people read about a Monte Carlo run: the lines of its options, and what is said before it."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, problem, run, tables
from running import call
from test_resume import write

import simsuite
from simsuite.backends import open_backend
from simsuite.errors import NumericalFailure
from simsuite.solvers.gbm.results.text_lines import option_lines, with_error
from simsuite.summaries.gbm import gbm_sections

TWO = [ASSET | {"name": "calm"}, ASSET | {"name": "wild", "spot": 50.0, "volatility": 0.5}]


def words(**changes: Any) -> list[str]:
    p = problem(**changes)
    results = run(p, open_backend("cpu"))[0]
    (option,) = results["options"].values()
    return option_lines(option, list(results["assets"]))


def test_every_greek_says_by_what_it_is(one_thread):
    basket = {"style": "basket", "payoff": "call", "strike": 70.0, "weights": [0.5, 0.5], "greeks": True}
    lines = words(asset=TWO, option=[basket])
    names = ["price", *(f"{g} ({a})" for g in ("delta", "gamma", "vega") for a in ("calm", "wild")), "rho", "theta"]
    assert [line[:22].strip() for line in lines] == names
    assert all(" ± " in line for line in lines)
    assert "per unit of the price of wild" in lines[2]
    assert "per 1.00 of the volatility of calm; per point of 0.01: 0." in lines[5]
    assert "per year that passes; per day: -" in lines[-1]


def test_greeks_by_assets_without_a_part_have_no_line(one_thread):
    call = {"style": "european", "payoff": "call", "strike": 50.0, "asset": "wild", "greeks": True}
    lines = words(asset=TWO, option=[call])
    assert not [line for line in lines if "calm" in line]
    assert [line for line in lines if line.startswith("delta (wild)")]


def test_what_was_not_seen_is_said(one_thread):
    asian = {"style": "asian", "payoff": "call", "strike": 1000.0, "control_variate": False}
    lines = words(time={"steps": 2}, option=[asian])
    assert lines[0].split() == ["price", "0", "±", "unknown", "95", "%:", "0", "..", "unknown"]
    assert lines[1].strip() == (
        "no path paid: the probability that one does is below 0.0029, with a confidence of 95 %"
    )


def test_in_a_table_unknown_errors_are_told_beside_greeks_as_beside_prices(one_thread):
    """And the Greek of an option is by the asset that it depends on, though no path has shown that."""
    asian = {"style": "asian", "payoff": "call", "strike": 2000.0, "control_variate": False, "asset": "wild"}
    points = {"count": 1024, "sampling": "sobol"}
    p = problem(asset=TWO, time={"steps": 2}, paths=points, option=[asian | {"greeks": True}] * 15)
    sections = list(gbm_sections(run(p, open_backend("cpu"))[0], verbose=False))
    ((title, rows),) = [section for section in sections if section[0].startswith("options")]
    assert title.endswith("; none, unknown: info -v says why")
    assert all(row.split() == [row.split()[0], *["0", "±", "unknown"] * 6] for row in rows[1:])
    ((_, rows),) = [section for section in sections if section[0].startswith("prices at the end")]
    assert all(row.count(" ± unknown") == 2 for row in rows[1:3])
    assert "Sobol points are not independent" in rows[3]


def test_digits_follow_the_error():
    assert with_error(10.39912345, 0.0731) == "10.399 ± 0.073"
    assert with_error(123456.7, 230.0) == "123457 ± 230"
    assert with_error(5.0, 0.0) == "5 (exact)"
    assert with_error(0.0, None) == "0 ± unknown"
    assert with_error(0.0, 3e-7) == "0 ± 3.0e-07"
    assert with_error(9.5, 1.2e-15) == "9.500000000000000 ± 1.2e-15"
    assert with_error(3.5802123e-6, 2.5e-9) == "3.5802e-06 ± 2.5e-09"
    assert with_error(122.5711476, 1.3e-6) == "122.5711476 ± 1.3e-06"
    assert with_error(0.5, 1.2) == "0.5 ± 1.2"


def test_greeks_that_are_not_estimated_are_named(one_thread):
    down = {"style": "barrier", "payoff": "put", "direction": "down", "knock": "out", "level": 80.0, "strike": 100.0}
    paid = ASSET | {"dividends": [{"time": 1.0, "proportion": 0.05}]}
    lines = words(asset=[paid], option=[down | {"monitoring": "continuous", "greeks": True}])
    why = "a dividend is paid while the price is watched at all times"
    assert lines[-1] == f"not estimated          gamma, vega, theta: {why}"
    assert [line.split()[0] for line in lines[:-1]] == ["price", "delta", "rho"]


def test_numbers_that_look_like_per_cent_are_named():
    p = problem(
        market={"rate": [[0.0, 0.02], [0.5, 5.0]]},
        asset=[ASSET, ASSET | {"name": "wild", "volatility": 20.0, "dividend_yield": 1.5}],
    )
    rate, volatility, dividend_yield, rare = p.warnings
    assert rate == "market.rate is 5, that is 500 %: if 5 % is meant, write 0.05"
    assert volatility == "the volatility of 'wild' is 20, that is 2000 %: if 20 % is meant, write 0.2"
    assert "the dividend_yield of 'wild'" in dividend_yield
    assert problem(market={"rate": -0.03}, asset=[ASSET | {"volatility": 2.5}]).warnings == []
    assert {rate, volatility, dividend_yield} < {*p.remedies, "x"}
    assert rare.startswith("'wild' has a volatility of 20 over 1 year")
    assert problem().remedies


def test_times_after_the_end_are_named():
    """As somebody wrote who counted days."""
    p = problem(market={"rate": [[0.0, 0.03], [182, 0.04], [240, 0.05]]}, asset=[ASSET | {"volatility": [[0, 0.2]]}])
    (warning,) = p.warnings
    assert (
        warning == "market.rate has a value from t = 182 on, after the end at 1: it is never used; times are in years"
    )
    assert problem(market={"rate": [[0.0, 0.03], [0.5, 0.04], [1.0, 0.05]]}).warnings == []
    late = ASSET | {"dividend_yield": [[0, 0.01], [2.0, 0.02]], "volatility": [[0, 0.2], [3.0, 0.3]]}
    volatility, dividend_yield = problem(asset=[late]).warnings
    assert "the volatility of 'A' has a value from t = 3 on" in volatility
    assert "the dividend_yield of 'A' has a value from t = 2 on" in dividend_yield


@pytest.mark.parametrize(("count", "better"), [(100_000, 65_536), (160_000, 131_072), (65_536, None), (98_304, None)])
def test_numbers_of_sobol_points_that_are_no_powers_of_2_are_named(count: int, better: int | None) -> None:
    """Of 12 seeds 16 * 5000 points had larger errors than 16 * 4096; 16 * 6144, which is 3 * 2048, did not."""
    paths = {"count": count, "sampling": "sobol"}
    found = [w for w in problem(paths=paths).warnings if "Sobol" in w]
    assert len(found) == (better is not None)
    assert all(f"paths.count = {better} (16 replicates of {better and better // 16})" in w for w in found)
    assert not [w for w in problem(paths=paths | {"target_standard_error": 1e-3}).warnings if "Sobol" in w]


def test_few_paths_carry_the_mean_of_a_wild_asset(one_thread):
    """Said before the run, and after it if the mean is not what is known; without that, nothing is."""
    wild = [ASSET | {"name": "wild", "volatility": [[0.0, 1.2], [5.0, 1.8]]}]
    p = problem(asset=wild, time={"end": 10.0})
    (warning,) = p.warnings
    assert warning.startswith("'wild' has a volatility of 4.84 over 10 years: few paths carry its mean")
    results = run(p, open_backend("cpu"))[0]
    assert results["assets"]["wild"]["mean_exact"] == pytest.approx(100.0 * math.exp(0.5))
    (missed,) = p.shortcomings(results)
    assert missed.startswith("the mean of 'wild' over these paths is ")
    assert "but 164.87 is exact" in missed
    calm = problem(paths={"count": 1 << 16})
    assert calm.shortcomings(run(calm, open_backend("cpu"))[0]) == []


SOBOL, LOOKBACK = (
    {"sampling": "sobol"},
    {"style": "lookback", "payoff": "call", "strike": 100.0, "strike_type": "fixed"},
)
PARITY, POINTS, FEWER = "go by put-call parity", 'take sampling = "sobol"', "take fewer years"


@pytest.mark.parametrize(
    ("volatility", "changes", "advised"),
    [
        (3.0, {"paths": {"count": 1 << 16}}, (PARITY, POINTS, "take 8.2e+07 paths", FEWER)),
        (3.0, {"paths": {"count": 81_000_000}}, (PARITY, POINTS, "take 8.2e+07 paths", FEWER)),
        (3.0, {"paths": {"count": 82_000_000}}, ()),
        (3.0, {"paths": {"count": 1 << 16}, "option": [LOOKBACK]}, (POINTS, "take 8.2e+07 paths", FEWER)),
        (3.0, {"paths": {"count": 1 << 16}, "time": {"scheme": "euler"}}, (PARITY, "take 8.2e+07 paths", FEWER)),
        (3.0, {"paths": SOBOL | {"count": 1 << 16}}, ()),
        (4.0, {"paths": SOBOL | {"count": 1 << 16}}, (PARITY, "take 8.9e+08 paths", FEWER)),
        (20.0, {"paths": {"count": 1 << 20}}, (PARITY, FEWER)),
        (20.0, {"paths": SOBOL | {"count": 1 << 20}}, (PARITY, FEWER)),
    ],
)
def test_what_helps_where_few_paths_carry_the_mean_is_advised(
    volatility: float, changes: dict[str, Any], advised: tuple[str, ...]
) -> None:
    """Sobol points where they can be taken and tell the error, more paths where that helps."""
    p = problem(asset=[ASSET | {"volatility": volatility}], **changes)
    found = [warning for warning in p.warnings if "carry its mean" in warning or "carries its mean" in warning]
    assert len(found) == bool(advised)
    everything = (PARITY, POINTS, "take 8.2e+07 paths", "take 8.9e+08 paths", "take more paths", FEWER)
    assert all([words for words in everything if words in warning] == list(advised) for warning in found)


def test_a_mean_that_points_miss_is_told(one_thread):
    """A volatility of 2000 %: nothing was said of a mean of 1e-13 in place of 105."""
    p = problem(asset=[ASSET | {"volatility": 20.0}], paths=SOBOL | {"count": 1 << 14})
    (missed,) = p.shortcomings(run(p, open_backend("cpu"))[0])
    assert missed.startswith("the mean of 'A' over these points is ")
    assert "but 105.13 is exact" in missed
    usual = problem(paths=SOBOL)
    assert usual.shortcomings(run(usual, open_backend("cpu"))[0]) == []


def test_where_prices_are_too_small_or_too_large_to_be_told_errors_are_unknown(one_thread):
    """A volatility of 2000 %: no mean of 0 is exact, no error infinite."""
    p = problem(asset=[ASSET | {"volatility": 20.0}], option=[CALL | {"greeks": True}])
    with np.errstate(all="raise", under="ignore"):
        results = run(p, open_backend("cpu"))[0]
    (option,), asset = results["options"].values(), results["assets"]["A"]
    assert option["delta_standard_error"] == [None]
    assert any("± unknown" in line for line in option_lines(option, ["A"]))
    assert (asset["mean"], asset["mean_standard_error"], asset["std_standard_error"]) == (0.0, None, None)
    (missed,) = p.shortcomings(results)
    assert missed.startswith("the mean of 'A' over these paths is 0 ± unknown, but 105.13 is exact")


def test_a_greek_that_is_exactly_0_has_a_line(one_thread):
    lookback = {"style": "lookback", "payoff": "put", "strike_type": "floating", "asset": "wild", "greeks": True}
    lines = words(asset=TWO, option=[lookback])
    assert [line for line in lines if line.startswith("gamma (wild)           0 (exact)")]
    assert not [line for line in lines if "calm" in line]


def test_with_a_drift_of_the_real_world_there_are_no_prices(tmp_path, capsys):
    """In the lines, the table of many options, and all numbers; JSON keeps its keys."""
    real = {"rate": 0.05, "drift": 0.09}
    for options, market in ((1, real), (15, real), (1, {"rate": 0.05}), (15, {"rate": 0.05})):
        scenario = tables(market=market, option=[CALL | {"greeks": True}] * options)
        path = write(tmp_path / "s.toml", scenario, {"run.device": "cpu"})
        directory = tmp_path / f"{options}-{len(market)}"
        for command in (["run", path, "-o", directory], ["info", directory], ["info", "-v", directory]):
            lines = call(capsys, *command).stdout.split("prices at the end")[0].splitlines()
            told = [line for line in lines if line.split()[:1] == ["price"]]
            assert bool(told) is ("drift" not in market), command
            assert any("discounted mean" in line for line in lines) is ("drift" in market)
        results = json.loads((directory / "summary.json").read_text(encoding="utf-8"))["results"]
        assert "price" in results["options"]["option1"]
        assert results.get("measure") == ("real-world" if "drift" in market else None)


def test_with_a_drift_of_the_real_world_each_number_says_by_which_rate_it_is(tmp_path, capsys):
    """What grows, what discounts, what rho is by; and that money grows like everything else."""
    real = {"rate": 0.05, "drift": 0.09}
    money = {"name": "money", "spot": 50.0, "volatility": 0.0, "holding": -1.0}
    call_held = CALL | {"greeks": True, "holding": 1.0}
    scenario = tables(market=real, asset=[ASSET | {"name": "share"}, money], option=[call_held], output={"risk": {}})
    path = write(tmp_path / "s.toml", scenario, {"run.device": "cpu"})
    told = call(capsys, "run", path, "-o", tmp_path / "run")
    assert "  measure              real-world         prices grow at market.drift, market.rate discounts" in told.stdout
    assert "options: discounted mean ± standard error, in units of price" in told.stdout
    assert "per 1.00 of market.rate, which discounts only; per point of 0.01: -0." in told.stdout
    assert "prices at the end, not discounted: value ± standard error" in told.stdout
    assert "options at their discounted mean" in told.stdout
    assert f"{50 * math.exp(0.09):.7g} (exact)" in told.stdout
    warning = "'money' has no volatility, but grows at market.drift like every price, not at market.rate"
    assert warning in told.stderr
    assert not problem(market={"rate": 0.05, "drift": 0.05}, asset=[money]).warnings
    assert not problem(market={"rate": 0.05}, asset=[money]).warnings
    assert "per 1.00 of the rate; per point" in "".join(words(option=[call_held]))


@pytest.mark.parametrize("held", [0.0, -2.0])
def test_how_options_are_valued_is_said_of_portfolios_that_have_some(held: float) -> None:
    p = problem(
        market={"rate": 0.05, "drift": 0.09},
        asset=[ASSET | {"holding": 1.0}],
        option=[CALL, CALL | {"holding": held}],
        output={"risk": {}},
    )
    results = run(p, open_backend("cpu"))[0]
    assert results["risk"]["options_held"] == (held != 0)
    lines = [line for _, rows in gbm_sections(results, verbose=False) for line in rows]
    (value,) = [line for line in lines if "value at the start" in line]
    assert value.endswith("options at their discounted mean") is (held != 0)


def test_dates_that_are_moved_to_a_step_are_told_once():
    """With the size of the move, and how many steps would do."""
    asian = {"style": "asian", "payoff": "call", "strike": 100.0}
    (warning,) = problem(
        time={"steps": 10, "end": 2.0},
        asset=[ASSET | {"dividends": [{"time": 0.63, "proportion": 0.01}]}],
        option=[asian | {"fixings": 4}, asian | {"fixings": [0.2, 0.55, 2.0]}, asian],
    ).warnings
    assert warning == (
        "dates between two time steps are taken at the nearer one: "
        "fixings of 'option1' by up to 0.1 years (36.5 days), fixings of 'option2' by up to 0.05 years (18.2 days), "
        "dividends of 'A' by up to 0.03 years (11 days); with time.steps = 200 all are on steps"
    )
    watched = {"style": "lookback", "payoff": "call", "strike_type": "floating", "dates": 3}
    american = {"style": "american", "payoff": "put", "strike": 100.0, "exercise": 7}
    (warning,) = problem(time={"steps": 10}, option=[watched, american]).warnings
    assert (
        "dates of 'option1' by up to 0.0333 years (12.2 days), exercise dates of 'option2' by up to 0.0429" in warning
    )
    assert warning.endswith("; with time.steps = 21 all are on steps")
    (warning,) = problem(time={"steps": 10}, option=[asian | {"fixings": [1 / math.pi]}]).warnings
    assert warning.endswith("(6.68 days)")
    assert not problem(time={"steps": 12}, option=[asian | {"fixings": 4}, asian | {"fixings": [0.25, 1.0]}]).warnings


@pytest.mark.parametrize(
    ("output", "moved", "steps"),
    [
        ({"times": [0.0, 0.3, 0.9]}, "frames of output.times by up to 0.1 years (36.5 days)", 10),
        ({"every": 0.3}, "frames of output.every by up to 0.1 years (36.5 days)", 10),
        ({"every": 0.25}, None, None),
        ({"times": [0.5, 0.75]}, None, None),
        ({"frames": 4}, None, None),
    ],
)
def test_frames_that_are_moved_to_a_step_are_told(output: dict[str, Any], moved: str | None, steps: int | None) -> None:
    """As dividends are; and numbers of steps that have all frames are proposed."""
    found = problem(time={"steps": 4}, output={"frames": None} | output).warnings
    told = (
        f"dates between two time steps are taken at the nearer one: {moved}; with time.steps = {steps} all are on steps"
    )
    assert found == ([told] if moved else [])


def test_as_many_steps_as_are_proposed_have_one_at_each_date():
    option = {"style": "asian", "payoff": "call", "strike": 100.0, "fixings": [0.1, 0.33, 0.7, 1.0]}
    (warning,) = problem(time={"steps": 7}, option=[option, option | {"fixings": 6}]).warnings
    steps = int(warning.rpartition("time.steps = ")[2].split()[0])
    assert not problem(time={"steps": steps}, option=[option, option | {"fixings": 6}]).warnings


def test_numbers_of_csv_have_units(tmp_path, capsys, one_thread):
    """Those that the lines and tables tell: all but counts, words and names of methods."""
    scenario = tables(
        asset=[ASSET | {"name": "delta", "holding": 1.0}],
        option=[CALL | {"name": "price", "greeks": True}, {"style": "american", "payoff": "put", "strike": 100.0}],
        output={"risk": {"levels": [0.95]}, "exposure": True},
        paths={"target_standard_error": 1.0},
    )
    path = write(tmp_path / "s.toml", scenario, {"run.device": "cpu"})
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    table = list(csv.DictReader(call(capsys, "info", tmp_path / "run", "--csv").stdout.splitlines()))
    units = {row["name"]: row["unit"] for row in table}
    expected = {
        "time": "year",
        "paths": "",
        "target.standard_error": "price",
        "options.price.price": "price",
        "options.price.ci95.0": "price",
        "options.price.standard_error": "price",
        "options.price.delta.0": "1",
        "options.price.gamma_standard_error.0": "price-1",
        "options.price.vega.0": "price year0.5",
        "options.price.rho": "price year",
        "options.price.theta_standard_error": "price year-1",
        "options.price.greeks_method.delta": "",
        "options.option2.exercise_probability": "1",
        "options.option2.exercise_dates": "",
        "assets.delta.mean_exact": "price",
        "assets.delta.quantiles.0.05": "price",
        "risk.horizon": "year",
        "risk.levels.0.95.value_at_risk": "price",
        "risk.levels.0.95.expected_shortfall_standard_error": "price",
        "exposure.peak.time": "year",
        "exposure.end.potential.0.95.value": "price",
        "exposure.profile.1.negative": "price",
    }
    assert {name: units[name] for name in expected} == expected
    variables = {
        "option_price": "price",
        "option_standard_error": "price",
        "option_delta": "1",
        "option_gamma_standard_error": "price-1",
        "option_vega": "price year0.5",
        "option_rho": "price year",
        "option_theta_standard_error": "price year-1",
        "option_exercise_probability": "1",
        "price_mean_standard_error": "price",
        "value_at_risk_low": "price",
        "exposure_negative": "price",
        "time": "year",
    }
    summary = json.loads(call(capsys, "info", tmp_path / "run", "--json").stdout)["summary"]
    assert {name: summary["units"][name] for name in variables} == variables
    bare = {row["name"] for row in table if not row["unit"] and "." in row["value"]}
    assert bare == set()


def test_what_errors_of_american_options_leave_out_is_said_once(one_thread: None) -> None:
    """Also where many options make a table."""
    put = {"style": "american", "payoff": "put", "strike": 100.0}
    for options, greeks in (([CALL], None), ([CALL, put, put], False), ([CALL, *[put | {"greeks": True}] * 12], True)):
        results = run(problem(time={"steps": 2}, option=options), open_backend("cpu"))[0]
        lines = [line for _, rows in gbm_sections(results, verbose=False) for line in rows]
        told = [line for line in lines if "a price is a little low" in line]
        assert len(told) == (greeks is not None)
        assert all(("Greeks are off" in line) is greeks for line in told)


def test_no_option_is_left_out_beside_risk(tmp_path: Path) -> None:
    """Lists of options are shortened where the summary gets too long: beside other tables they are a table."""
    options = [
        {"name": f"put{i}", "style": "european", "payoff": "put", "strike": 90.0 + i, "holding": -1.0} for i in range(3)
    ]
    found = simsuite.run(
        {
            "solver": "gbm",
            "market": {"rate": 0.02},
            "asset": [{"name": "S", "spot": 100.0, "volatility": 0.2, "holding": 1.0}],
            "time": {"end": 1.0, "steps": 2},
            "paths": {"count": 2000},
            "option": options,
            "output": {"risk": {"levels": [0.9, 0.99]}},
        },
        directory=tmp_path,
    )
    lines = [text for _, rows in gbm_sections(found.results, verbose=False) for text in rows]
    assert all(any(text.startswith(f"    put{i} ") and "±" in text for text in lines) for i in range(3))


def test_where_greeks_overflow_and_prices_do_not_the_words_name_both(tmp_path: Path) -> None:
    """An American put at a volatility of 2000 %."""
    put = {"style": "american", "payoff": "put", "strike": 5.0}
    scenario = {
        "solver": "gbm",
        "market": {"rate": 0.05},
        "asset": [{"spot": 100.0, "volatility": 20.0}],
        "time": {"end": 1.0, "steps": 10},
        "paths": {"count": 10_000},
        "run": {"device": "cpu"},
    }
    with pytest.raises(NumericalFailure, match=r"in its price or in what an option on it pays, or in a Greek, at step"):
        simsuite.run(scenario | {"option": [put]}, directory=tmp_path / "greeks")
    done = simsuite.run(scenario | {"option": [put | {"greeks": False}]}, directory=tmp_path / "price")
    assert done.results["options"]["option1"]["price"] == pytest.approx(5 * math.exp(-0.05), abs=0.25)
    with pytest.raises(NumericalFailure, match=r"greeks = false in \[\[option\]\] leaves them out"):
        simsuite.run(scenario | {"option": [put]}, directory=tmp_path / "help")
