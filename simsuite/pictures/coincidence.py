"""Curves of one panel that lie on each other, so that only the one drawn last would be seen."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.pictures.units import contrast

_NEAR = 0.012  # About the width of a line, as a share of the height of a panel.
_HIDDEN = 0.8  # A curve hides another where it lies on it over more than this share of its length.
_WIDE = 3.0  # About the width of a panel over its height.
_EQUAL = 2e-4  # Curves that differ by less than this share of the height of a panel are one curve.
_DASHES: dict[str, Any] = {"linestyle": (0, (4, 4)), "dash_capstyle": "butt"}


def seen_apart(values: np.ndarray) -> list[dict[str, Any]]:
    """What lines are to look like so that each of them is seen, as keywords of Matplotlib: dashed are those that lie on
    an earlier one over most of their length. values[time, curve], at even times, may have NaN."""
    n, curves, height = *values.shape, _height(values)
    if n < 2 or curves < 2 or height == 0:
        return [{} for _ in range(curves)]
    slopes = np.gradient(values, axis=0) / height * (n - 1) / _WIDE
    # lengths of pieces of curves, which are also how far apart up and down two are that are a line's width apart
    lengths = np.sqrt(1 + slopes**2)
    over = np.zeros(curves, bool)
    for i, j in itertools.combinations(range(curves), 2):
        near = np.abs(values[:, j] - values[:, i]) <= _NEAR * height * lengths[:, j]
        over[j] |= np.nansum(lengths[near, j]) > _HIDDEN * np.nansum(lengths[:, j])
    return [_DASHES if hides else {} for hides in over]


def equal_curves(curves: Sequence[np.ndarray]) -> list[list[int]]:
    """The numbers of curves over the same times, those that are one curve in a list together, in their order."""
    found: list[list[int]] = []
    limit = _EQUAL * _height(np.array(curves)) if len(curves) else 0.0
    for i, curve in enumerate(curves):
        same = next((group for group in found if float(np.abs(curve - curves[group[0]]).max()) <= limit), None)
        if same is None:
            found.append([i])
        else:
            same.append(i)
    return found


def _height(values: np.ndarray) -> float:
    """From the least to the largest number: how high a panel is that shows them."""
    good = values[np.isfinite(values)]
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
    return high - low if contrast(low, high, 0.0) else 0.0
