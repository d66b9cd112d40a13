"""Curves of one panel that lie on each other, so that only the one drawn last would be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.pictures.units import contrast

_NEAR = 0.012  # About the width of a line, as a share of the height of a panel.
_HIDDEN = 0.5  # A curve hides another where it lies on it over more than this share of the time.
_EQUAL = 2e-4  # Curves that differ by less than this share of the height of a panel are one curve.
_DASHES: dict[str, Any] = {"linestyle": (0, (4, 4)), "dash_capstyle": "butt"}


def seen_apart(values: np.ndarray) -> list[dict[str, Any]]:
    """What lines are to look like so that each of them is seen, as keywords of Matplotlib: dashed are those that lie on
    an earlier one most of the time. values[time, curve] may have NaN."""
    near = np.abs(values[:, :, None] - values[:, None, :]) <= _NEAR * _height(values)
    over = np.tril(near.mean(axis=0) > _HIDDEN, -1).any(axis=1)
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
