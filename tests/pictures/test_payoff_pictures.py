"""Pictures of payoffs on single paths, which are made again: against the prices of a run of the same paths."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import StepPatch
from scipy.stats import sem, t

import simsuite
from simsuite.backends import open_backend
from simsuite.io.reading import open_results
from simsuite.pictures.choices.sheets import sheet_of
from simsuite.pictures.look import Look
from simsuite.pictures.recording import Recording
from simsuite.plotting.first_paths import MOST_OPTIONS, first_payoffs
from simsuite.solvers.gbm import payoff_samples as samples
from simsuite.solvers.gbm.reference_prices.prices import reference_price

pytestmark = pytest.mark.usefixtures("one_thread")
PATHS = 4096
SHARES = {"asset": "shares", "control_variate": False}
STYLES = [
    {"name": "asian", "style": "asian", "payoff": "call", "strike": 100.0, "holding": 3.0, **SHARES},
    {"name": "call", "style": "european", "payoff": "call", "strike": 95.0, "holding": -2.0, **SHARES},
    {"name": "soon", "style": "asian", "payoff": "put", "strike": 100.0, "maturity": 0.5, "holding": 1.0, **SHARES},
    {"name": "digital", "style": "digital", "payoff": "call", "strike": 110.0, "cash": 10.0, **SHARES},
    {"name": "out", "style": "barrier", "payoff": "call", "strike": 90.0, "level": 150.0, "direction": "up"}
    | {"knock": "out", **SHARES},
    {"name": "worst", "style": "basket", "combine": "min", "weights": [1.0, 2.5], "payoff": "put", "strike": 100.0}
    | {"control_variate": False},
    {"name": "note", "style": "autocallable", "observations": 4, "coupon": 0.03, "coupon_level": 0.8}
    | {"protection": 0.7, "control_variate": False},
    {"name": "early", "style": "american", "payoff": "put", "strike": 105.0, **SHARES},
]
# What errors of a run allow for besides how payoffs scatter: jumps of the payoff, rare events, and the exercise.
ALLOWED = {"digital": 0.02, "out": 0.02, "note": 0.02, "early": 0.05}
MARKET = {
    "solver": "gbm",
    "title": "Styles",
    "market": {"rate": [[0.0, 0.02], [0.5, 0.04]], "correlation": [[1.0, 0.5], [0.5, 1.0]]},
    "asset": [
        {"name": "shares", "spot": 100.0, "volatility": 0.25},
        {"name": "metal", "spot": 40.0, "volatility": 0.4},
    ],
    "time": {"end": 1.0, "steps": 12},
    "paths": {"count": PATHS},
    "option": STYLES,
    "output": {"frames": 4},
    "run": {"device": "cpu", "seed": 5},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> simsuite.Run:
    return simsuite.run(MARKET, directory=tmp_path_factory.mktemp("styles") / "run")


@contextlib.contextmanager
def recording(run: simsuite.Run) -> Iterator[Recording]:
    with open_results(run.directory / "results.h5") as file:
        yield Recording(run.directory, file, repeat=first_payoffs)


def panel(axes: list[Axes], name: str) -> Axes:
    (found,) = (ax for ax in axes if ax.get_title(loc="left").startswith(name))
    return found


def test_payoffs_made_again_have_the_prices_and_errors_of_the_run(run: simsuite.Run) -> None:
    with recording(run) as of:
        again = of.first_payoffs
        assert again is not None
        assert again.options == tuple(range(len(STYLES)))
        assert again.values.shape == (len(STYLES), PATHS)
        for name, values in zip((each["name"] for each in STYLES), again.values):
            told = run.results["options"][name]
            assert values.mean() == pytest.approx(told["price"], rel=1e-12), name
            error = values.std(ddof=1) / np.sqrt(PATHS)
            assert told["standard_error"] == pytest.approx(error, rel=ALLOWED.get(name, 1e-9)), name
            assert told["standard_error"] > error * (1 - 1e-9), name
        assert again.book is not None
        held = {each["name"]: each.get("holding", 0.0) for each in STYLES}
        book = sum(held[name] * told["price"] for name, told in run.results["options"].items())
        assert again.book.mean() == pytest.approx(book, rel=1e-12)
        assert again.book.std(ddof=1) / np.sqrt(PATHS) == pytest.approx(
            run.results["book"]["value_standard_error"], rel=1e-6
        )


@pytest.mark.parametrize("sampling", [{"antithetic": True}, {"sampling": "sobol"}], ids=["antithetic", "sobol"])
def test_samples_of_other_kinds_of_paths(sampling: dict[str, object], tmp_path: Path) -> None:
    """Twins stand beside each other, and are one observation; Sobol points tell an error by their replicates alone."""
    options = [STYLES[0]]
    scenario = MARKET | {"option": options, "paths": {"count": PATHS, **sampling}}
    run = simsuite.run(scenario, directory=tmp_path / "run")
    with recording(run) as of:
        again = of.first_payoffs
        assert again is not None
        told = run.results["options"]["asian"]
        assert again.values.mean() == pytest.approx(told["price"], rel=1e-12)
        assert again.width == (2 if "antithetic" in sampling else 0)
        if again.width:
            pairs = again.values[0].reshape(-1, 2).mean(axis=1)
            error = pairs.std(ddof=1) / np.sqrt(len(pairs))
            assert error == pytest.approx(told["standard_error"], rel=1e-9)
        settling = again.settling(0)
        assert settling is not None
        assert (settling.paths[-1], settling.mean[-1]) == (PATHS, pytest.approx(told["price"], rel=1e-9))
        low, high = told["ci95"]
        assert settling.reach[-1] == pytest.approx((high - low) / 2, rel=1e-4)
        ax = sheet_of([of], ["convergence"], Look()).figure.axes[0]
        (curve,) = (line for line in ax.lines if len(line.get_xdata()) > 3)
        np.testing.assert_array_equal(curve.get_xdata(), settling.paths)
        np.testing.assert_array_equal(curve.get_ydata(), settling.mean)
        densities = sheet_of([of], ["density"], Look()).laid_out()
        key = [text.get_text() for text in densities.legends[0].get_texts()]
        assert key == ["all paths", "exact density", "mean"]  # no other colour for those made again, which are all


@pytest.mark.parametrize("count", [1 << 15, 40_000])
def test_first_sobol_points_are_those_of_the_run(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicates take turns, whose first ones a longer run has as well; and the mean settles faster than by chance."""
    paths = {"count": count, "sampling": "sobol", "replicates": 8}
    model = simsuite.open_simulation(MARKET | {"option": [STYLES[1]], "paths": paths}).scenario.model
    every = samples.payoff_samples(model, tmp_path, open_backend("cpu"), [0])
    monkeypatch.setattr(samples, "MOST", 1 << 14)
    some = samples.payoff_samples(model, tmp_path, open_backend("cpu"), [0])
    assert some.values.shape == (1, 1 << 14)
    np.testing.assert_array_equal(some.values, every.values[:, : 1 << 14])
    assert every.replicates is not None
    assert sorted(every.replicates.ravel()) == list(range(count))
    by_replicate = every.values[0][every.replicates]
    settling = every.settling(0)
    assert settling is not None
    assert settling.paths.tolist() == sorted({*(1 << k for k in range(8, 16)), count})
    for n, mean, reach in zip(settling.paths // 8, settling.mean, settling.reach):
        means = by_replicate[:, :n].mean(axis=1)
        interval = t.interval(0.95, 7, means.mean(), sem(means))
        assert (mean, mean + reach) == pytest.approx((means.mean(), interval[1]), rel=1e-9)
    exact = reference_price(model, model.option[0])
    assert exact is not None
    assert (abs(settling.mean - exact) < 3 * settling.reach).all()
    assert settling.reach[0] / settling.reach[-1] > 2 * np.sqrt(count / 256)


@pytest.mark.parametrize("sampling", ["pseudo", "sobol"])
def test_a_run_that_stopped_early_is_shown_no_paths_beyond_its_own(sampling: str, tmp_path: Path) -> None:
    paths = {"count": 1 << 18, "target_standard_error": 0.2, "sampling": sampling}
    paths |= {"batch": 1024} if sampling == "pseudo" else {"replicates": 4}
    option = STYLES[1]
    run = simsuite.run(MARKET | {"option": [option], "paths": paths}, directory=tmp_path / "run")
    count = run.results["paths"]
    assert count < samples.MOST
    with recording(run) as of:
        again = of.first_payoffs
        assert again is not None
        assert again.values.shape == (1, count)
        assert again.book is not None
        np.testing.assert_allclose(again.book, option["holding"] * again.values[0], rtol=1e-12)
        told = run.results["options"]["call"]
        assert again.values.mean() == pytest.approx(told["price"], rel=1e-12)
        settling = again.settling(0)
        assert settling is not None
        assert settling.paths[-1] == count
        assert settling.reach[-1] == pytest.approx((told["ci95"][1] - told["ci95"][0]) / 2, rel=1e-3)


def test_so_many_paths_are_made_as_take_a_second(run: simsuite.Run) -> None:
    with recording(run) as of:
        model = of.scenario
        for count, steps, sampling, made in (
            (10**9, 12, "pseudo", 1 << 16),
            (10**9, 10**4, "pseudo", 2048),
            (10**9, 10**8, "pseudo", 1024),
            (16 * 10**8, 12, "sobol", 1 << 16),
            (16 * 10**8, 10**4, "sobol", 16 * 1024),
            (500, 12, "pseudo", 500),
        ):
            paths = model.paths.model_copy(update={"count": count, "sampling": sampling})
            time = model.time.model_copy(update={"steps": steps})
            few = samples.with_few_paths(model.model_copy(update={"paths": paths, "time": time}))
            assert few.paths.count == made, (count, steps, sampling)


def test_bars_and_single_values_hold_the_paths_that_are_paid(run: simsuite.Run) -> None:
    with recording(run) as of:
        axes = sheet_of([of], ["density"], Look()).figure.axes
        again = of.first_payoffs
        assert again is not None
        names = [ax.get_title(loc="left").partition(":")[0] for ax in axes]
        assert names == [
            "shares at t = 1 year",
            "metal at t = 1 year",
            *(e["name"] for e in STYLES),
            "All options held",
        ]
        for name, values in zip(names[2:], again.values):
            ax = panel(axes[2:], name)
            bars = [patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)]
            lines = [path for each in ax.collections for path in each.get_paths()]
            shares = bool(lines)
            held = sum(float(b.values @ (np.ones_like(b.values) if shares else np.diff(b.edges))) for b in bars)
            held = held / (100 if shares else 1) + sum(path.vertices[:, 1].max() for path in lines) / 100
            paid = (values != 0).mean()
            assert held == pytest.approx(paid, abs=0.002 if name != "call" else 0.03), name
            price = run.results["options"][name]["price"]
            assert price in [line.get_xdata()[0] for line in ax.lines], name
            if paid < 1:
                assert f"nothing on {100 * (1 - paid):.3g} % of paths" in ax.get_title(loc="left") or name == "call"
        (line,) = (path for each in panel(axes, "digital").collections for path in each.get_paths())
        assert line.vertices[:, 0] == pytest.approx(10 * np.exp(-0.03), rel=1e-9)
        assert len([p for each in panel(axes, "note").collections for p in each.get_paths()]) >= 4


