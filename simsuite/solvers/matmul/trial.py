"""A trial of several products on a device: which is the fastest, and whether two of them give the same bits."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul.product_protocol import Product

P = TypeVar("P", bound=Product)

_STEPS = 64  # Products that can take many steps take so many at once.
_FLOPS = 1e10  # So many operations are timed together, like the steps between two frames.
_LAUNCHES = 32  # At most so many launches are timed together.
_PERIOD = 65_521  # The random numbers repeat after so many, a prime.


class Trial:
    """Random numbers on which products of one shape are tried: X (p, m), no bias, and two results.

    shape: (rows, inner, columns). Raises DeviceError if they do not fit into the device's memory.
    """

    def __init__(self, backend: Backend, shape: tuple[int, int, int], dtype: Any) -> None:
        n, p, m = shape
        some = np.random.default_rng(0).standard_normal(_PERIOD).astype(dtype)
        self._backend, self._shape, self._dtype = backend, shape, np.dtype(dtype)
        self._arrays = [backend.array(np.resize(some, (p, m))), *(backend.zeros((n, m), dtype) for _ in range(2))]
        self._no_bias = backend.zeros((1, n), dtype)
        self._views = [backend.view(a) for a in (*self._arrays, self._no_bias)]

    @staticmethod
    def fits(backend: Backend, shape: tuple[int, int, int], dtype: Any) -> bool:
        n, p, m = shape
        return 2 * (p + 2 * n) * m * np.dtype(dtype).itemsize < backend.memory_free()

    def same_bits(self, one: Product, other: Product) -> bool:
        """Whether two products give the same bits on random numbers. As the order of additions depends on the shape
        alone, they then do so on any numbers.
        """
        X, *outs, no_bias = self._views
        for product, out in zip((one, other), outs):
            product(X, no_bias, 0, 0, 1, out)
        with self._backend.arithmetic():
            return bool((self._arrays[1] == self._arrays[2]).all())

    def fastest(self, products: Sequence[P]) -> P:
        X, out, _, no_bias = self._views
        steps = min(_STEPS if p.most_steps is None else 1 for p in products)
        n, p, m = self._shape
        launches = min(_LAUNCHES, max(1, int(_FLOPS / (2.0 * n * p * m * steps))))
        what = f"{launches} times {steps} of {n} x {p} times {p} x {m} {self._dtype.name}"
        recorder = self._backend.recorder()

        def queue(product: P) -> None:
            for _ in range(launches):
                product(X, no_bias, 0, 0, steps, out)

        trials = [functools.partial(recorder.replay, i, functools.partial(queue, p)) for i, p in enumerate(products)]
        return products[self._backend.fastest(f"{what} by {', '.join(map(str, products))}", trials)]
