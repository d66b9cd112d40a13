"""Powers of A, on the device: A, A², A⁴ .. by squaring, and A^k for the gaps between frames that come often.

X_{j+k} = A^k X_j + c_k with c_1 = B u, the inputs being constant, and c_{i+j} = A^i c_j + c_i. All of it is computed in
float64, as squaring loses a bit each time, and rounded to the run's precision at the end.

Cost: a product of two square matrices, 2 n³ operations, for each bit of the longest gap but one, and for each 1 among
the bits of a gap that gets a matrix of its own (see `jumps`). All squares are kept: any step between two frames can be
looked at, by products with the states alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.linear.jumps import Jumps
from simsuite.solvers.linear.power_error import PowerError
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul import held_entries, product_entries
from simsuite.solvers.matmul.product import Products


class Power:
    """X -> A^k X + c_k, for X of m columns in the run's precision."""

    def __init__(self, backend: Backend, P: Any, c: Any, dtype: Any, products: Products) -> None:
        """P (n, n), c (n, 1): float64 arrays of the device."""
        with backend.arithmetic():
            P, self._c = P.astype(dtype, copy=False), c.astype(dtype).reshape(1, -1)
        self._bias = backend.view(self._c)
        self._multiply, self.kernel = products(P)

    def __call__(self, X: Any, out: Any) -> None:
        """Queue it, from one view to another."""
        self._multiply(X, self._bias, 0, 0, 1, out)


class _Growing:
    """A^k and c_k for the bits of k below the present one."""

    def __init__(self, P: Any, c: Any) -> None:
        self.P, self.c = P, c


class Powers:
    """What takes the states of a system over any number of steps up to its longest gap.

    dtype: the run's precision; kernel: as `product` takes it. error: about what they lose, see `PowerError`; overflow:
    the step at about which the state overflows, if it does, found on the way.
    """

    def __init__(self, backend: Backend, system: LinearSystem, jumps: Jumps, dtype: Any, kernel: str) -> None:
        self.dtype, self.steps = dtype, jumps.steps
        self._backend = backend
        b = system.constant_input()
        n = len(b)
        self._products = Products(backend, jumps.m, kernel, biased=bool(np.any(b)))
        thin_products, wide_products = Products(backend, 1, kernel), Products(backend, n, kernel, biased=False)
        self._zero = backend.zeros((1, n), np.float64)
        probe = PowerError(backend, system.A, b, system.start, float(np.finfo(dtype).max))
        self._squares: list[Power] = []
        growing: dict[int, _Growing] = {}
        P, c = backend.array(system.A), backend.array(b[:, None])
        for level in range(jumps.levels):
            (thin, _), bias = thin_products(P), backend.view(c.reshape(1, n))
            probe.level(thin, bias)
            if not probe.bounded or probe.overflow is not None:
                break
            self._squares.append(self._power(P, c))
            formed = [gap for gap in jumps.formed if gap >> level & 1]
            last = level + 1 == jumps.levels
            if last and not formed:
                break
            wide, _ = wide_products(P)
            for gap in formed:
                before = growing.get(gap)
                growing[gap] = _Growing(P, c) if before is None else self._next(wide, thin, bias, before)
            if not last:
                square = self._next(wide, thin, bias, _Growing(P, c))
                P, c = square.P, square.c
            del wide
        self.error = probe.error(jumps.steps)
        self.overflow = probe.overflow
        self._formed = {gap: self._power(grown.P, grown.c) for gap, grown in growing.items()}

    def _power(self, P: Any, c: Any) -> Power:
        return Power(self._backend, P, c, self.dtype, self._products)

    def _next(self, wide: Any, thin: Any, bias: Any, before: _Growing) -> _Growing:
        """P times a power, of which `wide` and `thin` are products with many columns and one; `bias` is the c of P."""
        b = self._backend
        P, c = b.zeros(before.P.shape, np.float64), b.zeros(before.c.shape, np.float64)
        wide(b.view(before.P), b.view(self._zero), 0, 0, 1, b.view(P))
        thin(b.view(before.c), bias, 0, 0, 1, b.view(c))
        return _Growing(P, c)

    @property
    def kernel(self) -> str:
        """What the products with the states are made of."""
        return self._squares[0].kernel

    def over(self, steps: int) -> list[Power]:
        """What takes the states over so many steps, one after the other."""
        if steps in self._formed:
            return [self._formed[steps]]
        return [square for i, square in enumerate(self._squares) if steps >> i & 1]


def device_bytes(jumps: Jumps, dtype: Any) -> int:
    """What Powers allocates at most."""
    n, size = jumps.n, np.dtype(dtype).itemsize
    held = (jumps.levels + len(jumps.formed)) * (held_entries(n, n) + n)
    growing = (2 + len(jumps.formed)) * (n * n + n) + 5 * product_entries(n, n) + 16 * n
    return held * size + growing * 8
