"""The phase of a frequency response as a continuous function of the frequency.

Unwrapping a phase point by point takes jumps for turns where a resonance lies between two points. Here poles and zeros
say how the phase goes: each factor s - a of the response turns by an angle that is known in closed form, and their sum
decides between the phases that differ by whole turns. It need only be right to half a turn, so that rounding of poles
and zeros does not matter. At a pole or zero on the boundary of stability the phase jumps by half a turn.
"""

from __future__ import annotations

import numpy as np

from simsuite.solvers.linear.control.plant import Plant

_AT_ONCE = 1 << 20  # So many angles are held at once.


def unwrapped(plant: Plant, frequencies: np.ndarray, G: np.ndarray) -> np.ndarray:
    """The phase, in rad, of the response G (frequencies,) of a plant with a single input and output, between -pi and pi
    at the first frequency and from there on continuous in the frequency, whose values in rad/s increase."""
    phase = np.angle(G)
    if not len(phase):
        return phase
    course = _turned(plant, plant.zeros, frequencies) - _turned(plant, plant.poles, frequencies)
    good = np.flatnonzero(np.isfinite(phase))
    if not len(good):
        return phase
    first = good[0]
    wanted = course - course[first] + phase[first]
    return phase + 2 * np.pi * np.round((wanted - phase) / (2 * np.pi))


def _turned(plant: Plant, places: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The sum of the angles of s - a over all a in `places`, at s = i w or z = exp(i w dt)."""
    some = max(1, _AT_ONCE // max(len(w), 1))
    total = np.zeros(len(w))
    for k in range(0, len(places), some):
        total += np.sum((_of_rates if plant.continuous else _of_factors)(plant, places[k : k + some, None], w), axis=0)
    return total


def _of_rates(plant: Plant, a: np.ndarray, w: np.ndarray) -> np.ndarray:
    beyond = a.real > 0
    angle = np.arctan2(w - a.imag, np.abs(a.real))
    return np.where(beyond, np.pi - angle, angle)


def _of_factors(plant: Plant, a: np.ndarray, w: np.ndarray) -> np.ndarray:
    angle = w * plant.dt
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = angle + np.angle(1 - a * np.exp(-1j * angle))
        outside = np.angle(1 - np.exp(1j * angle) / a)
    return np.where(np.abs(a) > 1, outside, inside)
