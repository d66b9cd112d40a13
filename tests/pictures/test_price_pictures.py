"""Pictures of prices: axes that hold what is drawn, and numbers and marks that are explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from looking import BOOK, overlaps, texts_of
from test_choices import recording

import simsuite
from simsuite.pictures.choices.sheets import sheet_of
from simsuite.pictures.gbm import gbm_figure, path_words, price_limits, read_fan
from simsuite.pictures.look import Look

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run."""
    place = tmp_path_factory.mktemp("book")
    (place / "book.toml").write_text(BOOK, encoding="utf-8")
    simsuite.run(place / "book.toml", device="cpu", directory=place / "run")
    return place / "run"


def test_ticks_beside_a_density_are_counted(book: Path) -> None:
    with recording(book) as run:
        figure = gbm_figure(run).laid_out()
    assert "ticks: 8 paths" in {name for name, _ in texts_of(figure)}
    assert overlaps(figure) == []


def test_the_axis_of_prices_holds_paths_and_density(book: Path) -> None:
    """A path that leaves it is counted; where the density beside it ends, it is low."""
    with recording(book) as run:
        figure = gbm_figure(run).laid_out()
        for a, (fan, beside) in enumerate(zip(figure.axes[:4:2], figure.axes[1:4:2])):
            low, high = fan.get_ylim()
            paths = run.numbers("path", ..., slice(None), a)
            assert low < paths.min() < paths.max() < high
            (law,) = (line for line in beside.lines if len(line.get_xdata()) > 100)
            density = np.asarray(law.get_xdata())
            assert max(density[0], density[-1]) < 0.021 * density.max()
            assert beside.get_xlabel() == "Density (1/currency)"
        assert not [word for word, _ in texts_of(figure) if "beyond" in word]
        key = sheet_of([run], ["trajectory"], Look()).laid_out().legends[0].get_texts()
        assert [text.get_text() for text in key] == ["8 of the paths"]


def test_paths_that_leave_the_axis_are_counted(book: Path) -> None:
    with recording(book) as run:
        fan = read_fan(run, 0)
        reach = fan.quantiles.max() - fan.quantiles.min()
        paths = fan.paths.copy()
        paths[[2, 5], 3] = fan.quantiles.max() + 1.5 * reach
        low, high = price_limits(fan := replace(fan, paths=paths))
        assert (high - low) / reach < 3.5
        assert path_words(fan) == "8 of the paths, 2 beyond the axis"
        paths[[2, 5], 3] = fan.quantiles.max() + 0.9 * reach
        assert path_words(replace(fan, paths=paths)) == "8 of the paths"


def test_greeks_have_numbers_and_intervals(book: Path) -> None:
    """As many digits as the interval of 95 % justifies, which the bar shows as well."""
    with recording(book) as run:
        figure = sheet_of([run], ["greeks"], Look()).laid_out()
        for name, ax in zip(("delta", "gamma", "vega", "rho", "theta"), figure.axes):
            values, errors = run.file[f"option_{name}"][...], run.file[f"option_{name}_standard_error"][...]
            known = np.isfinite(values) & (values != 0)
            assert len(ax.texts) == known.sum() > 2
            bars = [path.vertices[:, 0] for each in ax.collections for path in each.get_paths()]
            for value, error, text, bar in zip(values[known], errors[known], ax.texts, bars):
                told, reach = (float(part.replace("−", "-")) for part in text.get_text().split(" ± "))
                assert told == pytest.approx(value, abs=0.051 * 1.96 * error)
                assert reach == pytest.approx(1.96 * error, rel=0.051)
                assert (bar.min(), bar.max()) == pytest.approx((value - 1.96 * error, value + 1.96 * error), rel=1e-4)
        assert "95 % interval" in figure.legends[0].get_texts()[0].get_text()


def test_greeks_of_many_options_say_how_many_are_shown(tmp_path: Path) -> None:
    calls = [{"name": f"call {k}", "style": "european", "payoff": "call", "strike": 90.0 + k} for k in range(20)]
    market = {"market": {"rate": 0.03}, "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}]}
    few = {"time": {"end": 1.0, "steps": 2}, "paths": {"count": 4096}, "option": calls}
    simsuite.run({"solver": "gbm", **market, **few}, device="cpu", directory=tmp_path / "run")
    with recording(tmp_path / "run") as run:
        figure = sheet_of([run], ["greeks"], Look()).laid_out()
    assert {len(ax.texts) for ax in figure.axes} == {16}
    assert figure.axes[0].get_title(loc="left") == "Delta, 16 of 20"
    assert overlaps(figure) == []


def test_a_price_without_other_paths_is_told_in_words(book: Path) -> None:
    """Where the first paths cannot be made again, there is one number of paths, and no scale of them."""
    with recording(book) as run:
        ax = sheet_of([run], ["convergence"], Look()).figure.axes[0]
        found = run.results["options"]["call"]
        words = {text.get_text() for text in ax.texts}
        half = (found["ci95"][1] - found["ci95"][0]) / 2
        assert any(word.startswith(f"{found['price']:.3f}"[:5]) and f"± {half:.2g}" in word for word in words)
        assert [label.get_text() for label in ax.get_xticklabels(which="both")] == ["16\u2009384"]
