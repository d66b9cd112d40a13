"""Products a second by every kernel, and by the choice of `auto` for the shape, beside the device's library.

Launches are recorded where the device can, as those of steps are. Each timed product is checked without computing it
again: out v = A (X v) for a vector v of random signs, in float64 on the host (R. Freivalds, "Probabilistic machines can
use less running time", IFIP 1977). A single wrong entry of the size of the others would exceed rounding by far, which
adds up like the root of the number of terms.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.bench.checking import Deviation
from simsuite.bench.findings import Row
from simsuite.bench.linear.library import library
from simsuite.bench.linear.shapes import Shape
from simsuite.bench.machine import Machine
from simsuite.bench.timing import Patience, seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.matmul.product import kernels_for, product

_RECORDED = 16  # products
# The limit in roundings of a row's sum; the largest of some thousand rows is 4 standard deviations off.
_ROUNDINGS = 6.0


@dataclass(frozen=True)
class _Given:
    """Random factors between -1 and 1, on the host and on the device, and the array for their product."""

    host: tuple[np.ndarray, np.ndarray]
    A: Any
    X: Any
    bias: Any
    out: Any

    @classmethod
    def of(cls, backend: Backend, shape: Shape, precision: str) -> _Given:
        n, p, m = shape
        rng = np.random.Generator(np.random.Philox(1))
        A, X = (2 * rng.random(size, dtype=np.float32) - 1 for size in ((n, p), (p, m)))
        A, X = A.astype(precision), X.astype(precision)
        bias, out = backend.zeros((1, n), precision), backend.zeros((n, m), precision)
        return cls((A, X), backend.array(A), backend.array(X), bias, out)


def product_rows(
    backend: Backend, machine: Machine, patience: Patience, shapes: Sequence[Shape], precisions: Sequence[str]
) -> Iterator[Row]:
    """A row for each shape, precision and kernel, as it is measured; the library's comes first."""
    for shape in shapes:
        for precision in precisions:
            name = dict(zip(("rows", "inner", "columns"), shape)) | {"precision": precision}
            try:
                given = _Given.of(backend, shape, precision)
            except (DeviceError, MemoryError) as reason:
                yield name | {"kernel": "any", "skipped": str(reason)}
                continue
            best = None
            for kernel, make in _candidates(backend, given, shape):
                row = _measured(backend, machine, patience, given, make)
                if best is None:
                    best = row.get("flops")
                elif "flops" in row:
                    row["of_library"] = row["flops"] / best
                yield name | {"kernel": kernel} | row


def _candidates(
    backend: Backend, given: _Given, shape: Shape
) -> Iterator[tuple[str, Callable[[], Callable[[], None]]]]:
    """(name, function that makes a function that queues a product) for each kernel."""
    known = library(backend)
    if known is not None:
        yield known.name, lambda: functools.partial(known.multiply, given.A, given.X, given.out)
    for name, make in kernels_for(backend, shape, given.host[0].itemsize):
        yield name, functools.partial(_bound, backend, given, make)
    if backend.compiles:
        yield (
            "auto",
            functools.partial(_bound, backend, given, lambda b, A, columns: product(b, A, columns, biased=False)[0]),
        )


def _bound(backend: Backend, given: _Given, make: Callable[..., Any]) -> Callable[[], None]:
    multiply = make(backend, given.A, given.X.shape[1])
    X, bias, out = map(backend.view, (given.X, given.bias, given.out))
    return functools.partial(multiply, X, bias, 0, 0, 1, out)


def _measured(
    backend: Backend, machine: Machine, patience: Patience, given: _Given, make: Callable[[], Callable[[], None]]
) -> Row:
    A, X = given.host
    flops, precision = 2.0 * A.size * X.shape[1], str(A.dtype)
    try:
        queue = make()
        with backend.arithmetic():
            given.out[...] = math.nan  # Entries that a kernel does not write will be found.
        queue()
    except DeviceError as reason:
        return {"skipped": str(reason)}
    off = product_deviation(A, X, backend.to_host(given.out))
    row: Row = {"largest_error": off.error, "error_limit": off.limit, "right": off.right}
    if not off.right:
        return row

    recorder = backend.recorder()

    def launches() -> None:
        for _ in range(_RECORDED):
            queue()

    def work(times: int) -> None:
        for _ in range(times):
            recorder.replay("products", launches)

    took = seconds(backend, work, patience)[0] / _RECORDED
    row |= {"seconds": took, "flops": flops / took}
    return row | {"of_fma": row["flops"] / (2 * machine.fma[precision])}


def product_deviation(A: np.ndarray, X: np.ndarray, found: np.ndarray) -> Deviation:
    """The deviation of all entries at once, in units of the typical sum of a row of random numbers."""
    p, m = X.shape
    v = np.where(np.random.Generator(np.random.Philox(2)).random(m) < 0.5, -1.0, 1.0)
    expected = A.astype(np.float64) @ (X.astype(np.float64) @ v)
    error = np.max(np.abs(found.astype(np.float64) @ v - expected)) / (math.sqrt(p * m) / 3)
    eps = float(np.finfo(A.dtype).eps)
    return Deviation(float(error) if math.isfinite(error) else math.inf, _ROUNDINGS * eps * (1 + math.log2(p * m)))
