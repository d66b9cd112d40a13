"""The error made by taking powers of exp(A dt), followed while the powers are made, for systems of moderate size.

P_i, as it is computed, is A^(2^i) less an error E_i. Squaring gives

    E_{i+1} = P_i E_i + E_i P_i + E_i^2 + (P_i^2 - P_{i+1}),

where the last term is known to twice the digits (see `sliced`), and E_0 is 0, or the error of exp(A dt) as it was
computed (`discretise`). So the error of a state that goes through these powers, E x along with P x, is known, whatever
A does to errors. Nothing in it is guessed, unlike in `power_error`, which is used instead where there are more rows,
more changes of inputs than can be followed (`power_course`), or entries of so many sizes that twice the digits are not
enough. It takes twelve products of square matrices on the host for each power.

The largest possible rounding of the products with states is added. The result is twice the largest error, relative to
the state, at some of the frames, in the units that the state has and in those that balance A.
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

LARGEST = 256  # Errors are followed for up to so many rows: some tenths of a second.
_FRAMES = 12  # At most so many frames are examined.
_STATES = 4  # If there are more states, they are represented by so many random mixtures of them.
_SMALLEST = 1e-280  # A state smaller than this counts as 0.
HALF = 2.0**-53


@dataclass(frozen=True)
class Loss:
    """Estimates of the error at the worst frame, relative to the norm of the state: by squaring (`powers`), by the
    rounding of exp(A dt) (`rounding`), and by the rounding of products, where that is separated from the first.
    """

    powers: float
    rounding: float
    products: float = 0.0

    @classmethod
    def of(cls, worst: np.ndarray) -> Loss | None:
        """The loss from the relative errors `worst`: by squaring, by exp(A dt), those that twice the digits do not
        resolve, and, where separated, by products. None if the unresolved errors exceed the others, or if something
        overflows.
        """
        powers, rounding, unseen, products = np.append(worst, 0.0)[:4].tolist()
        seen = powers + rounding + products
        return cls(SAFETY * powers, SAFETY * rounding, SAFETY * products) if unseen <= seen < math.inf else None


def lacking(system: LinearSystem) -> tuple[np.ndarray, np.ndarray] | None:
    """The differences between the exact discretisation and A and B of a system with a dense A; None
    in discrete time.
    """
    stated, inputs = system.stated, system.inputs
    if not stated.continuous:
        return None
    A = filled(stated.A)
    B = np.zeros((len(A), 1)) if stated.B is None else stated.B
    if system.is_complex:
        A, B = embedded(A), stacked(B)
    return discretisation_error(A, B, inputs.dt, inputs.ahead, system.A, system.B)


class Followed:
    """The matrix [[A, B], [0, 1]] that takes states over some steps, as it is computed, and its errors, to be added to
    it. They have three parts: by squaring, by the rounding of exp(A dt), and an example of what twice the digits do not
    resolve.
    """

    def __init__(self, power: np.ndarray, errors: np.ndarray, n: int) -> None:
        """power: the matrix; errors (3, .., ..): their three parts; n: how many rows A has."""
        self.power, self.errors, self._n = power, errors, n

    def before(self, first: Followed, product: np.ndarray | None = None) -> Followed:
        """The matrix that takes states through the steps of `first` and then through those of this one. product: that
        matrix as it was computed; None for the product in float64, without the error of that product.
        """
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
    """The error of `product` as the product P Q, to be added to it, and an example of the error of that error.

    Scaling between the factors makes their entries alike in size, as integrators make entries that grow and decaying
    states make entries that shrink.
    """
    ratio = np.max(np.abs(Q), axis=1) / np.max(np.abs(P), axis=0)
    scale = np.exp2(np.round(0.5 * np.log2(np.where((ratio > 0) & (ratio < math.inf), ratio, 1.0))))
    P, Q = P * scale, Q / scale[:, None]
    signs = np.random.Generator(np.random.Philox(product.shape[1])).choice([-1.0, 1.0], product.shape)
    largest = np.outer(np.max(np.abs(P), axis=1), np.max(np.abs(Q), axis=0))
    return np.stack([remainder(-product, -P, Q), resolution(len(Q)) * largest * signs])


class PowerLoss:
    """Follows the errors of powers: `level` is called for each of A, A², A⁴ .. in turn, then `loss`, or
    `power_course.loss`. Inputs are part of the matrix, as [[A, B], [0, 1]].
    """

    def __init__(self, lacks: tuple[np.ndarray, np.ndarray]) -> None:
        """lacks: the differences between the exact values and A (n, n), and between them and B (n, q) of all inputs."""
        self._lacks = lacks
        self.squares: list[Followed] = []
        self.formed: dict[int, Followed] = {}  # the matrices of gaps, by their numbers of steps

    def level(self, P: np.ndarray, S: np.ndarray) -> None:
        """Follow the next power P (n, n), with the sums S (n, q) that inputs add in as many steps."""
        block = _block(P, S, 1.0)
        if self.squares:
            self.squares.append(self.squares[-1].before(self.squares[-1], block))
            return
        nothing = np.zeros(block.shape)
        self.squares.append(Followed(block, np.stack([nothing, _block(*self._lacks, 0.0), nothing]), len(P)))

    def form(self, steps: int, P: np.ndarray, S: np.ndarray) -> None:
        """Follow a matrix for a gap of `steps` steps while it is formed: P and S are its present product, which now
        includes the last of the squares.
        """
        done, last = self.formed.get(steps), self.squares[-1]
        self.formed[steps] = last if done is None else last.before(done, _block(P, S, 1.0))

    def loss(self, start: np.ndarray, jumps: Jumps) -> Loss | None:
        """The loss under constant inputs, which count as one input of the value 1. start (n, m): the states at the
        beginning. None where the powers needed for it overflow, or where twice the digits are not enough.
        """
        n, start = len(start), some_of(start)
        scales = np.ones(n), balance(self.squares[0].power[:n, :n])
        pushed = bool(np.any(self.squares[0].power[:n, n]))
        start = np.vstack([start, np.full(start.shape[1], float(pushed))])
        worst = np.zeros(3)
        with np.errstate(all="ignore"):
            while 2 ** len(self.squares) <= jumps.steps:  # A run may apply its highest power several times.
                self.squares.append(self.squares[-1].before(self.squares[-1]))
            for step in _frames(jumps):
                worst = np.maximum(worst, self._at(step, start, scales))
        return Loss.of(worst)

    def _at(self, step: int, X: np.ndarray, scales: tuple[np.ndarray, ...]) -> np.ndarray:
        """The relative errors of the three kinds after `step` steps from the states X."""
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
    """A few states that represent all columns of `start`: `start` itself, or random mixtures of its columns."""
    m = start.shape[1]
    if m <= _STATES:
        return start
    rng = np.random.Generator(np.random.Philox(1))
    return start @ rng.standard_normal((m, _STATES)) / math.sqrt(m)


def _block(A: np.ndarray, B: np.ndarray, one: float) -> np.ndarray:
    """The block matrix [[A, B], [0, one]]."""
    n, q = B.shape
    block = np.diag(np.full(n + q, one))
    block[:n] = np.hstack([A, B])
    return block


def relative(errors: np.ndarray, X: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The norms of errors (.., n, m) relative to that of the states X (n, m), both divided by the units d (n,)."""
    X = X / d[:, None]
    largest = float(np.max(np.abs(X)))
    if largest < _SMALLEST:
        return np.zeros(len(errors))
    found: np.ndarray = np.linalg.norm(errors / (d[:, None] * largest), axis=(-2, -1)) / np.linalg.norm(X / largest)
    return found


def _frames(jumps: Jumps) -> list[int]:
    """Some of the steps at which there are frames, the last one included; only approximately where
    gaps are not equal.
    """
    gap, count = jumps.gaps.most_common(1)[0][0], jumps.frames
    places = np.concatenate([np.linspace(1, count, _FRAMES // 2), np.geomspace(1, count, _FRAMES // 2)])
    return sorted({jumps.steps, *(min(gap * round(place), jumps.steps) for place in places)})
