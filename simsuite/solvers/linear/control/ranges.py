"""Which frequencies and times show what a system does, where the scenario leaves them open."""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.linear.control.plant import Plant

_CONSTANTS = 8.0  # A step response ends after so many time constants of the slowest mode.
_HIGHEST = 1e250  # rad/s, lest squares overflow
_STATIC = (0.01, 100.0)  # rad/s: the frequencies of a system without any of its own


def frequency_range(plant: Plant) -> tuple[float, float]:
    """The lowest and the highest frequency, rad/s: whole decades, one of them below all poles and zeros, and one above;
    of a discrete system up to half a turn a step."""
    places = np.concatenate([plant.poles, plant.zeros if plant.B.size and plant.C.size else []])
    rates = np.abs(plant.rates(places))
    rates = rates[np.isfinite(rates)]
    rates = rates[rates > (plant.rounding if plant.continuous else plant.rounding / plant.dt)]
    low, high = (float(np.min(rates)), float(np.max(rates))) if len(rates) else (_STATIC[0] * 10, _STATIC[1] / 10)
    high = min(high, _HIGHEST)
    low, high = 10.0 ** (math.floor(math.log10(low)) - 1), 10.0 ** (math.ceil(math.log10(high)) + 1)
    if plant.continuous:
        return low, high
    return min(low, plant.highest / 1000), plant.highest


def response_end(plant: Plant, stable: bool, run: float) -> float:
    """The time, s, at which a step response ends: some time constants of the slowest mode of a stable system, rounded
    up to two digits, else the end of the run."""
    rates = np.real(plant.rates(plant.poles))
    rates = rates[np.isfinite(rates)]
    if not stable or not len(rates) or np.max(rates) >= 0:
        return run
    end = _CONSTANTS / -float(np.max(rates))
    unit = 10.0 ** (math.floor(math.log10(end)) - 1)
    return float(f"{math.ceil(end / unit) * unit:.3g}")
