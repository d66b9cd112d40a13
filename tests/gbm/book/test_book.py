"""A book of a hundred options in one run: prices against QuantLib, cells that are read, and what cannot be done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from book_of_100 import TEXT, rows, table
from gbm_problems import run

from simsuite.backends.cpu import CpuBackend
from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.scenario.attached import cells_of
from simsuite.scenario.gbm import GROUP
from simsuite.scenario.gbm.book import keys
from simsuite.scenario.load import load_table
from simsuite.solvers.gbm.portfolio.portfolio import most_together
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.reference_prices.prices import reference_price

pytestmark = pytest.mark.usefixtures("one_thread")

quantlib_prices = pytest.importorskip("quantlib_prices", reason="needs QuantLib", exc_type=ImportError)


@pytest.fixture
def book(tmp_path):
    """The scenario's file, beside its book."""
    (tmp_path / "book.csv").write_text(table(), encoding="utf-8")
    path = tmp_path / "book.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def exact_prices(model) -> np.ndarray:
    """QuantLib's prices, where it has them; else those of quadratures."""
    found = [quantlib_prices.price(row) for row in rows()]
    return np.array([reference_price(model, o) if p is None else p for p, o in zip(found, model.option, strict=True)])


def scores(book, seeds, backend, *settings) -> np.ndarray:
    """[seed, option]: the error of each price in standard errors."""
    found = []
    for seed in seeds:
        model = load(book, [f"run.seed={seed}", "output.frames=2", *settings]).model
        exact = exact_prices(model)
        results, _ = run(GbmProblem.from_scenario(model, book.parent), backend)
        options = [results["options"][row["name"]] for row in rows()]
        prices, errors = (np.array([o[key] for o in options]) for key in ("price", "standard_error"))
        found.append((prices - exact) / errors)
    return np.array(found)


AMERICAN = np.array([row["style"] == "american" for row in rows()])


def test_there_are_a_hundred_of_every_style(book):
    model = load(book).model
    assert len(model.option) == 100
    assert len({option.style for option in model.option}) == 10
    assert {model.time.until(option.maturity).end for option in model.option} == {0.25, 0.5, 1.0}


def test_closed_forms_are_those_of_quantlib(book):
    """American options are priced on a grid there."""
    model = load(book).model
    compared = 0
    for row, option in zip(rows(), model.option):
        theirs, ours = quantlib_prices.price(row), reference_price(model, option)
        if theirs is not None and ours is not None:
            assert ours == pytest.approx(theirs, rel=1e-6 if option.style == "american" else 1e-11), row
            compared += 1
    assert compared == 76


def test_prices_are_those_of_quantlib(book):
    found = scores(book, range(1, 4), CpuBackend())
    assert np.abs(found).max() < 4.5


def test_prices_scatter_about_the_exact_ones_as_they_say(book):
    """Standard errors are neither too small nor too large; the rule of exercise that is learnt costs up to 1e-3."""
    found = scores(book, range(1, 61), CpuBackend())
    given = found[:, ~AMERICAN]
    assert np.abs(given).max() < 4.5
    assert 0.9 < given.std() < 1.1
    assert -5 < found[:, AMERICAN].min() < found[:, AMERICAN].max() < 4.5


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("kernel", ["nvrtc", "numba"])
def test_a_gpu_has_the_same_prices(book, precision, kernel, cuda):
    settings = (f"run.precision={precision}", f"run.kernel={kernel}", "paths.count=200000")
    found = scores(book, [7], cuda, *settings)
    assert np.abs(found[:, ~AMERICAN]).max() < 4.5
    assert np.abs(found[:, AMERICAN]).max() < 6


SMALL = {
    "solver": "gbm",
    "market": {"rate": 0.05},
    "constants": {"K": 100.0},
    "asset": [{"spot": 100.0, "volatility": 0.2}],
    "time": {"end": 1.0, "steps": 12},
    "paths": {"count": 1024},
}
VANILLA = {"name": "own", "style": "european", "payoff": "put", "strike": 90.0}


def with_rows(tmp_path, text: str, **changes):
    (tmp_path / "trades.csv").write_text(text, encoding="utf-8")
    return load_table(SMALL | {"book": str(tmp_path / "trades.csv")} | changes, tmp_path / "x.toml")


def test_cells_are_read_as_a_scenario_would_say_them(tmp_path):
    text = (
        "\ufeff# a comment\r\n"
        "name, style,payoff ,strike,maturity,fixings,past_fixings,greeks,holding,value\r\n"
        '"12, a",european,call,1.1*K,3 months,,,false,-2,\r\n'
        "\r\n"
        "7,asian,put,95,,0.25;0.5 ; 9 months,101,TRUE\r\n"
        '"say ""x""",expression,,,0.5,,,,,"max(last(A), mean(A))"\r\n'
    )
    scenario = with_rows(tmp_path, text, option=[VANILLA])
    own, call, asian, expression = scenario.model.option
    assert own.name == "own"
    assert (call.name, call.strike, call.maturity, call.greeks, call.holding) == ("12, a", 1.1 * 100, 0.25, False, -2)
    assert (asian.name, asian.fixings, asian.past_fixings, asian.greeks) == ("7", [0.25, 0.5, 0.75], [101], True)
    assert asian.maturity is None
    assert (expression.name, expression.value) == ('say "x"', "max(last(A), mean(A))")


