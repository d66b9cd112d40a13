"""PyTorch: a fixing in tensor operations, which torch.compile fuses into one kernel, its random numbers included."""

from __future__ import annotations

from typing import Any

from simsuite.bench.gbm.peers.peer import Asian, Peer, Pricer, in_chunks


def _start(asian: Asian, precision: str, device: str, chunk: int) -> Pricer:
    import torch

    dtype = getattr(torch, precision)

    def fixing(x: Any, total: Any) -> Any:
        x = x + asian.drift + asian.deviation * torch.randn_like(x)
        return x, total + torch.exp(x)

    torch._dynamo.reset()
    torch.manual_seed(1)
    compiled = torch.compile(fixing, fullgraph=True, dynamic=False)

    def sums() -> tuple[float, float]:
        with torch.inference_mode():
            x, total = (torch.zeros(chunk, dtype=dtype, device=device) for _ in range(2))
            for _ in range(asian.fixings):
                x, total = compiled(x, total)
            payoff = torch.clamp(asian.spot * total.double() / asian.fixings - asian.strike, min=0)
            return float(payoff.sum()), float(payoff @ payoff)

    return in_chunks(asian, chunk, sums)


TORCH = Peer("torch.compile", "torch", ("cpu", "cuda"), _start, slow=True)
