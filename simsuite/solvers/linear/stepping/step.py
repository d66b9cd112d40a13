"""Stepping a linear system: X_{k+1} = A X_k + B u_k + G w_k, one matrix product a step.

Equation: X (n, m) holds m states of n components as columns. Discrete systems are stepped as they are; continuous ones
dX/dt = A X + B u with exp(A dt) and its integral (see `discretise`), which is exact at the ends of the steps for any
dt, inputs being held constant over each step.

Stepping: two buffers take turns as X_k and X_{k+1}. The values of all inputs are evaluated on the device for a block
of steps at once, u_k = u(t_k), and multiplied by B into a table with one row a step, which the product adds to
every column. A sparse A is multiplied as it is, in continuous time by a series (see `series`). With noise (see `noise`)
the product is that of [A G] and [X; W]. Nothing is copied or allocated between steps.

Cost: 2 n^2 m floating-point operations a step; of a sparse A 2 m for each number that is stored. With a batch the
product runs at the arithmetic's speed; with a single column it reads A once and is bound by memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.linear.discretisation.noise import NoiseRows
from simsuite.solvers.linear.inputs.clock import UniformClock
from simsuite.solvers.linear.inputs.recorded import written
from simsuite.solvers.linear.stepping.observed import ObservedOutput, output_entries
from simsuite.solvers.linear.stepping.step_product import step_bytes, step_product
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Sharing
from simsuite.solvers.table import ROWS, FunctionTable

_NOWHERE = np.zeros(1)  # Inputs depend on time only, so they are evaluated at a single point of space.
# How many steps, and operations, one launch may take; a CPU takes a tenth of a second for these.
_MANY, _MUCH = 4096, 1e10
_LAUNCHES = 4096  # So many launches are recorded at once.


class _Bias:
    """Launches of the kernel that multiplies values of inputs by B. rows: the most steps at once. places: as
    `LinearSystem.input_places`.
    """

    def __init__(self, backend: Backend, B: np.ndarray, rows: int, dtype: Any, places: np.ndarray | None) -> None:
        kernels = backend.kernels("simsuite.solvers.linear.inputs.inputs")
        kernel = kernels.input_bias if places is None else kernels.input_bias_by_row
        self._launch = backend.launcher(kernel, (len(B), rows), (min(len(B), 128), 1))
        given = [B.astype(dtype), *([] if places is None else [places])]
        self._arrays = [*map(backend.array, given), backend.zeros((rows, len(B)), dtype)]
        *self._given, self.view = map(backend.view, self._arrays)

    def fill(self, values: Any, first: int, count: int) -> None:
        """Queue the rows of B u for so many rows of `values`, from the first on."""
        self._launch(values, first, *self._given, count, self.view)


class _Inputs:
    """The inputs on the device: bias[k] = B u at the k-th of the steps ahead, or a single row for all steps if u is
    constant.
    """

    def __init__(self, backend: Backend, steps: int, dtype: Any, system: LinearSystem) -> None:
        inputs = system.inputs
        # The clock of the inputs knows no frames: which frames are stored must not change the times of the inputs.
        clock, offsets = UniformClock.of(inputs.dt, (0, steps)), range(ROWS + inputs.ahead)
        pieces = [(u, _NOWHERE, _NOWHERE) for u in written(inputs.given)]
        self._table = FunctionTable(backend, clock, dtype, pieces, offsets)
        self._ahead = int(inputs.ahead)
        rows = self._table.array.shape[0] - self._ahead
        self._bias = _Bias(backend, system.B, rows, dtype, system.input_places)
        self.bias = self._bias.view
        if self._table.steady:
            self._bias.fill(self._table.values, 0, 1)

    def prepare(self, step: int, n: int) -> None:
        """Queue the evaluation for the n <= ROWS steps that begin at `step`."""
        if not self._table.steady:
            self._table.fill(step, n + self._ahead)
            self._bias.fill(self._table.values, 0, n)

    @property
    def steady(self) -> bool:
        return self._table.steady

    def row(self, k: int) -> int:
        return self._table.row(k)


class _RecordedInputs:
    """The inputs on the device, as `_Inputs` has them, where a file holds them: its values at all steps of the run."""

    steady = False

    def __init__(self, backend: Backend, steps: int, dtype: Any, system: LinearSystem) -> None:
        inputs = system.inputs
        values = np.ascontiguousarray(inputs.at(np.arange(steps + inputs.ahead)).T.astype(dtype))
        self._array = backend.array(values)
        self._values = backend.view(self._array)
        self._bias = _Bias(backend, system.B, ROWS, dtype, system.input_places)
        self.bias = self._bias.view

    def prepare(self, step: int, n: int) -> None:
        """Queue the evaluation for the n <= ROWS steps that begin at `step`."""
        self._bias.fill(self._values, step, n)

    def row(self, k: int) -> int:
        return k


class LinearStepper:
    """A stepper that takes single steps, with the state on its device.

    steps: how many the whole run has. kernel: which kernel to use, as `product` takes it. column: the number, in the
    batch, of the first state. sharing: how processes share each step; the system then has
    the rows of this one alone. Raises DeviceError where that kernel cannot be
    had.
    """

    def __init__(
        self,
        backend: Backend,
        start: Snapshot,
        system: LinearSystem,
        steps: int,
        kernel: str = "auto",
        column: int = 0,
        sharing: Sharing = ALL_ROWS,
    ) -> None:
        X = start.arrays["state"]
        dtype, (n, columns), drawn = X.dtype, X.shape, 0
        self.step = start.step
        self._backend = backend
        self._noise: NoiseRows | None = None
        if system.noise is not None:
            drawn = system.noise.G.shape[1]
            self._noise = NoiseRows(backend, n, (drawn, columns), system.noise.seed, column)
        first = backend.array(np.concatenate([X, np.zeros((drawn, columns), dtype)]))
        buffers = [first, backend.zeros(first.shape, dtype)]
        # The arrays [X; W]: a step reads all of one and writes X of the other.
        self._whole = [backend.view(a) for a in buffers]
        self._buffers = [a[:n] for a in buffers]
        self._views = [backend.view(a) for a in self._buffers]
        self._sharing = sharing
        sharing.remember([*buffers, *self._buffers], [*self._whole, *self._views])
        self._live = 0
        self._recorder = sharing.recorder(backend)
        kind = _RecordedInputs if system.inputs.recorded else _Inputs
        self._inputs = kind(backend, steps, dtype, system)
        self._product, used = step_product(backend, system, dtype, columns, kernel, sharing)
        self.chosen: Mapping[str, str] = {"kernel": used}
        self._at_once = 1 if drawn else self._product.most_steps or ROWS
        if self._at_once > 1 and self._inputs.steady:
            self._at_once = max(ROWS, min(_MANY, int(_MUCH / (2.0 * n * n * columns))) // ROWS * ROWS)
        self._recorded = ROWS if system.series is None else max(min(ROWS, _LAUNCHES // system.series.products), 1)
        self._output = ObservedOutput(backend, system.C, dtype, columns, kernel)

    def advance(self, n: int) -> None:
        while n > 0:
            block = min(n, max(self._recorded, self._at_once))
            self._inputs.prepare(self.step, block)
            if self._noise is not None:
                self._noise.prepare(self.step)
            launches = self._launches(block, self._live)
            if block > ROWS:  # A block of more steps is a single launch, whatever its length.
                launches()
            else:
                self._recorder.replay((block, self._live), launches)
            self._live = (self._live + -(-block // self._at_once)) % 2
            self.step += block
            n -= block

    def _launches(self, block: int, live: int) -> Callable[[], None]:
        def launch() -> None:
            inputs = self._inputs
            for turn, k in enumerate(range(0, block, self._at_once)):
                X, out = self._whole[(live + turn) % 2], self._views[(live + turn + 1) % 2]
                if self._noise is not None:
                    self._noise.fill(X, k)
                self._product(X, inputs.bias, inputs.row(k), inputs.row(1), min(self._at_once, block - k), out)

        return launch

    def snapshot(self) -> Pending:
        return self._backend.stage(self.step, self._sharing.seen(self.state))

    def observe(self, series: str) -> Pending:
        arrays = {**self.state, **self._output.queue(self._views[self._live])}
        return self._backend.stage(self.step, self._sharing.seen(arrays))

    @property
    def state(self) -> Mapping[str, Any]:
        return {"state": self._buffers[self._live]}


def device_bytes(system: LinearSystem, dtype: Any, steps: int) -> int:
    """The bytes that a LinearStepper allocates on its device for states of this precision and a run of `steps`.
    system: whole, or with the rows that a process holds."""
    (n, m), (held_rows, p) = system.start.shape, system.B.shape
    rows = ROWS + 1 if system.moves else 1
    recorded = (steps + 1) * len(system.inputs.given) if system.inputs.recorded else 0
    q = 0 if system.noise is None else system.noise.G.shape[1]
    entries = 2 * (n + q) * m + held_rows * p + rows * (max(p, len(system.inputs.given)) + held_rows) + recorded
    places = 0 if system.input_places is None else system.input_places.nbytes
    held = (entries + output_entries(system.C, m)) * np.dtype(dtype).itemsize
    return step_bytes(system, dtype) + held + places