def test_lists_and_truth_are_read_as_people_write_them(tmp_path):
    text = (
        "style,payoff,strike,assets,fixings,greeks\n"
        'asian,call,100,,"0.25, 0.5, 1",no\n'
        'asian,call,100,,"[0.25, 0.5, 1]",yes\n'
        "asian,call,100,,0.25;0.5;1,true\n"
        "asian,call,100,,4,false\n"
        'exchange,,,"A, B",,\n'
        'exchange,,,"[""A"", ""B""]",,\n'
        "exchange,,,A;B,,\n"
    )
    correlated = {
        "market": {"rate": 0.05, "correlation": [[1.0, 0.0], [0.0, 1.0]]},
        "asset": [{"name": name, "spot": 100.0, "volatility": 0.2} for name in "AB"],
    }
    options = with_rows(tmp_path, text, **correlated).model.option
    assert [option.fixings for option in options[:4]] == [[0.25, 0.5, 1.0]] * 3 + [4]
    assert [option.greeks for option in options[:4]] == [False, True, True, False]
    assert [option.assets for option in options[4:]] == [["A", "B"]] * 3


def test_rows_and_cells_that_spreadsheets_leave(tmp_path):
    """Empty rows, and functions with commas in a cell."""
    text = 'name,style,payoff,strike\r\n,,,\r\nab,european,call,100\r\nc,european,call,"max(K, 90)"\r\n'
    options = with_rows(tmp_path, text, option=[VANILLA]).model.option
    assert [option.name for option in options[1:]] == ["ab", "c"]
    assert options[2].strike == 100.0


def test_a_name_that_cannot_be_looked_at_is_a_mistake(tmp_path):
    with pytest.raises(ScenarioError, match="cannot be looked at"):
        load_table(SMALL | {"book": "x" * 300 + ".csv"}, tmp_path / "x.toml")


def test_the_steps_that_are_proposed_for_dates_do():
    """Up to a maturity there are but a part of the steps."""
    given = SMALL | {"option": [VANILLA | {"style": "american", "exercise": 60, "maturity": 0.75}]}
    with pytest.raises(ScenarioError) as caught:
        load_table(given, Path("x.toml"))
    (mistake,) = caught.value.mistakes
    proposed = int(str(mistake.help).rpartition(" ")[2])
    assert proposed == 80
    load_table(given | {"time": {"end": 1.0, "steps": proposed}}, Path("x.toml"))


def test_a_resolved_scenario_holds_the_options_and_not_the_book(tmp_path):
    """So that results tell what was priced whatever becomes of the file, and a changed file is another scenario."""
    text = "style,payoff,strike,maturity\neuropean,call,100,0.5\n"
    first = with_rows(tmp_path, text)
    resolved = first.resolved_toml()
    assert "trades.csv" not in resolved
    again = tmp_path / "again.toml"
    again.write_text(resolved, encoding="utf-8")
    assert load(again).model == first.model
    other = with_rows(tmp_path, text.replace("0.5", "0.25"))
    assert other.differences(resolved) == ["option.0.maturity"]


def test_every_key_of_options_can_be_a_column():
    known = keys()
    assert {"name", "style", "strike", "maturity", "assets", "weights", "level", "exercise", "value"} <= set(known)
    assert len(known) == len(set(known))


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("a,b", ["a", "b"]),
        (' a , "b, c" ,d', ["a", "b, c", "d"]),
        ('"a ""b""",', ['a "b"', ""]),
        ("", [""]),
        (",,", ["", "", ""]),
    ],
)
def test_cells_of_a_line(line, texts):
    cells = cells_of(line, 10)
    assert [cell.text for cell in cells] == texts
    for cell in cells:
        begin = cell.span[0] - 10
        assert line[begin : begin + len(cell.text.split('"')[0])] == cell.text.split('"')[0]


def test_payoffs_of_many_options_are_computed_for_fewer_paths_at_a_time(book):
    """So that their values take a bounded part of the memory of a GPU."""
    settings = ["paths.count=8000000", "run.kernel=numba"]
    found = {}
    for greeks in ("false", "true"):
        (book.parent / "book.csv").write_text(table().replace(",false", f",{greeks}"), encoding="utf-8")
        found[greeks] = GbmProblem.from_scenario(load(book, settings).model, book.parent)
    few, many = found.values()
    assert most_together(few) == 512 * GROUP
    assert 16 * GROUP <= most_together(many) < most_together(few)
    assert most_together(many) * len(many.payoffs.values) * 8 <= 1 << 30
