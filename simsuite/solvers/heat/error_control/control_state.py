"""The numbers that `StepControl` keeps from step to step, by name: its state in snapshots and checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

SAFETY = 0.7  # the share of the tolerance that the next step aims at
MOST_SHRINKING = 0.1  # the factor by which a step is shorter than one with too large an error at most

NAMES = (
    # error: the largest error of a step so far, K.
    *("dt", "low", "high", "taken", "rejected", "error", "shortest", "longest"),
    # left: the share of an estimate of adi that is left after its step. splitting: its error by splitting, K/s.
    # measured, measured_dt: after how many steps, and for which length, these were measured.
    *("left", "splitting", "measured", "measured_dt"),
    # lasted: what lasts of all errors, K, when it was last considered. lasted_at: how far the run was then. looked: the
    # number of steps then taken. tight: how much smaller the error of each step must be because of what lasts. rounded:
    # what rounding in all steps may come to, K. largest: the largest error so far, or one that may be rounding, K.
    # looked_at: the time of the last look at the sum of errors, s. growing: how fast errors grew then, 1/s.
    *("lasted", "lasted_at", "looked", "tight", "rounded", "largest", "looked_at", "growing"),
    # These are what `MethodChoice` goes by. ratio: of the length of steps of adi to those of rkl2. probing: the length
    # of a step by which the other method is tried.
    *("adi", "other_dt", "ratio", "compared", "probing", "wait", "patience", "restarted"),
    # stages: the stages of all steps of rkl2 that count. adi_steps: the number of steps of adi that count. summed: what
    # the errors of all steps came to by looked_at, K. unsure: the sum of the largest estimates of all steps that may
    # consist of rounding, K. lost_at: the time from which on temperatures were not finite, s; 0 as long as they are.
    # grown: for how long errors grew, s. close: how much smaller the error of each step must be as long as the sum is
    # near the tolerance. rate: how fast errors may grow where they grow fastest, 1/s, see `growth`; Inf where that is
    # not known. rising: for how long this rate was positive, s.
    *("stages", "adi_steps", "summed", "unsure", "lost_at", "grown", "close", "rate", "rising"),
    # exceeded_at: the time at which errors were last so large that steps were made shorter, s. contrast: of the
    # conductivities at the temperatures so far, see `companion`.
    *("exceeded_at", "contrast"),
)


# An estimate of so many times the range of temperatures says no more than that the error is not known.
BEYOND = 1e3


def errors_of(numbers: Mapping[str, float], floor: float) -> dict[str, float]:
    """What a run tells of errors of its steps, relative to the range of temperatures: `time_error`, unless errors have
    grown beyond all bounds, and its part `rounding_error`. numbers: by NAMES. floor: the least range, K, by which
    errors are measured."""
    range_ = numbers["high"] - numbers["low"]
    largest, rounding = max(numbers["error"], numbers["largest"]), numbers["rounded"]
    part = rounding / range_ if range_ > 0 else 0.0
    if not largest <= BEYOND * max(range_, floor):
        return {"rounding_error": part}
    return {"time_error": (largest / range_ if range_ > 0 else 0.0) + part, "rounding_error": part}


class ControlState:
    """The numbers by name. array: one number for each of NAMES, which is stored in snapshots."""

    def __init__(self, array: np.ndarray | None = None) -> None:
        self.array = np.zeros(len(NAMES)) if array is None else completed(np.array(array))

    def __getitem__(self, name: str) -> float:
        return float(self.array[NAMES.index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        self.array[NAMES.index(name)] = value


def completed(state: np.ndarray) -> np.ndarray:
    """The state of a run that began when NAMES had fewer entries. What the missing ones count is not known and becomes
    Inf."""
    whole = np.concatenate([state, np.full(len(NAMES) - len(state), math.inf)])
    for name in ("close", "contrast"):
        if len(state) <= NAMES.index(name):
            whole[NAMES.index(name)] = 1.0
    return whole
