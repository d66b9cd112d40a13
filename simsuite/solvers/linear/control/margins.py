"""Stability margins of a loop: how much gain, phase and delay it bears, and how close it comes to -1.

The loop L, with a single input and output, is closed by unit negative feedback, u = r - y. At the frequencies where |L|
= 1 the phase margin is the angle by which L lies off -1, and the delay margin is the time by which a delay turns L to
-1 there. Where L is real and negative the gain margin is 1/|L|, the factor of the gain that takes L to -1; it is less
than 1 where less gain makes the loop unstable. The modulus margin is the least |1 + L|, the inverse of the largest
sensitivity. K. J. Astrom and R. M. Murray, Feedback Systems (2008), section 9.3. All of them say how far a loop is from
instability only if the closed loop is stable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvals

from simsuite.libraries import decomposing, optimize
from simsuite.solvers.linear.control.crossings import Crossings
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.control.transfer import FrequencyResponse

_CLOSER = 1e-9  # The modulus margin is certain to be the least to this relative difference.
_ROUNDS = 20


@dataclass(frozen=True)
class Margins:
    """The margins of a loop. gain_crossings: the frequencies, rad/s, at which |L| = 1, with the phase margins (rad,
    between -pi and pi) and delay margins (s) there. phase_crossings: those at which L is real and negative, with the
    gain margins there. modulus: the least |1 + L|, at the frequency modulus_frequency, which may be 0 or inf.
    closed_loop_stable: whether all poles of L/(1 + L) are stable, by more than rounding.
    """

    gain_crossings: np.ndarray
    phase_margins: np.ndarray
    delay_margins: np.ndarray
    phase_crossings: np.ndarray
    gain_margins: np.ndarray
    modulus: float
    modulus_frequency: float
    closed_loop_stable: bool


def margins(loop: Plant) -> Margins:
    """The margins of a loop with a single input and output."""
    response = FrequencyResponse(loop)
    crossings = Crossings(loop, response)
    at_gain = crossings.of_circle(0.0, 1.0)
    angle = np.angle(response(at_gain)[:, 0, 0])
    lead = np.mod(angle + np.pi, 2 * np.pi)  # by which L turns clockwise to -1
    off = np.where(lead > np.pi, lead - 2 * np.pi, lead)
    at_phase, gains = _negative(loop, response, crossings)
    modulus, where = _closest(loop, response, crossings)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.abs(gains)
    return Margins(at_gain, off, lead / at_gain, at_phase, inverse, modulus, where, _closed_loop_stable(loop))


def _negative(loop: Plant, response: FrequencyResponse, crossings: Crossings) -> tuple[np.ndarray, np.ndarray]:
    """The frequencies at which L crosses the negative real axis, and L there. At the frequency 0, and at half a turn a
    step, L is real, and its mirror image for negative frequencies continues it on the other side.
    """
    found = crossings.of_real_axis()
    ends = [0.0, *([] if loop.continuous else [loop.highest])]
    at = np.unique(np.concatenate([found, [w for w in ends if _finite(loop, w)]]))
    L = response(at)[:, 0, 0]
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(L) & (L.real < 0) & (np.abs(L.imag) <= 1e-4 * np.abs(L))
    return at[kept], L[kept].real


def _finite(loop: Plant, w: float) -> bool:
    """Whether no pole lies, up to rounding, at a frequency of 0 or half a turn a step."""
    place = 0.0 if loop.continuous else (1.0 if w == 0 else -1.0)
    return bool(np.all(np.abs(loop.poles - place) > loop.rounding))


def _closest(loop: Plant, response: FrequencyResponse, crossings: Crossings) -> tuple[float, float]:
    """The least |1 + L| and its frequency. Where the circle of a slightly smaller radius is not crossed, nothing is
    closer: N. A. Bruinsma and M. Steinbuch, A fast algorithm to compute the H-infinity norm of a transfer function
    matrix, Systems & Control Letters 14 (1990) 287-293.
    """

    def distance(w: float) -> float:
        found = abs(1 + response.at(w))
        return found if np.isfinite(found) else np.inf

    points = crossings.grid(np.empty(0))
    ends = [0.0] if _finite(loop, 0.0) else []
    ends += [] if loop.continuous or not _finite(loop, loop.highest) else [loop.highest]
    points = np.unique(np.concatenate([points, ends]))
    sizes = np.abs(1 + response(points)[:, 0, 0])
    sizes = np.where(np.isfinite(sizes), sizes, np.inf)
    k = int(np.argmin(sizes))
    best, where = float(sizes[k]), float(points[k])
    low, high = float(points[max(k - 1, 0)]), float(points[min(k + 1, len(points) - 1)])
    if loop.continuous and abs(1 + loop.D[0, 0]) <= best:
        best, where = float(abs(1 + loop.D[0, 0])), np.inf
        low = high = where
    for _ in range(_ROUNDS):
        if low < high and np.isfinite(high):
            found = optimize.minimize_scalar(
                distance, bounds=(low, high), method="bounded", options={"xatol": 1e-12 * high}
            )
            if found.fun < best:
                best, where = float(found.fun), float(found.x)
        if best == 0.0:
            break
        inside = crossings.of_circle(1.0, best * (1 - _CLOSER))
        if len(inside) == 0:
            break
        pairs = np.concatenate([[0.0], inside, [2 * inside[-1]]])
        middles = np.sqrt(pairs[1:-1] * pairs[2:])
        sizes = np.array([distance(w) for w in middles])
        k = int(np.argmin(sizes))
        if sizes[k] >= best:
            break
        best, where, low, high = float(sizes[k]), float(middles[k]), float(pairs[k + 1]), float(pairs[k + 2])
    return best, where


def _closed_loop_stable(loop: Plant) -> bool:
    plant = loop.balanced
    direct = 1 + plant.D[0, 0]
    if direct == 0:
        return False
    closed = plant.A - plant.B @ plant.C / direct
    if not np.all(np.isfinite(closed)):
        return False
    with decomposing(len(plant.A)):
        values = eigvals(closed)
    return bool(np.all(values.real < -plant.rounding if plant.continuous else np.abs(values) < 1 - plant.rounding))
