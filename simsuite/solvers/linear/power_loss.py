"""What is lost by taking powers of exp(A dt), followed while they are made, for systems of moderate size.

P_i, as it is computed, is A^(2^i) less an error E_i. Squaring gives

    E_{i+1} = P_i E_i + E_i P_i + E_i^2 + (P_i^2 - P_{i+1}),

where the last is known to twice the digits (see `sliced`), and E_0 is 0, or what exp(A dt) lacks (`discretise`). So the
error of a state that goes through these powers, E x along with P x, is known, whatever A does to errors: there is no
guess in it as in `power_error`, which takes over where there are more rows, or inputs that change, or entries of so
many sizes that twice the digits are not enough. It takes twelve products of squares on the host for each power.

To that comes the rounding of the products with states, as large as it can be. The result is twice the largest, relative
to the state, at some of the frames, in the units that the state has and in those that balance A.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.linear.discretise import discretisation_error
from simsuite.solvers.linear.embedding import embedded, stacked
from simsuite.solvers.linear.jumps import Jumps
from simsuite.solvers.linear.power_error import SAFETY, balance
from simsuite.solvers.linear.spectral.sliced import remainder, resolution
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.sparse import filled

LARGEST = 256  # rows: some tenths of a second
_FRAMES = 12  # that are looked at, of more
_STATES = 4  # mixtures of all that stand for them, where there are more
_SMALLEST = 1e-280  # below which a state is as good as 0
_HALF = 2.0**-53


@dataclass(frozen=True)
class Loss:
    """About what the state is off by at the worst frame, relative to its norm, by the powers themselves, and by the
    rounding of exp(A dt)."""

    powers: float
    rounding: float


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


class PowerLoss:
    """`level` for each of A, A², A⁴ .. in turn, then `loss`. Constant inputs are part of A: [[A, b], [0, 1]]."""

    def __init__(self, lacks: tuple[np.ndarray, np.ndarray]) -> None:
        """lacks: what A (n, n) and B u (n,) have to be added to be exact."""
        self._lacks = lacks
        self._powers: list[np.ndarray] = []
        self._errors: list[tuple[np.ndarray, np.ndarray]] = []  # of squaring, and of exp(A dt)

    def level(self, P: np.ndarray, b: np.ndarray) -> None:
        """The next power (n, n), and what inputs add in as many steps."""
        block = _block(P, b)
        block[-1, -1] = 1.0
        if not self._powers:
            self._errors.append((np.zeros(block.shape), _block(*self._lacks)))
        else:
            before = self._powers[-1]
            self._errors.append(self._squared(remainder(-block, -before, before)))
        self._powers.append(block)

    def _squared(self, rounding: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """The errors of the next power, to whose square so much has to be added."""
        P, (squaring, exponential) = self._powers[-1], self._errors[-1]
        both = squaring + exponential
        with np.errstate(all="ignore"):
            later = P @ exponential + exponential @ P
            return P @ squaring + squaring @ P + both @ both + rounding, later

    def loss(self, start: np.ndarray, jumps: Jumps) -> Loss | None:
        """start (n, m): the states at the beginning. None where the powers needed for it overflow, or where twice the
        digits are not enough."""
        n, m = start.shape
        if m > _STATES:
            rng = np.random.Generator(np.random.Philox(1))
            start = start @ rng.standard_normal((m, _STATES)) / math.sqrt(m)
        scales = np.ones(n), balance(self._powers[0][:n, :n])
        pushed = bool(np.any(self._powers[0][:n, n]))
        start = np.vstack([start, np.full(start.shape[1], float(pushed))])
        worst, unseen = np.zeros(2), self._unseen(start)
        with np.errstate(all="ignore"):
            while 2 ** len(self._powers) <= jumps.steps:  # a run takes the highest power several times
                self._errors.append(self._squared(0.0))
                self._powers.append(self._powers[-1] @ self._powers[-1])
            for step in _frames(jumps):
                found = self._at(step, start, scales)
                if not np.all(np.isfinite(found)):
                    return None
                worst = np.maximum(worst, found)
        return Loss(*(SAFETY * worst).tolist()) if unseen <= float(np.sum(worst)) else None

    def _unseen(self, X: np.ndarray) -> float:
        """What squaring may lose from the states X on that is beyond twice the digits, as `_at`, but only about."""
        worst = 0.0
        for i, (P, Q) in enumerate(itertools.pairwise(self._powers)):
            sizes = np.max(np.abs(P), axis=1)[:, None] * (np.max(np.abs(P), axis=0) @ np.abs(X))
            lost = resolution(len(P)) * float(np.linalg.norm(sizes[:-1]))
            state = float(np.linalg.norm((Q @ X)[:-1]))
            if state > _SMALLEST:
                worst = max(worst, lost / state * 2.0 ** (len(self._powers) - i))
        return worst

    def _at(self, step: int, X: np.ndarray, scales: tuple[np.ndarray, ...]) -> np.ndarray:
        """Both errors after so many steps from the states X."""
        squaring, exponential, products = np.zeros(X.shape), np.zeros(X.shape), np.zeros(X.shape)
        for i in range(step.bit_length()):
            if step >> i & 1:
                P, (by_squaring, by_exponential) = self._powers[i], self._errors[i]
                squaring = P @ squaring + by_squaring @ X
                exponential = P @ exponential + by_exponential @ X
                products = np.abs(P @ products) + _HALF * (np.abs(P) @ np.abs(X))
                X = P @ X
        squaring = np.abs(squaring) + products
        return np.max([_relative(squaring, exponential, X, d) for d in scales], axis=0)


def _block(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    n = len(A)
    block = np.zeros((n + 1, n + 1))
    block[:n, :n], block[:n, n] = A, b
    return block


def _relative(squaring: np.ndarray, exponential: np.ndarray, X: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Norms of both errors of the states X, which have one more row below them; relative, in units d."""
    X = X[:-1] / d[:, None]
    largest = float(np.max(np.abs(X)))
    if largest < _SMALLEST:
        return np.zeros(2)
    found = [np.linalg.norm(errors[:-1] / d[:, None] / largest) for errors in (squaring, exponential)]
    return np.array(found) / np.linalg.norm(X / largest)


def _frames(jumps: Jumps) -> list[int]:
    """Some of the steps at which frames are, or about, if gaps are not equal; the last one among them."""
    gap, count = jumps.gaps.most_common(1)[0][0], jumps.frames
    places = np.concatenate([np.linspace(1, count, _FRAMES // 2), np.geomspace(1, count, _FRAMES // 2)])
    return sorted({jumps.steps, *(min(gap * round(place), jumps.steps) for place in places)})
