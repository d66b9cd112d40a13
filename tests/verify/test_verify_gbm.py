"""Verification of Monte Carlo: that it passes what is right, and finds prices, errors and bits that are not."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
import running
from gbm_problems import problem

from simsuite.backends import open_backend
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.greeks import greek_case
from simsuite.solvers.gbm.results import estimates, results
from simsuite.solvers.gbm.statistics.statistics import Estimate
from simsuite.verify import z_scores
from simsuite.verify.checks import Check
from simsuite.verify.gbm import (
    all_checks,
    cases,
    consistency,
    convergence_rates,
    coverage,
    laws,
    prices,
    runs,
    scenario_study,
    standard_errors,
)

CPU = open_backend("cpu")
SMALL = dataclasses.replace(
    cases.ONE,
    name="small",
    scenario=cases.world([cases.ASSET], 2, [*cases.VANILLA[:2], cases.ASIANS[0]]),
    ways=(("float64", "plain"), ("float64", "antithetic")),
    alike={},
)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """`simsuite verify ARGS --device cpu` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *args: running.call(capsys, "verify", *args, "--device", "cpu")


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verification of three options, and of one way to draw paths for digitals."""
    monkeypatch.setattr(coverage, "_WAYS", {"rare digitals": coverage._WAYS["rare digitals"]})
    monkeypatch.setattr(all_checks, "CASES", (SMALL,))
    monkeypatch.setattr(
        all_checks, "QUICK", all_checks.Extent(1 << 13, 36, (SMALL,), convergence_rates.Extent([256, 2048, 16384], 24))
    )
    monkeypatch.setattr(consistency, "CASES", (SMALL,))
    monkeypatch.setattr(laws, "SCHEME_STEPS", (4, 8))


def harmed(monkeypatch: pytest.MonkeyPatch, change: Callable[[Estimate], Estimate]) -> None:
    """Let every estimate of an option come out differently."""
    right = results.option_estimates
    monkeypatch.setattr(results, "option_estimates", lambda *args: [change(found) for found in right(*args)])


def off(checks: Iterator[Check]) -> set[str]:
    return {check.kind for check in checks if not check.passed}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_everything_that_can_be_computed_passes(cli: Callable, monkeypatch: pytest.MonkeyPatch, every: bool) -> None:
    """All markets and options with few paths, with JSON and picture. Two of the markets in all precisions and with all
    ways to draw paths, the others with `make long`."""
    few = all_checks.Extent(1 << 13, 16, (cases.TWO,), convergence_rates.Extent([256, 2048, 16384], 24))
    monkeypatch.setattr(all_checks, "QUICK", few)
    if not every:
        whole = (cases.ONE, cases.TWO)
        fewer = [case if case in whole else dataclasses.replace(case, ways=case.ways[:1]) for case in all_checks.CASES]
        monkeypatch.setattr(all_checks, "CASES", fewer)
        monkeypatch.setattr(consistency, "CASES", whole)
    monkeypatch.setattr(all_checks, "WITH_GREEKS", {True: (cases.TWO,)})
    done = cli("gbm", "--quick", "--json", "-o", "pictures")
    assert len(done.stdout.splitlines()) == 1
    found = json.loads(done.stdout)
    assert [check for check in found["checks"] if not check["passed"]] == []
    assert found["passed"] is True
    assert done.returncode == 0
    kinds = {check["kind"] for check in found["checks"]}
    assert kinds >= {"reference", "published", "law", "convergence", "over seeds", "same bits"}
    names = {check["name"] for check in found["checks"]}
    assert {"one asset: geomean formula, mixed", "two assets: worst put, float32, antithetic"} <= names
    skipped = [note for note in found["notes"] if not note.startswith("the device is the CPU")]
    assert all(note.startswith("not checked: ") for note in skipped)
    picture = matplotlib.image.imread("pictures/gbm_convergence.png")
    assert picture.shape[1] > 1000
    assert picture.std() > 0.05


def test_little_passes(cli: Callable, little: None) -> None:
    done = cli("gbm", "--quick")
    assert done.returncode == 0
    assert re.search(r"^ok +reference +small: call +\d", done.stdout, re.MULTILINE)
    assert "nothing to compare it with" in done.stderr
    assert done.stdout.isascii()


def test_estimates_that_are_biased_fail(cli: Callable, little: None, monkeypatch: pytest.MonkeyPatch) -> None:
    harmed(monkeypatch, lambda e: Estimate(e.value * 1.02, e.standard_error))
    done = cli("gbm", "--quick", "--json")
    assert done.returncode == 5
    assert "checks are off" in done.stderr
    kinds = {check["kind"] for check in json.loads(done.stdout)["checks"] if not check["passed"]}
    assert kinds >= {"reference", "convergence", "over seeds"}


@pytest.mark.parametrize(
    "change",
    [
        lambda e: Estimate(e.value, e.standard_error * 0.5),
        lambda e: Estimate(e.value + e.standard_error, e.standard_error),
    ],
    ids=["too sure", "shifted"],
)
def test_errors_that_are_no_standard_errors_fail(monkeypatch: pytest.MonkeyPatch, change: Callable) -> None:
    """Prices are near enough to what is exact, so it takes many seeds to see that."""
    harmed(monkeypatch, change)
    assert off(standard_errors.seed_checks(CPU, [SMALL], [], 36, print)) == {"over seeds"}


def test_a_wrong_closed_form_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = runs.reference_price
    monkeypatch.setattr(runs, "reference_price", lambda *args: right(*args) * 0.98)
    assert off(prices.price_checks(CPU, [SMALL], [], 1 << 13, print)) == {"reference"}


def test_errors_from_spread_alone_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what they leave out: jumps between points, paths that none hit, rounding of what is its own control."""
    monkeypatch.setattr(estimates, "completed", lambda problem, observed, mean, estimate, discount: estimate)
    found = off(coverage.coverage_checks(CPU, 12))
    assert found >= {coverage.COVERAGE, coverage.CERTAIN}
    assert off(prices.price_checks(CPU, [cases.CERTAIN], [], 1 << 13, print)) == {"reference"}


