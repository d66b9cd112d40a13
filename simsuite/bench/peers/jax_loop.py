"""The peer JAX: a step in array operations inside `fori_loop`, compiled by XLA."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from simsuite.bench.peers.peer import Peer, Running

PLATFORMS = {"cpu": "cpu", "cuda": "gpu"}


def opened(device: str) -> tuple[Any, Any]:
    """JAX, set up for both precisions, and its own object for a device named like "cpu" or "cuda:0"."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # Otherwise it takes most of the memory for itself.
    import jax

    jax.config.update("jax_enable_x64", True)
    kind, _, index = device.partition(":")
    return jax, jax.devices(PLATFORMS[kind])[int(index or 0)]


def _start(T: np.ndarray, r: float, device: str) -> Running:
    jax, place = opened(device)
    import jax.numpy as jnp

    centre = np.full(T.shape[0], -2, T.dtype)
    centre[[0, -1]] -= 1

    def step(_: Any, u: Any) -> Any:
        p = jnp.pad(u, 1)  # pads with 0, although the value behind an edge is -T
        return u + r * (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] + (centre + centre[:, None]) * u)

    @functools.partial(jax.jit, donate_argnums=0)
    def steps(u: Any, n: Any) -> Any:
        return jax.lax.fori_loop(0, n, step, u)

    state = [jax.device_put(T, place)]

    def advance(n: int) -> None:
        state[0] = steps(state[0], n).block_until_ready()

    return Running(advance, lambda: np.asarray(state[0]))


JAX = Peer("JAX fori_loop", "jax", ("cpu", "cuda"), _start)
