"""A CPU that counts the bytes that are allocated on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.backends.cpu import CpuBackend


class Counting(CpuBackend):
    total = 0

    def array(self, host: np.ndarray) -> np.ndarray:
        self.total += host.nbytes
        return super().array(host)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        a = super().zeros(shape, dtype)
        self.total += a.nbytes
        return a
