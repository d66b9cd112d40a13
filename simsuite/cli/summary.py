"""The numbers of a run on one screen: each with its name and unit, options of Monte Carlo in a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsuite.cli.linear import linear_lines
from simsuite.cli.numbers import number, tree
from simsuite.solvers.gbm.lines import option_lines, with_error, worth
from simsuite.words import counted, duration, steps_in_words, with_prefix

MOST_LINES = 40
_MOST_OF_OPTIONS = 20  # lines; more of them become a table
_SETTLED = 1e-2  # of the change of a step: more by its last iteration says that others should follow
_MANY = 1000  # steps, half as many of which taken again say something
_AT_EACH_END = 6  # lines of a section that has to be cut short, at least
UNIT_NAMES = {
    "degC": "°C",
    "J m-1": "J per metre of depth",
    "K m2": "K·m², as ρc counts as 1",
    "W m-1": "W per metre of depth",
    "K m2 s-1": "K·m²/s, as ρc counts as 1",
}
STEPPERS = {
    "explicit": "explicit Euler",
    "rkl2": "rkl2, super-time-stepping",
    "adi": "adi, implicit",
    "rkl2+adi": "rkl2 and adi by turns",
    "exact": "exact, no error in time",
    "steady": "steady state, without steps in time",
    "step": "one product with A a step",
    "power": "powers of A from frame to frame",
    "spectral": "the modes of A, at once to any frame",
    "euler": "Euler-Maruyama",
    "milstein": "Milstein",
}

Section = tuple[str, list[str]]


def print_summary(summary: Mapping[str, Any], verbose: bool = False) -> None:
    """For people; the same facts as the JSON object. verbose: all of them, and why the stepper was chosen."""
    print("\n".join(summary_lines(summary, verbose)))


def summary_lines(summary: Mapping[str, Any], verbose: bool = False) -> list[str]:
    """At most MOST_LINES unless verbose."""
    head, last = _head(summary, verbose), [f"  results    {Path(summary['directory']) / 'results.h5'}"]
    sections = list(_SECTIONS[summary["solver"]](summary, verbose))
    if not verbose:
        room = MOST_LINES - len(head) - len(last) - sum(bool(title) for title, _ in sections)
        sections = _shortened(sections, room, f"simsuite info -v {summary['directory']}")
    lines = [line for title, rows in sections for line in ([f"  {title}"] if title else []) + rows]
    return head + lines + last


def short_stepper(about: Mapping[str, Any], controlled: bool) -> str:
    """The stepper in a few words. controlled: whether the error of its steps is."""
    name = str(about.get("stepper", ""))
    if about.get("solver") == "gbm":
        return {"exact": "exact sampling"}.get(name, STEPPERS.get(name, name))
    return STEPPERS.get(name, name) + (", steps as long as their error allows" if controlled else "")


def unit_of(units: Mapping[str, str], name: str, default: str = "") -> str:
    """The unit of a variable of the results as people write it."""
    unit = units.get(name, default)
    return UNIT_NAMES.get(unit, unit)


def _head(summary: Mapping[str, Any], verbose: bool) -> list[str]:
    unit = summary.get("units", {}).get("time", "")
    reached = f"{steps_in_words(summary['steps'], summary.get('dt'), unit)}, to t = {summary['time']:.6g} {unit}"
    if summary.get("stepper") == "steady":
        reached = "steady state"
    took = f"{duration(summary['wall_seconds'])}, of which {duration(summary['compile_seconds'])} to start"
    stages = ", each stage a step" if "rkl2" in str(summary.get("stepper")) else ""
    rate = f", then {with_prefix(summary['rate'], summary['rate_unit'])}{stages}" if summary["rate"] else ""
    kernel = f", {summary['kernel']} kernels" if "kernel" in summary else ""
    lines = [
        f"{summary['solver']} {summary['status']}: {reached.rstrip()}",
        f"  device     {summary['device']} ({summary['device_name']}), {summary['precision']}{kernel}",
        f"  stepper    {short_stepper(summary, 'rejected_steps' in summary['results'])}",
    ]
    if verbose and "stepper_reason" in summary:
        lines.append(f"  why        {summary['stepper_reason']}")
    if "kernel_note" in summary:
        lines.append(f"  kernel     {summary['kernel_note']}")
    return [*lines, f"  took       {took}{rate}"]


def _shortened(sections: Sequence[Section], room: int, rest: str) -> list[Section]:
    """Sections cut, the longest first, until their rows fit. rest: the command that prints all."""
    found = [(title, list(rows)) for title, rows in sections]
    over = sum(len(rows) for _, rows in found) - room
    for _, rows in sorted(found, key=lambda section: -len(section[1])):
        if over <= 0:
            break
        keep = max(len(rows) - over - 1, min(_AT_EACH_END, len(rows)))
        if keep < len(rows) - 1:
            left = len(rows) - keep
            over -= left - 1
            rows[keep:] = [f"    .. and {left} lines more: {rest}"]
    return found


def _row(name: str, value: Any, note: str = "", indent: str = "    ") -> str:
    text = number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
    return f"{indent}{name:<{max(1, 22 - len(indent))}} {text:<18} {note}".rstrip()


def _heat(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    results, units = summary["results"], summary.get("units", {})
    degrees = unit_of(units, "temperature", "K")
    yield f"temperature, {degrees}", [_row(name, results[name]) for name in ("min", "max", "mean")]
    if results["probes"]:
        yield f"probes, {degrees}", [_row(name, value) for name, value in results["probes"].items()]
    yield from _energy(summary, results["energy"], unit_of(units, "energy_stored"))
    if "error" in results:
        of = {"l1": "mean", "l2": "root mean square", "linf": "largest", "relative_l2": "l2 over that of the reference"}
        rows = [_row(name, value, of[name]) for name, value in results["error"].items()]
        yield "error against the reference, K", rows
    yield "", list(_heat_quality(results, summary["steps"]))


def _energy(summary: Mapping[str, Any], energy: Mapping[str, Any], unit: str) -> Iterator[Section]:
    steady = summary.get("stepper") == "steady"
    rows = [] if steady else [_row("stored", energy["stored"])]
    rows.append(_row("boundary", energy["boundary"], "came in through the edges"))
    rows += [_row(edge, value, indent="      ") for edge, value in energy["edges"].items()]
    rows.append(_row("source", energy["source"], "arose in sources"))
    if len(energy.get("sources", {})) > 1:
        rows += [_row(name, value, indent="      ") for name, value in energy["sources"].items()]
    if "held" in energy:
        rows.append(_row("held", energy["held"], "came in from regions held at a temperature"))
    rows.append(_row("residual", energy["residual"], "what is left: rounding, if it is small"))
    yield f"heat {'flow' if steady else 'since the start'}, {unit}".rstrip(", "), rows


def _heat_quality(results: Mapping[str, Any], steps: int) -> Iterator[str]:
    if "time_error" in results:
        estimated = "rounding_error" in results or not results["time_error"]
        error = f"{results['time_error']:.2g}"
        note = f"of the temperatures' range, by steps in time, {'as estimated' if estimated else 'at most'}"
        if not estimated and results["time_error"] >= 1.0:
            error, note = "unknown", "data move too fast for a bound with steps of this length"
        yield _row("time error", error, note, "  ")
    if results.get("rejected_steps"):
        why = ": does a source in T switch on and off?" if results["rejected_steps"] > steps / 2 > _MANY else ""
        yield _row("taken again", results["rejected_steps"], f"steps, shorter{why}", "  ")
    steady = results.get("steady", {})
    if "largest_rate" in steady:
        reached = "steady as asked for" if steady["reached"] else "not yet steady as asked for"
        yield _row("largest dT/dt", f"{steady['largest_rate']:.3g} K/s", reached, "  ")
    if "residual" in steady:
        iterations = counted(steady["iterations"], "iteration")
        yield _row("steady residual", f"{steady['residual']:.3g}", f"after {iterations}", "  ")
    if results.get("iteration_change"):  # 0 where all steps were of rkl2
        change = results["iteration_change"]
        settled = "settled" if change <= _SETTLED else "not settled, for steps of this length"
        note = f"of a step's change, at most, came by its last iteration for what depends on T: {settled}"
        yield _row("last iteration", f"{change:.2g}", note, "  ")


def _gbm(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    results = dict(summary["results"])
    options, assets = results.pop("options", {}), results.pop("assets", {})
    yield "", [_row("paths", results.pop("paths"), indent="  ")]
    names, value = list(assets), worth(results)
    if options:
        each = {name: option_lines(option, names, value) for name, option in options.items()}
        rows = [row for name, lines in each.items() for row in (f"    {name}", *(f"      {line}" for line in lines))]
        if not verbose and len(rows) > _MOST_OF_OPTIONS:
            rows = _table(options, functools.partial(_option_cells, value))
        more = "; (+1): for one more asset, see info -v" if any("(+" in line for line in rows) else ""
        yield f"options: value ± standard error, in units of price{more}", rows
    if assets:
        yield "prices at the end: value ± standard error, and quantiles", _table(assets, _asset_cells)
    risk = results.pop("risk", None)
    if risk is not None:
        yield "risk: of the loss, value at the start less that at the end", _risk_rows(risk)
    yield "", list(tree(results, "  "))
    if verbose:
        yield from [("risk, all numbers", list(tree(risk, "    ")))] if risk is not None else []
        renamed = {n: {value if key == "price" else key: v for key, v in o.items()} for n, o in options.items()}
        yield "options, all numbers", list(tree(renamed, "    "))
        yield "prices at the end, all numbers", list(tree(assets, "    "))


def _table(items: Mapping[str, Any], cells: Callable[[Mapping[str, Any]], dict[str, str]]) -> list[str]:
    """A row an item, a column for each cell that any of them has."""
    rows = {name: cells(item) for name, item in items.items()}
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    widths = {c: max(len(c), *(len(row.get(c, "")) for row in rows.values())) for c in columns}
    first = max(map(len, rows))
    lines = ["    " + " " * first + "".join(f"  {c:>{widths[c]}}" for c in columns)]
    for name, row in rows.items():
        lines.append(f"    {name:<{first}}" + "".join(f"  {row.get(c, ''):>{widths[c]}}" for c in columns))
    return lines


def _option_cells(worth: str, option: Mapping[str, Any]) -> dict[str, str]:
    cells = {worth: with_error(option["price"], option["standard_error"])}
    for greek in ("delta", "gamma", "vega", "rho", "theta"):
        if greek in option:
            cells |= _greek_cells(greek, option[greek], option.get(f"{greek}_standard_error"))
    if "exercise_probability" in option:
        pair = option["exercise_probability"], option.get("exercise_probability_standard_error")
        cells["exercised"] = with_error(*pair)
    return cells


def _greek_cells(greek: str, value: Any, error: Any) -> dict[str, str]:
    """Of several assets, the first that the option depends on, and on how many more it does."""
    if not isinstance(value, list):
        return {greek: _estimate(value, error)}
    if not value:
        return {}
    counted = [i for i, each in enumerate(value) if each] or [0]
    more = f" (+{len(counted) - 1})" if len(counted) > 1 else ""
    return {greek: _estimate(value[counted[0]], (error or [None] * len(value))[counted[0]]) + more}


def _estimate(value: float | None, error: float | None) -> str:
    """A value with its standard error, where it has one."""
    if value is None:
        return "none"
    return f"{value:.7g}" if error is None else with_error(value, error)


def _asset_cells(asset: Mapping[str, Any]) -> dict[str, str]:
    cells = {name: _estimate(asset[name], asset[f"{name}_standard_error"]) for name in ("mean", "std")}
    quantiles = {f"{100 * float(q):g} %": f"{value:.6g}" for q, value in asset["quantiles"].items()}
    return cells | quantiles


def _risk_rows(risk: Mapping[str, Any]) -> list[str]:
    """The portfolio's value at the start, and a row for each level."""
    interval = f"value at risk ({100 * risk['confidence']:g} % interval)"
    levels = {f"{100 * float(level):g} %": found for level, found in risk["levels"].items()}
    value = with_error(risk["value"], risk["value_standard_error"])
    horizon = _row("horizon", risk["horizon"], "year" if risk["horizon"] == 1 else "years")
    return [horizon, _row("value at the start", value), *_table(levels, functools.partial(_risk_cells, interval))]


def _risk_cells(interval: str, found: Mapping[str, Any]) -> dict[str, str]:
    value, low, high = (_estimate(each, None) for each in (found["value_at_risk"], *found["value_at_risk_ci95"]))
    shortfall, error = found["expected_shortfall"], found["expected_shortfall_standard_error"]
    return {
        interval: f"{value} ({low} .. {high})",
        "expected shortfall": "none" if shortfall is None else with_error(shortfall, error),
    }


def _linear(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    yield "", list(linear_lines(summary["results"], verbose))


_SECTIONS: dict[str, Callable[[Mapping[str, Any], bool], Iterator[Section]]] = {
    "heat": _heat,
    "gbm": _gbm,
    "linear": _linear,
}
