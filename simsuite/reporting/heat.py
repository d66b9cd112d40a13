"""The sections of a report on a heat run: temperatures, the balance of heat, the field, and what was sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simsuite.pictures.recording import Recording
from simsuite.reporting.figures import Field, Series, chart, chart_rows, field
from simsuite.reporting.markup import Content, table
from simsuite.reporting.page import Section
from simsuite.reporting.quantised import quantised
from simsuite.summaries.lines import heat_quality, unit_of

_FRAMES, _NUMBERS, _SIDE = 60, 3_000_000, 512  # of the field: 8 MB of text at most
_LINES, _DRAWN = 48, 8  # lines of a chart, and how many are drawn from the start


def results(summary: Mapping[str, Any], _run: Recording) -> str:
    """Tables of what the run found."""
    found, units = summary["results"], summary.get("units", {})
    degrees = unit_of(units, "temperature", "K")
    rows: list[Sequence[Content]] = [
        [name, found[name], degrees, _place(found.get(at))]
        for name, at in (("min", "coldest"), ("max", "hottest"), ("mean", ""))
    ]
    rows += [[f"probe {name}", value, degrees, ""] for name, value in found["probes"].items()]
    rows += [[f"error, {name}", value, "K", "against the reference"] for name, value in found.get("error", {}).items()]
    rows += [
        [name, value if isinstance(value, str) else f"{value}", "", note] for name, value, note in _quality(summary)
    ]
    return table("Temperatures at the end, and how far they may be off", ("", "value", "unit", "note"), rows) + _ledger(
        summary, found["energy"], unit_of(units, "energy_stored")
    )


def _quality(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """What is claimed of errors; that of steps in time also in K, where the range of temperatures is known."""
    found = summary["results"]
    for name, value, note in heat_quality(summary, True):
        if name == "time error" and "time_error" in found and "range" in found:
            low, high = found["range"]
            note += f"; {found['time_error'] * (high - low):.2g} K of {high - low:.6g} K"
        yield name, value, note


def _place(at: Mapping[str, float] | None) -> str:
    return "" if at is None else f"at x = {at['x']:.6g} m, y = {at['y']:.6g} m"


def _ledger(summary: Mapping[str, Any], energy: Mapping[str, Any], unit: str) -> str:
    """The balance of heat: what is stored, what came in, and what is left."""
    steady = summary.get("stepper") == "steady"
    rows: list[Sequence[Content]] = [] if steady else [["stored", energy["stored"], "more than at the start"]]
    rows.append(["boundary", energy["boundary"], "in through the edges, of which"])
    rows += [[f"– {edge}", value, ""] for edge, value in energy["edges"].items()]
    rows.append(["source", energy["source"], "from sources"])
    rows += [[f"– {name}", value, ""] for name, value in energy.get("sources", {}).items()]
    rows += [[name, energy[name], note] for name, note in _OTHERS.items() if name in energy]
    rows.append(["residual", energy["residual"], "what is left: rounding, if it is small"])
    caption = f"{'Heat flow' if steady else 'Heat since the start'}, {unit}".rstrip(", ")
    return table(caption, ("", "heat", "note"), rows)


_OTHERS = {"surface": "in through the faces", "held": "in from held regions"}


def sections(run: Recording) -> Iterator[Section]:
    """What the results file holds, as far as the run got."""
    yield Section("Temperature field", field(_field(run)))
    if charts := "".join(_charts(run)):
        yield Section("Over time", charts)


def _field(run: Recording) -> Field:
    numbers = quantised(run, "temperature", _FRAMES, _NUMBERS, _SIDE)
    ny, nx = run.file["temperature"].shape[1:]
    grid = run.scenario.grid
    return Field(
        "Temperature",
        run.unit("temperature"),
        numbers,
        run.numbers("x", slice(None))[numbers.columns],
        run.numbers("y", slice(None))[numbers.rows],
        run.time[numbers.frames],
        "" if run.scenario.time.steady else run.unit("time"),
        (float(grid.lx), float(grid.ly)),
        (nx, ny),
        run.frames,
    )


def _charts(run: Recording) -> Iterator[str]:
    if run.scenario.time.steady:
        return
    samples = run.committed("sample_time")
    if samples:
        rows = chart_rows(samples)
        x, unit = run.numbers("sample_time", slice(samples))[rows], run.unit("sample_time")
        if run.has("probe_temperature"):
            values = run.numbers("probe_temperature", slice(samples))[rows]
            names = [probe.name for probe in run.scenario.probe]
            series = [Series(n, values[:, k], shown=k < _DRAWN) for k, n in enumerate(names[:_LINES])]
            yield chart("Probes", "t", x, "time", unit, "temperature", run.unit("temperature"), series)
        parts = [name for name in run.names() if name.startswith("energy_")]
        if parts:
            lines = [Series(p.removeprefix("energy_"), run.numbers(p, slice(samples))[rows]) for p in parts[:_LINES]]
            unit_stored = unit_of({"of": run.unit(parts[0])}, "of")
            yield chart("Balance of heat since the start", "t", x, "time", unit, "heat", unit_stored, lines)
    if run.has("error_l2"):
        rows = chart_rows(run.frames)
        norms = [name for name in ("error_l1", "error_l2", "error_linf") if run.has(name)]
        lines = [Series(n.removeprefix("error_"), run.numbers(n, slice(run.frames))[rows]) for n in norms]
        x, unit = run.time[rows], run.unit("time")
        yield chart("Error against the reference", "t", x, "time", unit, "error", run.unit("error_l2"), lines)
