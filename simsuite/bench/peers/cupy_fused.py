"""The peer CuPy with an ElementwiseKernel: the whole step in one kernel, from a few lines of C++."""

from __future__ import annotations

import numpy as np

from simsuite.bench.peers.peer import Peer, Running

BODY = """
    int x = i % nx, y = i / nx;
    T c = u[i];
    T west = x > 0 ? u[i - 1] : -c;
    T east = x < nx - 1 ? u[i + 1] : -c;
    T south = y > 0 ? u[i - nx] : -c;
    T north = y < ny - 1 ? u[i + nx] : -c;
    out = c + r * (west + east + south + north - 4 * c);
"""


def _start(T: np.ndarray, r: float, device: str) -> Running:
    import cupy

    step = cupy.ElementwiseKernel("raw T u, T r, int32 nx, int32 ny", "T out", BODY, "heat_step")
    ny, nx = T.shape
    fields = [cupy.asarray(T), cupy.empty_like(cupy.asarray(T))]

    def advance(n: int) -> None:
        for _ in range(n):
            step(fields[0], T.dtype.type(r), nx, ny, fields[1])
            fields.reverse()
        cupy.cuda.Device().synchronize()

    return Running(advance, lambda: cupy.asnumpy(fields[0]))


CUPY_FUSED = Peer("CuPy fused", "cupy", ("cuda",), _start)
