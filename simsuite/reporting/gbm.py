"""The sections of a report on a Monte Carlo run: options with errors, prices, risk and exposure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.pictures.recording import Recording
from simsuite.reporting.figures import Series, chart, chart_rows
from simsuite.reporting.gbm_options import Options, interval, pair, reasons
from simsuite.reporting.markup import Cell, Content, paragraph, table
from simsuite.reporting.page import Section
from simsuite.solvers.gbm.results.text_lines import with_error, worth
from simsuite.words import measured

_DRAWN = 8  # lines of a chart that are drawn from the start
_TOGETHER = "\u00a0"  # a space at which no line ends
_ASSETS = 24  # assets with lines


def results(summary: Mapping[str, Any], run: Recording) -> str:
    """Tables of what the run found."""
    found = summary["results"]
    options, assets, value = found.get("options", {}), found.get("assets", {}), worth(found)
    text = paragraph(f"{found['paths']:,} paths. ± is one standard error; intervals hold the value with 95 %.")
    if "measure" in found:
        text += paragraph(f"Prices grow at market.drift ({found['measure']}): options have no price but a {value}.")
    if options:
        book = found.get("book")
        held = {} if book is None else dict(zip(run.scenario.option_names, (o.holding for o in run.scenario.option)))
        text += Options(options, held, book, list(assets), value).tables()
    if assets:
        text += _assets(assets, found.get("assets_time")) + reasons(assets, "asset")
    return text + _risk(found.get("risk")) + _exposure(found.get("exposure"))


def _assets(assets: Mapping[str, Any], at: float | None) -> str:
    levels = list(next(iter(assets.values()))["quantiles"])
    rows: list[Sequence[Content]] = [
        [
            name,
            pair(asset["mean"], asset["mean_standard_error"]),
            pair(asset["std"], asset["std_standard_error"]),
            *(_seven(asset["quantiles"][level]) for level in levels),
        ]
        for name, asset in assets.items()
    ]
    when = "at the end" if at is None else f"at t = {measured(f'{at:g}', 'year')}"
    header = ("asset", "mean", "standard deviation", *(f"{100 * float(level):g} %" for level in levels))
    return table(f"Prices {when}, not discounted: value ± standard error, and quantiles", header, rows, True)


def _risk(risk: Mapping[str, Any] | None) -> str:
    if risk is None:
        return ""
    rows: list[Sequence[Content]] = []
    for level, found in risk["levels"].items():
        between = interval(*found["value_at_risk_ci95"])
        shortfall = pair(found["expected_shortfall"], found["expected_shortfall_standard_error"])
        rows.append([f"{100 * float(level):g} %", _seven(found["value_at_risk"]), between, shortfall])
    value = with_error(risk["value"], risk["value_standard_error"])
    horizon, value = measured(f"{risk['horizon']:g}", "year"), value.replace(" ", _TOGETHER)
    caption = f"Risk of the loss over {horizon}; the value at the start is {value}"
    header = ("level", "value at risk", f"{100 * risk['confidence']:g} % interval", "expected shortfall")
    return table(caption, header, rows)


def _exposure(exposure: Mapping[str, Any] | None) -> str:
    if exposure is None:
        return ""
    rows: list[Sequence[Content]] = [
        [at["time"], *(pair(at[part], at[f"{part}_standard_error"]) for part in ("expected", "negative"))]
        for at in exposure["profile"]
    ]
    peak = measured(f"{exposure['peak']['time']:g}", "year")
    caption = f"Exposure: means of max(V, 0) and max(−V, 0), V the value of the assets held; the peak is at t = {peak}"
    return table(caption, ("time (years)", "expected exposure", "expected negative exposure"), rows)


def _seven(value: float | None) -> Cell:
    """A number with seven digits."""
    return Cell("unknown", None, True) if value is None else Cell(f"{value:.7g}", float(value), True)


def sections(run: Recording) -> Iterator[Section]:
    """What the results file holds over time, as far as the run got."""
    if run.frames < 2 or not run.has("price_mean"):
        return
    rows = chart_rows(run.frames)
    x, unit = run.time[rows], run.unit("time")
    names = run.texts("asset")[:_ASSETS]
    means = run.numbers("price_mean", slice(run.frames))[rows]
    errors = _errors(run, "price_mean", rows)
    series = [
        Series(name, means[:, k], None if errors is None else errors[:, k], k < _DRAWN) for k, name in enumerate(names)
    ]
    charts = chart("Mean prices ± standard error", "t", x, "time", unit, "price", "", series)
    levels = run.numbers("quantile", slice(None))
    quantiles = run.numbers("price_quantile", slice(None), slice(run.frames))[:, rows]
    lines = [
        Series(f"{name}, {100 * level:g} %", quantiles[i, :, k], shown=not k)
        for k, name in enumerate(names)
        for i, level in enumerate(levels)
    ]
    charts += chart("Quantiles of prices", "t", x, "time", unit, "price", "", lines)
    if run.has("exposure_expected"):
        charts += chart("Exposure", "t", x, "time", unit, "value", "", list(_exposures(run, rows)))
    yield Section("Over time", charts)


def _exposures(run: Recording, rows: np.ndarray) -> Iterator[Series]:
    for part in ("expected", "negative"):
        value = run.numbers(f"exposure_{part}", slice(run.frames))[rows]
        yield Series(part, value, _errors(run, f"exposure_{part}", rows))
    for i, level in enumerate(run.numbers("level", slice(None))):
        values = run.numbers("exposure_potential", i, slice(run.frames))[rows]
        yield Series(f"potential, {100 * level:.4g} %", values)


def _errors(run: Recording, name: str, rows: np.ndarray) -> np.ndarray | None:
    """The standard errors of a variable over time; None where it has none, as of Sobol points."""
    error = f"{name}_standard_error"
    return run.numbers(error, slice(run.frames))[rows] if run.has(error) else None