def test_pathwise_greeks_fail_where_the_last_dividend_makes_a_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.LAST_DIVIDEND
    assert not off(prices.price_checks(CPU, [case], [case], 1 << 15, print))
    monkeypatch.setattr(greek_case, "jumps_in_the_end", lambda *args: False)
    assert off(prices.price_checks(CPU, [case], [case], 1 << 15, print)) == {"greek"}


def test_prices_that_scatter_too_much_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    law = laws.exact.price_std
    monkeypatch.setattr(laws.exact, "price_std", lambda *args: 0.9 * law(*args))
    names = [c.name for c in laws.law_checks(CPU, 1 << 13, lambda text: None) if not c.passed]
    assert names
    assert all(name.startswith("prices: std") for name in names)


def test_bits_that_depend_on_batches_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if groups of paths were added up in the order of batches."""
    monkeypatch.setattr(consistency, "CASES", (SMALL,))
    right = results.option_estimates

    def off_by_a_bit(problem: Any, observed: Any) -> list[Estimate]:
        towards = math.inf if problem.n_batches == 1 else -math.inf
        return [Estimate(float(np.nextafter(e.value, towards)), e.standard_error) for e in right(problem, observed)]

    monkeypatch.setattr(results, "option_estimates", off_by_a_bit)
    found = list(consistency.whole_checks(CPU, None))
    assert [check.passed for check in found] == [False] * 3
    assert [check.measured for check in found] == [18.0] * 3  # three prices and their intervals, twice


def test_another_device_is_compared_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "CASES", (SMALL,))
    found = [check for check in consistency.whole_checks(CPU, CPU) if check.kind == consistency.DEVICE]
    assert [(check.measured, check.passed) for check in found] == [(0.0, True)] * 3


def test_scores_are_judged_as_normal_numbers() -> None:
    z = np.random.default_rng(3).standard_normal(100)
    assert z_scores.judged("x", z).passed
    assert z_scores.judged("x", z).wanted.startswith("mean |z| 0.798 +- 0.25")
    for wrong in (1.4 * z, 0.6 * z, z + 0.6, [*z[:-1], 4.6]):
        assert not z_scores.judged("x", wrong).passed


def test_scores_of_estimates_that_may_be_low() -> None:
    z = np.random.default_rng(3).standard_normal(100)
    for right in (z, z - 1.0):
        assert standard_errors.judged_low("x", right).passed
    for wrong in (1.5 * z, 0.6 * z, z + 0.4):
        assert not standard_errors.judged_low("x", wrong).passed


def test_distances_from_what_is_exact() -> None:
    plain, sobol = ("float64", "plain"), ("float64", "sobol")
    assert runs.deviations(10.2, 10.0, 0.1, plain) == pytest.approx(2.0)
    assert runs.deviations(9.8, 10.0, 0.1, plain, rounding=0.05) == pytest.approx(-1.5)
    assert runs.deviations(10.01, 10.0, 0.0, plain, rounding=0.05) == 0
    assert runs.deviations(10.01, 10.0, 0.0, plain) == math.inf
    # of Student's law with 31 degrees of freedom, 2.0395 and 3.6335 are beyond 5 % and 0.1 % of the normal's
    assert runs.deviations(10.20395, 10.0, 0.1, sobol) == pytest.approx(1.95996, abs=1e-3)
    assert runs.deviations(9.63665, 10.0, 0.1, sobol) == pytest.approx(-3.2905, abs=1e-3)


def test_estimates_that_are_low_by_nature_may_be_low_but_not_high() -> None:
    model = runs.scenario_of(SMALL, ("float64", "plain"), 1024)

    def judged(z: float) -> bool:
        way = ("float64", "plain")
        return prices.within("x", "published", 10 + z, 10.0, 1.0, way, model, prices.LOW).passed

    assert [judged(z) for z in (-3.1, -2.9, 0.0, 1.9, 2.1)] == [False, True, True, True, False]


# ---- a scenario of one's own

MINE = """solver = "gbm"
market = {rate = 0.05}
asset = [{spot = 100.0, volatility = 0.2}]
time = {end = 1.0, steps = 2}
paths = {count = 16384}
option = [{name = "call", style = "european", payoff = "call", strike = 100.0},
          {name = "root", style = "expression", value = "sqrt(last(A))"}]
