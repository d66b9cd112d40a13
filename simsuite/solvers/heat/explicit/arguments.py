"""What kernels for constant coefficients take, named in one place for all who pass it or read it; see
`operator.arguments` for how it is passed."""

from __future__ import annotations

from typing import Any, NamedTuple


class Mesh(NamedTuple):
    """A plate with constant coefficients and no sources, at all times, of explicit steps and of RKL2 stages.

    edges: rows of β (1), then γ (K), at all edge points, real (rows · 2 points,); which row counts is a further
    argument, `at`, the place where it begins. ledger: rise in temperature that came in through each edge point, K, real
    (points,). q: Δx²/Δy², times the ratio of the conductivities where they differ along x and y. wrap_x, wrap_y:
    whether that direction is periodic.
    """

    edges: Any
    ledger: Any
    q: Any
    wrap_x: Any
    wrap_y: Any
