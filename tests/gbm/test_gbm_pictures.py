"""What pictures of Monte Carlo runs say: exact prices and laws where they are known, and the numbers of the run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, tables
from scipy.integrate import quad
from test_resume import write

import simsuite
from simsuite.io.reading import open_results
from simsuite.pictures.gbm import _subtitle, gbm_figure
from simsuite.pictures.gbm_options import option_rows
from simsuite.pictures.recording import Recording
from simsuite.pictures.units import grouped
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms import european, merton
from simsuite.solvers.gbm.reference_prices.laws import reference_law

pytestmark = pytest.mark.usefixtures("one_thread")

JUMPS = {"intensity": 1.37, "mean": -0.083, "deviation": 0.141}
EXACT = 4  # the column
MANY = {"count": 1 << 16}


def drawn(directory: Path, **changes: Any) -> tuple[list[tuple[str, ...]], str, list[str], dict[str, Any]]:
    """Of a run's picture: rows of the options, subtitle, all texts beside the axes; and the run's results."""
    scenario = write(directory / "s.toml", tables(**changes), {"run.device": "cpu"})
    done = simsuite.run(scenario, directory=directory / "run")
    with open_results(directory / "run" / "results.h5") as file:
        run = Recording(directory / "run", file)
        axes = gbm_figure(run).figure.axes
        texts = [text.get_text() for ax in axes for text in ax.texts]
        return option_rows(run)[1:], _subtitle(run, 1), texts, done.summary["results"]


@pytest.mark.parametrize("scheme", ["exact", "euler"])
def test_the_exact_price_of_an_asset_that_jumps_is_that_by_its_law(tmp_path: Path, scheme: str) -> None:
    """By Merton's series; it was Black and Scholes's price, without the jumps."""
    rows, *_, results = drawn(tmp_path, asset=[ASSET | {"jumps": JUMPS}], paths=MANY, time={"scheme": scheme})
    right = merton(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, 1.37, -0.083, 0.141, "call")
    assert abs(float(rows[0][EXACT]) - right) < 0.01
    assert abs(right - european(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, "call")) > 1
    (option,) = results["options"].values()
    assert abs(option["price"] - right) < 4 * option["standard_error"] + (0.3 if scheme == "euler" else 0)


def test_no_exact_price_where_there_is_none(tmp_path: Path) -> None:
    """With two dividends in cash; Black and Scholes's price and density without them were shown."""
    paying = [{"time": 0.3, "cash": 3.0}, {"time": 0.8, "cash": 4.0}]
    rows, _, texts, _ = drawn(tmp_path, asset=[ASSET | {"dividends": paying}], time={"steps": 10})
    assert rows[0][EXACT] == ""
    assert "exact density" not in texts
    assert "all paths, between" in texts


def test_exact_prices_of_other_options_and_the_density_are_shown(tmp_path: Path) -> None:
    digital = {"style": "digital", "payoff": "call", "strike": 100.0, "cash": 10.0}
    rows, _, texts, results = drawn(tmp_path, option=[CALL, digital, CALL | {"strike": 300.0}], paths=MANY)
    for row, option in zip(rows[:2], results["options"].values()):
        assert abs(float(row[EXACT]) - option["price"]) < 4 * option["standard_error"]
    assert "exact density" in texts


@pytest.mark.parametrize(
    "paths",
    [
        {"count": 1 << 12, "sampling": "sobol", "replicates": 4},
        {"count": 1 << 22, "target_standard_error": 0.3, "batch": 1 << 10},
        {"count": 1 << 22, "target_standard_error": 0.3, "multilevel": True},
    ],
)
def test_paths_and_intervals_are_those_of_the_run(tmp_path: Path, paths: dict[str, Any]) -> None:
    """They were the scenario's number of paths, and 1.96 standard errors, whatever the law."""
    scheme = "euler" if paths.get("multilevel") else "exact"
    rows, subtitle, _, results = drawn(tmp_path, paths=paths, time={"scheme": scheme, "steps": 16})
    assert subtitle.split("|")[1].strip() == f"{grouped(results['paths'])} paths"
    assert results["paths"] < paths["count"] or "target_standard_error" not in paths
    (option,) = results["options"].values()
    low, high = option["ci95"]
    half = float(rows[0][3].removeprefix("± "))
    assert half == pytest.approx((high - low) / 2, rel=0.06)
    assert rows[0][2] == f"{option['price']:.{len(rows[0][3].partition('.')[2])}f}"


def test_an_interval_that_ends_at_0_is_shown_by_its_ends(tmp_path: Path) -> None:
    """No path pays this: the interval is of what may have been missed, from 0 on."""
    rows, *_ = drawn(tmp_path, option=[CALL | {"strike": 300.0}])
    low, _, high = rows[0][3].partition(" to ")
    assert float(low) == 0 < float(high)


# ---- laws


def model(**changes: Any) -> GbmScenario:
    return GbmScenario.model_validate(tables(**changes))


def test_the_law_knows_of_dividends_and_of_changes() -> None:
    paying = [{"time": 0.5, "proportion": 0.1}]
    changing = model(
        market={"rate": [[0.0, 0.02], [0.5, 0.06]]},
        asset=[ASSET | {"volatility": [[0.0, 0.15], [0.5, 0.35]], "dividends": paying}],
        time={"steps": 4},
    )
    for t, growth, variance in ((0.25, 0.005, 0.005625), (1.0, 0.04 + math.log(0.9), 0.0725)):
        law = reference_law(changing, 0, t)
        assert law is not None
        assert law.means == pytest.approx([math.log(100) + growth - variance / 2], rel=1e-12)
        assert law.deviations == pytest.approx([math.sqrt(variance)], rel=1e-12)


def test_the_law_of_jumps_has_its_characteristic_function() -> None:
    """Inverted by quadrature: E exp(i u log S) of a jump diffusion is elementary (Merton 1976)."""
    law, t = reference_law(model(asset=[ASSET | {"jumps": JUMPS}], time={"end": 0.9}), 0, 0.9), 0.9
    assert law is not None
    intensity, mean, deviation = JUMPS.values()
    drift = 0.05 - 0.2**2 / 2 - intensity * math.expm1(mean + deviation**2 / 2)

    def integrand(u: float, x: float) -> float:
        jumps = intensity * t * (np.exp(1j * u * mean - (u * deviation) ** 2 / 2) - 1)
        return float(np.exp(1j * u * (drift * t - x) - (0.2 * u) ** 2 * t / 2 + jumps).real) / math.pi

    for x in (-0.6, -0.1, 0.0, 0.3):
        right, _ = quad(integrand, 0, 60, args=(x,), limit=500, epsabs=1e-12)
        assert float(law.density(np.array(math.log(100) + x))) == pytest.approx(right, abs=1e-9)


def test_no_law_after_a_dividend_in_cash_nor_without_volatility() -> None:
    paying = model(asset=[ASSET | {"dividends": [{"time": 0.5, "cash": 3.0}]}], time={"steps": 4})
    assert reference_law(paying, 0, 0.25) is not None
    assert reference_law(paying, 0, 0.5) is None
    assert reference_law(model(asset=[ASSET | {"volatility": 0.0}]), 0, 1.0) is None
