"""What kernels of RKL2 stages with constant coefficients take beside a `Mesh`; see `operator.arguments` for how it is
passed."""

from __future__ import annotations

from typing import Any, NamedTuple


class Factors(NamedTuple):
    """Of a stage, as in `stages`, numbers of the precision of the run. mu, nu, r, g: μ, n, r, g. b: what the ledger
    adds up of a difference across an edge along x, in the ledger's unit per K."""

    mu: Any
    nu: Any
    r: Any
    g: Any
    b: Any


class TableRows(NamedTuple):
    """Where rows of the edge table begin. at: the one for the last stage. at0: that for the first."""

    at: Any
    at0: Any
