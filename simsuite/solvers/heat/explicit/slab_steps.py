"""Explicit steps of a slab of rows, whose neighbours are in other processes. See `grid.slabs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsuite.core import Pending
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper
from simsuite.solvers.heat.grid.neighbours import Neighbours
from simsuite.solvers.heat.operator.compensated import LOW


class SlabStepper:
    """Steps a slab's plate and exchanges its halos. stepper: of the plate, whose halos are right."""

    def __init__(self, stepper: ExplicitStepper, beside: Neighbours) -> None:
        self._stepper, self._beside = stepper, beside
        self._since = 0  # steps since halos were right
        self.step = stepper.step
        self.chosen: Mapping[str, str] = stepper.chosen

    @property
    def state(self) -> Mapping[str, Any]:
        return self._stepper.state

    def advance(self, n: int) -> None:
        self._stepper.check_end(n)
        while n > 0:
            if self._since == self._beside.depth:
                self._exchange()
            some = min(n, self._beside.depth - self._since)
            self._stepper.advance(some)
            self._since += some
            self.step += some
            n -= some

    def _exchange(self) -> None:
        state = self._stepper.state
        self._beside.exchange(state[name] for name in ("temperature", LOW) if name in state)
        self._since = 0

    def snapshot(self) -> Pending:
        return self._stepper.snapshot()

    def observe(self, series: str) -> Pending:
        """As the plate's stepper does. Probes between two slabs, and rates of change, need a row of each halo."""
        if self._since == self._beside.depth:
            self._exchange()
        return self._stepper.observe(series)
