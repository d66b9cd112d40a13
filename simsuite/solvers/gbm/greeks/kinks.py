"""Whether the price of an option has a kink just at the spot. It then has one slope to the left and another to the
right, and no delta.

The derivative of a payoff along a path shows no kink that no path is at. But some kinks are hit with a positive
probability: where an extreme over dates, among which the spot counts, is the spot itself, and where a price has no
noise. So that derivative is computed for a few made-up paths, with prices all below the spot, all above it, or on both
sides, once with the spot a little lower and once a little higher: where the two results differ, there is a kink at the
spot.
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

_PATHS = 64  # made-up paths of each kind
_FARTHEST = 1.0  # largest distance of a made-up price from the spot, as a logarithm to base 2
_BESIDE = 1e-9  # relative amount by which the spot is lower or higher
_UNLIKE = 1e-4  # smaller differences, relative to the largest slope, are no kink
_ROUNDING = 1e-12  # rounding of a slope, relative to the numbers that it is the sum of
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
    """Whether a payoff has a kink at the spot of an asset.

    slope: the derivative of the payoff by the logarithm of the asset's spot, in the variables `names`, whose
    functionals are of `KNOWN` kinds. still: the assets whose prices have no noise, with the error that rounding leaves
    in these. beside_spot: whether to look at paths that stay below the spot or above it, of which the spot is the
    largest or the least price.
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
    """Whether the slopes with the spot on one side and on the other differ on any of these paths."""
    beside = [_moved(paths, asset, math.log2(1 + side * reach), pathwise) for side in _SIDES]
    below, above = (np.broadcast_to(evaluate(slope, values), _PATHS) for values in beside)
    largest = np.nanmax(np.maximum(np.abs(below), np.abs(above)), initial=0.0)
    rounded = _ROUNDING * np.max(magnitudes([slope], paths)[0])
    return bool(np.any(np.abs(above - below) > max(_UNLIKE * largest, rounded)))


def _moved(paths: Values, asset: int, by: float, pathwise: PathwiseDerivatives) -> Values:
    """The paths with all prices of an asset multiplied by 2^by."""
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
    """Values of the variables on made-up paths, whose prices, as logarithms to base 2, lie between these ends. Assets
    without noise have their real prices."""
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
