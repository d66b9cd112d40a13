"""What is said of the results of a Monte Carlo run: options, prices, risk and exposure, each in a table."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from simsuite.solvers.gbm.results.text_lines import PRICE, option_lines, with_error, worth
from simsuite.summaries.numbers import number, row, tree
from simsuite.words import counted, measured

# the most lines on options, alone and beside risk or exposure; more of them become a table
_MOST_OF_OPTIONS, _BESIDE_OTHERS = 20, 8
_TIMES, _MORE_TIMES = 6, 21  # rows of a table of exposure: by default, and where all numbers were asked for
_MEASURE = "prices grow at market.drift, market.rate discounts what options pay"

Section = tuple[str, list[str]]


def gbm_sections(results: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    """The sections of text on a Monte Carlo run, each with its title and lines. verbose: with all numbers, as in the
    JSON object."""
    rest = dict(results)
    options, assets = rest.pop("options", {}), rest.pop("assets", {})
    risk, exposure, book = rest.pop("risk", None), rest.pop("exposure", None), rest.pop("book", None)
    head = [row("paths", rest.pop("paths"), indent="  ")]
    if "measure" in rest:
        head.append(row("measure", rest.pop("measure"), _MEASURE, indent="  "))
    yield "", head
    value = worth(results)
    if options:
        most = _MOST_OF_OPTIONS if risk is exposure is book is None else _BESIDE_OTHERS
        yield _options(options, list(assets), value, math.inf if verbose else most)
        yield "", list(_bias(options.values(), value))
    if book is not None:
        yield _book(book, list(assets), value)
    if assets:
        at = f"at t = {measured(number(rest.pop('assets_time')), 'year')}" if "assets_time" in rest else "at the end"
        title = f"prices {at}, not discounted: value ± standard error, and quantiles"
        yield title, [*table(assets, _asset_cells), *_reasons(assets.values())]
    if risk is not None:
        yield "risk: of the loss, value at the start less that at the end, in units of price", _risk_rows(risk, value)
    if exposure is not None:
        yield from _exposure(exposure, verbose)
    yield "", list(tree(rest, "  "))
    if verbose:
        yield from _all_numbers(options, assets, book, risk, exposure, value)


def _options(options: Mapping[str, Any], assets: Sequence[str], value: str, most: float) -> Section:
    """The section on options: lines on each of them, or a table if there would be more than `most` lines."""
    each = {name: option_lines(option, assets, value) for name, option in options.items()}
    rows = [line for name, lines in each.items() for line in (f"    {name}", *(f"      {line}" for line in lines))]
    notes = ""
    if len(rows) > most:
        ends_differ = any("maturity" in option for option in options.values())
        rows = table(options, functools.partial(_option_cells, value, ends_differ))
        text = "\n".join(rows)
        notes += "; (+1): for one more asset, see info -v" if "(+" in text else ""
        notes += "; none, unknown: info -v says why" if "none" in text or "unknown" in text else ""
    return f"options: {value} ± standard error, in units of price{notes}", rows


def _book(book: Mapping[str, Any], assets: Sequence[str], value: str) -> Section:
    """The section on the sum of all options held, which is told as a single option is."""
    names = {"value": "price", "value_standard_error": "standard_error", "value_ci95": "ci95"}
    reasons = {names.get(name, name): reason for name, reason in book.get("reasons", {}).items()}
    option = {names.get(name, name): number for name, number in book.items()} | {"reasons": reasons}
    title = f"book: sum over {counted(book['options_held'], 'option')} held, each times its holding, in units of price"
    return title, [f"    {line}" for line in option_lines(option, assets, value)]


def _bias(options: Iterable[Mapping[str, Any]], value: str) -> Iterator[str]:
    """Notes on what standard errors leave out: the bias of American options and of Greeks, if the options have any."""
    american = [option for option in options if "exercise_probability" in option]
    if american:
        greeks = " and Greeks are" if any(each is not None for o in american for each in o.get("delta", ())) else " is"
        missed = f"a {value} is a little low, how often it is exercised{greeks} off (docs/gbm.md)"
        yield f"    American options: ± leaves out what the rule of exercise that was learnt misses: {missed}"


def _all_numbers(
    options: Mapping[str, Any], assets: Mapping[str, Any], book: Any, risk: Any, exposure: Any, value: str
) -> Iterator[Section]:
    if book is not None:
        yield "book, all numbers", list(tree(book, "    "))
    if risk is not None:
        yield "risk, all numbers", list(tree(risk, "    "))
    if exposure is not None:
        yield "exposure, all numbers", list(tree({k: v for k, v in exposure.items() if k != "profile"}, "    "))
    renamed = {n: {value if key == "price" else key: v for key, v in o.items()} for n, o in options.items()}
    yield "options, all numbers", list(tree(renamed, "    "))
    yield "prices, all numbers", list(tree(assets, "    "))


def table(items: Mapping[str, Any], cells: Callable[[Mapping[str, Any]], dict[str, str]]) -> list[str]:
    """The lines of a table with a row for each item and a column for each cell that any of them has."""
    rows = {name: cells(item) for name, item in items.items()}
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    widths = {c: max(len(c), *(len(row.get(c, "")) for row in rows.values())) for c in columns}
    first = max(map(len, rows))
    lines = ["    " + " " * first + "".join(f"  {c:>{widths[c]}}" for c in columns).rstrip()]
    for name, found in rows.items():
        lines.append(f"    {name:<{first}}" + "".join(f"  {found.get(c, ''):>{widths[c]}}" for c in columns).rstrip())
    return lines


def _option_cells(worth: str, ends_differ: bool, option: Mapping[str, Any]) -> dict[str, str]:
    cells = {"maturity": f"{option['maturity']:.6g}" if "maturity" in option else ""} if ends_differ else {}
    cells |= {worth: with_error(option["price"], option["standard_error"])}
    for greek in ("delta", "gamma", "vega", "rho", "theta"):
        if greek in option:
            cells |= _greek_cells(greek, option[greek], option[f"{greek}_standard_error"])
    if "exercise_probability" in option:
        pair = option["exercise_probability"], option.get("exercise_probability_standard_error")
        cells["exercised"] = with_error(*pair)
    return cells


def _greek_cells(greek: str, value: Any, error: Any) -> dict[str, str]:
    """The cell for a Greek of an option. Of an option on several assets it has the value for the first asset that the
    option depends on, and the number of further ones."""
    if not isinstance(value, list):
        return {greek: _estimate(value, error)}
    if not value:
        return {}
    depends = [i for i, of_asset in enumerate(zip(value, error)) if of_asset[0] is not None and of_asset != (0, 0)]
    more = f" (+{len(depends) - 1})" if len(depends) > 1 else ""
    first = depends[0] if depends else 0
    return {greek: _estimate(value[first], error[first]) + more}


def _estimate(value: float | None, error: float | None) -> str:
    """A value with its standard error."""
    return "none" if value is None else with_error(value, error)


def _plain(value: float | None) -> str:
    return "none" if value is None else f"{value:.7g}"


def _asset_cells(asset: Mapping[str, Any]) -> dict[str, str]:
    cells = {name: _estimate(asset[name], asset[f"{name}_standard_error"]) for name in ("mean", "std")}
    quantiles = {f"{100 * float(q):g} %": f"{value:.6g}" for q, value in asset["quantiles"].items()}
    return cells | quantiles


def _reasons(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines on why some numbers are not known: each reason once, after the names of the numbers."""
    named: dict[str, dict[str, None]] = {}
    for each in found:
        for name, reason in each.get("reasons", {}).items():
            named.setdefault(reason, {})[name.replace("_ci95", " interval").replace("_", " ")] = None
    return [f"    unknown: {', '.join(names)}: {reason}" for reason, names in named.items()]


