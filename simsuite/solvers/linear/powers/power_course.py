"""The error made by powers where inputs change: the states and their errors, followed from stop to stop.

A stop is a frame, or a step at which inputs change. The error E of the state X, under inputs u, becomes P E + D (X, u),
where P takes the states over some steps and D is the error of P, known from `power_loss`. So errors are related to the
state at frames only: it does not matter how large the state becomes between frames, nor how large the entries of P are.
For example, pulses of either sign may turn a wheel and leave it where it was; its small state at the next frame is then
what counts.

Roundings of products, each at most about |P| |X| 2^-53, are followed by examples: some with signs that are the same in
all products, as where a run repeats itself, and some with signs drawn anew for each product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.solvers.linear.inputs.held import HeldInputs
from simsuite.solvers.linear.powers.power_error import balance
from simsuite.solvers.linear.powers.power_loss import HALF, Followed, Loss, PowerLoss, relative, some_of

MOST = 100_000  # At most so many products are followed: a second or two.
_OPERATIONS = 2 * 10**9  # These products may take at most so many multiplications.
_EXAMPLES = 4  # Of each kind of signs, so many examples are followed.
_DRAWN = 256  # Signs are drawn for so many products at a time.


def loss(followed: PowerLoss, start: np.ndarray, held: HeldInputs, frames: Sequence[int]) -> Loss | None:
    """The loss under inputs that change, as `PowerLoss.loss` gives it for constant ones. start (n, m): the states at
    the beginning. frames: the steps of the frames, the first and the last included. None also where following them
    takes too long.
    """
    n, some = len(start), some_of(start)
    stops = np.union1d(np.asarray(frames), held.steps)
    path = list(_path(followed, np.diff(stops)))
    columns = some.shape[1] * (6 + 2 * _EXAMPLES)
    if len(path) > MOST or len(path) * columns * len(followed.squares[0].power) ** 2 > _OPERATIONS:
        return None
    which = held.which[np.searchsorted(held.steps, stops[:-1], side="right") - 1]
    scales = np.ones(n), balance(followed.squares[0].power[:n, :n])
    worst, wanted = np.zeros(4), np.isin(stops[1:], frames)
    with np.errstate(all="ignore"):
        walk = _Walk(some, held.values, len(path))
        for stop, matrix in path:
            if matrix is not None:
                walk.through(matrix, int(which[stop]))
            elif wanted[stop]:
                worst = np.maximum(worst, walk.errors(scales))
    return Loss.of(worst)


def _path(followed: PowerLoss, gaps: np.ndarray) -> Iterator[tuple[int, Followed | None]]:
    """(number of the gap, matrix) for all matrices that a run applies, in order, with None as matrix at the end of each
    gap. Ends early once there are more than MOST.
    """
    count = 0
    for k, gap in enumerate(gaps.tolist()):
        formed = followed.formed.get(gap)
        matrices = [formed] if formed else [P for i, P in enumerate(followed.squares) if gap >> i & 1]
        for matrix in matrices:
            yield k, matrix
        yield k, None
        count += len(matrices) + 1
        if count > MOST:
            return


class _Walk:
    """Some states of a run under their inputs, with their errors."""

    def __init__(self, start: np.ndarray, values: np.ndarray, products: int) -> None:
        n, m = start.shape
        q, self._n = len(values), n
        self._values = np.repeat(values.T[:, :, None], m, axis=2)  # (.., q, m)
        self._X = np.vstack([start, np.zeros((q, m))])
        self._errors = np.zeros((3, n, m))
        self._rounded = np.zeros((2 * _EXAMPLES, n, m))
        self._rng = np.random.Generator(np.random.Philox(1))
        self._same = self._rng.choice([-HALF, HALF], (_EXAMPLES, n, m))
        self._signs = np.empty((0, *self._same.shape))

    def through(self, matrix: Followed, which: int) -> None:
        """Take the states and their errors through a matrix, while the inputs have the values `which`."""
        n, P = self._n, matrix.power
        self._X[n:] = self._values[which]
        A = P[:n, :n]
        self._errors = A @ self._errors + matrix.errors[:, :n] @ self._X
        rounded = np.abs(P[:n]) @ np.abs(self._X)
        self._rounded = A @ self._rounded
        self._rounded[:_EXAMPLES] += rounded * self._same
        self._rounded[_EXAMPLES:] += rounded * self._other()
        self._X = P @ self._X

    def _other(self) -> np.ndarray:
        if not len(self._signs):
            self._signs = self._rng.choice([-HALF, HALF], (_DRAWN, *self._same.shape))
        signs, self._signs = self._signs[-1], self._signs[:-1]
        return signs

    def errors(self, scales: tuple[np.ndarray, ...]) -> np.ndarray:
        """The relative errors of the three kinds of `Followed`, and by roundings of products.

        The error of squaring is counted among the latter unless it exceeds that of randomly signed roundings, since
        steps make at least as many of these.
        """
        X, all = self._X[: self._n], np.concatenate([self._errors, self._rounded])
        found = np.array([relative(all, X, d) for d in scales])
        squaring, random, products = (
            found[:, 0],
            np.max(found[:, 3 + _EXAMPLES :], axis=1),
            np.max(found[:, 3:], axis=1),
        )
        more = np.where(squaring > random, squaring, 0.0)
        return np.max([more, found[:, 1], found[:, 2], products + (squaring - more)], axis=1)
