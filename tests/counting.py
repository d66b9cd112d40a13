"""A CPU that counts the bytes that are allocated on it."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from simsuite.backends.cpu import CpuBackend


class Counting(CpuBackend):
    """total: all that ever were. most: of those that were there at the same time."""

    total = most = there = 0

    def array(self, host: np.ndarray) -> np.ndarray:
        return self._counted(super().array(host))

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        return self._counted(super().zeros(shape, dtype))

    def _counted(self, a: np.ndarray) -> np.ndarray:
        self.total += a.nbytes
        self.there += a.nbytes
        self.most = max(self.most, self.there)
        weakref.finalize(a, self._freed, a.nbytes)
        return a

    def _freed(self, size: int) -> None:
        self.there -= size
