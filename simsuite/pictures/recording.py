"""A result file as the pictures read it: committed rows only, thinned or averaged to what a picture can show."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from simsuite.errors import SimsuiteError
from simsuite.io.directory import RunDirectory
from simsuite.io.layout import as_text
from simsuite.io.reading import committed_rows
from simsuite.scenario.load import stored_model
from simsuite.scenario.units import time_from

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoff_samples import PayoffSamples

# Makes the first paths of a Monte Carlo run again, from its scenario and where names of data files start from.
Repeat = Callable[[Any, Path], "PayoffSamples | None"]
_SLAB_BYTES = 1 << 25


@dataclass(frozen=True)
class Field:
    """A plane of numbers, each the mean over a block of cells.

    values[y, x]; block: how many cells a block has along y and x (blocks at the far ends may be cut); low, high: the
    extremes over all cells, before averaging; top: the cell of the largest value, along x and along y.
    """

    values: np.ndarray
    block: tuple[int, int]
    low: float
    high: float
    top: tuple[int, int]

    @classmethod
    def of(cls, values: np.ndarray, limit: int) -> Field:
        """The field of a whole array [y, x]."""
        by, bx = (math.ceil(n / limit) for n in values.shape)
        y, x = np.unravel_index(int(np.argmax(values)), values.shape)
        means = _block_means(np.asarray(values, np.float64), by, bx)
        return cls(means, (by, bx), float(values.min()), float(values.max()), (int(x), int(y)))


class Recording:
    """The run in `directory`, read from its open result file."""

    def __init__(
        self, directory: Path, file: h5py.File, time: float | str | None = None, repeat: Repeat | None = None
    ) -> None:
        """time: the one of which fields are shown, in the unit of the file or with one, "2 min", of which the nearest
        frame is taken; default: that of the last. repeat: called at most once, when what it makes is asked for."""
        self.directory, self.file, self._wanted, self._repeat = directory, file, time, repeat

    def attribute(self, name: str) -> str:
        """A root attribute as text, "" where there is none."""
        return as_text(self.file.attrs.get(name, ""))

    @property
    def solver(self) -> str:
        """The name of the solver, as scenarios write it."""
        return self.attribute("solver")

    @property
    def title(self) -> str:
        """The title of the scenario, or the name of the run's directory where it has none."""
        return self.attribute("title") or self.directory.resolve().name

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return self.attribute("status") == "complete"

    @property
    def failed(self) -> bool:
        """Whether the run ended with NaN or Inf."""
        return self.attribute("status") == "failed"

    @property
    def state(self) -> str:
        """What is to be said of a run that is not complete, in a word; "" for one that is."""
        return "" if self.finished else "failed" if self.failed else "unfinished"

    @cached_property
    def failure(self) -> Mapping[str, Any]:
        """Why the run failed, as `error`, and the `cell` to blame, along x and along y, or None; empty for others."""
        return (RunDirectory(self.directory).read_failure() or {}) if self.failed else {}

    @property
    def base(self) -> Path:
        """Where names of data files in the scenario start from."""
        return Path(os.path.normpath(self.directory.resolve() / self.attribute("scenario_base")))

    @cached_property
    def scenario(self) -> Any:
        """The scenario's validated model. Its data files need not be there. Raises SimsuiteError if it is damaged."""
        try:
            return stored_model(self.solver, self.attribute("scenario"))
        except (ValueError, RecursionError) as error:
            raise SimsuiteError(f"the scenario in {self.file.filename} is damaged ({error})") from error

    @cached_property
    def results(self) -> dict[str, Any]:
        """The results of the run, as `run --json` prints them; empty before it has ended."""
        results: dict[str, Any] = self.summary.get("results", {})
        return results

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """What `run --json` prints of the run; empty before it has ended."""
        return RunDirectory(self.directory).read_summary() or {}

    @cached_property
    def first_payoffs(self) -> PayoffSamples | None:
        """What options pay on the first paths, made again; None where nobody can make them."""
        found = None if self._repeat is None else self._repeat(self.scenario, self.base)
        paths = self.results.get("paths")
        if found is None or paths is None or self.scenario.paths.multilevel or paths >= found.values.shape[1]:
            return found
        return found.first(paths)  # as a run with a target may stop early

    def committed(self, coordinate: str) -> int:
        """How many rows of a series are complete: a row's coordinate is written last."""
        return committed_rows(self.file, coordinate)

    @cached_property
    def frames(self) -> int:
        """The number of frames that count."""
        return self.committed("time")

    @cached_property
    def shown(self) -> int:
        """The number of the frame whose fields are shown."""
        if self._wanted is None:
            return self.frames - 1
        wanted = (
            self._wanted if isinstance(self._wanted, float | int) else time_from(self._wanted, self.solver == "gbm")
        )
        return int(np.argmin(np.abs(self.time - wanted)))

    @cached_property
    def time(self) -> np.ndarray:
        """The times of the frames."""
        return self.file["time"][: self.frames]

    def has(self, name: str) -> bool:
        """Whether the file has a variable of that name."""
        return name in self.file

    def unit(self, name: str) -> str:
        """The unit of a variable, as people write it."""
        text = as_text(self.file[name].attrs.get("units", "1"))
        return "°C" if text == "degC" else text

    def texts(self, name: str) -> list[str]:
        """A variable of strings."""
        return [as_text(item) for item in self.file[name][...]]

    def names(self) -> list[str]:
        """The names of all variables."""
        return [name for name, item in self.file.items() if isinstance(item, h5py.Dataset)]

    def numbers(self, name: str, *index: Any) -> np.ndarray:
        """A part of a variable, in float64."""
        return np.asarray(self.file[name][index], np.float64)

    def field(self, name: str, frame: int, limit: int) -> Field:
        """One frame of a field [time, y, x], averaged over blocks to at most `limit` numbers a side.

        Takes little memory however large the frame is.
        """
        dataset = self.file[name]
        ny, nx = dataset.shape[1:]
        by, bx = math.ceil(ny / limit), math.ceil(nx / limit)
        rows = by * max(1, _SLAB_BYTES // (8 * nx * by))
        values, low, high, top = [], math.inf, -math.inf, (0, 0)
        for start in range(0, ny, rows):
            slab = dataset[frame, start : start + rows]
            low = min(low, float(slab.min()))
            if float(slab.max()) > high:
                y, x = np.unravel_index(int(np.argmax(slab)), slab.shape)
                high, top = float(slab.max()), (int(x), start + int(y))
            values.append(_block_means(np.asarray(slab, np.float64), by, bx))
        return Field(np.concatenate(values), (by, bx), low, high, top)


def _block_means(values: np.ndarray, by: int, bx: int) -> np.ndarray:
    for axis, block in ((1, bx), (0, by)):
        if block > 1:
            starts = np.arange(0, values.shape[axis], block)
            counts = np.diff([*starts, values.shape[axis]])
            shape = (-1, 1) if axis == 0 else (1, -1)
            values = np.add.reduceat(values, starts, axis=axis) / counts.reshape(shape)
    return values


def strided(n: int, limit: int) -> slice:
    """A slice of every k-th of n things, with the least k that leaves at most `limit`."""
    return slice(0, n, max(1, math.ceil(n / limit)))


def thinned(x: np.ndarray, y: np.ndarray, limit: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """The points (x, y) of a line that looks the same with at most about `limit` points: the extremes of each stretch,
    and both ends.
    """
    if len(x) <= limit:
        return x, y
    length = math.ceil(len(x) / (limit // 2))
    keep = {0, len(x) - 1}
    for start in range(0, len(x), length):
        part = y[start : start + length]
        keep |= {start + int(np.argmin(part)), start + int(np.argmax(part))}
    index = np.array(sorted(keep))
    return x[index], y[index]
