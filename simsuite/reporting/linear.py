"""The sections of a report on a linear system: what is known of it, and its trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.pictures.recording import Recording
from simsuite.reporting.figures import Series, chart, chart_rows
from simsuite.reporting.markup import table
from simsuite.reporting.page import Section
from simsuite.summaries.linear import linear_unit
from simsuite.sweeps.table import leaves

_DRAWN = 8  # lines of a chart that are drawn from the start
_COMPONENTS, _SAMPLES = 24, 3  # with lines of their own
_KEPT, _ROWS, _WIDEST = 400, 64, 16  # numbers of the first table; rows and columns of further ones


def results(summary: Mapping[str, Any], _run: Recording) -> str:
    """Tables of what is known of the system and of its last state: numbers, lists of one length beside each other, and
    matrices. Larger ones are left out."""
    found = summary["results"]
    names = [str(name) for name in found.get("components", ())]
    rest = {key: value for key, value in found.items() if key != "components"}
    rows = [[_words(key), value, _unit(key, found)] for key, value in leaves(_Parts.of(rest).numbers)]
    text = table("Numbers at the end, and what is known of the system", ("", "value", "unit"), rows[:_KEPT])
    return text + "".join(_tables(rest, (), names, found))


@dataclass(frozen=True)
class _Parts:
    """What a nested table holds. numbers: single ones, and what is neither of the others. vectors: lists of numbers,
    by their lengths. matrices: lists of lists. Any: as JSON has them."""

    numbers: dict[str, Any]
    vectors: dict[int, dict[str, list[Any]]]
    matrices: dict[str, list[list[Any]]]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> _Parts:
        parts = cls({}, {}, {})
        for name, value in found.items():
            if isinstance(value, Mapping):
                parts.numbers[name] = cls.of(value).numbers
            elif not isinstance(value, list) or any(isinstance(item, (Mapping, str)) for item in value):
                parts.numbers[name] = value
            elif value and all(isinstance(item, list) for item in value):
                parts.matrices[name] = value
            elif value:
                parts.vectors.setdefault(len(value), {})[name] = value
        return parts


def _tables(
    found: Mapping[str, Any], keys: tuple[str, ...], names: Sequence[str], results: Mapping[str, Any]
) -> Iterator[str]:
    """The tables of vectors and matrices in a nested table and those within it. names: of the components."""
    parts, above = _Parts.of(found), _words(keys)
    for n, vectors in parts.vectors.items():
        if n <= _ROWS:
            header = ["", *(_with_unit(_words((name,)), _unit((*keys, name), results)) for name in vectors)]
            rows = [[_place(k, n, names), *(values[k] for values in vectors.values())] for k in range(n)]
            caption = above or ", ".join(_words((name,)) for name in vectors)
            yield table(caption.capitalize(), header, rows)
    for name, matrix in parts.matrices.items():
        n, columns = len(matrix), len(matrix[0])
        if n <= _ROWS and columns <= _WIDEST:
            of_states = not keys and name.startswith("state")
            header = ["", *(("value",) if of_states and columns == 1 else map(str, range(columns)))]
            caption = f"{_words((*keys, name))}{': a row for each component' if of_states else ''}"
            if of_states and columns > 1:
                caption += ", a column for each sample"
            yield table(caption.capitalize(), header, [[_place(i, n, names), *row] for i, row in enumerate(matrix)])
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*keys, name), names, results)


def _place(k: int, n: int, names: Sequence[str]) -> str:
    """A component's name, where there are as many of these; else a number from 0."""
    return names[k] if n == len(names) else str(k)


def _words(keys: tuple[str, ...]) -> str:
    """A number's keys in words; places in lists count from 0."""
    return ", ".join(key.replace("_", " ") for key in keys)


def _unit(keys: tuple[str, ...], results: Mapping[str, Any]) -> str:
    unit = linear_unit(keys, results)
    return "" if unit == "1" else unit


def _with_unit(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def sections(run: Recording) -> Iterator[Section]:
    """Trajectories, as far as the run got."""
    rows = chart_rows(run.frames)
    x, unit = run.time[rows], "s" if run.scenario.system.kind == "continuous" else run.unit("time")
    unit = "" if unit == "1" else unit
    what = "state" if run.scenario.system.output_matrix is None else "output"
    charts = ""
    for title, series in _trajectories(run, rows, what):
        charts += chart(title, "t", x, "time", unit, what, "", series)
    if run.has("state_mean"):
        charts += chart("Means over the samples", "t", x, "time", unit, what, "", list(_means(run, rows)))
    norm = Series("norm", run.numbers("norm", slice(run.frames))[rows])
    charts += chart("Frobenius norm of the whole state", "t", x, "time", unit, "norm", "", [norm])
    yield Section("Trajectories", charts)


def _trajectories(run: Recording, rows: np.ndarray, what: str) -> Iterator[tuple[str, list[Series]]]:
    """A chart for each kind of number that the components have."""
    kinds = {"state": "", "state_real": "real part", "state_imag": "imaginary part"}
    for variable, kind in kinds.items():
        if run.has(variable):
            series = list(_lines(run, variable, rows))
            of = f", {kind}" if kind else ""
            _, components, samples = run.file[variable].shape
            left = _left_out(components, _COMPONENTS, "components") + _left_out(samples, _SAMPLES, "samples")
            yield f"{what.capitalize()}{of}{left}", series


def _left_out(n: int, most: int, what: str) -> str:
    return f", first {most} of {n} {what}" if n > most else ""


def _lines(run: Recording, variable: str, rows: np.ndarray) -> Iterator[Series]:
    names, samples = _names(run), min(run.file[variable].shape[2], _SAMPLES)
    values = run.numbers(variable, slice(run.frames), slice(_COMPONENTS), slice(_SAMPLES))[rows]
    for j in range(samples):
        for i in range(values.shape[1]):
            name = names[i] if samples == 1 else f"{names[i]}, sample {j}"
            yield Series(name, values[:, i, j], shown=i + j * values.shape[1] < _DRAWN)


def _names(run: Recording) -> list[str]:
    """What the scenario calls the components, or their numbers from 0."""
    if run.has("component_name"):
        return run.texts("component_name")
    return [f"component {k}" for k in range(run.file["component"].shape[0])]


def _means(run: Recording, rows: np.ndarray) -> Iterator[Series]:
    names = _names(run)
    mean = run.numbers("state_mean", slice(run.frames), slice(_COMPONENTS))[rows]
    error = "state_mean_standard_error"
    errors = run.numbers(error, slice(run.frames), slice(_COMPONENTS))[rows] if run.has(error) else None
    for i in range(mean.shape[1]):
        yield Series(names[i], mean[:, i], None if errors is None else errors[:, i], i < _DRAWN)
    if run.has("state_mean_exact"):
        exact = run.numbers("state_mean_exact", slice(run.frames), slice(_COMPONENTS))[rows]
        for i in range(exact.shape[1]):
            yield Series(f"{names[i]}, exact", exact[:, i], shown=False)
