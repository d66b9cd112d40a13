"""The price of an option as an operator of PyTorch: paths by our kernel, derivatives along the same paths.

With fixed random numbers a path's payoff is a continuous function of spot and volatility, so that its derivative may be
taken path by path (M. Broadie and P. Glasserman, Management Science 42 (1996) 269): d S / d spot = S / spot, d S / d
volatility = S (W - volatility t), where W is the Brownian motion, and a path that ends below the strike adds nothing.
The kernel returns these beside the payoffs in one pass, and `backward` multiplies them. So a price can be a part of a
loss that is minimised, as when volatilities are fitted to prices of a market. Digitals, whose payoff jumps, have no
such derivative.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from simsuite.routes.gbm.contract import Contract
from simsuite.routes.torch_launch import kernel, real_of, tensor_of

SOURCE, THREADS = Path(__file__).with_name("paths.cu"), 128


class Payoffs(torch.autograd.Function):
    """The discounted payoffs of n paths, given spot and volatility as tensors of one number on the device."""

    @staticmethod
    def forward(ctx, spot, volatility, contract, seed, n):
        out, by_spot, by_volatility = (torch.empty(n, dtype=spot.dtype, device=spot.device) for _ in range(3))
        real, name = spot.detach().cpu().numpy().dtype.type, f"{real_of(spot)}, {str(contract.asian).lower()}"
        now = Contract(
            **{**vars(contract), "spot": float(spot), "volatility": float(volatility)}
        )  # waits for both numbers
        market = map(real, (now.spot, now.strike, now.drift, now.deviation, now.discount))
        launch = kernel(SOURCE, f"with_derivatives<{name}>", (-(-n // THREADS),), (THREADS,))
        numbers = *market, np.int32(now.steps), np.uint64(seed)
        launch(out, np.int32(n), *numbers, by_spot, by_volatility, real(now.volatility))
        ctx.save_for_backward(by_spot, by_volatility)
        return out

    @staticmethod
    def backward(ctx, g):
        by_spot, by_volatility = ctx.saved_tensors
        return (g * by_spot).sum(), (g * by_volatility).sum(), None, None, None


def price(contract, seed, n, spot, volatility):
    """The price of a contract from n paths, a tensor that can be differentiated by `spot` and `volatility`, tensors of
    one number on the device."""
    return Payoffs.apply(spot, volatility, contract, seed, n).mean()


def payoffs(contract, seed, out):
    """Fill `out`, an array of any library on the device, with the discounted payoff of a path each."""
    view = tensor_of(out, 1)
    spot, volatility = (torch.tensor(x, dtype=view.dtype, device="cuda") for x in (contract.spot, contract.volatility))
    if view.numel():
        view.copy_(Payoffs.apply(spot, volatility, contract, seed, view.numel()))
    return out