def test_the_mean_settles_at_the_price_of_all_paths(run: simsuite.Run) -> None:
    """A run of no more paths than are made again ends where the curve does, with its interval."""
    with recording(run) as of:
        axes = sheet_of([of], ["convergence"], Look()).figure.axes
        for each in STYLES:
            ax = panel(axes, each["name"])
            told = run.results["options"][each["name"]]
            (curve,) = (line for line in ax.lines if len(line.get_xdata()) > 50)
            assert curve.get_xdata()[-1] == PATHS
            assert curve.get_ydata()[-1] == pytest.approx(told["price"], rel=1e-9)
            band = next(each for each in ax.collections if not isinstance(each, LineCollection))
            corners = band.get_paths()[0].vertices
            at_end = corners[corners[:, 0] == PATHS, 1]
            reach = 1.96 * told["standard_error"]
            assert (at_end.max() - at_end.min()) / 2 == pytest.approx(
                reach, rel=max(1e-3, ALLOWED.get(each["name"], 0))
            )


def test_books_of_many_options_have_pictures_of_some(tmp_path: Path) -> None:
    """All that are held are in the sum."""
    options = [STYLES[0] | {"name": f"asian {k}", "strike": 90.0 + k, "holding": 1.0} for k in range(MOST_OPTIONS + 5)]
    model = simsuite.open_simulation(MARKET | {"option": options}).scenario.model
    again = first_payoffs(model, tmp_path)
    assert again is not None
    assert again.options == tuple(range(MOST_OPTIONS))
    every = samples.payoff_samples(model, tmp_path, open_backend("cpu"), range(len(options)))
    assert again.book is not None
    np.testing.assert_allclose(again.book, every.values.sum(axis=0), rtol=1e-12)


def test_without_single_paths_other_payoffs_are_left_out(run: simsuite.Run) -> None:
    """As where there is too little memory to make them again."""
    with open_results(run.directory / "results.h5") as file:
        of = Recording(run.directory, file, repeat=lambda model, base: None)
        names = [ax.get_title(loc="left") for ax in sheet_of([of], ["density"], Look()).figure.axes]
        assert len(names) == 3
        assert names[2].startswith("call: nothing on")
