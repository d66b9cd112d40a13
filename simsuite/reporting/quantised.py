"""Frames of a field with fewer cells, in whole numbers of 16 bits: small enough for a page, and right to a known step.

A cell of the page is a cell of the results: of each block of cells, the one in its middle is taken, nothing is
averaged. A code q is the value low + q (high - low)/LEVELS; the limits are the extremes over all cells of all frames
taken.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simsuite.pictures.recording import Recording

LEVELS = 65534  # the largest code of a value
NO_VALUE = 65535  # the code of NaN and of infinities
_SLAB_BYTES = 1 << 25


@dataclass(frozen=True)
class Quantised:
    """codes[frame, y, x]: uint16. frames, rows, columns: which of the results were taken. lows, highs: the extremes of
    each frame over all its cells, NaN where it has no finite value. block: cells along y and x of which one is taken.
    """

    codes: np.ndarray
    frames: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    block: tuple[int, int]
    lows: np.ndarray
    highs: np.ndarray

    @property
    def low(self) -> float:
        """The least value of all frames taken."""
        return float(np.nanmin(self.lows)) if np.isfinite(self.lows).any() else 0.0

    @property
    def high(self) -> float:
        """The greatest value of all frames taken."""
        return float(np.nanmax(self.highs)) if np.isfinite(self.highs).any() else 0.0

    @property
    def step(self) -> float:
        """How far a code is from the next. Values are right to half of it, and to all of it where they are written with
        as many decimals as it has."""
        return (self.high - self.low) / LEVELS

    @property
    def values(self) -> np.ndarray:
        """The values that the codes stand for."""
        values = self.low + self.codes * (self.high - self.low) / LEVELS
        return np.where(self.codes == NO_VALUE, np.nan, values)

    @property
    def base64(self) -> str:
        """The codes in C order, little-endian."""
        return base64.b64encode(self.codes.astype("<u2").tobytes()).decode("ascii")


def chosen_frames(n: int, most: int) -> np.ndarray:
    """At most so many of n frames, evenly from the first to the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def quantised(run: Recording, name: str, most_frames: int, most_numbers: int, most_side: int) -> Quantised:
    """The field `name`[time, y, x] of a run that has frames. most_numbers: of all frames together; most_side: cells
    along an edge. Takes little memory however large the frames are."""
    frames = chosen_frames(run.frames, most_frames)
    ny, nx = run.file[name].shape[1:]
    block = _block(ny, nx, most_numbers // len(frames), most_side)
    rows, columns = _middles(ny, block[0]), _middles(nx, block[1])
    values = np.empty((len(frames), len(rows), len(columns)))
    lows, highs = np.full(len(frames), math.nan), np.full(len(frames), math.nan)
    for k, frame in enumerate(frames):
        for first, slab in _slabs(run, name, int(frame)):
            finite = slab[np.isfinite(slab)]
            if finite.size:
                lows[k], highs[k] = np.fmin(lows[k], finite.min()), np.fmax(highs[k], finite.max())
            inside = np.flatnonzero((rows >= first) & (rows < first + len(slab)))
            values[k, inside] = slab[np.ix_(rows[inside] - first, columns)]
    found = Quantised(np.empty(0), frames, rows, columns, block, lows, highs)
    return Quantised(_codes(values, found.low, found.high), frames, rows, columns, block, lows, highs)


def _codes(values: np.ndarray, low: float, high: float) -> np.ndarray:
    good = np.isfinite(values)
    share = np.where(good, values - low, 0.0) / ((high - low) or 1.0)
    codes = np.clip(np.rint(share * LEVELS), 0, LEVELS)
    return np.where(good, codes, NO_VALUE).astype(np.uint16)


def _block(ny: int, nx: int, most_numbers: int, most_side: int) -> tuple[int, int]:
    """The smallest block, as square as can be, that leaves at most so many numbers and so many along an edge."""
    by, bx = math.ceil(ny / most_side), math.ceil(nx / most_side)
    while math.ceil(ny / by) * math.ceil(nx / bx) > most_numbers:
        if by <= bx and by < ny:
            by += 1
        else:
            bx += 1
    return by, bx


def _middles(n: int, block: int) -> np.ndarray:
    """The cells in the middle of each block of n cells; the last block may be cut."""
    return np.minimum(np.arange(0, n, block) + block // 2, n - 1)


def _slabs(run: Recording, name: str, frame: int) -> Iterator[tuple[int, np.ndarray]]:
    """A frame in pieces, each with the number of its first row, in float64."""
    dataset = run.file[name]
    ny, nx = dataset.shape[1:]
    rows = max(1, _SLAB_BYTES // (8 * nx))
    for first in range(0, ny, rows):
        yield first, np.asarray(dataset[frame, first : first + rows], np.float64)
