"""Data without what they are at single moments, such as those that `(t == 50)` picks out.

At a moment nothing can be heated; yet a step that begins just then would take its data for those of the whole step. So
a comparison that holds at single moments only counts as one that never holds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.moments import almost_everywhere, isolated
from simsuite.expressions.tree import Apply, names_in
from simsuite.solvers.heat.grid.irregular import GOLDEN

_LOOKS = 64  # the number of irregular times that are looked at
_POINTS = 16  # the number of places along each axis in which comparisons are looked at


def without_moments(f: Expression, x: np.ndarray, y: np.ndarray, end: float) -> Expression:
    """The function almost everywhere in time: without the comparisons of times that hold, or do not hold, at single
    moments only. x, y: where it counts, m, arrays that broadcast. end: of the run, s."""
    if not f.depends_on("t"):
        return f
    found = frozenset(_at_moments(isolated(f.tree, "t"), x, y, end))
    return Expression.from_tree(almost_everywhere(f.tree, found), f.variables) if found else f


def _at_moments(comparisons: Iterable[Apply], x: np.ndarray, y: np.ndarray, end: float) -> Iterable[Apply]:
    """Those comparisons that say the same at all times that are looked at: whose two sides are never equal there."""
    times = end * ((np.arange(_LOOKS) + 1) * GOLDEN % 1.0)
    x, y = (np.broadcast_to(a, np.broadcast_shapes(x.shape, y.shape)) for a in (x, y))
    few = tuple(slice(None, None, -(-n // _POINTS)) for n in x.shape)
    for comparison in comparisons:
        if names_in(comparison) <= {"x", "y", "t"}:
            equal = Expression.from_tree(_equal(comparison), ("x", "y", "t"))
            if not any(np.any(equal(x=x[few], y=y[few], t=t)) for t in times):
                yield comparison


def _equal(comparison: Apply) -> Apply:
    return Apply("==", comparison.args)
