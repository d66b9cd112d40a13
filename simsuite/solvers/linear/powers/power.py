"""Powers instead of steps: X_{j+k} = A^k X_j + S_k u, from frame to frame (see `powers`).

The state is computed at stops only, each from the one before: at frames, and where inputs change. Its bits do not
depend on where a run was interrupted. Snapshots have the state at the last stop passed, the anchor, beside the present
one, and a run goes on from the anchor. Between two stops the present state is computed when it is asked for, with the
factors A^(2^i) for the bits i of the number of steps since the last stop.

Cost: the powers, once, and for each stop 2 n² m operations, a few times that if its gap is a rare one.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.powers import Power, Powers
from simsuite.solvers.linear.powers.powers import device_bytes as powers_bytes
from simsuite.solvers.linear.stepping.observed import ObservedOutput, output_entries
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import Panel

ANCHOR, ERROR = "anchor", "power_error"
# With up to so many different values of the inputs, a graph is recorded for each gap and each of the values.
RECORDED = 32


class PowerStepper:
    """A stepper that takes powers, with the state on its device. start: a snapshot with an anchor. stops: the steps at
    which the state is computed, first and last included. kernel: for the product C X, as `product` takes it.
    """

    def __init__(
        self,
        backend: Backend,
        start: Snapshot,
        system: LinearSystem,
        stops: Sequence[int],
        powers: Powers,
        kernel: str,
    ) -> None:
        X = start.arrays[ANCHOR]
        self.step = start.step
        self.chosen: Mapping[str, str] = {"kernel": powers.kernel}
        self._backend, self._stops, self._powers = backend, stops, powers
        self._passed = bisect.bisect_right(stops, start.step) - 1
        assert system.held is not None
        self._held = system.held
        # Two of the three buffers take turns as anchor; the other one of the two, and the third, serve for the state
        # between stops.
        self._buffers = [backend.array(X), *(backend.zeros(X.shape, X.dtype) for _ in range(2))]
        self._views = [backend.view(a) for a in self._buffers]
        powers.sharing.remember(self._buffers, self._views)
        self._live = 0
        self._recorder = powers.sharing.recorder(backend)
        self._output = ObservedOutput(backend, system.C, X.dtype, X.shape[1], kernel)
        self._error = backend.array(np.array([powers.error]))

    def advance(self, n: int) -> None:
        """Go on by n steps. Raises ValueError when they lead past the last frame."""
        end = self.step + n
        if end > self._stops[-1]:
            raise ValueError(f"{n} steps from step {self.step} lead past the end, {self._stops[-1]}")
        while self._passed + 1 < len(self._stops) and self._stops[self._passed + 1] <= end:
            gap = self._stops[self._passed + 1] - self._stops[self._passed]
            powers, targets = self._powers.over(gap), (1 - self._live, self._live)
            which = self._which()
            launches = self._launches(powers, targets, which)
            if self._held.values.shape[1] <= RECORDED:
                self._recorder.replay((gap, self._live, which), launches)
            else:  # There would be more graphs than are kept, so each would be recorded again and again.
                launches()
            self._live = targets[(len(powers) - 1) % 2]
            self._passed += 1
        self.step = end

    def _which(self) -> int | None:
        """Which column of their values the inputs have from the anchor on; None if they never change."""
        return self._held.at(self._stops[self._passed]) if self._held.changes else None

    def _launches(self, powers: Sequence[Power], targets: tuple[int, int], which: int | None) -> Callable[[], None]:
        """A function that queues the way from the anchor through all of `powers`, which write to the two target buffers
        in turns.
        """
        source, views = self._views[self._live], [self._views[i] for i in targets]

        def launch() -> None:
            X = source
            for k, power in enumerate(powers):
                power(X, views[k % 2], which)
                X = views[k % 2]

        return launch

    def _present(self) -> int:
        """The number of the buffer with the present state, whose computation is queued if necessary."""
        since = self.step - self._stops[self._passed]
        if since == 0:
            return self._live
        powers, targets = self._powers.over(since), (1 - self._live, 2)
        self._launches(powers, targets, self._which())()
        return targets[(len(powers) - 1) % 2]

    def snapshot(self) -> Pending:
        return self._staged({**self.state, ANCHOR: self._buffers[self._live]})

    def observe(self, series: str) -> Pending:
        now = self._present()
        return self._staged({"state": self._buffers[now], ERROR: self._error, **self._output.queue(self._views[now])})

    def _staged(self, arrays: Mapping[str, Any]) -> Pending:
        return self._backend.stage(self.step, self._powers.sharing.seen(arrays))

    @property
    def state(self) -> Mapping[str, Any]:
        return {"state": self._buffers[self._present()]}


def device_bytes(system: LinearSystem, jumps: Jumps, dtype: Any, panel: Panel | None = None) -> int:
    """The bytes that a PowerStepper, with its powers, allocates on its device for states of this precision. panel: the
    rows that a process has, if it has not all."""
    rows = 0 if panel is None else panel.height
    entries = (3 * jumps.n + rows) * jumps.m + output_entries(system.C, jumps.m)
    return powers_bytes(system, jumps, dtype, panel) + entries * np.dtype(dtype).itemsize + 8 + 8 * rows
