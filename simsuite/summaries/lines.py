"""The numbers of a run on one screen: each with its name and unit, options of Monte Carlo in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simsuite.summaries.gbm import gbm_sections
from simsuite.summaries.linear import linear_lines
from simsuite.summaries.numbers import FEW, MANY, number, reached, tree
from simsuite.summaries.numbers import row as _row
from simsuite.words import counted, duration, measured, methods_taken, steps_in_words, with_prefix

if TYPE_CHECKING:
    from simsuite.solvers.heat.stepper_record import StepperRecord

MOST_LINES = 40
# if the last iteration contributes more than this share of the change in a step, more iterations were needed
_SETTLED = 1e-2
_UNCONTROLLED = "explicit steps ignore time.tolerance"
_UNBOUNDED = (
    "no bound is known with [surface] or a source that depends on T, nor where h or an emissivity depends on t, "
    "or data or k(T) have no limit"
)
_AT_EACH_END = 6  # how many lines at each end of a section are kept, at least, when it is cut short
UNIT_NAMES = {
    "degC": "°C",
    "J m-1": "J per metre of depth",
    "K m3": "K·m³, as ρc counts as 1",
    "K m3 s-1": "K·m³/s, as ρc counts as 1",
    "K m2": "K·m², as ρc counts as 1",
    "W m-1": "W per metre of depth",
    "K m2 s-1": "K·m²/s, as ρc counts as 1",
}
STEPPERS = {  # steppers in words, but for most of those of heat, whose records have them
    "rkl2+adi": "rkl2 or adi, whichever is faster",  # what is planned; see `short_stepper` for what was taken
    "steady": "steady state, without steps in time",
    "step": "one product with A a step",
    "power": "powers of A from frame to frame",
    "spectral": "the modes of A, at once to any frame",
    "euler": "Euler-Maruyama",
    "milstein": "Milstein",
}

Section = tuple[str, list[str]]
Fact = tuple[str, Any, str]
"""A name, what it is, and a note on it. Any: numbers or words."""


def summary_lines(summary: Mapping[str, Any], verbose: bool = False) -> list[str]:
    """The lines of the summary: at most MOST_LINES unless verbose."""
    head, last = _head(summary, verbose), [f"  results    {Path(summary['directory']) / 'results.h5'}"]
    sections = list(_SECTIONS.get(summary["solver"], _plain)(summary, verbose))
    if not verbose:
        room = MOST_LINES - len(head) - len(last) - sum(bool(title) for title, _ in sections)
        sections = _shortened(sections, room, f"simsuite info -v {summary['directory']}")
    lines = [line for title, rows in sections for line in ([f"  {title}"] if title else []) + rows]
    return head + lines + last


def short_stepper(about: Mapping[str, Any], controlled: bool) -> str:
    """The stepper in a few words; once steps were taken, what took them. controlled: whether the error of its steps
    is."""
    name = str(about.get("stepper", ""))
    taken = methods_taken(about)
    if len(taken) == 2:
        return "rkl2 and adi by turns, steps as long as their error allows"
    if taken:
        other = {"rkl2": "adi", "adi": "rkl2"}[taken[0]]
        so_far = "" if about.get("status") == "complete" else " so far"
        return f"{taken[0]} for all steps{so_far}, {other} for none; steps as long as their error allows"
    if about.get("solver") == "gbm":
        return {"exact": "exact sampling"}.get(name, STEPPERS.get(name, name))
    record = _heat_record(about)
    words = STEPPERS.get(name, name) if record is None else record.words
    return words + (", steps as long as their error allows" if controlled else "")


def _heat_record(about: Mapping[str, Any]) -> StepperRecord | None:
    """The record of the stepper of a heat run; None for other runs, and for those by no stepper or by two."""
    if about.get("solver") != "heat":
        return None
    from simsuite.solvers.heat.steppers import record_or_none

    return record_or_none(str(about.get("stepper", "")))


def unit_of(units: Mapping[str, str], name: str, default: str = "") -> str:
    """The unit of a variable of the results as people write it."""
    unit = units.get(name, default)
    return UNIT_NAMES.get(unit, unit)


def _head(summary: Mapping[str, Any], verbose: bool) -> list[str]:
    (_, first), *others = head_facts(summary, verbose)
    return [first, *(f"  {name:<10} {text}" for name, text in others)]


def head_facts(summary: Mapping[str, Any], verbose: bool) -> list[tuple[str, str]]:
    """What the summary begins with, each fact with its name: how the run ended, on what, by what and how long it took.
    verbose: with the reason for the stepper."""
    unit = summary.get("units", {}).get("time", "")
    steps = steps_in_words(summary["steps"], summary.get("dt"), unit)
    reached = f"{steps}, to t = {measured(format(summary['time'], '.6g'), unit)}"
    if summary.get("stepper") == "steady":
        reached = "steady state"
    ended = f"{summary['status']}: {reached}"
    # in a Monte Carlo run steps begin anew with every batch of paths
    if summary["solver"] == "gbm" and "percent" in summary:
        ended = f"{summary['status']} at {summary['percent']:.1f} %"
    since = " since it was resumed" if summary.get("resumed") else ""
    took = f"{duration(summary['wall_seconds'])}{since}, of which {duration(summary['compile_seconds'])} to start"
    stages = ", each stage a step" if "rkl2" in str(summary.get("stepper")) else ""
    rate = f", then {with_prefix(summary['rate'], summary['rate_unit'])}{stages}" if summary["rate"] else ""
    kernel = f", {summary['kernel']} kernels" if "kernel" in summary else ""
    lines = [
        ("ended", f"{summary['solver']} {ended}"),
        ("device", f"{summary['device']} ({summary['device_name']}), {summary['precision']}{kernel}"),
        ("stepper", short_stepper(summary, "rejected_steps" in summary["results"])),
    ]
    if verbose and "stepper_reason" in summary:
        lines.append(("why", summary["stepper_reason"]))
    if "kernel_note" in summary:
        lines.append(("kernel", summary["kernel_note"]))
    return [*lines, ("took", f"{took}{rate}")]


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


def _heat(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    results, units = summary["results"], summary.get("units", {})
    degrees = unit_of(units, "temperature", "K")
    places = {"min": _place(results.get("coldest")), "max": _place(results.get("hottest")), "mean": ""}
    rows = [_row(name, results[name], place) for name, place in places.items()]
    if verbose and "range" in results:
        rows.append(
            _row("range", " to ".join(map(number, results["range"])), "the lowest and the highest of all steps")
        )
    rows += [
        _row(name, told["temperature"], _place(told if "x" in told else None, told["time"]))
        for name, told in results.get("extremes", {}).items()
        if told["time"] != summary["time"]
    ]
    yield f"temperature, {degrees}", rows
    if results["probes"]:
        yield f"probes, {degrees}", [_row(name, value) for name, value in results["probes"].items()]
    yield from _reached(summary)
    yield from _energy(summary, results["energy"], unit_of(units, "energy_stored"))
    if "error" in results:
        of = {"l1": "mean", "l2": "root mean square", "linf": "largest", "relative_l2": "l2 over that of the reference"}
        rows = [_row(name, value, of[name]) for name, value in results["error"].items()]
        yield "error against the reference, K", rows
    yield "", [_row(*fact, indent="  ") for fact in heat_quality(summary, verbose)]


def _place(at: Mapping[str, float] | None, time: float | None = None) -> str:
    when = [] if time is None else [f"t = {time:.6g} s"]
    where = [] if at is None else [f"x = {at['x']:.6g} m", f"y = {at['y']:.6g} m"]
    return f"at {', '.join(where + when)}" if where + when else ""


def _reached(summary: Mapping[str, Any]) -> Iterator[Section]:
    if "events" in summary["results"]:
        yield "events, s", list(reached(summary["results"]["events"], summary.get("ended_by")))


def _energy(summary: Mapping[str, Any], energy: Mapping[str, Any], unit: str) -> Iterator[Section]:
    steady = summary.get("stepper") == "steady"
    rows = [] if steady else [_row("stored", energy["stored"])]
    rows.append(_row("boundary", energy["boundary"], f"{'comes' if steady else 'came'} in through the edges"))
    rows += [_row(edge, value, indent="      ") for edge, value in energy["edges"].items()]
    rows.append(_row("source", energy["source"], f"{'arises' if steady else 'arose'} in sources"))
    if len(energy.get("sources", {})) > 1:
        rows += [_row(name, value, indent="      ") for name, value in energy["sources"].items()]
    if "surface" in energy:
        rows.append(_row("surface", energy["surface"], f"{'comes' if steady else 'came'} in through the faces"))
    if "held" in energy:
        rows.append(_row("held", energy["held"], f"{'comes' if steady else 'came'} in from held regions"))
    rows.append(_row("residual", energy["residual"], "what is left: rounding, if it is small"))
    yield f"heat {'flow' if steady else 'since the start'}, {unit}".rstrip(", "), rows


def heat_quality(summary: Mapping[str, Any], verbose: bool) -> Iterator[Fact]:
    """How far the results of a heat run may be off, as far as it knows, and how its steps went."""
    results = summary["results"]
    steps = summary["steps"]
    record = _heat_record(summary)
    if "time_error" not in results and "rejected_steps" in results:
        beyond = "as its estimate has grown beyond all bounds"
        often = "as data change too often, or unforeseeably, for steps to end at each change"
        yield "time error", "unknown", beyond if "rounding_error" in results else often
    elif "time_error" not in results and steps and record is not None:
        if record.controls_error:
            yield "time error", "not estimated", 'as time.dt is given; dt = "auto" does'
        elif record.error_bound is not None:
            yield "time error", "unknown", _why_unknown(results)
    if "time_error" in results:
        estimated = "rounding_error" in results or not results["time_error"]
        error = f"{results['time_error']:.2g}"
        asked = f"; tolerance {results['tolerance']:g}" if "tolerance" in results else ""
        so_far = "" if summary["status"] == "complete" else f" so far{_span(results)}"
        how = "as estimated" if estimated else "at most"
        note = f"of the temperatures' range{so_far}, by steps in time, {how}{asked}"
        yield "time error", error, note
    if verbose and {"rkl2_stages", "adi_steps"} & results.keys():
        yield "steps taken", steps, _methods_of_steps(results, steps)
    if results.get("rejected_steps") or (verbose and "rejected_steps" in results):
        yield "taken again", counted(results["rejected_steps"], "step"), "that missed the tolerance, shorter"
    steady = results.get("steady", {})
    if "largest_rate" in steady:
        reached = "steady as asked for" if steady["reached"] else "not yet steady as asked for"
        yield "largest dT/dt", f"{steady['largest_rate']:.3g} K/s", reached
    if "residual" in steady:
        note = f"of the largest heat flow, after {counted(steady['iterations'], 'iteration')}"
        if not steady["iterations"]:
            note = "the temperatures at the start are steady"
        yield "steady residual", f"{steady['residual']:.3g}", note
    change = results.get("iteration_change", 0.0)
    # where the error of steps is estimated, the estimate includes the error of iterations
    counted_in = "rounding_error" in results
    if not counted_in and change > (0.0 if verbose else _SETTLED):
        settled = "settled" if change <= _SETTLED else "not settled: set a smaller time.dt"
        share = "of" if change < 1.0 else "times"
        note = f"{share} what a step changes, at most, came by its last iteration for data that depend on T: {settled}"
        yield "last iteration", f"{change:.2g}", note


def _span(results: Mapping[str, Any]) -> str:
    """The range of temperatures during the run, in words, where it is known. It is in K, as all differences of
    temperatures are."""
    if "range" not in results:
        return ""
    low, high = results["range"]
    return f" ({high - low:.2g} K)"


def _why_unknown(results: Mapping[str, Any]) -> str:
    """Why nothing is said of the error of explicit steps."""
    if "time_error_bound" not in results:
        return f"{_UNBOUNDED}; {_UNCONTROLLED}"
    bound = f"its bound, {results['time_error_bound']:.2g} K, is more than temperatures differ by at the start and now"
    if "tolerance" in results:
        return f"{bound}; more was foreseen when these steps were chosen for time.tolerance"
    return f"{bound}, as data or temperatures change fast; {_UNCONTROLLED}"


def _methods_of_steps(results: Mapping[str, Any], steps: int) -> str:
    """How many steps each method took, and in how many stages, in words."""
    if "rkl2_stages" not in results:
        return "by adi"
    stages = f"{counted(results['rkl2_stages'], 'stage')} in all"
    if "adi_steps" not in results:
        return f"by rkl2, {stages}"
    by_adi = results["adi_steps"]
    return f"{steps - by_adi} by rkl2, {stages}; {by_adi} by adi"


def _gbm(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    yield from gbm_sections(summary["results"], verbose)


def _linear(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    yield from _reached(summary)
    yield "", list(linear_lines(summary["results"], verbose))


def _plain(summary: Mapping[str, Any], verbose: bool) -> Iterator[Section]:
    """Results of a plug-in. Numbers, and those in a table, have the unit of the variable that is called as they are."""
    results, units = summary["results"], {name: unit_of(summary["units"], name) for name in summary.get("units", {})}
    tables = [name for name in units if isinstance(results.get(name), Mapping)]
    within = {f"{name}.{key}": units[name] for name in tables for key in results[name]}
    yield "", list(tree(results, "    ", units | within, MANY if verbose else FEW))


_SECTIONS: dict[str, Callable[[Mapping[str, Any], bool], Iterator[Section]]] = {
    "heat": _heat,
    "gbm": _gbm,
    "linear": _linear,
}
