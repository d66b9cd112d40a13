"""The product as an operator of PyTorch: C = A B by our kernel, and so are both derivatives.

With G = dL / dC, the derivative by A is G B' and that by B is A' G (' is transposed): two products more, by the same
kernel. It takes matrices in C order, so that a transposed one, which PyTorch has as a view with other strides, is
copied first. PyTorch's own product, cuBLAS, is faster; what counts is how an operation of one's own gets into a network
and can be trained through.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from simsuite.routes.matmul.shapes import sizes
from simsuite.routes.torch_launch import kernel, real_of, tensor_of

SOURCE, TILE, THREADS = Path(__file__).with_name("product.cu"), 64, 256


def multiply(a, b):
    """C = A B for tensors on the device, without derivatives."""
    a, b = a.contiguous(), b.contiguous()
    m, k, n = sizes(a.detach(), b.detach())
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel():
        launch = kernel(SOURCE, f"product<{real_of(a)}>", (-(-n // TILE), -(-m // TILE)), (THREADS,))
        launch(a, b, c, *map(np.int32, (m, k, n)))
    return c


class Product(torch.autograd.Function):
    """C = A B."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return multiply(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return multiply(g, b.t()), multiply(a.t(), g)


def product(a, b):
    """C = A B, a tensor; a and b may be arrays of any library on the device."""
    return Product.apply(tensor_of(a, 2), tensor_of(b, 2))
