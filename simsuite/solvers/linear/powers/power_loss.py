"""What is lost by taking powers of exp(A dt), followed while they are made, for systems of moderate size.

P_i, as it is computed, is A^(2^i) less an error E_i. Squaring gives

    E_{i+1} = P_i E_i + E_i P_i + E_i^2 + (P_i^2 - P_{i+1}),

where the last is known to twice the digits (see `sliced`), and E_0 is 0, or what exp(A dt) lacks (`discretise`). So the
error of a state that goes through these powers, E x along with P x, is known, whatever A does to errors: there is no
guess in it as in `power_error`, which takes over where there are more rows, more changes of inputs than can be
followed (`power_course`), or entries of so many sizes that twice the digits are not enough. It takes twelve products of
squares on the host for each power.

To that comes the rounding of the products with states, as large as it can be. The result is twice the largest, relative
to the state, at some of the frames, in the units that the state has and in those that balance A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.linear.discretisation.discretise import discretisation_error
from simsuite.solvers.linear.discretisation.sliced import remainder, resolution
from simsuite.solvers.linear.matrices.embedding import embedded, stacked
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power_error import SAFETY, balance
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.sparse import filled

LARGEST = 256  # rows: some tenths of a second
_FRAMES = 12  # that are looked at, of more
_STATES = 4  # mixtures of all that stand for them, where there are more
_SMALLEST = 1e-280  # below which a state is as good as 0
HALF = 2.0**-53


@dataclass(frozen=True)
class Loss:
    """About what the state is off by at the worst frame, relative to its norm: by the powers themselves, by the
    rounding of exp(A dt), and by that of products, where it is told apart."""

    powers: float
    rounding: float
    products: float = 0.0

    @classmethod
    def of(cls, worst: np.ndarray) -> Loss | None:
        """worst: relative errors by squaring, by exp(A dt), beyond twice the digits, and, if told apart, by products.
        None if there are more of those beyond than of the others, or something overflows."""
        powers, rounding, unseen, products = np.append(worst, 0.0)[:4].tolist()
        seen = powers + rounding + products
        return cls(SAFETY * powers, SAFETY * rounding, SAFETY * products) if unseen <= seen < math.inf else None


def lacking(system: LinearSystem) -> tuple[np.ndarray, np.ndarray] | None:
    """What A and B of a system with a dense A have to be added to be exact; None in discrete time."""
    stated, inputs = system.stated, system.inputs
    if not stated.continuous:
        return None
    A = filled(stated.A)
    B = np.zeros((len(A), 1)) if stated.B is None else stated.B
    if system.is_complex:
        A, B = embedded(A), stacked(B)
    return discretisation_error(A, B, inputs.dt, inputs.ahead, system.A, system.B)


class Followed:
    """What takes states over some steps, [[A, B], [0, 1]], as it is computed, and what has to be added to it, in three
    parts: what squaring lost, what exp(A dt) lacks, and an example of what is beyond twice the digits."""

    def __init__(self, power: np.ndarray, errors: np.ndarray, n: int) -> None:
        """power (.., ..), errors (3, .., ..); n: rows of A."""
        self.power, self.errors, self._n = power, errors, n

    def before(self, first: Followed, product: np.ndarray | None = None) -> Followed:
        """First what `first` is of, then this: as `product`, as it is computed, or as exact as float64 has it."""
        P, Q, n = self.power, first.power, self._n
        with np.errstate(all="ignore"):
            errors = P @ first.errors + self.errors @ Q
            errors[0] += (self.errors[0] + self.errors[1]) @ (first.errors[0] + first.errors[1])
            if product is None:
                return Followed(P @ Q, errors, n)
            errors[::2, :n, :n] += _lost(product[:n, :n], P[:n, :n], Q[:n, :n])
            errors[::2, :n, n:] += _lost(product[:n, n:], P[:n], Q[:, n:])
        return Followed(product, errors, n)


def _lost(product: np.ndarray, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """What has to be added to `product` to have P Q, and an example of what that itself lacks. Scaling between the
    factors keeps rows and columns together that are of a size, as of integrators, which grow, and of what decays."""
    ratio = np.max(np.abs(Q), axis=1) / np.max(np.abs(P), axis=0)
    scale = np.exp2(np.round(0.5 * np.log2(np.where((ratio > 0) & (ratio < math.inf), ratio, 1.0))))
    P, Q = P * scale, Q / scale[:, None]
    signs = np.random.Generator(np.random.Philox(product.shape[1])).choice([-1.0, 1.0], product.shape)
    largest = np.outer(np.max(np.abs(P), axis=1), np.max(np.abs(Q), axis=0))
    return np.stack([remainder(-product, -P, Q), resolution(len(Q)) * largest * signs])


class PowerLoss:
    """`level` for each of A, A², A⁴ .. in turn, then `loss`, or `power_course.loss`. Inputs are part of A: [[A, B],
    [0, 1]]."""

    def __init__(self, lacks: tuple[np.ndarray, np.ndarray]) -> None:
        """lacks: what A (n, n) and B (n, q), of all that inputs add, have to be added to be exact."""
        self._lacks = lacks
        self.squares: list[Followed] = []
        self.formed: dict[int, Followed] = {}  # by how many steps they are of

    def level(self, P: np.ndarray, S: np.ndarray) -> None:
        """The next power (n, n), and what inputs add in as many steps (n, q)."""
        block = _block(P, S, 1.0)
        if self.squares:
            self.squares.append(self.squares[-1].before(self.squares[-1], block))
            return
        nothing = np.zeros(block.shape)
        self.squares.append(Followed(block, np.stack([nothing, _block(*self._lacks, 0.0), nothing]), len(P)))

    def form(self, steps: int, P: np.ndarray, S: np.ndarray) -> None:
        """What so many steps come to so far: after that, by the last of the squares."""
        done, last = self.formed.get(steps), self.squares[-1]
        self.formed[steps] = last if done is None else last.before(done, _block(P, S, 1.0))

    def loss(self, start: np.ndarray, jumps: Jumps) -> Loss | None:
        """Under constant inputs, which are one, with the value 1. start (n, m): the states at the beginning. None where
        the powers needed for it overflow, or where twice the digits are not enough."""
        n, start = len(start), some_of(start)
        scales = np.ones(n), balance(self.squares[0].power[:n, :n])
        pushed = bool(np.any(self.squares[0].power[:n, n]))
        start = np.vstack([start, np.full(start.shape[1], float(pushed))])
        worst = np.zeros(3)
        with np.errstate(all="ignore"):
            while 2 ** len(self.squares) <= jumps.steps:  # a run takes the highest power several times
                self.squares.append(self.squares[-1].before(self.squares[-1]))
            for step in _frames(jumps):
                worst = np.maximum(worst, self._at(step, start, scales))
        return Loss.of(worst)

    def _at(self, step: int, X: np.ndarray, scales: tuple[np.ndarray, ...]) -> np.ndarray:
        """Relative errors of the three kinds after so many steps from the states X."""
        errors, products, n = np.zeros((3, *X.shape)), np.zeros(X.shape), len(scales[0])
        for i in range(step.bit_length()):
            if step >> i & 1:
                square = self.squares[i]
                P = square.power
                errors = P @ errors + square.errors @ X
                products = np.abs(P @ products) + HALF * (np.abs(P) @ np.abs(X))
                X = P @ X
        errors[0] = np.abs(errors[0]) + products
        return np.max([relative(errors[:, :n], X[:n], d) for d in scales], axis=0)


def some_of(start: np.ndarray) -> np.ndarray:
    """States that stand for all of `start`, its columns."""
    m = start.shape[1]
    if m <= _STATES:
        return start
    rng = np.random.Generator(np.random.Philox(1))
    return start @ rng.standard_normal((m, _STATES)) / math.sqrt(m)


def _block(A: np.ndarray, B: np.ndarray, one: float) -> np.ndarray:
    """[[A, B], [0, one]]"""
    n, q = B.shape
    block = np.diag(np.full(n + q, one))
    block[:n] = np.hstack([A, B])
    return block


def relative(errors: np.ndarray, X: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Norms of errors (.., n, m) relative to that of the states X (n, m), in units d."""
    X = X / d[:, None]
    largest = float(np.max(np.abs(X)))
    if largest < _SMALLEST:
        return np.zeros(len(errors))
    found: np.ndarray = np.linalg.norm(errors / (d[:, None] * largest), axis=(-2, -1)) / np.linalg.norm(X / largest)
    return found


def _frames(jumps: Jumps) -> list[int]:
    """Some of the steps at which frames are, or about, if gaps are not equal; the last one among them."""
    gap, count = jumps.gaps.most_common(1)[0][0], jumps.frames
    places = np.concatenate([np.linspace(1, count, _FRAMES // 2), np.geomspace(1, count, _FRAMES // 2)])
    return sorted({jumps.steps, *(min(gap * round(place), jumps.steps) for place in places)})
