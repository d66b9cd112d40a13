"""How good powers of A are."""

from __future__ import annotations

from typing import NamedTuple


class Estimate(NamedTuple):
    """See `powers.Powers`."""

    lost: float
    rounding: float
    products: float
    overflow: float | None
