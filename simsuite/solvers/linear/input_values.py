"""What inputs are at the steps of a run, on the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression

_LOOKED_AT = 10**6  # steps, from the first on
_TOGETHER = 1 << 16


def input_values(inputs: Sequence[Expression], times: np.ndarray) -> np.ndarray:
    """(p, times)."""
    return np.array([np.broadcast_to(u(t=times), times.shape) for u in inputs]).reshape(len(inputs), len(times))


def step_times(dt: float, steps: int, chosen: range | np.ndarray) -> np.ndarray:
    """When some of the steps of a run begin, s, as `Clock.uniform` has it."""
    return dt * steps * np.asarray(chosen, np.float64) / steps


def bad_inputs(inputs: Sequence[Expression], dt: float, steps: int, dtype: Any, to_the_end: bool) -> Iterator[Mistake]:
    """Inputs that are not finite at the beginning of some step of a run in that precision, or at the end of the last
    one, if that matters."""
    end = steps + 1 if to_the_end else steps
    for i, u in enumerate(inputs):
        if not u.depends_on("t"):
            continue
        for first in range(0, min(end, _LOOKED_AT), _TOGETHER):
            times = step_times(dt, steps, range(first, min(first + _TOGETHER, end)))
            values = input_values([u], times)[0]
            with np.errstate(over="ignore"):
                bad = np.flatnonzero(~np.isfinite(values.astype(dtype)))
            if len(bad):
                message = f"is {values[bad[0]]:g} at t = {times[bad[0]]:g} s, step {first + bad[0]} of {steps}"
                yield Mistake(("system", "input", i), message, f"it must be a finite {np.dtype(dtype)} at every step")
                break
