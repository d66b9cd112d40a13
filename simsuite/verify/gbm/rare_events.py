"""Checks of options whose price is decided by few paths, so that estimates are not normal and standard errors scatter.

Digitals are judged exactly. Of n independent paths k pay (or, if most do, k do not), and k has the binomial law, with
the probability that follows from the known price. Of the k after more paths, the number among the first n has the
hypergeometric law, whatever the probability (R. A. Fisher's exact test). Limits are those that a normal number exceeds
as often as `LIMIT` deviations. A standard error is not judged by how fast it falls, but by what it has to be for k
paths of n (solvers/gbm/error_allowances/allowances.py).

The law of other estimates is not known, and a variance may be infinite: their standard errors are judged by how fast
they fall, and if few paths decide the price, a note says so. How many do is seen from its standard error: with k = (sum
v)^2 / sum v^2 of the values v that paths pay, (error / price)^2 = 1 / k - 1 / n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import binom, hypergeom, norm

from simsuite.scenario.gbm import Digital
from simsuite.verify.checks import Check
from simsuite.verify.gbm.prices import LIMIT

FEW_HITS = 64  # a digital is judged by the binomial law if fewer of its paths are rare
FEW_DECIDING = 64  # if fewer paths decide another option, its standard errors scatter too much for an order
ERROR_WITHIN = 0.05  # relative tolerance of a standard error, which neglects terms of the order 1 / n
_ODDS = 2 * norm.sf(LIMIT)


@dataclass(frozen=True)
class Counts:
    """The counts of a digital's rare paths after each level. paths: those that were made. rare: how many of them are
    rare, which either pay or, if most do, do not (`pays` says which). cash: what it pays, discounted. width: paths that
    make one observation, of which at most one is rare."""

    paths: Sequence[int]
    rare: Sequence[int]
    pays: bool
    cash: float
    width: int

    @property
    def few(self) -> bool:
        return self.rare[0] < FEW_HITS

    def words(self, low: float, high: float) -> str:
        what = "pay" if self.pays else "do not pay"
        return f"{low:.0f} .. {high:.0f} of {self.paths[-1]} paths {what} (binomial)"


def counts(option: Digital, paths: Sequence[int], prices: Sequence[float], discount: float, width: int) -> Counts:
    """The counts of a digital, from the prices that levels of so many paths found."""
    cash = discount * option.cash
    paid = [round(price / cash * n) for price, n in zip(prices, paths)]
    pays = 2 * paid[-1] <= paths[-1]
    rare = [k if pays else n - k for k, n in zip(paid, paths)]
    return Counts(paths, rare, pays, cash, width)


def error_ratio(found: Counts, level: int, error: float) -> float:
    """A standard error, divided by what it has to be for these counts."""
    n = found.paths[level] // found.width
    share = found.rare[level] / n
    spread = share * (1 - share) / (n - 1) + 2 / ((n + 2) * (n + 3))
    return error * found.width / (found.cash * math.sqrt(spread))


def changed(name: str, kind: str, found: Counts) -> Check:
    """A check, without regard to the price, that the right number of the rare paths is among those of the last level
    but one."""
    (before, now), (all_before, all_now) = found.rare[-2:], found.paths[-2:]
    low, high = hypergeom(all_now, now, all_before).interval(1 - _ODDS)
    words = f"{low:.0f} .. {high:.0f} of {now} among the first {all_before} paths"
    return Check(name, kind, before, words, low <= before <= high, {"rare": list(found.rare)})


def closed(name: str, kind: str, found: Counts, exact: float) -> Check:
    """A check that as many paths pay as should by the exact price."""
    share = exact / found.cash
    low, high = binom(found.paths[-1], share if found.pays else 1 - share).interval(1 - _ODDS)
    now = found.rare[-1]
    return Check(
        name, kind, now, found.words(low, high), low <= now <= high, {"exact": exact, "rare": list(found.rare)}
    )


def deciding(price: float, error: float, paths: int) -> float:
    """Roughly the number of paths that decide the price."""
    return 1 / ((error / price) ** 2 + 1 / paths) if price else 0.0


def few_deciding(name: str, prices: Sequence[float], errors: Sequence[float], paths: Sequence[int]) -> str | None:
    """A note on what to do if so few paths decide an option's price in the first level that its standard error
    scatters; None if enough paths do."""
    first, last = (deciding(prices[k], errors[k], paths[k]) for k in (0, -1))
    if first >= FEW_DECIDING:
        return None
    enough = (
        2 * FEW_DECIDING * paths[-1] / paths[0]
    )  # deciding paths of the last level with which the first one has 2 FEW_DECIDING
    needed = f"some {paths[-1] * enough / last:.1g}" if last >= 1 else "many more"
    return (
        f"{name}: about {last:.0f} of {paths[-1]} paths decide its price, too few to tell its standard error: "
        f"set paths.count to {needed}"
    )
