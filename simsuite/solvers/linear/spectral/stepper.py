"""Modes instead of steps: X_k = W (M^k Z_0 + (1 + M + .. + M^(k-1)) W^-1 B u), at any step (see `decompose`).

The state is computed when it is asked for, from the coordinates of the first state: its bits depend on the step alone.
Snapshots contain the modes and these coordinates, so a run is continued without another decomposition.

Cost: about 65 n^3 operations on the host, once; for each frame 2 n^2 m on the device, whatever its step is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import SNAPSHOTS, Backend, Pending, Snapshot
from simsuite.solvers.linear.spectral.prepare import ERROR, MODES, RATES, START, Prepared
from simsuite.solvers.linear.spectral.rates import ROWS
from simsuite.solvers.linear.stepping.observed import ObservedOutput, output_entries
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul import held_entries
from simsuite.solvers.matmul.product import product


class SpectralStepper:
    """A stepper that takes modes, with the state on its device. kernel: as `product` takes it."""

    def __init__(
        self, backend: Backend, start: Snapshot, system: LinearSystem, prepared: Prepared, kernel: str
    ) -> None:
        X = start.arrays["state"]
        n, m = X.shape
        self.step = self._shown = start.step
        self._backend = backend
        self._state, self._moved = backend.array(X), backend.zeros((n, m), X.dtype)
        self._modes, self._start = backend.array(prepared.modes), backend.array(prepared.start)
        self._rates, self._error = backend.array(prepared.rates), backend.array(np.array([prepared.loss.error]))
        self._weights, self._no_bias = backend.zeros((3, n), np.float64), backend.zeros((1, n), X.dtype)
        kernels = backend.kernels("simsuite.solvers.linear.spectral.modes")
        self._weigh = backend.launcher(kernels.weigh, (n,), (min(n, 128),))
        self._move = backend.launcher(kernels.move, (m, n), (min(m, 32), min(n, 8)))
        self._multiply, used = product(backend, self._modes, m, kernel, biased=False)
        self.chosen: Mapping[str, str] = {"kernel": used}
        self._output = ObservedOutput(backend, system.C, X.dtype, m, kernel)
        arrays = self._rates, self._weights, self._start, self._moved, self._no_bias, self._state
        self._views = [backend.view(a) for a in arrays]

    def advance(self, n: int) -> None:
        self.step += n

    def _present(self) -> Any:
        """The array of the present state, whose computation is queued if necessary."""
        if self._shown != self.step:
            rates, weights, start, moved, no_bias, state = self._views
            self._weigh(rates, self.step, weights)
            self._move(rates, weights, start, moved)
            self._multiply(moved, no_bias, 0, 0, 1, state)
            self._shown = self.step
        return self._state

    def snapshot(self) -> Pending:
        kept = {MODES: self._modes, START: self._start, RATES: self._rates, ERROR: self._error}
        return self._backend.stage(self.step, {**self.state, **kept})

    def observe(self, series: str) -> Pending:
        arrays = {**self.state, ERROR: self._error, **self._output.queue(self._views[-1])}
        return self._backend.stage(self.step, arrays)

    @property
    def state(self) -> Mapping[str, Any]:
        return {"state": self._present()}


def device_bytes(system: LinearSystem, dtype: Any) -> int:
    """The bytes that a SpectralStepper allocates on its device for states of this precision, together with the arrays
    that snapshots hold beside the state while they are copied to the host.
    """
    (n, m), size = system.start.shape, np.dtype(dtype).itemsize
    kept = n * n * size + 8 * (n * m + ROWS * n + 1)
    others = held_entries(n, n) + 2 * n * m + n + output_entries(system.C, m)
    return (1 + SNAPSHOTS) * kept + others * size + 8 * 3 * n
