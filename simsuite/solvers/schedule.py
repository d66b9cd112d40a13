"""The times and steps of frames and samples, from the keys of `[output]`."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence

from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.common import DEFAULT_FRAMES, MOST_FRAMES, Output

SAME_TIME = 1e-12  # Times that differ by less than this share of the run are the same.


def frame_times(output: Output, end: float) -> tuple[float, ...]:
    """The times of the frames, increasing; the last is always the end. Those of `times` after the end are left out."""
    if output.times is not None:
        wanted = [t for t in output.times if t < end]
    elif output.every is not None:
        if end / output.every > MOST_FRAMES:
            few = f"{end / MOST_FRAMES:.3g}"
            message = f"a frame every {output.every:g} makes more than {MOST_FRAMES} frames"
            raise ScenarioError([Mistake(("output", "every"), message, f"{few} is the shortest")])
        wanted = [k * output.every for k in range(math.ceil(end / output.every * (1 - 1e-12)))]
    else:
        last = (output.frames or DEFAULT_FRAMES) - 1
        wanted = [end * (k / last) for k in range(last)]
    return (*sorted(set(wanted)), end)


def frame_steps(output: Output, steps: int, dt: float) -> tuple[int, ...]:
    """The steps nearest to the frames' times, each once, first and last included, for steps of one length `dt`."""
    nearest = {min(round(t / dt), steps) for t in frame_times(output, steps * dt)}
    return tuple(sorted({0, *nearest, steps}))


def sample_steps(samples: int | None, frames: Sequence[int]) -> tuple[int, ...]:
    """The steps nearest to `samples` evenly spaced ones, together with the steps of the frames."""
    if samples is None:
        return tuple(frames)
    return tuple(sorted({*frames, *(round(k * frames[-1] / (samples - 1)) for k in range(samples))}))


def sample_times(samples: int | None, frames: Sequence[float]) -> tuple[float, ...]:
    """`samples` evenly spaced times from 0 to the last frame, first and last included. A time that differs from that of
    a frame by rounding alone is replaced by it. frames: increasing times.
    """
    if samples is None:
        return ()
    return snapped([frames[-1] * (k / (samples - 1)) for k in range(samples)], frames)


def snapped(times: Sequence[float], others: Sequence[float]) -> tuple[float, ...]:
    """`times`, where each that differs from one of `others` (increasing) by rounding alone is replaced by that one."""
    near, found = SAME_TIME * others[-1], []
    for t in times:
        after = bisect.bisect_left(others, t)
        closest = min(others[max(0, after - 1) : after + 1], key=lambda at: abs(at - t))
        found.append(closest if abs(closest - t) <= near else t)
    return tuple(found)
