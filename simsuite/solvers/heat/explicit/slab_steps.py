"""Explicit steps of a slab of rows, whose neighbours are in other processes. See `grid.slabs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsuite.communication.communicator import Communicator, Halos
from simsuite.core import Pending
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper
from simsuite.solvers.heat.grid.slabs import Slab
from simsuite.solvers.heat.operator.compensated import LOW


class SlabStepper:
    """Steps a slab's plate and exchanges its halos. stepper: of the plate, whose halos are right."""

    def __init__(self, stepper: ExplicitStepper, slab: Slab, communicator: Communicator, periodic: bool) -> None:
        self._stepper, self._slab, self._communicator, self._periodic = stepper, slab, communicator, periodic
        self._depth = max(slab.below, slab.above)
        self._since = 0  # steps since halos were right
        self.step = stepper.step
        self.chosen: Mapping[str, str] = stepper.chosen

    @property
    def state(self) -> Mapping[str, Any]:
        return self._stepper.state

    def advance(self, n: int) -> None:
        self._stepper.check_end(n)
        while n > 0:
            if self._since == self._depth > 0:
                self._exchange()
            some = min(n, self._depth - self._since) if self._depth > 0 else n  # a single slab has no halos
            self._stepper.advance(some)
            self._since += some
            self.step += some
            n -= some

    def _exchange(self) -> None:
        slab, depth, state = self._slab, self._depth, self._stepper.state
        begin, end = slab.own.start, slab.own.stop
        for name in (name for name in ("temperature", LOW) if name in state):
            T = state[name]
            halos = Halos(T[begin : begin + depth], T[end - depth : end], T[:begin], T[end:])
            self._communicator.exchange(halos, self._periodic)
        self._since = 0

    def snapshot(self) -> Pending:
        return self._stepper.snapshot()

    def observe(self, series: str) -> Pending:
        """As the plate's stepper does. Probes between two slabs need both."""
        if self._since > 0 and self._depth > 0:
            self._exchange()
        return self._stepper.observe(series)
