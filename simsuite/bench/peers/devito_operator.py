"""The peer Devito: the step as a symbolic equation, from which Devito makes and compiles C with OpenMP."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.bench.peers.peer import Peer, Running


def _start(T: np.ndarray, r: float, device: str) -> Running:
    import devito

    devito.configuration["log-level"] = "ERROR"
    n, m = T.shape[0] + 1, T.shape[1] + 1
    grid = devito.Grid(shape=(n + 1, m + 1), extent=(float(n), float(m)), dtype=T.dtype.type)
    t, (y, x) = grid.stepping_dim, grid.dimensions
    u: Any = devito.TimeFunction(name="u", grid=grid, time_order=1, space_order=2)
    u.data[0, 1:-1, 1:-1] = T
    outside = (((0, x), (1, x)), ((n, x), (n - 1, x)), ((y, 0), (y, 1)), ((y, m), (y, m - 1)))
    edges = [devito.Eq(u[(t, *ghost)], -u[(t, *inner)]) for ghost, inner in outside]
    step = devito.Eq(u.forward, u + r * u.laplace, subdomain=grid.interior)
    operator = devito.Operator([*edges, step], language="openmp")
    done = [0]

    def advance(n_steps: int) -> None:
        operator.apply(time_m=done[0], time_M=done[0] + n_steps - 1)
        done[0] += n_steps

    return Running(advance, lambda: np.asarray(u.data[done[0] % 2, 1:-1, 1:-1]))


DEVITO = Peer("Devito", "devito", ("cpu",), _start, slow=True)
