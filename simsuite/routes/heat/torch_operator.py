"""The heat step as an operator of PyTorch: forward and backward are kernels of our own, on tensors without a copy.

A `torch.autograd.Function` says what a function does (`forward`) and how a derivative goes back through it
(`backward`). The step is linear in u, so that its backward is the adjoint step: with g = dL / dv, the point i gets back
what it gave away, g[i] itself and rx, ry times the g of those neighbours that took from it, the inner ones. The
derivative by rx is the sum of g times the difference along x. PyTorch keeps u for that, one plate a step. See
`recover_diffusivity.py` for a use.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from simsuite.routes.torch_launch import kernel, real_of, tensor_of

SOURCE, THREADS = Path(__file__).with_name("step_torch.cu"), (64, 4)


def launcher(name, u):
    """The kernel `name` for plates like u."""
    ny, nx = u.shape
    return kernel(SOURCE, f"{name}<{real_of(u)}>", (-(-nx // THREADS[0]), -(-ny // THREADS[1])), THREADS)


class HeatStep(torch.autograd.Function):
    """v = step(u, r): u is a plate u[y, x], r a tensor of two numbers, rx and ry, on the device as well."""

    @staticmethod
    def forward(ctx, u, r):
        u, r = u.contiguous(), r.to(u.dtype).contiguous()
        v = torch.empty_like(u)
        launcher("step", u)(u, v, np.int32(u.shape[1]), np.int32(u.shape[0]), r)
        ctx.save_for_backward(u, r)
        return v

    @staticmethod
    def backward(ctx, g):
        u, r = ctx.saved_tensors
        g = g.contiguous()
        by_u, by_rx, by_ry = torch.empty_like(u), torch.empty_like(u), torch.empty_like(u)
        sizes = np.int32(u.shape[1]), np.int32(u.shape[0])
        launcher("adjoint", u)(u, g, *sizes, r, by_u, by_rx, by_ry)
        return by_u, torch.stack((by_rx.sum(), by_ry.sum()))


def advance(u, steps, rx, ry):
    """The plate u[y, x] after so many steps, a tensor; edges keep their values. rx, ry: numbers, or tensors of one
    number, by which the result can be differentiated."""
    u = tensor_of(u, 2)
    r = torch.stack([torch.as_tensor(x, dtype=u.dtype, device=u.device) for x in (rx, ry)])
    for _ in range(steps):
        u = HeatStep.apply(u, r)
    return u if steps else u.clone()
