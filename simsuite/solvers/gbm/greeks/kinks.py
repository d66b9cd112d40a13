"""Whether the price of an option has a kink just at the spot, where it has one slope to the left and another to the
right, and no delta.

The derivative of a payoff along a path tells nothing of a kink that no path is at. Some are at one with a probability:
where an extreme over dates, among which the spot counts, is the spot itself, and where a price has no noise. So that
derivative is computed for a few made-up paths, all below the spot, all above it, and some across, with the spot a
little lower and a little higher: where these two differ, there is a kink at the spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.magnitude import magnitudes
from simsuite.expressions.tree import Node
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind
from simsuite.solvers.gbm.payoffs.payoffs import expected_path
from simsuite.solvers.gbm.payoffs.variables import first, noise

_PATHS = 64  # of each kind
_FARTHEST = 1.0  # logarithm to base 2 of a made-up price
_BESIDE = 1e-9  # by how much of itself the spot is lower or higher
_UNLIKE = 1e-4  # of the largest slope: smaller differences are no kink
_ROUNDING = 1e-12  # of the numbers that a slope is the sum of
_SIDES = (-1.0, 1.0)
KNOWN = frozenset((Kind.SUM, Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST, Kind.LOWEST, Kind.HIGHEST))
Values = dict[str, np.ndarray]
_Ends = tuple[float, float]


def kinks_at_spot(
    slope: Node,
    asset: int,
    names: Sequence[str],
    pathwise: PathwiseDerivatives,
    still: Mapping[int, float],
    beside_spot: bool,
) -> bool:
    """slope: of a payoff by the logarithm of the asset's spot, in the variables `names`, those of functionals of
    `KNOWN` kinds.

    still: assets whose prices have no noise, and how far off rounding leaves these. beside_spot: whether paths count
    that stay below the spot, or above it, of which the spot is the largest price, or the least.
    """
    ends: list[_Ends] = [(-_FARTHEST, _FARTHEST)]
    if beside_spot:
        ends += [(-_FARTHEST, -_BESIDE), (_BESIDE, _FARTHEST)]
    reach = max(_BESIDE, still.get(asset, 0.0))
    with np.errstate(all="ignore"):
        return any(
            _differ(slope, asset, _paths(names, pathwise, still, e, i), pathwise, reach) for i, e in enumerate(ends)
        )


def _differ(slope: Node, asset: int, paths: Values, pathwise: PathwiseDerivatives, reach: float) -> bool:
    """Whether the slopes on both sides of the spot do on any of these paths."""
    beside = [_moved(paths, asset, math.log2(1 + side * reach), pathwise) for side in _SIDES]
    below, above = (np.broadcast_to(evaluate(slope, values), _PATHS) for values in beside)
    largest = np.nanmax(np.maximum(np.abs(below), np.abs(above)), initial=0.0)
    rounded = _ROUNDING * np.max(magnitudes([slope], paths)[0])
    return bool(np.any(np.abs(above - below) > max(_UNLIKE * largest, rounded)))


def _moved(paths: Values, asset: int, by: float, pathwise: PathwiseDerivatives) -> Values:
    """All prices of an asset times 2^by."""
    found = dict(paths)
    for name in paths:
        if pathwise.asset(name) != asset or name == noise(asset):
            continue
        f = pathwise.functional(name)
        signed = f is not None and f.kind == Kind.LOGARITHMS
        found[name] = paths[name] + f.dates.count * by if signed and f is not None else paths[name] * 2**by
    return found


def _paths(
    names: Sequence[str], pathwise: PathwiseDerivatives, still: Mapping[int, float], ends: _Ends, seed: int
) -> Values:
    """Made-up values of variables on paths whose prices, as logarithms to base 2, are between these ends; of assets
    without noise those that they have."""
    rng = np.random.Generator(np.random.Philox(seed))
    known = expected_path(tuple(pathwise.functionals.found), pathwise.dynamics)
    found = {}
    for a in sorted({pathwise.asset(name) for name in names}):
        known[first(a)] = np.ones(())
        low, middle, high = np.exp2(np.sort(rng.uniform(*ends, (3, _PATHS)), axis=0))
        own = [name for name in names if pathwise.asset(name) == a]
        for name in own:
            made = known[name] if a in still else _made_up(name, a, pathwise.functional(name), low, middle, high)
            found[name] = np.broadcast_to(made, _PATHS) if name != first(a) else np.ones(_PATHS)
    return found


def _made_up(
    name: str, asset: int, f: Functional | None, low: np.ndarray, middle: np.ndarray, high: np.ndarray
) -> np.ndarray:
    if f is None:
        return np.log2(middle) if name == noise(asset) else middle
    of: dict[Kind, Callable[[], np.ndarray]] = {
        Kind.SUM: lambda: f.dates.count * middle,
        Kind.LOGARITHMS: lambda: f.dates.count * np.log2(middle),
        Kind.LEAST: lambda: low,
        Kind.LARGEST: lambda: high,
        Kind.LOWEST: lambda: np.minimum(low, 1 / high) / (1 + _BESIDE) ** 4,
        Kind.HIGHEST: lambda: np.maximum(high, 1 / low) * (1 + _BESIDE) ** 4,
    }
    return of[f.kind]()
