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

GROWTH = 4  # times as many paths of a level after a round, at most
_MARGIN = 1.01  # variances by more paths are somewhat larger now and then
_WEAK_ORDERS = 0.5, 1.0  # least and largest that are believed: of extremes at every step, and of both schemes


def likely(variances: np.ndarray, strong_order: float) -> np.ndarray:
    """[level, option]: variances that are not believed to fall faster than by half of what they should, as a few paths
    can have no difference at all (M. B. Giles's MATLAB program `mlmc.m`, 2015)."""
    found = variances.copy()
    for level in range(2, len(found)):
        found[level] = np.maximum(found[level], found[level - 1] / 2 / 2 ** (2 * strong_order))
    return found


def standard_errors(variances: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """[option]."""
    return np.sqrt((variances / observations[:, None]).sum(axis=0))


def wanted(variances: np.ndarray, costs: np.ndarray, target: float) -> np.ndarray:
    """float64[level]: observations for the price of every option to have a standard error of at most `target`."""
    each = np.sqrt(variances / costs[:, None]) * np.sqrt(variances * costs[:, None]).sum(axis=0)
    return each.max(axis=1) / target**2


def next_goals(
    done: np.ndarray, variances: np.ndarray, costs: np.ndarray, width: int, target: float, count: int
) -> np.ndarray:
    """int64[level]: paths after another round, in whole groups; those that are done if no more are needed, or if there
    are `count`. width: paths of an observation; variances, costs: of one.

    An option that never paid anything else says nothing: its paths that make a difference are yet to come.
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
    """[option]: size of the error of the scheme on the last level. means[level, option]: of differences, on level 0 of
    payoffs. Where no pair of a level differed, as few do in digital payoffs, the difference is taken for half of that
    before rather than for 0."""
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
    """Most of them, the pilot included: until `count` paths are made, and a few in which goals hardly move."""
    return 8 + max(math.ceil(math.log(count / pilot, GROWTH)), 0)
