"""What inputs add to the state in many steps, computed on a device.

While inputs keep the values u, k steps add S_k u with S_k = (1 + A + .. + A^(k-1)) B, and S_{i+j} = A^i S_j + S_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.linear.system import LinearSystem


class Drive:
    """The inputs of a system whose `held` is known: B (n, q), and the values that inputs take in turn, columns of q
    numbers.

    Inputs that never change are replaced by a single input of the value 1, whose column of B is the sum B u.
    """

    def __init__(self, backend: Backend, system: LinearSystem) -> None:
        held = system.held
        assert held is not None
        B, values = system.B, held.values
        if not held.changes:
            B, values = B @ values, np.ones((1, 1))
        self._backend, self.held = backend, held
        self._array = backend.array(np.ascontiguousarray(values.T))
        self._values = backend.view(self._array)
        self._bias = backend.kernels("simsuite.solvers.linear.inputs.inputs").input_bias
        self.B = backend.array(np.ascontiguousarray(B.T))
        self.silent = not (np.any(B) and np.any(values))
        self.positive = bool(np.all(B >= 0) and np.all(values >= 0))
        # The column of values that adds most to the state in a step, about.
        self.strongest = int(np.argmax(np.linalg.norm(B, axis=0) @ np.abs(values)))

    def sums(self, S: Any, dtype: Any) -> Sums:
        sums = Sums(self._backend, S, dtype, self._bias, self._values)
        sums.turn_to(0)
        return sums


class Sums:
    """The row S u on the device, where S (q, n) is stored with a row for each input. view: a view
    of that row, (1, n).
    """

    def __init__(self, backend: Backend, S: Any, dtype: Any, kernel: Any, values: Any) -> None:
        n = S.shape[1]
        self._values, self._array, self._S = values, S, backend.view(S.T)
        self._row = backend.zeros((1, n), dtype)
        self.view = backend.view(self._row)
        self._launch = backend.launcher(kernel, (n, 1), (min(n, 128), 1))

    def turn_to(self, which: int) -> None:
        """Queue that the row is computed from column `which` of the inputs' values."""
        self._launch(self._values, which, self._S, 1, self.view)
