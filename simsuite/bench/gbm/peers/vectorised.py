"""Arrays over paths, a loop over fixings: NumPy on the CPU, CuPy on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.bench.gbm.peers.peer import Asian, Peer, Pricer, in_chunks


def _numpy(asian: Asian, precision: str, device: str, chunk: int) -> Pricer:
    return _start(np, asian, precision, chunk)


def _cupy(asian: Asian, precision: str, device: str, chunk: int) -> Pricer:
    import cupy

    return _start(cupy, asian, precision, chunk)


def _start(xp: Any, asian: Asian, precision: str, chunk: int) -> Pricer:
    dtype = np.dtype(precision)
    generator = xp.random.default_rng(1)
    drift, deviation = dtype.type(asian.drift), dtype.type(asian.deviation)

    def sums() -> tuple[float, float]:
        x, total = xp.zeros(chunk, dtype), xp.zeros(chunk, dtype)
        for _ in range(asian.fixings):
            x += drift + deviation * generator.standard_normal(chunk, dtype=dtype)
            total += xp.exp(x)
        mean = asian.spot * total.astype(np.float64) / asian.fixings
        payoff = xp.maximum(mean - asian.strike, 0.0)
        return float(payoff.sum()), float(payoff @ payoff)

    return in_chunks(asian, chunk, sums)


NUMPY = Peer("NumPy", "numpy", ("cpu",), _numpy)
CUPY = Peer("CuPy", "cupy", ("cuda",), _cupy)
