"""The newest results of a run, thinned out to what a terminal can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.io.glimpses import last_row
from simsuite.io.layout import as_text
from simsuite.words import printable

MOST_LINES = 6  # components of a linear system of which trajectories are read
_LEDGER = "energy_"
_RESIDUAL = "energy_residual"


@dataclass(frozen=True)
class Size:
    """How many columns and rows of points can be shown."""

    columns: int
    rows: int


@dataclass(frozen=True)
class Field:
    """The temperatures of a plate at one time. values: (rows, columns), from the bottom to the top edge, of cells that
    are as evenly spaced as possible. ratio: width of the plate over its height."""

    values: np.ndarray
    ratio: float
    unit: str
    at: str


@dataclass(frozen=True)
class Fan:
    """Quantiles of the price of one asset over time. times: (n,); values: (quantiles, n), in ascending order of
    `probabilities`, (quantiles,). name: of the asset."""

    times: np.ndarray
    probabilities: np.ndarray
    values: np.ndarray
    name: str
    unit: str
    at: str


@dataclass(frozen=True)
class Trajectories:
    """Components of the state of a linear system over time. times: (n,); values: (components, n). more: how many
    components are not shown."""

    times: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    more: int
    unit: str
    at: str


Picture = Field | Fan | Trajectories


@dataclass(frozen=True)
class Newest:
    """What the results file has at this moment. picture: None where there is nothing to show yet. numbers: lines of
    name and value. choices: how many pictures there are, an asset each, of which one was asked for. status: what the
    run wrote of itself."""

    picture: Picture | None
    numbers: tuple[tuple[str, str], ...]
    choices: int
    status: str


# Any: h5py has no types
def newest(file: Any, size: Size, choice: int = 0) -> Newest:
    """What is in a results file. choice: which of several assets is shown; counted around."""
    read = _READERS.get(as_text(file.attrs["solver"]), _nothing)
    picture, numbers, choices = read(file, size, choice)
    return Newest(picture, tuple(numbers), choices, as_text(file.attrs["status"]))


_Found = tuple[Picture | None, list[tuple[str, str]], int]


def _nothing(file: Any, size: Size, choice: int) -> _Found:
    return None, [], 1


def _heat(file: Any, size: Size, choice: int) -> _Found:
    """The newest frame, of which rows and then columns are taken at equal distances, and the newest ledger."""
    picture, k = None, last_row(file, "time")
    if k is not None:
        data = file["temperature"]
        _, ny, nx = data.shape
        apart = max(ny // size.rows, 1)
        # whole rows are read, each in one piece: single numbers of a row would take as many accesses of the file
        values = data[k, (ny - 1) % apart // 2 :: apart, :]
        across = max(nx // size.columns, 1)
        values = np.asarray(values, np.float64)[:, (nx - 1) % across // 2 :: across]
        ratio = _extent(file["x"]) / _extent(file["y"])
        picture = Field(values, ratio, _unit(data), _at(file["time"], k))
    return picture, _ledger(file), 1


def _extent(centres: Any) -> float:
    """The length of an edge, by the places of the centres of its cells, which have equal distances."""
    n = len(centres)
    first, last = float(centres[0]), float(centres[n - 1])
    return (last - first) * n / (n - 1) if n > 1 else 2.0 * abs(first) or 1.0


def _ledger(file: Any) -> list[tuple[str, str]]:
    k = last_row(file, "sample_time")
    if k is None:
        return []
    names = [n for n in file if n.startswith(_LEDGER) and file[n].shape == file["sample_time"].shape]
    names.sort(key=lambda name: name == _RESIDUAL)
    found = []
    for name in names:
        value = float(file[name][k])
        found.append((name.removeprefix(_LEDGER).replace("_", " "), f"{value + 0.0:.5g} {_unit(file[name])}".rstrip()))
    return found


def _gbm(file: Any, size: Size, choice: int) -> _Found:
    """Quantiles of one asset over time; means with their standard errors at the newest time; options, once they are
    known."""
    k = last_row(file, "time")
    assets = [_text(name) for name in file["asset"][...]] if "asset" in file else []
    which = choice % max(len(assets), 1)
    picture = None
    if k is not None and assets and "price_quantile" in file:
        rows = _thinned(k, size.columns)
        data = file["price_quantile"]
        values = np.asarray(data[:, rows, which], np.float64)
        probabilities = np.asarray(file["quantile"][...], np.float64)
        order = np.argsort(probabilities)
        times, at = np.asarray(file["time"][rows], np.float64), _at(file["time"], k)
        picture = Fan(times, probabilities[order], values[order], assets[which], _unit(data), at)
    return picture, _prices(file, k, assets) + _options(file), max(len(assets), 1)


def _prices(file: Any, k: int | None, assets: list[str]) -> list[tuple[str, str]]:
    if k is None or "price_mean" not in file:
        return []
    means = file["price_mean"][k]
    errors = file["price_mean_standard_error"][k] if "price_mean_standard_error" in file else [math.nan] * len(means)
    return [(f"mean {name}", _with_error(m, e)) for name, m, e in zip(assets, means, errors)]


def _options(file: Any) -> list[tuple[str, str]]:
    if "option_price" not in file:
        return []
    prices, errors = file["option_price"][...], file["option_standard_error"][...]
    names = [_text(name) for name in file["option"][...]]
    return [(name, _with_error(p, e)) for name, p, e in zip(names, prices, errors) if math.isfinite(p)]


def _with_error(value: float, error: float) -> str:
    return f"{value:.6g}" + (f" ± {error:.2g}" if math.isfinite(error) else "")


def _linear(file: Any, size: Size, choice: int) -> _Found:
    """The first components of the first state of the batch over time; of complex numbers their real parts."""
    name = next((n for n in ("state", "state_real") if n in file), None)
    k = last_row(file, "time")
    if name is None or k is None:
        return None, [], 1
    rows, data = _thinned(k, size.columns), file[name]
    shown = min(data.shape[1], MOST_LINES)
    values = np.asarray(data[rows, :shown, 0], np.float64).T
    numbers = file["component"][:shown] if "component" in file else range(shown)
    names = tuple(_text(n) if isinstance(n, (bytes, str)) else f"x{int(n)}" for n in numbers)
    if "component_name" in file:
        names = tuple(_text(n) for n in file["component_name"][:shown])
    if name == "state_real":
        names = tuple(f"Re {n}" for n in names)
    times, at = np.asarray(file["time"][rows], np.float64), _at(file["time"], k)
    picture = Trajectories(times, values, names, data.shape[1] - shown, _unit(data), at)
    return picture, [("norm", f"{float(file['norm'][k]):.6g}")] if "norm" in file else [], 1


_READERS: dict[str, Callable[[Any, Size, int], _Found]] = {"heat": _heat, "gbm": _gbm, "linear": _linear}


def _thinned(last: int, most: int) -> slice:
    """Rows up to the last one at equal distances, the last among them, about as many as `most`."""
    apart = max(-(-last // most), 1)
    return slice(last % apart, last + 1, apart)


def _at(coordinate: Any, k: int) -> str:
    return f"t = {float(coordinate[k]):.6g} {_unit(coordinate)}".rstrip()


def _unit(variable: Any) -> str:
    unit = _text(variable.attrs["units"]) if "units" in variable.attrs else ""
    return "" if unit == "1" else unit


def _text(value: object) -> str:
    """A text of the file, which cannot steer a terminal."""
    return printable(as_text(value))
