"""What a Monte Carlo scenario may say: defaults, and every mistake at its place."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, problem, tables
from pydantic import ValidationError
from schema_check import faults
from scipy.optimize import minimize

from simsuite.errors import ScenarioError
from simsuite.scenario import json_schema, load
from simsuite.scenario.gbm import GbmScenario, Market, Schedule, Time
from simsuite.scenario.gbm.correlation import nearest
from simsuite.solvers.gbm.checks.unsupported import not_yet
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.solver import GbmSolver
from simsuite.solvers.gbm.statement import Statement, once

CORRELATION = "[[1.0, 0.5], [0.5, 1.0]]"
VALID = """\
solver = "gbm"
[market]
rate = 0.05
correlation = [[1.0, 0.5], [0.5, 1.0]]
[[asset]]
spot = 100.0
volatility = 0.2
[[asset]]
name = "second"
spot = 50.0
volatility = 0.3
[time]
end = 1.0
steps = 12
[paths]
count = 1000
[[option]]
style = "european"
payoff = "call"
strike = 100.0
[[option]]
name = "mean"
style = "asian"
payoff = "put"
strike = 40.0
asset = "second"
"""


def mistakes(tmp_path, text: str) -> dict[tuple, str]:
    path = tmp_path / "paths.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return {m.path: m.message for m in caught.value.mistakes}


def model(tmp_path, text: str) -> GbmScenario:
    path = tmp_path / "paths.toml"
    path.write_text(text)
    return load(path).model


def test_defaults(tmp_path):
    loaded = model(tmp_path, VALID)
    assert loaded.asset_names == ["A", "second"]
    assert loaded.option_names == ["option1", "mean"]
    assert (loaded.paths.antithetic, loaded.paths.sampling, loaded.time.scheme) == (False, "pseudo", "exact")
    assert (loaded.run.precision, loaded.run.kernel) == ("float64", "auto")
    assert (loaded.market.rate, loaded.asset[0].dividend_yield) == (Schedule.constant(0.05), Schedule.constant(0.0))
    assert (loaded.option[0].greeks, loaded.option[0].control_variate, loaded.option[0].holding) == (True, True, 0.0)
    assert loaded.output.quantiles == [0.05, 0.25, 0.5, 0.75, 0.95]


def test_runs_of_versions_that_had_moment_matching_can_be_continued(tmp_path):
    """Their scenarios say that there was none."""
    (tmp_path / "old.toml").write_text(VALID.replace("count = 1000", "count = 1000\nmoment_matching = false"))
    scenario = load(tmp_path / "old.toml")
    assert "moment_matching" not in scenario.resolved_toml()
    before = scenario.resolved_toml().replace("[paths]\n", "[paths]\nmoment_matching = false\n")
    assert scenario.differences(before) == []


def test_assets_are_named_like_columns_of_a_spreadsheet():
    names = problem(asset=[{"spot": 1.0, "volatility": 0.1}] * 28).scenario.asset_names
    assert (names[0], names[25], names[26], names[27]) == ("A", "Z", "AA", "AB")


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        (CORRELATION, "[[1.0, 0.5], [0.5]]", ("market", "correlation", 1), "row 2 has 1 entry"),
        (
            CORRELATION,
            "[[1.0, 0.5], [0.4, 1.0]]",
            ("market", "correlation", 1, 0),
            "across the diagonal",
        ),
        (CORRELATION, "[[1.0, 0.5], [0.5, 0.9]]", ("market", "correlation", 1, 1), "is 1, not 0.9"),
        (CORRELATION, "[[1.0, 1.5], [1.5, 1.0]]", ("market", "correlation", 0, 1), "between -1 and 1, got 1.5"),
        (CORRELATION, "[[1.0, 1.0], [1.0, 1.0]]", ("market", "correlation"), "positive definite"),
        (CORRELATION, "[[1.0]]", ("market", "correlation"), "1 x 1 matrix for 2 assets"),
        ("[[asset]]\nspot", '[[asset]]\nname = "second"\nspot', ("asset", 1, "name"), "'second' is taken"),
        ('name = "mean"', 'name = "option1"', ("option", 1, "name"), "'option1' is taken"),
        ('asset = "second"', 'asset = "B"', ("option", 1, "asset"), "there is no asset 'B'"),
        ('asset = "second"', "fixings = 13", ("option", 1, "fixings"), "13 fixings do not fit on 12 time steps"),
        ("count = 1000", "count = 1001\nantithetic = true", ("paths", "count"), "1001 is odd"),
        ("count = 1000", "count = 1000\nbatch = 1000", ("paths", "batch"), "multiple of 1024"),
        ("count = 1000", "count = 1000\n[output]\nstore_paths = 1001", ("output", "store_paths"), "1000 paths only"),
        ("count = 1000", "count = 1000\n[output]\nquantiles = [0.5, 1.0]", ("output", "quantiles", 1), "less than 1"),
        ("count = 1000", "count = 1000\n[output]\nquantiles = [0.5, 0.4]", ("output", "quantiles", 1), "sort them"),
        ("count = 1000", "count = 1000\n[output]\ntimes = [1.5]", ("output", "times", 0), "at 1 year"),
        ("count = 1000", "count = 1000\n[output]\nsamples = 5", ("output", "samples"), "frames only"),
        ("steps = 12", "steps = 1000000001", ("time", "steps"), "at most 1e+09"),
        ("count = 1000", "count = 2000000000001", ("paths", "count"), "at most 2e+12"),
        ("spot = 50.0", "spot = 1e101", ("asset", 1, "spot"), "at most 1e+100"),
        ("strike = 40.0", "strike = 1e101", ("option", 1, "strike"), "at most 1e+100"),
        ("count = 1000", "count = 1000\n[output]\nframes = 14", ("output", "frames"), "12 steps, so at most 13 frames"),
        ("count = 1000", "count = 1000\n[output]\nevery = 0.05", ("output", "every"), "a step (0.0833333 years)"),
        ('name = "second"\nspot', 'name = "second\\u0000"\nspot', ("asset", 1, "name"), "printable characters only"),
        ('name = "mean"', 'name = "mean\\n"', ("option", 1, "name"), "not U+000A"),
        ("strike = 40.0", "strike = 40.0\nbarrier = 1.0", ("option", 1, "barrier"), "barrier"),
        ('style = "asian"', 'style = "lookbak"', ("option", 1, "style"), "lookbak"),
    ],
)
def test_mistakes_stand_where_they_were_made(tmp_path, old, new, path, message):
    assert old in VALID
    found = mistakes(tmp_path, VALID.replace(old, new))
    assert list(found) == [path]
    assert message in found[path]


ASSET_B = 'name = "second"'
EUROPEAN = 'style = "european"\npayoff = "call"\nstrike = 100.0\n'
MEAN = 'style = "asian"\npayoff = "put"\nstrike = 40.0\nasset = "second"\n'
BARRIER = EUROPEAN.replace("european", "barrier") + 'direction = "down"\nknock = "out"\nlevel = 80.0\n'
LOOKBACK = 'style = "lookback"\npayoff = "call"\nstrike_type = "floating"\n'
SPREAD = 'style = "spread"\npayoff = "call"\nstrike = 5.0\nassets = ["A", "second"]\n'
BASKET = EUROPEAN.replace("european", "basket")
AMERICAN = EUROPEAN.replace("european", "american")
FORMULA = 'style = "expression"\nvalue = "max(mean(A) - last(second), 0)"\n'
SOBOL = 'count = 1024\nsampling = "sobol"'
FIXINGS = ("option", 1, "fixings")


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        # schedules
        ("rate = 0.05", "rate = [[0.5, 0.05]]", ("market", "rate", 0, 0), "from time 0 on, not 0.5"),
        ("rate = 0.05", "rate = [[0, 0.1], [1, 0.2], [1, 0.3]]", ("market", "rate", 2, 0), "1 does not come after 1"),
        ("rate = 0.05", "rate = [[0, 0.1], [1, 101]]", ("market", "rate", 1, 1), "at most 100"),
        ("rate = 0.05", "rate = []", ("market", "rate"), "at least 1 element"),
        ("rate = 0.05", 'rate = "low"', ("market", "rate"), "must be a number or a list"),
        ("rate = 0.05", "rate = 0.05\ndrift = [[0, 0.1], [-1, 0.2]]", ("market", "drift", 1, 0), "at least 0"),
        ("volatility = 0.3", "volatility = [[0, 0.2, 0.3]]", ("asset", 1, "volatility", 0), "at most 2 elements"),
        ("volatility = 0.3", "volatility = [[0, -0.2]]", ("asset", 1, "volatility", 0, 1), "at least 0"),
        ("volatility = 0.3", "volatility = -0.3", ("asset", 1, "volatility"), "at least 0"),
        (
            "spot = 50.0",
            "spot = 50.0\ndividend_yield = [[0, 0.1], [1, nan]]",
            ("asset", 1, "dividend_yield", 1, 1),
            "finite",
        ),
        # dividends, jumps, holdings
        (ASSET_B, ASSET_B + "\ndividends = [{time = 0.5}]", ("asset", 1, "dividends", 0), "says not how much"),
        (
            ASSET_B,
            ASSET_B + "\ndividends = [{time = 0.5, cash = 1, proportion = 0.1}]",
            ("asset", 1, "dividends", 0, "proportion"),
            "exclude each other",
        ),
        (
            ASSET_B,
            ASSET_B + "\ndividends = [{time = 0.5, cash = 0}]",
            ("asset", 1, "dividends", 0, "cash"),
            "greater than 0",
        ),
        (
            ASSET_B,
            ASSET_B + "\ndividends = [{time = 0.5, proportion = 1.0}]",
            ("asset", 1, "dividends", 0, "proportion"),
            "less than 1",
        ),
        (
            ASSET_B,
            ASSET_B + "\ndividends = [{time = 1.5, cash = 1}]",
            ("asset", 1, "dividends", 0, "time"),
            "after the end at 1 year",
        ),
        (
            ASSET_B,
            ASSET_B + "\ndividends = [{time = 0.01, cash = 1}]",
            ("asset", 1, "dividends", 0, "time"),
            "less than half a step",
        ),
        (
            ASSET_B,
            ASSET_B + "\njumps = {intensity = 0.0, mean = 0.0, deviation = 0.1}",
            ("asset", 1, "jumps", "intensity"),
            "greater than 0",
        ),
        (ASSET_B, ASSET_B + "\njumps = {intensity = 1.0, mean = 0.0}", ("asset", 1, "jumps", "deviation"), "missing"),
        (ASSET_B, ASSET_B + "\nholding = inf", ("asset", 1, "holding"), "finite"),
        # time and paths
        ("steps = 12", 'steps = 12\nscheme = "heun"', ("time", "scheme"), '"milstein"'),
        ("count = 1000", "count = 1000\nreplicates = 8", ("paths", "replicates"), "only Sobol points have replicates"),
        ("count = 1000", 'count = 1000\nsampling = "sobol"', ("paths", "count"), "16 replicates cannot share evenly"),
        ("count = 1000", f'count = {1 << 37}\nsampling = "sobol"', ("paths", "count"), "at most 2^32 Sobol points"),
        ("count = 1000", SOBOL + "\nreplicates = 1", ("paths", "replicates"), "at least 2"),
        ("count = 1000", SOBOL + "\nantithetic = true", ("paths", "antithetic"), "balanced already"),
        (
            "count = 1000",
            "count = 1000\ntarget_standard_error = -0.1",
            ("paths", "target_standard_error"),
            "at least 0",
        ),
        ("count = 1000", "count = 1000\nregression = 2048", ("paths", "regression"), "no American option"),
        ("count = 1000", "count = 1000\nregression = 10", ("paths", "regression"), "at least 100"),
        (
            "count = 1000",
            "count = 1000\nmultilevel = true\ntarget_standard_error = 0.1",
            ("paths", "multilevel"),
            "the exact scheme has none",
        ),
        (
            "steps = 12\n[paths]\ncount = 1000",
            'steps = 12\nscheme = "euler"\n[paths]\ncount = 1000\nmultilevel = true',
            ("paths", "multilevel"),
            "needs `target_standard_error`",
        ),
        (
            "steps = 12\n[paths]\ncount = 1000",
            f"steps = 10601\n[paths]\n{SOBOL}",
            ("paths", "sampling"),
            "10601 steps x 2 assets = 21202 random numbers a path",
        ),
        # options
        (MEAN, MEAN + "fixings = [0.5, 0.4]", (*FIXINGS, 1), "sort them"),
        (MEAN, MEAN + "fixings = [0.5, 1.1]", (*FIXINGS, 1), "after the end"),
        (MEAN, MEAN + "fixings = [0.01, 1.0]", (*FIXINGS, 0), "less than half a step, 0."),
        (
            MEAN,
            MEAN + "fixings = [0.5, 0.51]",
            (*FIXINGS, 1),
            "the fixing at 0.51 falls on the same time step as the fixing at 0.5",
        ),
        (MEAN, MEAN + "fixings = []", FIXINGS, "at least 1 element"),
        (MEAN, MEAN + "fixings = 0.5", FIXINGS, "a whole number or a list"),
        (MEAN, MEAN + "past_fixings = [40.0, 0.0]", ("option", 1, "past_fixings", 1), "greater than 0"),
        (MEAN, BARRIER + "dates = 13", ("option", 1, "dates"), "13 monitoring dates do not fit on 12"),
        (MEAN, BARRIER + 'dates = 2\nmonitoring = "continuous"', ("option", 1, "dates"), "has no dates"),
        (MEAN, BARRIER.replace("80.0", "100.0"), ("option", 1, "level"), "reached from the start: the spot is 100"),
        (MEAN, BARRIER.replace("down", "up"), ("option", 1, "level"), "reached from the start"),
        (MEAN, BARRIER + "rebate = -1.0", ("option", 1, "rebate"), "at least 0"),
        (MEAN, LOOKBACK + "strike = 1.0", ("option", 1, "strike"), "the path's own extreme"),
        (MEAN, LOOKBACK.replace("floating", "fixed"), ("option", 1, "strike"), "missing key `strike`"),
        (MEAN, BASKET + "weights = [1.0]", ("option", 1, "weights"), "has 1 entry for 2 assets"),
        (MEAN, BASKET + "weights = [0.0, 0.0]", ("option", 1, "weights"), "not all be 0"),
        (MEAN, BASKET + 'asset = "A"', ("option", 1, "asset"), "unknown key `asset`"),
        (MEAN, SPREAD.replace('"second"', '"B"'), ("option", 1, "assets", 1), "there is no asset 'B'"),
        (MEAN, SPREAD.replace('"second"', '"A"'), ("option", 1, "assets", 1), "both 'A'"),
        (MEAN, SPREAD.replace(', "second"', ""), ("option", 1, "assets"), "at least 2 elements"),
        (MEAN, AMERICAN + "exercise = 13", ("option", 1, "exercise"), "13 exercise dates do not fit on 12"),
        (MEAN, AMERICAN + "degree = 9", ("option", 1, "degree"), "at most 8"),
        (MEAN, FORMULA.replace("mean(A)", "mean(B)"), ("option", 1, "value"), "there is no asset 'B'"),
        (MEAN, FORMULA.replace("mean(A)", "average(A)"), ("option", 1, "value"), "unknown function `average`"),
        (MEAN, FORMULA.replace("mean(A)", "A"), ("option", 1, "value"), "unknown name `A`"),
        (MEAN, FORMULA.replace(" - ", " - ("), ("option", 1, "value"), "never closed"),
        (MEAN, FORMULA.replace(" - ", " -" + " " * 2000), ("option", 1, "value"), "at most 2000 characters"),
        # portfolio
        ("count = 1000", "count = 1000\n[output]\nrisk = {}", ("output", "risk"), "the portfolio is empty"),
        ("count = 1000", "count = 1000\n[output]\nexposure = true", ("output", "exposure"), "holds no asset"),
        (
            "count = 1000",
            "count = 1000\n[output]\nrisk = {levels = [0.99, 0.95]}",
            ("output", "risk", "levels", 1),
            "sort them",
        ),
        (
            "count = 1000",
            "count = 1000\n[output]\nrisk = {levels = [0.5]}",
            ("output", "risk", "levels", 0),
            "greater than 0.5",
        ),
    ],
)
def test_mistakes_in_models_and_options(tmp_path, old, new, path, message):
    assert old in VALID
    found = mistakes(tmp_path, VALID.replace(old, new))
    assert list(found) == [path]
    assert message in found[path]


@pytest.mark.parametrize(
    ("old", "new", "help"),
    [
        ("count = 1000", 'count = 20000\nsampling = "sobol"\nreplicates = 7', "use 28672: 7 replicates of 4096 points"),
        ("count = 1000", 'count = 3\nsampling = "sobol"', "use 16: 16 replicates of 1 point, a power of 2"),
        (ASSET_B, ASSET_B + "\njumps = {intensity = 1.0, mean = 0.0, std = 0.1}", "did you mean `deviation`?"),
        (ASSET_B, ASSET_B + "\ndividends = [{date = 0.5, cash = 1.0}]", "did you mean `time`?"),
        (ASSET_B, ASSET_B + "\ndividends = [{time = 0.5, amount = 1.0}]", "did you mean `cash`?"),
    ],
)
def test_what_is_proposed(tmp_path, old, new, help):
    (tmp_path / "paths.toml").write_text(VALID.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "paths.toml")
    assert any(help in (mistake.help or "") for mistake in caught.value.mistakes)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("steps = 12", 'steps = 12\nscheme = "euler"', "need the exact scheme, not euler"),
        ("spot = 100.0", "spot = 100.0\ndividends = [{time = 0.5, cash = 1}]", "cash dividends break"),
        ("spot = 100.0", "spot = 100.0\njumps = {intensity = 1, mean = 0, deviation = 0.1}", "jumps break"),
        ("spot = 100.0", "spot = 100.0\ndividends = [{time = 0.5, proportion = 0.1}]", None),
        ("spot = 50.0", "spot = 50.0\njumps = {intensity = 1, mean = 0, deviation = 0.1}", None),
    ],
)
@pytest.mark.parametrize("option", [BARRIER, LOOKBACK], ids=["barrier", "lookback"])
def test_continuous_monitoring_needs_a_brownian_motion(tmp_path, option, old, new, why):
    text = VALID.replace(MEAN, option + 'monitoring = "continuous"\n').replace(old, new)
    if why is None:
        assert model(tmp_path, text).option[1].monitoring == "continuous"
        return
    found = mistakes(tmp_path, text)
    assert list(found) == [("option", 1, "monitoring")]
    assert why in found["option", 1, "monitoring"]


HELD = ASSET | {"holding": 1.0}
EARLY = {"style": "american", "payoff": "put", "strike": 100.0}
WATCHED = CALL | {"style": "lookback", "strike_type": "fixed", "monitoring": "continuous"}


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (("option", 0, "style"), {"option": [EARLY]}),
        (("option", 0, "monitoring"), {"option": [WATCHED]}),
        (("asset", 0, "jumps"), {"asset": [{**HELD, "jumps": {"intensity": 1.0, "mean": -0.1, "deviation": 0.1}}]}),
        (("asset", 0, "dividends"), {"asset": [{**HELD, "dividends": [{"time": 0.5, "cash": 3.0}]}]}),
        (("time", "scheme"), {"time": {"scheme": "euler"}}),
        (("time", "scheme"), {"time": {"scheme": "milstein"}}),
        (("output", "risk"), {"asset": [HELD], "output": {"risk": {}}}),
        (("output", "exposure"), {"asset": [HELD], "output": {"exposure": True}}),
    ],
)
def test_what_sobol_points_do_not_go_with_is_sent_to_pseudo_random_paths(path, more):
    (found,) = not_yet(GbmScenario.model_validate(tables(**{"paths": {"sampling": "sobol"}, "option": [], **more})))
    assert found.path == path
    assert 'write sampling = "pseudo"' in found.help


def test_jumps_take_twice_the_sobol_points(tmp_path):
    text = VALID.replace("count = 1000", SOBOL).replace("steps = 12", "steps = 10600")
    assert model(tmp_path, text).paths.scrambles == 16
    jumps = "jumps = {intensity = 1, mean = 0, deviation = 0.1}"
    found = mistakes(tmp_path, text.replace("spot = 100.0", f"spot = 100.0\n{jumps}"))
    assert "= 42400 random numbers" in found["paths", "sampling"]
    model(tmp_path, text.replace("spot = 100.0", f"spot = 100.0\n{jumps}").replace("10600", "5300"))


def test_a_target_needs_an_option():
    with pytest.raises(ValidationError, match="there is no option whose standard error"):
        GbmScenario.model_validate(tables(option=[], paths={"target_standard_error": 0.1}))


def test_what_cannot_stand_in_an_expression_is_said(tmp_path):
    text = VALID.replace("spot = 100.0", 'name = "my stock"\nspot = 100.0').replace(MEAN, FORMULA)
    found = mistakes(tmp_path, text.replace("mean(A)", "mean(my stock)"))
    assert "the name of the asset 'my stock' cannot stand" in found["option", 1, "value"]
    brackets = text.replace("my stock", "S&P (US)").replace("mean(A)", "mean( 'S&P (US)')")
    assert "'S&P (US)' cannot stand" in mistakes(tmp_path, brackets)["option", 1, "value"]
    keyword = text.replace("my stock", "in").replace("mean(A)", "mean(in)")
    assert "'in' cannot stand" in mistakes(tmp_path, keyword)["option", 1, "value"]
    assert model(tmp_path, text.replace("mean(A)", "max(second)")).asset_names == ["my stock", "second"]


def test_the_payoff_of_an_expression(tmp_path):
    scenario = model(tmp_path, VALID.replace(MEAN, FORMULA.replace("mean(A)", "max(min( A ), geomean(second))")))
    payoff = scenario.payoff(scenario.option[1])
    assert payoff.names == {"min(A)", "geomean(second)", "last(second)"}
    assert payoff(**{"min(A)": 90.0, "geomean(second)": 95.0, "last(second)": 60.0}) == 35.0


def test_defaults_of_options_and_paths(tmp_path):
    basket, best, weighted = (
        model(tmp_path, VALID.replace(MEAN, BASKET + more)).option[1]
        for more in ("", 'combine = "max"', "weights = [2, -1]")
    )
    assert basket.weights_of(2) == [0.5, 0.5]
    assert best.weights_of(2) == [1.0, 1.0]
    assert weighted.weights_of(2) == [2.0, -1.0]
    for count, paths in ((1, 1024), (5000, 5000), (10**6, 65536)):
        assert model(tmp_path, VALID.replace("count = 1000", f"count = {count}")).paths.regression_paths == paths
    assert (
        model(tmp_path, VALID.replace("count = 1000", "count = 999\nregression = 500").replace(MEAN, AMERICAN))
    ).paths.regression_paths == 500


def test_dates_fall_on_the_nearest_step():
    time = Time(end=2.0, steps=10)
    assert [time.nearest_step(t) for t in (0.09, 0.11, 0.29, 0.31, 1.95, 2.0)] == [0, 1, 1, 2, 10, 10]


# ---- correlations


def test_nearest_correlation_matrix_of_the_paper():
    """N. J. Higham, IMA J. Numerical Analysis 22 (2002), section 4."""
    found = nearest(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]), 1e-12)
    expected = [[1.0, 0.7607, 0.1573], [0.7607, 1.0, 0.7607], [0.1573, 0.7607, 1.0]]
    np.testing.assert_allclose(found, expected, atol=5e-5)


def test_nearest_correlation_matrix_is_the_nearest_of_three():
    """Against a search over all of them, with the same floor of eigenvalues."""
    a, floor = np.array([[1.0, 0.9, -0.5], [0.9, 1.0, 0.3], [-0.5, 0.3, 1.0]]), 0.05
    above = np.triu_indices(3, 1)

    def matrix(x):
        made = np.eye(3)
        made[above] = x
        return made + made.T - np.eye(3)

    search = minimize(
        lambda x: ((x - a[above]) ** 2).sum(),
        [0.5, 0.0, 0.0],
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: np.linalg.eigvalsh(matrix(x))[0] - floor},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(nearest(a, floor)[above], search.x, atol=1e-5)


@pytest.mark.parametrize("n", [2, 3, 8, 24])
@pytest.mark.parametrize("kind", ["random", "all one", "all minus one"])
def test_the_offered_matrix_is_accepted(tmp_path, n, kind):
    rng = np.random.default_rng(n)
    a = {"random": np.round(rng.uniform(-1, 1, (n, n)), 3), "all one": np.ones((n, n))}.get(kind, -np.ones((n, n)))
    a = np.tril(a, -1) + np.tril(a, -1).T + np.eye(n)
    if np.linalg.eigvalsh(a)[0] > 1e-3:
        a[0, 1] = a[1, 0] = 1.0
    assets = "".join(f'[[asset]]\nname = "asset{i}"\nspot = 1.0\nvolatility = 0.1\n' for i in range(n))
    rest = VALID[VALID.index("[time]") : VALID.index("[[option]]")]
    given = f"correlation = {a.tolist()}\n"
    text = f'solver = "gbm"\n[market]\nrate = 0.0\n{given}{assets}{rest}'
    with pytest.raises(ScenarioError) as caught:
        model(tmp_path, text)
    (found,) = caught.value.mistakes
    assert found.path == ("market", "correlation")
    assert "smallest eigenvalue is" in found.message
    offer = caught.value.report.partition("help: ")[2].partition("\n")[2]  # as a user would copy it
    assert model(tmp_path, text.replace(given, offer + "\n")).market.correlation is not None
    offered = np.array(tomllib.loads(offer)["correlation"])
    assert np.linalg.norm(offered - a) <= np.linalg.norm(np.eye(n) - a)  # no correlations would be valid, too


def test_no_matrix_is_offered_that_nobody_can_read():
    rows = np.ones((25, 25)).tolist()
    with pytest.raises(ValidationError) as caught:
        Market(rate=Schedule.constant(0.0), correlation=rows)
    (found,) = caught.value.errors()[0]["ctx"]["error"].mistakes
    assert found.help == "weaken the correlations, or drop an asset that follows from the others"


# ---- schedules

QUARTERS = (0.0, 0.25, 0.5, 0.75)


def test_a_schedule_and_its_integrals():
    """Four quarters; the means over a year are of a published case."""
    rate, volatility = Schedule(QUARTERS, (0.01, 0.02, 0.03, 0.04)), Schedule(QUARTERS, (0.15, 0.2, 0.25, 0.3))
    assert [rate.at(t) for t in (0.0, 0.2, 0.25, 0.7, 5.0)] == [0.01, 0.01, 0.02, 0.03, 0.04]
    assert rate.mean(1.0) == pytest.approx(0.025, rel=1e-14)
    assert volatility.root_mean_square(1.0) == pytest.approx(0.2318404624, rel=1e-9)
    t = (np.arange(100_000) + 0.5) / 100_000 * 2.9 + 0.1  # midpoints of [0.1, 3.0]
    values = np.array([volatility.at(s) for s in t])
    assert volatility.integral(0.1, 3.0) == pytest.approx(values.mean() * 2.9, rel=1e-5)
    assert volatility.integral_of_square(0.1, 3.0) == pytest.approx((values**2).mean() * 2.9, rel=1e-5)
    assert volatility.integral(0.3, 0.3) == 0.0
    parts = [rate.integral(a, b) for a, b in pairwise((0.0, 0.1, 0.25, 0.6, 2.0))]
    assert sum(parts) == pytest.approx(rate.integral(0.0, 2.0), rel=1e-14)
    assert (rate.mean(0.0), volatility.root_mean_square(0.0)) == (0.01, 0.15)


def test_a_constant_schedule_is_a_number():
    assert Schedule.constant(0.3).value == Schedule((0.0, 1.0), (0.3, 0.3)).value == 0.3
    with pytest.raises(ValueError, match="not constant"):
        _ = Schedule((0.0, 1.0), (0.3, 0.4)).value


# ---- everything at once

FULL = """\
solver = "gbm"
[run]
precision = "mixed"
kernel = "nvrtc"
[market]
rate = [[0, 0.05], [0.5, 0.04]]
correlation = [[1.0, 0.5], [0.5, 1.0]]
[[asset]]
spot = 100.0
volatility = [[0.0, 0.2], [0.25, 0.3]]
dividends = [{time = 0.5, cash = 2.0}, {time = 0.75, proportion = 0.01}]
holding = -3
[[asset]]
name = "second"
spot = 50.0
volatility = [[0, 0.3]]
dividend_yield = [[0.0, 0.0], [0.5, 0.02]]
jumps = {intensity = 1.0, mean = -0.1, deviation = 0.15}
[time]
end = 1.0
steps = 12
scheme = "milstein"
[paths]
count = 4096
sampling = "sobol"
replicates = 8
target_standard_error = 0.01
multilevel = true
regression = 1024
[[option]]
style = "european"
payoff = "call"
strike = 100.0
greeks = false
control_variate = false
holding = 2.0
[[option]]
style = "digital"
payoff = "put"
strike = 100.0
cash = 10.0
[[option]]
style = "asian"
payoff = "call"
strike = 100.0
average = "geometric"
fixings = [0.25, 0.5, 1.0]
past_fixings = [98.0, 101.5]
[[option]]
style = "asian"
payoff = "call"
strike = 100.0
fixings = 6
[[option]]
style = "barrier"
payoff = "call"
strike = 100.0
direction = "up"
knock = "in"
level = 120.0
dates = 4
rebate = 1.5
[[option]]
style = "lookback"
payoff = "put"
strike_type = "fixed"
strike = 100.0
[[option]]
style = "lookback"
asset = "second"
payoff = "put"
strike_type = "floating"
dates = 12
[[option]]
style = "basket"
payoff = "call"
strike = 80.0
weights = [0.5, 1.0]
combine = "min"
[[option]]
style = "exchange"
assets = ["second", "A"]
[[option]]
style = "spread"
assets = ["A", "second"]
payoff = "put"
strike = -5.0
[[option]]
style = "american"
payoff = "put"
strike = 100.0
exercise = 6
degree = 4
[[option]]
name = "own"
style = "expression"
value = "max(mean(A) - geomean(second), min(A) - max(second), last(A) - 100)"
[output]
risk = {levels = [0.9, 0.999]}
exposure = true
"""


def test_what_is_written_loads_back(tmp_path):
    path = tmp_path / "full.toml"
    path.write_text(FULL)
    first = load(path)
    resolved = first.resolved_toml()
    (tmp_path / "resolved.toml").write_text(resolved)
    again = load(tmp_path / "resolved.toml")
    assert again.model == first.model
    assert again.resolved_toml() == resolved
    assert first.differences(resolved) == []
    asset = tomllib.loads(resolved)["asset"]
    assert asset[0]["volatility"] == [[0.0, 0.2], [0.25, 0.3]]
    assert (asset[1]["volatility"], asset[0]["dividend_yield"]) == (0.3, 0.0)
    for schema in (json_schema("gbm"), json_schema()):
        for data in (tomllib.loads(FULL), tomllib.loads(resolved), tomllib.loads(VALID)):
            assert list(faults(data, schema, schema)) == []
    changed = load(path, ["asset.0.volatility=0.2", "option.4.level=130.0"])
    assert changed.differences(resolved) == ["asset.0.volatility", "option.4.level"]


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("market", {"rate": [[0.0, "a"]]}),
        ("market", {"rate": [[0.0, 0.1, 0.2]]}),
        ("market", {"rate": [[-1.0, 0.1]]}),
        ("asset", [{"spot": 1.0, "volatility": -0.1}]),
        ("asset", [{"spot": 1.0, "volatility": [[0.0, 0.1], [1.0, -0.1]]}]),
        ("option", [{"style": "barrier", "payoff": "call", "strike": 1.0}]),
    ],
)
def test_the_schema_refuses_what_is_wrong(section, value):
    schema = json_schema("gbm")
    assert list(faults(tomllib.loads(VALID) | {section: value}, schema, schema))


def test_the_schema_shows_defaults_as_they_are_written():
    assert json_schema("gbm")["$defs"]["Asset"]["properties"]["dividend_yield"]["default"] == 0.0


def test_what_the_engine_cannot_do_is_refused(tmp_path):
    """Everything in FULL that the engine would pass over."""
    (tmp_path / "full.toml").write_text(FULL)
    scenario = load(tmp_path / "full.toml")
    with pytest.raises(ScenarioError) as caught:
        GbmSolver.from_scenario(scenario.model, tmp_path)
    refused = {m.path for m in caught.value.mistakes}
    assert refused >= {("paths", "multilevel"), ("time", "scheme"), ("asset", 1, "jumps")}


def correlated(steps: int, first: Any, second: Any, correlation: float = 0.9, **changes) -> GbmProblem:
    assets = [{"spot": 100.0, "volatility": volatility} for volatility in (first, second)]
    market = {"rate": 0.0, "correlation": [[1.0, correlation], [correlation, 1.0]]}
    return problem(market=market, asset=assets, time={"end": 1.0, "steps": steps} | changes)


def test_volatilities_that_change_within_a_step_spoil_its_correlation():
    """Of increments over all of the year it is 0.9 * 0.04 / 0.085, not 0.9."""
    rising, falling = [[0.0, 0.1], [0.5, 0.4]], [[0.0, 0.4], [0.5, 0.1]]
    with pytest.raises(ScenarioError) as caught:
        correlated(5, falling, rising)
    (found,) = caught.value.mistakes
    assert found.path == ("asset", 0, "volatility", 1, 0)
    assert "'A' changes within a step, where its correlation with 'B' is then less" in found.message
    assert found.help == "let it change at the end of a step (0.4, not 0.5), or set time.steps = 10"
    with pytest.raises(ScenarioError) as caught:
        correlated(1, 0.3, rising)
    assert [m.path for m in caught.value.mistakes] == [("asset", 1, "volatility", 1, 0)]
    correlated(10, falling, rising)
    correlated(1, rising, [[0.0, 0.2], [0.5, 0.8]])  # in proportion
    correlated(1, falling, rising, correlation=0.0)
    correlated(1, falling, rising, scheme="euler")  # an error that vanishes with the step
    correlated(10, [[0.0, 0.1], [0.3, 0.2], [0.7, 0.3]], 0.3)  # 0.3 and 0.7 are no multiples of 0.1 in binary


def test_a_change_of_volatility_by_few_digits_is_told_the_end_of_the_step():
    """A twelfth of a year, which ten digits miss by too much."""
    with pytest.raises(ScenarioError) as caught:
        correlated(12, [[0.0, 0.1], [0.0833333333, 0.4]], 0.3)
    (found,) = caught.value.mistakes
    assert found.help == f"let it change at the end of a step ({1 / 12}, not 0.0833333333)"
    correlated(12, [[0.0, 0.1], [1 / 12, 0.4]], 0.3)


def test_correlation_of_increments_is_that_of_the_equation():
    p = correlated(4, [[0.0, 0.1], [0.5, 0.4]], [[0.0, 0.4], [0.5, 0.1]])
    np.testing.assert_allclose(p.dynamics.end_covariance()[0, 1] * np.log(2) ** 2, 0.9 * 0.04, rtol=1e-14)


EVERY_PART = """\
solver = "gbm"
title = "all"
[run]
seed = 3
[market]
rate = 0.05
drift = 0.08
correlation = [[1.0, 0.5], [0.5, 1.0]]
[[asset]]
spot = 100.0
volatility = 0.2
[[asset]]
name = "second"
spot = 50.0
volatility = 0.3
holding = 2.0
[time]
end = 1.0
steps = 16
scheme = "milstein"
[paths]
count = 100000
multilevel = true
target_standard_error = 0.1
regression = 2000
[[option]]
style = "american"
payoff = "put"
strike = 100.0
[[option]]
style = "european"
payoff = "put"
strike = 40.0
asset = "second"
[output]
store_paths = 5000
exposure = true
risk = {}
"""
LINES = [i for i, line in enumerate(EVERY_PART.splitlines()) if "=" in line and not line.startswith("solver")]


@pytest.mark.parametrize("line", LINES)
def test_a_mistake_makes_none_of_what_is_sound(tmp_path, line):
    """An unknown key anywhere, or a value of the wrong type, is the only mistake that is found in a scenario that has
    no other one, though other parts of it depend on that key."""
    assert GbmScenario.model_validate(tomllib.loads(EVERY_PART))
    lines = EVERY_PART.splitlines()
    key = lines[line].split(" = ")[0]
    for wrong in (["unheard_of = 1", lines[line]], [f"{key} = {{}}"]):
        if wrong == ["risk = {}"]:
            continue
        (found,) = mistakes(tmp_path, "\n".join([*lines[:line], *wrong, *lines[line + 1 :]]))
        assert found[-1] in ("unheard_of", key)


def test_mistakes_between_sound_parts_are_found_beside_others(tmp_path):
    """Each table has one of its own, in turn, and options have some that only their assets and times tell."""
    crossed = (
        '[[option]]\nstyle = "barrier"\npayoff = "put"\nstrike = 90.0\ndirection = "up"\nknock = "out"\nlevel = 10.0\n'
    )
    late = '[[option]]\nstyle = "asian"\npayoff = "call"\nstrike = 9.0\nfixings = 13\nasset = "second"\n'
    between = {("option", 2, "level"), ("option", 3, "fixings")}
    assert set(mistakes(tmp_path, VALID + crossed + late)) == between
    for old, new, path in (
        ("rate = 0.05", 'rate = "low"', ("market", "rate")),
        ("volatility = 0.3", "volatilty = 0.3", ("asset", 1, "volatilty")),
        ("count = 1000", "count = 0", ("paths", "count")),
        ("steps = 12", "steps = 12\nstepz = 12", ("time", "stepz")),
        ("strike = 100.0", "strike = -1.0", ("option", 0, "strike")),
    ):
        assert set(mistakes(tmp_path, VALID.replace(old, new) + crossed + late)) == {path, *between}
    spotless = VALID.replace("spot = 100.0", "spot = 0.0") + crossed + late
    assert set(mistakes(tmp_path, spotless)) == {("asset", 0, "spot")}


def test_what_is_made_of_a_statement_is_made_once_and_kept_with_it_alone():
    made = []

    @once
    def spots(statement: Statement) -> list[float]:
        made.append(statement)
        return [asset.spot for asset in statement.scenario.asset]

    p = problem()
    assert spots(p) is spots(p)
    assert len(made) == 1
    other = replace(p, batch=p.batch // 2)
    assert spots(other) == spots(p)
    assert len(made) == 2
    assert made[1] is other
