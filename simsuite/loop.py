"""The loop: advance to the next step at which anything is due, hand it to the writer, go on.

A fresh run is a run continued from step 0; there is no second way in. The device never waits for the loop: the next
stretch of steps is queued while the last one runs.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence

from simsuite.capabilities import Adaptive
from simsuite.core import Backend, Fence, Stepper
from simsuite.io.outputs import Output

SHORT, LONG = 0.05, 0.2  # seconds that a stretch of steps should take
FASTER = 8  # once stretches are queued ahead, the next one has at most so many times as many steps
AHEAD = 2  # stretches queued at once
ALONE = 2  # stretches at the beginning that are waited for: one in which kernels are loaded, one that is timed


class Pace:
    """How many steps to queue at once so that signals, progress and checkpoints stay prompt.

    The number is a power of two, and stretches end at its multiples, so that steppers which take several steps in a
    launch need no smaller launches.
    """

    def __init__(self, backend: Backend, clock: Callable[[], float] = time.monotonic) -> None:
        self._backend, self._clock = backend, clock
        self._under_way: deque[tuple[Fence, int]] = deque()
        self._marked = 0
        self._last = clock()
        self.steps = 1

    def mark(self, queued: int) -> None:
        """Note that `queued` steps were queued; wait while too many stretches are under way."""
        self._under_way.append((self._backend.fence(), queued))
        self._marked += 1
        while len(self._under_way) > (0 if self._marked <= ALONE else AHEAD):
            fence, steps = self._under_way.popleft()
            fence.wait()
            now = self._clock()
            if self._marked > 1:
                self._adapt(steps, now - self._last)
            self._last = now

    def _adapt(self, steps: int, took: float) -> None:
        """Choose the number of steps of the next stretches. steps, took: the steps of the last stretch, which may have
        been cut short, and its seconds."""
        if steps >= self.steps and took < SHORT:
            # the host may have been delayed, with several stretches done meanwhile
            most = FASTER if self._marked > ALONE else math.inf
            # a stretch is longer than wanted where a time step takes many steps of the clock
            reached = 1 << (steps.bit_length() - 1)
            self.steps = reached << max(1, int(math.log2(min(most, SHORT / max(took, 1e-6)))))
        elif took > LONG:
            # the largest power of two below `steps`
            self.steps = min(self.steps, 1 << max(0, (steps - 1).bit_length() - 1))


def march(
    stepper: Stepper,
    end: int,
    outputs: Sequence[Output],
    backend: Backend,
    stopped: Callable[[], str | None],
    progress: Callable[[int], None],
    over: Callable[[], bool] = lambda: False,
) -> str | None:
    """Advance to step `end`, or to the step at which `over` returns true, which is asked when all that is due at a step
    has been queued.

    Returns None there, or the reason `stopped` gave for stopping early. Raises what the writing of an output raised.
    """
    pace = Pace(backend)
    while True:
        for output in outputs:
            if output.due(stepper.step):
                output.emit(stepper)
        if stepper.step >= end or over():
            return None
        if (reason := stopped()) is not None:
            return reason
        ahead = (output.next_step(stepper.step + 1) for output in outputs)
        target = min([end, *(step for step in ahead if step is not None)])
        queued = min(target - stepper.step, pace.steps - stepper.step % pace.steps)
        before = stepper.step
        if isinstance(stepper, Adaptive):
            stepper.advance_for(queued, LONG)
        else:
            stepper.advance(queued)
        pace.mark(stepper.step - before)
        progress(stepper.step)
