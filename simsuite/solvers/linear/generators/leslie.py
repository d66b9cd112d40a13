"""A population by classes of age: P. H. Leslie, On the use of matrices in certain population mathematics, Biometrika
33 (1945) 183-212."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def leslie(fecundity: Sequence[float], survival: Sequence[float]) -> np.ndarray:
    """The Leslie matrix, with fecundities in its first row and survivals below its diagonal: in a step, one individual
    of class i has fecundity[i] young, and the share survival[i] of class i reaches class i + 1.

    Exact: with l_i = survival[0] .. survival[i - 1], the share that reaches class i, the characteristic polynomial is
    r^n - sum_i fecundity[i] l_i r^(n - 1 - i). Its only positive root is the growth in a step in the long run, from
    Euler and Lotka's equation sum_i fecundity[i] l_i r^-(i + 1) = 1. The classes are then in the proportions l_i r^-i,
    and one individual of class i is worth sum_{j >= i} fecundity[j] l_j r^-(j + 1) / (l_i r^-i) newborns in all later
    generations. H. Caswell, Matrix Population Models (2001).
    """
    A = np.diag(np.array(survival, np.float64), -1)
    A[0] = fecundity
    return A
