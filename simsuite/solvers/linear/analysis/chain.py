"""Markov chains: a test whether a matrix is one, and the stationary distribution.

The distribution comes from the algorithm of W. K. Grassmann, M. I. Taksar, D. P. Heyman, Regenerative analysis and
steady state distributions for Markov chains, Operations Research 33 (1985) 1107-1116. It eliminates one state after the
other and never subtracts, so that every probability, however small, keeps nearly all its digits: C. A. O'Cinneide,
Numerische Mathematik 65 (1993) 109-120.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from simsuite.solvers.matmul.sparse import Matrix

SUMS = 1e-12  # The sums of a chain may be off by this; in continuous time, relative to the rate of leaving the state.
NEAR = 1e-3  # A matrix whose sums are off by no more than this may have been meant to be a chain's.
_DECIMALS = 8  # Entries with at most so many decimals count as rounded to few digits.
_WHOLE = 1e-15  # A number counts as whole if it is this close to a whole one, relatively.
_SHOWN = 16  # At most so many states are listed.


@dataclass(frozen=True)
class Chain:
    """A Markov chain. sums: "columns", "rows" or "columns and rows", which add up to 1 (0 in continuous time). closed:
    the sets of states that are never left once they are reached, and cannot be split. moves[i, j]: the probability
    (rate) of going from i to j, with 0 where i = j. stays: whether a step may stay in some state of a closed set, as is
    always so in continuous time.
    """

    sums: str
    closed: tuple[np.ndarray, ...]
    moves: np.ndarray
    stays: bool

    @cached_property
    def stationary(self) -> np.ndarray:
        """The distribution (n,) that stays as it is. Raises ValueError if there are several."""
        if len(self.closed) > 1:
            raise ValueError(self.note)
        inside = self.closed[0]
        found = np.zeros(len(self.moves))
        found[inside] = _grassmann_taksar_heyman(self.moves[np.ix_(inside, inside)])
        return found

    @property
    def note(self) -> str:
        """The sets of states that are never left, in words."""
        found = f"{len(self.closed)} sets of states are never left"
        if sum(map(len, self.closed)) > _SHOWN:
            return found
        return f"{found}: " + ", ".join("{" + ", ".join(map(str, states)) + "}" for states in self.closed)

    @property
    def period(self) -> int:
        """1 if every start tends to the stationary distribution, else the number of steps after which the chain repeats
        itself.
        """
        inside = self.closed[0]
        return 1 if self.stays else _period(self.moves[np.ix_(inside, inside)])


def chain(A: np.ndarray, continuous: bool) -> Chain | None:
    """The Markov chain, or process, whose matrix is A (n, n); None if A is not the matrix of one.

    Where columns add up to 1 (0), A[i, j] is the probability (rate) of going from j to i, and A acts on distributions;
    where rows do, it is that of going from i to j.
    """
    if np.iscomplexobj(A):
        return None
    sums = stochastic(A, continuous)
    if not sums:
        return None
    moves = np.array(A if sums == "rows" else A.T)  # moves[i, j] is the probability of going from i to j.
    np.fill_diagonal(moves, 0.0)
    n, label = connected_components(csr_array(moves), connection="strong")
    leaves = np.zeros(n, bool)
    i, j = np.nonzero(moves)
    leaves[label[i[label[i] != label[j]]]] = True
    closed = tuple(np.flatnonzero(label == k) for k in np.flatnonzero(~leaves))
    stays = continuous or bool(np.any(np.diag(A)[closed[0]] > 0))
    return Chain(sums, closed, moves, stays)


def nearly(A: np.ndarray, continuous: bool) -> str | None:
    """A sentence about a matrix that is almost that of a Markov chain; None if it is exactly, or not nearly, one."""
    if np.iscomplexobj(A):
        return None
    near = {name: off for name, off in sums_of(A, continuous).items() if off <= NEAR}
    if not near or min(near.values()) <= SUMS:
        return None
    name = min(near, key=lambda name: near[name])
    share = " of what leaves a state" if continuous else ""
    wanted = 0 if continuous else 1
    return f"{name} sum to {wanted} up to {near[name]:.2g}{share} only, so A is not taken for a Markov chain"


def stochastic(A: Matrix, continuous: bool) -> str:
    """Which sums of A, dense or sparse, are those of a Markov chain; "" if neither are, or if an entry is negative."""
    return " and ".join(name for name, off in sums_of(A, continuous).items() if off <= SUMS)


def sums_of(A: Matrix, continuous: bool) -> dict[str, float]:
    """How far the sums along columns and rows of A, dense or sparse, are at most from those of a Markov chain; empty if
    an entry is negative. In continuous time the distance is relative to the rate of leaving the state.
    """
    here: np.ndarray = A.diagonal()
    entries: np.ndarray = A.data if isinstance(A, csr_array) else A
    if np.any(entries < 0) and not (continuous and np.count_nonzero(entries < 0) == np.count_nonzero(here < 0)):
        return {}
    found = {}
    for k, name in enumerate(("columns", "rows")):
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(np.sum(A, axis=k) - (0.0 if continuous else 1.0))
            # Each state is judged by itself: beside states that others leave fast, slow losses would not be seen.
            if continuous:
                size = 0.5 * np.sum(np.abs(A), axis=k)
                off = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
        found[name] = float(np.max(off))
    return found


def rounded_columns(A: Matrix, continuous: bool) -> bool:
    """Whether columns are no further from the sums of a chain than rounding to few decimals takes them: half a unit of
    the last decimal for each entry. False for a scalar system that decays slowly, such as 0.9995.
    """
    entries: np.ndarray = A.data if isinstance(A, csr_array) else A
    off = np.abs(np.sum(A, axis=0) - (0.0 if continuous else 1.0))
    counts = np.sum(A != 0, axis=0)
    for decimals in range(1, _DECIMALS + 1):
        scaled = entries * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= _WHOLE * np.abs(scaled)):
            return bool(np.all(off <= 0.5 * counts / 10.0**decimals + SUMS))
    return False


def _grassmann_taksar_heyman(moves: np.ndarray) -> np.ndarray:
    """The stationary distribution of an irreducible chain. moves[i, j] >= 0 is the probability (rate) of going from i
    to j != i; the array is overwritten.
    """
    n = len(moves)
    for k in range(n - 1, 0, -1):
        moves[:k, k] /= np.sum(moves[k, :k])
        moves[:k, :k] += moves[:k, k, None] * moves[k, :k]
    p = np.ones(n)
    for k in range(1, n):
        p[k] = p[:k] @ moves[:k, k]
        if p[k] > 1e200:
            p[: k + 1] /= p[k]
    return p / np.sum(p)


def _period(moves: np.ndarray) -> int:
    """The period of an irreducible chain: the greatest common divisor of the lengths of all its cycles, which is that
    of depth(i) + 1 - depth(j) for all moves. E. V. Denardo, Periods of connected networks and powers of nonnegative
    matrices, Math. Operations Research 2 (1977) 20.
    """
    order, before = breadth_first_order(csr_array(moves), 0)
    depth = np.zeros(len(moves), np.int64)
    for i in order[1:]:
        depth[i] = depth[before[i]] + 1
    i, j = np.nonzero(moves)
    return int(np.gcd.reduce(depth[i] + 1 - depth[j]))
