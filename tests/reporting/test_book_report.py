"""What reports say of books: the sum, and each trade with its price, its share of the sum, and its Greeks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages import Element, parsed, require_good_page, tables

import simsuite
from simsuite.reporting.gbm_options import Options

pytestmark = pytest.mark.usefixtures("one_thread")

BOOK: dict[str, Any] = {
    "solver": "gbm",
    "title": "A book",
    "book": "trades.csv",
    "market": {"rate": 0.03},
    "asset": [{"spot": 100.0, "volatility": 0.2}],
    "time": {"end": 1.0, "steps": 2},
    "paths": {"count": 2000},
}
TRADES = """\
name,style,payoff,strike,maturity,holding,greeks
long,european,call,100,1,2,true
short,european,put,90,0.5,-3,true
not held,european,put,100,1,,true
"""


def written(value: str) -> tuple[float, float]:
    """A value and its error, as "10.4 ± 0.1" has them."""
    number, error = map(float, value.split(" ± "))
    return number, error


def table_of(page: Element, beginning: str) -> tuple[str, list[dict[str, str]]]:
    """The caption of a table, and its rows by the heads of its columns."""
    ((caption, (head, *rows)),) = ((c, r) for c, r in tables(page).items() if c.startswith(beginning))
    return caption, [dict(zip(head, row)) for row in rows]


def test_a_book_has_its_sum_and_its_trades(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trades.csv").write_text(TRADES, encoding="utf-8")
    run = simsuite.run(BOOK, device="cpu", directory="run")
    page = parsed(run.report())
    require_good_page(page)
    caption, whole = table_of(page, "Book: ")
    assert caption.startswith("Book: sum over 2 options held, each times its holding")
    book, options = run.results["book"], run.results["options"]
    numbers = {row["number"]: written(row["value"])[0] for row in whole}
    assert numbers["price"] == pytest.approx(book["value"], abs=book["value_standard_error"] / 10)
    assert numbers["delta"] == pytest.approx(book["delta"][0], abs=book["delta_standard_error"][0] / 10)
    assert list(numbers) == ["price", "delta", "gamma", "vega", "rho", "theta"]
    caption, trades = table_of(page, "Options: ")
    assert caption == "Options: price and Greeks ± standard error, in units of price"
    assert [row["option"] for row in trades] == ["long", "short", "not held"]
    assert [float(row["holding"]) for row in trades] == [2, -3, 0]
    for row in trades:
        found = options[row["option"]]
        for name in ("price", "delta", "vega", "theta"):
            exact = found[name][0] if isinstance(found[name], list) else found[name]
            error = found["standard_error" if name == "price" else f"{name}_standard_error"]
            error = error[0] if isinstance(error, list) else error
            assert written(row[name]) == (pytest.approx(exact, abs=error / 10), pytest.approx(error, rel=0.06))
    for row in trades[:2]:
        value, error = written(row["holding × price"])
        price, its_error = written(row["price"])
        assert value == pytest.approx(float(row["holding"]) * price, abs=its_error)
        assert error == pytest.approx(abs(float(row["holding"])) * its_error, rel=0.1)
    held = sum(float(row["holding"]) * options[row["option"]]["price"] for row in trades)
    assert held == pytest.approx(book["value"], rel=1e-9)
    assert sum(1 for each in page.all("details") if each.one("summary").text == "Greeks by methods") == 1


def made_up(assets: int, number: int) -> Options:
    """Options of which the k-th costs k and has a delta by every asset."""
    each: dict[str, Any] = {
        f"o{k}": {"price": float(k), "standard_error": 0.5, "ci95": [k - 1.0, k + 1.0], "delta": [0.5] * assets}
        | {"delta_standard_error": [0.1] * assets}
        for k in range(number)
    }
    return Options(each, {}, None, [f"A{i}" for i in range(assets)], "price")


def page_of(text: str, path: Path) -> Element:
    path.write_text(f"<!DOCTYPE html>\n{text}", encoding="utf-8")
    return parsed(path)


def test_of_many_options_the_first_are_shown(tmp_path: Path) -> None:
    page = page_of(made_up(2, 450).tables(), tmp_path / "many.html")
    caption, rows = table_of(page, "Options: ")
    assert "the first 200 of 450 options" in caption
    assert [row["option"] for row in rows] == [f"o{k}" for k in range(200)]
    assert [written(rows[7][head])[0] for head in ("price", "delta (A0)", "delta (A1)")] == [7, 0.5, 0.5]
    caption, rows = table_of(page, "Greeks")
    assert "the first 200 of 450 options" in caption
    assert len(rows) == 400


def test_greeks_by_many_assets_have_no_columns(tmp_path: Path) -> None:
    page = page_of(made_up(12, 9).tables(), tmp_path / "many.html")
    caption, rows = table_of(page, "Options: ")
    assert (list(rows[0]), len(rows)) == (["option", "price", "95 % interval"], 9)
    assert caption == "Options: price ± standard error, in units of price"
    assert len(table_of(page, "Greeks")[1]) == 108


def test_few_options_have_a_table_of_greeks(tmp_path: Path) -> None:
    page = page_of(made_up(1, 3).tables(), tmp_path / "few.html")
    assert list(table_of(page, "Options: ")[1][0]) == ["option", "price", "95 % interval"]
    assert not list(page.all("details"))
    assert len(table_of(page, "Greeks")[1]) == 3


def test_the_caption_of_the_risk_keeps_a_number_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trades.csv").write_text(TRADES, encoding="utf-8")
    page = parsed(simsuite.run({**BOOK, "output": {"risk": {"levels": [0.95]}}}, device="cpu", directory="r").report())
    (caption,) = (each for each in tables(page) if each.startswith("Risk"))
    begin, _, value = caption.partition("; the value at the start is ")
    assert begin == "Risk of the loss over 1 year"
    assert "\u00a0±\u00a0" in value
    assert " " not in value
