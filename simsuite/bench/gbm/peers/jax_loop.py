"""JAX: a fixing in array operations inside `fori_loop`, compiled by XLA."""

from __future__ import annotations

from typing import Any

from simsuite.bench.gbm.peers.peer import Asian, Peer, Pricer, in_chunks
from simsuite.bench.peers.jax_loop import opened


def _start(asian: Asian, precision: str, device: str, chunk: int) -> Pricer:
    jax, place = opened(device)
    import jax.numpy as jnp

    dtype = jnp.dtype(precision)

    def batch(key: Any) -> Any:
        def fixing(i: Any, state: Any) -> Any:
            x, total = state
            normals = jax.random.normal(jax.random.fold_in(key, i), (chunk,), dtype)
            x = x + asian.drift + asian.deviation * normals
            return x, total + jnp.exp(x)

        nothing = jnp.zeros(chunk, dtype)
        _, total = jax.lax.fori_loop(0, asian.fixings, fixing, (nothing, nothing))
        payoff = jnp.maximum(asian.spot * total.astype("float64") / asian.fixings - asian.strike, 0.0)
        return payoff.sum(), payoff @ payoff

    compiled = jax.jit(batch)
    keys = [jax.device_put(jax.random.key(1), place)]

    def sums() -> tuple[float, float]:
        keys[0], own = jax.random.split(keys[0])
        total, squares = compiled(own)
        return float(total), float(squares)

    return in_chunks(asian, chunk, sums)


JAX = Peer("JAX fori_loop", "jax", ("cpu", "cuda"), _start)
