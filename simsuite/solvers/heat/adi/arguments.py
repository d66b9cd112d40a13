"""What kernels that solve along lines of cells take; see `operator.arguments` for how it is passed."""

from __future__ import annotations

from typing import Any, NamedTuple


class Along(NamedTuple):
    """Lines of n cells, m beside each other, along either axis.

    g: conductances divided by Δ², real (n + 1, m). c: 1/(ρc), real (n, m). edges: the edge table, of which a row is
    taken that begins at a further argument, `at`. first: number of the edge point at the beginning of line 0; that at
    its end comes m later. wrap: whether lines are closed to rings.
    """

    g: Any
    c: Any
    edges: Any
    first: Any
    wrap: Any
