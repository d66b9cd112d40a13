"""The explicit step in float32 without the loss of small increments: `precision = "float32c"`.

    y = low + r·Σ,    T' = fl(T + y),    low' = y - (T' - T)

where r·Σ is what the explicit step adds (see `explicit`; with the general operator Δt·dT/dt), and `low`, a second
field, holds what rounding has lost of every temperature so far. Plain float32 loses every increment below half an ulp
of T, 1.5e-5 K at 300 K, and such a run stands still; here it waits in `low` until it counts. T' - T is exact, and low'
with it, where |y| <= |T| (fast two-sum: Dekker, A floating-point technique for extending the available precision,
Numer. Math. 18:224, 1971; as a running sum: Kahan, Comm. ACM 8:40, 1965). Where T is smaller than its increment, low'
may be off by rounding errors of the increment, as plain steps are.

Differences to neighbours are those of T alone. So u = T + low obeys u' = G u - r·L(low), with L the sum of differences
and G = 1 + r·L, and what n steps make of a low of at most half an ulp ε/2 is

    |Σ G^m r·L(low)| <= ε/2 · Σ |G^m (1 - G)| = O(ε log n),

since a smoothed field has small differences: half an ulp of T or a few, however many steps there are. Order and bound
are those of `explicit`. Nothing may be reassociated, so kernels are compiled without fast-math.

A field that is stepped so has two planes, (2, ny, nx): T, then low. Kernels are compiled for either kind of field, as
they are for either precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

LOW = "temperature_low"


class State(NamedTuple):
    """A field as kernels take it. T: the temperatures, (ny, nx). whole: what a step works on. That is T itself, or both
    planes where steps are compensated."""

    T: Any
    whole: Any


def is_compensated(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the state with these arrays is stepped by compensated steps."""
    return LOW in arrays


def whole_field(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The temperatures of a state, (ny, nx), or both planes, (2, ny, nx), where steps are compensated."""
    T = arrays["temperature"]
    return np.stack([T, arrays[LOW]]) if is_compensated(arrays) else T
