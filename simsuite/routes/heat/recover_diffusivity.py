"""How fast does heat spread in this plate? Recovers a diffusivity from its final temperatures, measured with noise.

    python -m simsuite.routes.heat.recover_diffusivity

A square plate of 1 m with a hot spot cools for a while; all temperatures at the end are measured with an error of 1 %
of the highest. Starting from a diffusivity that is three times too large, Adam (D. P. Kingma and J. Ba, 2015) lowers
the mean square of the differences; PyTorch takes the derivative through all steps, by the adjoint step of
`torch_operator.py`. The unknown is the logarithm of the diffusivity, which keeps it positive.
"""

from __future__ import annotations

import torch

from simsuite.routes.heat.torch_operator import advance

POINTS, STEPS, END = 33, 200, 100.0  # along an edge, in time, and the end in seconds
TRUE, GUESS = 1e-4, 3e-4  # m^2/s


def plate(dtype=torch.float64):
    """The temperatures at the beginning: a hot spot off the middle, 0 on the edges."""
    s = torch.linspace(0, 1, POINTS, dtype=dtype, device="cuda")
    y, x = torch.meshgrid(s, s, indexing="ij")
    u = 100 * torch.exp(-((x - 0.4) ** 2 + (y - 0.55) ** 2) / 0.02)
    u[0], u[-1], u[:, 0], u[:, -1] = 0, 0, 0, 0
    return u


def cooled(u, diffusivity):
    """The temperatures at the end."""
    r = diffusivity * (END / STEPS) * (POINTS - 1) ** 2
    return advance(u, STEPS, r, r)


def recover(seed=0, rounds=60):
    """The diffusivity found, in m^2/s."""
    torch.manual_seed(seed)
    start = plate()
    with torch.no_grad():
        measured = cooled(start, TRUE)
        measured += 0.01 * measured.max() * torch.randn_like(measured)
    logarithm = torch.tensor(GUESS, dtype=torch.float64, device="cuda").log().requires_grad_()
    descent = torch.optim.Adam([logarithm], lr=0.2)
    slower = torch.optim.lr_scheduler.ExponentialLR(descent, 0.93)
    for _ in range(rounds):
        descent.zero_grad()
        misfit = ((cooled(start, logarithm.exp()) - measured) ** 2).mean()
        misfit.backward()
        descent.step()
        slower.step()
    return float(logarithm.exp())


if __name__ == "__main__":
    found = recover()
    print(f"true {TRUE:.4g}, first guess {GUESS:.4g}, recovered {found:.6g} m^2/s ({100 * (found / TRUE - 1):+.3f} %)")
