"""How many paths each level of multilevel Monte Carlo gets, and what the levels say about the error of the scheme.

Estimator:  E P_L = E P_0 + sum over l = 1 .. L of E (P_l - P_{l-1}), each mean from paths of its own
Method:     n_l = target^-2 sqrt(V_l / C_l) sum over k of sqrt(V_k C_k), with the variance V_l of a difference and the
            cost C_l of making one: the cheapest way to the variance target^2. M. B. Giles, "Multilevel Monte Carlo path
            simulation", Operations Research 56 (2008) 607-617, eq. (12), where half of the squared error is left to
            the bias. Variances are those of the paths done; so there are several rounds, the first a pilot.
Order:      a cost of O(target^-2) if V_l falls faster than C_l grows (Milstein's scheme and Lipschitz payoffs, V_l =
            O(4^-l)), O(target^-2 log^2 target) if as fast (Euler's), for a number of levels that goes with the target.
Bias:       |E P - E P_L| about |E (P_L - P_{L-1})| / (2^alpha - 1) with weak order alpha, section 3 there.
"""

from __future__ import annotations

import math

import numpy as np

from simsuite.scenario.gbm import GROUP

GROWTH = 4  # factor by which a round multiplies the paths of a level at most
_MARGIN = 1.01  # the variance found from more paths is sometimes a little larger
# least and largest order that is believed: that of extremes at every step, and that of both schemes
_WEAK_ORDERS = 0.5, 1.0


def likely(variances: np.ndarray, strong_order: float) -> np.ndarray:
    """[level, option]: variances, raised where they fall from a level to the next by more than twice the expected
    factor; among few paths there may be no difference at all (M. B. Giles's MATLAB program `mlmc.m`, 2015)."""
    found = variances.copy()
    for level in range(2, len(found)):
        found[level] = np.maximum(found[level], found[level - 1] / 2 / 2 ** (2 * strong_order))
    return found


def standard_errors(variances: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """[option]: standard errors of the prices."""
    return np.sqrt((variances / observations[:, None]).sum(axis=0))


def wanted(variances: np.ndarray, costs: np.ndarray, target: float) -> np.ndarray:
    """float64[level]: the numbers of observations with which the price of every option has a standard error of at most
    `target`."""
    each = np.sqrt(variances / costs[:, None]) * np.sqrt(variances * costs[:, None]).sum(axis=0)
    return each.max(axis=1) / target**2


def next_goals(
    done: np.ndarray, variances: np.ndarray, costs: np.ndarray, width: int, target: float, count: int
) -> np.ndarray:
    """int64[level]: the goals of the next round, paths in whole groups. They are those that are done if no more are
    needed, or if `count` paths have been made. width: paths of an observation; variances, costs: those of an
    observation.

    If all paths of an option have paid the same, its variance is not known yet, so that the round is as large as it may
    be.
    """
    known = bool(np.all(variances[0] > 0))
    if known and np.all(standard_errors(variances, done / width) <= target):
        return done
    most = GROWTH * done
    if known:
        needed = np.ceil(np.minimum(_MARGIN * width * wanted(variances, costs, target), most) / GROUP) * GROUP
        goals = np.clip(needed.astype(np.int64), done, most)
    else:
        goals = most
    more, left = goals - done, (count - int(done.sum())) // GROUP * GROUP
    if int(more.sum()) > left:
        more = np.array([int(m) * left // int(more.sum()) // GROUP * GROUP for m in more], np.int64)
    return done + more


def bias_estimate(means: np.ndarray) -> np.ndarray:
    """[option]: an estimate of the size of the scheme's error on the last level. means[level, option]: means of the
    differences, and of payoffs on level 0. Where no pair of a level differed, as may happen with digital payoffs, the
    difference is taken for half of that on the level before rather than for 0."""
    least, largest = _WEAK_ORDERS
    sizes = np.abs(means)
    for level in range(2, len(sizes)):
        sizes[level] = np.where(sizes[level] == 0, sizes[level - 1] / 2**largest, sizes[level])
    last, before = sizes[-1], sizes[-2]
    if len(means) < 3:
        return last / (2**largest - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(before / last)
    order = np.clip(np.where(np.isnan(order), largest, order), least, largest)
    return np.maximum(last, before / 2**order) / (2**order - 1)


def rounds(pilot: int, count: int) -> int:
    """The largest number of rounds, the pilot included: as many as it takes to make `count` paths, and a few in which
    goals hardly move."""
    return 8 + max(math.ceil(math.log(count / pilot, GROWTH)), 0)
