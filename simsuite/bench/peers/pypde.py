"""The peer py-pde: its diffusion equation, stepped by its Euler method, which Numba compiles."""

from __future__ import annotations

import numpy as np

from simsuite.bench.peers.peer import Peer, Running

DT = 0.2


def _start(T: np.ndarray, r: float, device: str) -> Running:
    import pde

    ny, nx = T.shape
    grid = pde.CartesianGrid([[0, ny], [0, nx]], [ny, nx])
    state = pde.ScalarField(grid, T, dtype=T.dtype)
    equation = pde.DiffusionPDE(r / DT, bc={"value": 0})
    stepper = pde.EulerSolver(equation, backend="numba", adaptive=False).make_stepper(state, DT)

    def advance(n: int) -> None:
        stepper(state, 0.0, n * DT)

    return Running(advance, lambda: np.asarray(state.data))


PY_PDE = Peer("py-pde", "pde", ("cpu",), _start, slow=True)
