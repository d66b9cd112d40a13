"""Process noise: X_{k+1} = A X_k + B u_k + G w_k, with independent standard normal numbers w_k for each state and step.

The product that steps the system runs with [A G] on [X; W]: W lies below X in the same buffer, and is filled before
every step. A number is a function of (seed, state of the batch, step, component) and nothing else, by Philox4x32-10 and
Box-Muller in float64 (see `simsuite.rng`): a block of Philox gives the components 2i and 2i + 1. The same numbers come
out for every batch and block size, on every device, and wherever a run is interrupted; float32 runs round them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend

_BLOCK = (128, 1)


@dataclass(frozen=True)
class ProcessNoise:
    """The noise of a step: its matrix G (n, q), float64, and the seed of the random numbers w."""

    G: np.ndarray
    seed: int


class NoiseRows:
    """The rows from `first` on of buffers (first + q, m), which are filled with the noise w. column: the number, in the
    batch, of the first of the m states.

    The step number is kept on the device, so that launches can be recorded and replayed at later steps.
    """

    def __init__(self, backend: Backend, first: int, shape: tuple[int, int], seed: int, column: int = 0) -> None:
        q, m = shape
        kernels = backend.kernels("simsuite.solvers.linear.discretisation.noise")
        self._first, self._seed, self._column = first, np.uint64(seed), column
        self._array = backend.zeros(1, np.int64)
        self._begin = backend.view(self._array)
        self._mark = backend.launcher(kernels.mark, (1,), (1,))
        self._fill: Callable[..., None] = backend.launcher(kernels.fill, (m, -(-q // 2)), _BLOCK)

    def prepare(self, step: int) -> None:
        """Queue that steps are counted from `step` on."""
        self._mark(self._begin, step)

    def fill(self, buffer: Any, k: int) -> None:
        """Queue that a buffer, given as a view, is filled with the noise w of the k-th step since
        the last `prepare`.
        """
        self._fill(buffer, self._first, self._begin, k, self._seed, self._column)
