"""The peer PyTorch: a step in tensor operations, which torch.compile fuses into one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.bench.peers.peer import Peer, Running


def _start(T: np.ndarray, r: float, device: str) -> Running:
    import torch
    from torch.nn.functional import pad

    # The value behind an edge is -T, but padding puts 0 there.
    centre = torch.full((T.shape[0],), -2.0, dtype=torch.from_numpy(T).dtype, device=device)
    centre[[0, -1]] -= 1

    def step(u: Any) -> Any:
        p = pad(u, (1, 1, 1, 1))
        return u + r * (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] + (centre + centre[:, None]) * u)

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, dynamic=False)
    state = [torch.from_numpy(T).to(device)]

    def advance(n: int) -> None:
        with torch.inference_mode():
            for _ in range(n):
                state[0] = compiled(state[0])
        if state[0].is_cuda:
            torch.cuda.synchronize(device)

    return Running(advance, lambda: state[0].cpu().numpy())


TORCH = Peer("torch.compile", "torch", ("cpu", "cuda"), _start, slow=True)
