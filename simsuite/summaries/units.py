"""The results of a run, one number a row, each with its name and unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.summaries.gbm_units import gbm_unit
from simsuite.summaries.linear import linear_unit
from simsuite.sweeps.table import leaves

Row = tuple[str, Any, str]
# units of numbers that are not variables of the result file: "1" if they are relative; counts are not listed
_HEAT_UNITS = {
    ("dt",): "s",
    ("time_error",): "1",
    ("rounding_error",): "1",
    ("tolerance",): "1",
    ("time_error_bound",): "K",
    ("iteration_change",): "1",
    ("steady", "largest_rate"): "K/s",
    ("steady", "residual"): "1",
}


def rows(summary: Mapping[str, Any]) -> Iterator[Row]:
    """The rows (name, value, unit) of all results, beginning with the time and the number of steps."""
    units = summary.get("units", {})
    yield "time", summary["time"], units.get("time", "")
    yield "steps", summary["steps"], ""
    for name, value in leaves(summary["results"]):
        yield ".".join(name), "" if value is None else value, _unit(name, summary)


def units(summary: Mapping[str, Any]) -> dict[str, str]:
    """The unit of each of the results that has one, by its dotted name."""
    found = {".".join(name): _unit(name, summary) for name, _ in leaves(summary["results"])}
    return {name: unit for name, unit in found.items() if unit}


def _unit(name: tuple[str, ...], summary: Mapping[str, Any]) -> str:
    if summary["solver"] == "heat":
        return _heat_unit(name, summary.get("units", {}))
    if summary["solver"] == "linear":
        return linear_unit(name, summary["results"])
    if summary["solver"] == "gbm":
        return gbm_unit(name)
    unit: str = summary.get("units", {}).get(name[0], "")
    return unit


def _heat_unit(name: tuple[str, ...], units: Mapping[str, str]) -> str:
    if name[0] in ("coldest", "hottest"):
        return "m"
    if name[0] in ("min", "max", "mean", "range", "probes"):
        return units.get("temperature", "K")
    if name[0] == "energy":
        return units.get("energy_stored", "")
    if name[0] == "error":
        return units.get(f"error_{name[1]}", "")
    return _HEAT_UNITS.get(name[:1], _HEAT_UNITS.get(name, ""))