"""


@pytest.fixture
def study(cli: Callable) -> Callable:
    """`simsuite verify` of a scenario with this text."""

    def verify(text: str, *args: object) -> Any:
        Path("mine.toml").write_text(text, encoding="utf-8")
        return cli("mine.toml", *args)

    return verify


def test_errors_of_a_scenario_halve_with_four_times_the_paths(study: Callable) -> None:
    done = study(MINE, "--json", "-o", "pictures")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert [level["paths"] for level in found["levels"]] == [1024, 4096, 16384]
    kinds = [(check["name"], check["kind"]) for check in found["checks"]]
    assert kinds == [
        *(("call", kind) for kind in ("standard error", "change", "reference")),
        *(("root", kind) for kind in ("standard error", "change")),
    ]
    assert found["checks"][0]["measured"] == pytest.approx(-0.5, abs=0.05)
    assert matplotlib.image.imread("pictures/mine.png").std() > 0.05
    done = study(MINE)
    assert "5 of 5 checks passed: standard error 2/2, change 2/2, reference 1/1" in done.stdout
    assert "done: 4096 paths" in done.stderr


def test_a_scenario_whose_prices_are_off_fails(study: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    harmed(monkeypatch, lambda e: Estimate(e.value * 1.1, e.standard_error))
    done = study(MINE)
    assert done.returncode == 5
    assert "call (reference)" in done.stderr
    monkeypatch.setattr(scenario_study, "reference_price", lambda *args: None)
    done = study(MINE, "-o", "pictures")
    assert "reference" not in done.stdout
    assert "no option has a price to compare with" in done.stderr


@pytest.mark.parametrize("scheme", ["euler", "milstein"])
def test_that_the_bias_of_steps_is_not_looked_at_is_said(study: Callable, scheme: str) -> None:
    done = study(MINE.replace("steps = 2", f'steps = 2, scheme = "{scheme}"'))
    assert f"not checked: the bias of {scheme}, as all levels have 2 steps" in done.stderr
    assert "time.steps = 4" in done.stderr
    assert "reference" not in done.stdout


RARE = (165.0, 180.0, 230.0, 60.0)  # strikes that some 70, 20 or none of 16384 paths end above, or some 50 below


def digitals(seed: int, count: int = 16384, **paths: Any) -> GbmScenario:
    options = [{"style": "digital", "payoff": "call", "cash": 10.0, "strike": strike} for strike in RARE]
    return problem(run={"seed": seed}, paths={"count": count} | paths, option=options).scenario


def checks_of(model: GbmScenario) -> list[Check]:
    return list(scenario_study.study(model, list(scenario_study.levels_of(model, CPU, 3)), pytest.fail))


@pytest.mark.parametrize("paths", [{}, {"antithetic": True}])
def test_digitals_that_few_paths_decide_raise_no_false_alarm(paths: dict[str, Any]) -> None:
    kinds = set()
    for seed in range(20):
        found = checks_of(digitals(seed, **paths))
        assert all(check.passed for check in found), found
        kinds |= {(check.name, check.kind) for check in found}
    told = ("change", "reference", "standard error")
    assert kinds >= {(f"option{i}", kind) for i in range(1, 5) for kind in told}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda e: Estimate(e.value, e.standard_error * 0.9), {"standard error"}),
        (lambda e: Estimate(e.value, e.standard_error * 1.1), {"standard error"}),
        (lambda e: Estimate(e.value * (2 if e.value < 5 else 1), e.standard_error), {"reference", "standard error"}),
    ],
)
def test_digitals_that_few_paths_decide_raise_an_alarm(
    monkeypatch: pytest.MonkeyPatch, change: Callable, kinds: set[str]
) -> None:
    """Standard errors that are a tenth off, and prices twice what they should be."""
    harmed(monkeypatch, change)
    assert off(iter(checks_of(digitals(1)))) == kinds


def test_paths_that_do_not_belong_to_those_before_raise_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the probability: none of the first quarter of paths has paid, and many of the rest."""
    model = digitals(1)
    levels = list(scenario_study.levels_of(model, CPU, 3))
    for level in levels[:2]:
        level.outcome.options["option1"]["price"] = 0.0
    monkeypatch.setattr(scenario_study, "reference_price", lambda *args: None)
    found = [check for check in scenario_study.study(model, levels, pytest.fail) if check.kind == "change"]
    assert [check.passed for check in found] == [False, True, True, True]


def test_more_paths_are_asked_for_where_too_few_decide_a_price(study: Callable) -> None:
    far = MINE.replace("strike = 100.0", "strike = 170.0")
    done = study(far)
    assert done.returncode == 5
    told = re.search(r"call: about \d+ of 16384 paths decide its price, .*: set paths.count to some (\S+)", done.stderr)
    assert told is not None
    done = study(far.replace("16384", f"{round(float(told[1]))}"))
    assert done.returncode == 0
    assert "5 of 5 checks passed" in done.stdout


@pytest.mark.parametrize(
    ("text", "args", "said"),
    [
        (MINE.replace("16384", "4000"), [], "3 levels need paths.count of at least 4096, and there are 4000"),
        (MINE, ["--levels", 5], "5 levels need"),
        (MINE[: MINE.index("option")], [], "has no [[option]]"),
    ],
)
def test_what_cannot_be_refined_is_said(study: Callable, text: str, args: list[object], said: str) -> None:
    done = study(text, *args)
    assert done.returncode == 2
    assert said in done.stderr