def _risk_rows(risk: Mapping[str, Any], worth: str) -> list[str]:
    """The portfolio's value at the start, and a row for each level."""
    interval = f"value at risk ({100 * risk['confidence']:g} % interval)"
    levels = {f"{100 * float(level):g} %": found for level, found in risk["levels"].items()}
    value = with_error(risk["value"], risk["value_standard_error"])
    note = "" if worth == PRICE or not risk.get("options_held") else f"options at their {worth}"
    horizon = row("horizon", measured(number(risk["horizon"]), "year"))
    rows = table(levels, functools.partial(_risk_cells, interval))
    return [horizon, row("value at the start", value, note), *rows, *_reasons([risk])]


def _risk_cells(interval: str, found: Mapping[str, Any]) -> dict[str, str]:
    value, low, high = (_plain(each) for each in (found["value_at_risk"], *found["value_at_risk_ci95"]))
    shortfall, error = found["expected_shortfall"], found["expected_shortfall_standard_error"]
    return {
        interval: f"{value} ({low} .. {high})",
        "expected shortfall": _estimate(shortfall, error),
    }


def _exposure(exposure: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    """Tables of exposure, with rows for a few of the times, among them the last one and that of the peak."""
    profile, peak = exposure["profile"], exposure["peak"]["time"]
    most, last = _MORE_TIMES if verbose else _TIMES, len(profile) - 1
    told = {round(i * last / (most - 1)) for i in range(most)} if last >= most else set(range(last + 1))
    told |= {i for i, at in enumerate(profile) if at["time"] == peak}
    rows = {f"t = {profile[i]['time']:.6g}": _exposure_cells(profile[i], peak) for i in sorted(told)}
    lines = table(rows, dict)
    share = f"{100 * exposure['confidence']:g} % interval"
    for level, found in exposure["end"]["potential"].items():
        value, low, high = (_plain(end) for end in (found["value"], *found["ci95"]))
        note = f"({low} .. {high}, {share}), {100 * float(level):g} % quantile of max(V, 0) at the end"
        lines.append(row("potential", value, note))
    title = "exposure: means of max(V, 0) and of max(-V, 0), V the value of the assets held, not discounted"
    yield title, [*lines, *_reasons([exposure])]


def _exposure_cells(at: Mapping[str, Any], peak: float) -> dict[str, str]:
    expected, negative = (with_error(at[part], at[f"{part}_standard_error"]) for part in ("expected", "negative"))
    return {
        "expected exposure": expected,
        "expected negative exposure": negative,
        "": "peak" if at["time"] == peak else "",
    }
