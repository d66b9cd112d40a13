"""The tables of a report on the options of a Monte Carlo run: the sum of those held, each option, and Greeks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.reporting.markup import Cell, Content, details, table
from simsuite.solvers.gbm.results.text_lines import NOT_ASKED, with_error
from simsuite.words import counted

_GREEKS = {  # what each is the derivative by
    "delta": "price of the asset",
    "gamma": "price of the asset, twice",
    "vega": "volatility of the asset, per 1.00",
    "rho": "rate, per 1.00",
    "theta": "time that passes, per year",
}
_FEW = 8  # options whose Greeks have rows of their own
_MOST = 200  # options in a table
_COLUMNS = 10  # Greeks beside the price of an option
_ALL = "`simsuite export DIR --to csv` writes all"


@dataclass(frozen=True)
class Options:
    """The options of a run. each: what was found, by name. holdings: how often each is held, by name; {} where none is.
    book: what was found of the sum; None where there is none. assets: names of all. value: what the price is called.
    Any: as summary.json has them."""

    each: Mapping[str, Any]
    holdings: Mapping[str, float]
    book: Mapping[str, Any] | None
    assets: Sequence[str]
    value: str

    def tables(self) -> str:
        """All tables, with the first of many options."""
        shown = dict(list(self.each.items())[:_MOST])
        number = len(self.each)
        cut = f"; the first {len(shown)} of {counted(number, 'option')}, {_ALL}" if number > len(shown) else ""
        if self.book is None and number <= _FEW:
            return self._table(shown, cut) + self._greeks(shown, cut) + reasons(shown, "option")
        greeks = details("Greeks by methods", found) if (found := self._greeks(shown, cut)) else ""
        return self._sum() + self._table(shown, cut, self._columns(shown)) + greeks + reasons(shown, "option")

    def _sum(self) -> str:
        """The sum of all options held, times their holdings."""
        if self.book is None:
            return ""
        low, high = self.book["value_ci95"]
        price = pair(self.book["value"], self.book["value_standard_error"])
        rows: list[Sequence[Content]] = [[self.value, "", price, interval(low, high), ""]]
        for greek, by in _GREEKS.items():
            for asset, number, error in self._by_asset(self.book, greek):
                rows.append([greek, asset, pair(number, error), "", by])
        held = counted(self.book["options_held"], "option")
        caption = f"Book: sum over {held} held, each times its holding, ± standard error, in units of price"
        header = ("number", "asset", "value", "95 % interval", "derivative by")
        return table(caption, header, rows) + reasons({"book": self.book}, "sum")

    def _columns(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The Greeks, each with its asset, "" for those of none, that have columns beside the price; none if they are
        too many."""
        of = {(greek, asset) for o in options.values() for greek in _GREEKS for asset, *_ in self._by_asset(o, greek)}
        found = [(greek, asset) for greek in _GREEKS for asset in ("", *self.assets) if (greek, asset) in of]
        return found if len(found) <= _COLUMNS else []

    def _table(self, options: Mapping[str, Any], cut: str, greeks: Sequence[tuple[str, str]] = ()) -> str:
        """A row for each option. greeks: those with a column."""
        known = [key for key in ("maturity", "exercise_probability") if any(key in o for o in options.values())]
        rows: list[Sequence[Content]] = []
        for name, option in options.items():
            cells: list[Content] = [name, pair(option["price"], option["standard_error"]), interval(*option["ci95"])]
            cells += [_probability(option, key) for key in known]
            if self.holdings:
                held = self.holdings.get(name, 0.0)
                error = option["standard_error"]
                cells += [held, pair(held * option["price"], None if error is None else abs(held) * error)]
            found = {(g, asset): rest for g, _ in greeks for asset, *rest in self._by_asset(option, g)}
            cells += [pair(*found[column]) if column in found else Cell("", None, True) for column in greeks]
            rows.append(cells)
        heads = {"maturity": "maturity (years)", "exercise_probability": "exercised"}
        alone = len(self.assets) == 1
        header = (
            *("option", self.value, "95 % interval", *(heads[key] for key in known)),
            *(("holding", f"holding × {self.value}") if self.holdings else ()),
            *(greek if alone or not asset else f"{greek} ({asset})" for greek, asset in greeks),
        )
        of = " and Greeks" if greeks else ""
        caption = f"Options: {self.value}{of} ± standard error, in units of price{cut}"
        return table(caption, header, rows, True)

    def _greeks(self, options: Mapping[str, Any], cut: str) -> str:
        rows: list[Sequence[Content]] = []
        for name, option in options.items():
            methods = option.get("greeks_method", {})
            for greek, by in _GREEKS.items():
                for asset, number, error in self._by_asset(option, greek):
                    rows.append([name, greek, asset, pair(number, error), Cell(by), str(methods.get(greek, ""))])
        header = ("option", "Greek", "asset", "value", "derivative by", "method")
        return table(f"Greeks ± standard error{cut}", header, rows, True) if rows else ""

    def _by_asset(self, option: Mapping[str, Any], greek: str) -> Iterator[tuple[str, float, float | None]]:
        """A Greek of an option by each asset that it depends on; by no asset, for those that are of none."""
        value, error = option.get(greek), option.get(f"{greek}_standard_error")
        if not isinstance(value, list):
            if value is not None:
                yield "", value, error
            return
        for asset, of_asset, its_error in zip(self.assets, value, error or [None] * len(value)):
            if of_asset is not None and (of_asset, its_error) != (0, 0):
                yield asset, of_asset, its_error


def _probability(option: Mapping[str, Any], key: str) -> Content:
    if key == "exercise_probability" and key in option:
        return pair(option[key], option.get(f"{key}_standard_error"))
    found: float | None = option.get(key)
    return Cell("", None, True) if found is None else found


def reasons(items: Mapping[str, Any], what: str) -> str:
    """Why numbers are not known that were asked for: each reason of an item once."""
    rows: list[Sequence[Content]] = []
    for name, item in items.items():
        of: dict[str, list[str]] = {}
        for number, reason in item.get("reasons", {}).items():
            of.setdefault(reason, []).append(number.replace("_", " "))
        rows += [[name, ", ".join(numbers), reason] for reason, numbers in of.items() if reason != NOT_ASKED]
    return table("Numbers that are not known", (what, "numbers", "reason"), rows) if rows else ""


def interval(low: float | None, high: float | None) -> Cell:
    """An interval from a number to another."""
    unknown = low is None or high is None
    return Cell("unknown" if unknown else f"{low:.7g} .. {high:.7g}", low, True)


def pair(value: float | None, error: float | None) -> Cell:
    """A value with its standard error."""
    return Cell("unknown", None, True) if value is None else Cell(with_error(value, error), float(value), True)
