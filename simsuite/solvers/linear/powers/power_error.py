"""What is lost by taking powers of A instead of steps, estimated while the powers are made.

A² as it is computed is A² + δ, and δ comes 2^i times into A^(2^(i+1)), each time carried on by what follows. With
rates of error relative to the state, e a step, and N(t) for what A^t makes of an error in t steps, the state after K
steps is off by about

    e Σ_t N(K - t) |X_t|,        relative to |X_K|;

that is e K for matrices that neither stretch nor turn errors in another way than states. It is much more where errors
grow and states do not, as they do when A is far from normal. (The textbook's recursion of bounds for squaring, N. J.
Higham, Functions of Matrices (2008), section 4.9, e_2j N_2j = N_j² (2 e_j + c u), multiplies what a hump of |A^j| does
at each squaring: for a chain of springs, 1e17 where the error is 1e-11.)

All of it is measured, with a few vectors that go through the same powers:
- e: the state after 2^q steps by single steps and by A^(2^q), from the initial state and from a late one; from there on
  what each squaring does to a state, P (P x) against (P P) x. Both count fully although errors of random signs cancel.
- N: how random vectors grow. Errors are as random, so the root of the mean square counts, not the norm; but never less
  than states shrink, up to which the norm could keep them.
- norms are taken after a diagonal scaling that balances A, by which rounding errors, entry by entry, scale as well:
  units of the components do not matter.
- Where A, B u and X are nowhere negative, nothing ever cancels, and every entry is off by e K at most; by less where
  errors decay.
- Where inputs change, e is measured while they push most, and X is followed from change to change, for a while.

The result is twice that. tests/test_power.py has it beside errors that are known: it is above them, by 1 to 20 times
where A is close to normal, by more where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.linear.powers.amplification import SMALLEST, Curve, amplified
from simsuite.solvers.linear.powers.drive import Drive, Sums
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Sharing

DOUBLINGS = 7  # For the comparison with powers, 2^DOUBLINGS steps are taken one by one.
WALK = 64  # The highest power is applied up to so many times.
FOLLOWED = 512  # Following the state under inputs that change takes at most so many products.
LATE, LONGEST = 128, 4  # Of these products, LATE are for the LONGEST longest spans between changes that come later.
PROBES = 2 * 2**DOUBLINGS + 2 * WALK + 4 * 30  # The estimate takes at most so many products with single vectors.
SAFETY = 2.0
# The error of a step is at least an eighth of a rounding: with few numbers, results may agree by chance.
LUCK = 2.0**-56
_RANDOM = 2  # So many random vectors are followed.
_SWEEPS = 20


def balance(A: np.ndarray) -> np.ndarray:
    """Powers of 2, d (n,), such that rows and columns of the matrix A_ij d_j / d_i have about the same norms, without
    the diagonal. E. E. Osborne, On pre-conditioning of matrices, Journal of the ACM 7 (1960) 338, for all rows at once.
    """
    squares = np.square(A / (np.max(np.abs(A)) or 1.0))
    np.fill_diagonal(squares, 0.0)
    d2 = np.ones(len(A))
    for _ in range(_SWEEPS):
        rows, columns = squares @ d2 / d2, (1.0 / d2) @ squares * d2
        good = (rows > 0) & (columns > 0)
        ratio = np.where(good, rows, 1.0) / np.where(good, columns, 1.0)
        if np.max(np.abs(np.log2(ratio))) < 2.0:
            break
        d2 *= ratio**0.25
    return np.exp2(np.round(0.5 * np.log2(d2)))


class PowerError:
    """Estimates the error of powers while they are made: `level` is called for each of A, A², A⁴ .. in turn, then
    `error`.

    system: with a dense A. drive: its inputs. largest: the largest number that a state can hold. lacks: the differences
    between the exact values and A and B u, for the inputs that add most, if they are known. sharing: of products, by
    processes that all estimate the same. overflow: the step at about which the state overflows, if it does. bounded:
    whether all powers are within the range of numbers. rounding: once `error` was called, the error caused by the
    rounding of exp(A dt), which steps make as well.
    """

    overflow: float | None = None
    rounding = 0.0
    bounded = True

    def __init__(
        self,
        backend: Backend,
        system: LinearSystem,
        drive: Drive,
        largest: float,
        lacks: tuple[np.ndarray, np.ndarray] | None = None,
        sharing: Sharing = ALL_ROWS,
    ) -> None:
        A, start = system.A, system.start
        n, m = start.shape
        self._backend, self._largest, self._n, self._sharing = backend, largest, n, sharing
        self._drive, self._held = drive, drive.held
        self._positive = bool(np.all(A >= 0) and drive.positive and np.all(start >= 0))
        self._scale = balance(A)
        rng = np.random.Generator(np.random.Philox(1))
        signs = np.ones(m) if self._positive or m == 1 else rng.choice([-1.0, 1.0], m) * rng.uniform(0.5, 1.5, m)
        x, g = start @ signs / math.sqrt(m), self._scale[:, None] * rng.standard_normal((n, _RANDOM))
        self._x, self._g = self._vector(x), [self._vector(column) for column in g.T]
        self._grown = [self._vector(np.zeros(n)) for _ in self._g]
        self._late, self._twice, self._spare = (self._vector(np.zeros(n)) for _ in range(3))
        self._no_bias = backend.zeros((1, n), np.float64)
        self._zero = backend.view(self._no_bias)
        self._random = self._norm(g)
        self._growth, self._course = Curve(0.0, 1.0), Curve(0.0, self._norm(x))
        self._A, self._pushed, self._lacks = A, system.B @ self._held.values[:, drive.strongest], lacks
        self._rounded = Curve(0.0, self._lack(x))
        self._levels: list[tuple[Any, Sums]] = []
        self._expected = np.zeros(n)
        self._local: list[float] = []  # the relative error that squaring A^(2^i) causes in a state, for each i
        self._seen = 0
        # A, and the highest power that is compared with it, each with the inputs' part
        self._first: tuple[Any, Any] | None = None
        self._compared: tuple[Any, Any] | None = None

    def level(self, multiply: Any, sums: Sums) -> None:
        """Take the next power into account. multiply: the product of that power with single columns; sums: what inputs
        add in as many steps.
        """
        if self._failed:
            return
        if self._held.changes:
            self._levels.append((multiply, sums))
        sums.turn_to(self._drive.strongest)
        bias = sums.view
        multiply(self._x[1], bias, 0, 0, 1, self._late[1])
        for g, grown in zip(self._g, self._grown):
            multiply(g[1], self._zero, 0, 0, 1, grown[1])
        state = self._note(2.0**self._seen)
        if not self.bounded and self._levels:
            self._levels.pop()
        if self._seen:
            size = self._norm(state)
            self._local.append(self._norm(self._expected - state) / size if SMALLEST < size < math.inf else 0.0)
        multiply(self._late[1], bias, 0, 0, 1, self._twice[1])
        self._expected = self._host(self._twice)
        if self._seen == 0:
            self._first = multiply, bias
        if self._seen <= DOUBLINGS:
            self._compared = multiply, bias
        self._top = multiply, bias
        self._seen += 1

    def error(self, steps: int) -> float:
        """An estimate of the error of the state after so many steps, at the worst frame, relative to the norm of the
        state; inf where powers, or the state, overflow.
        """
        self._walk(steps)
        rate = 0.0 if self._failed else self._rate()
        if self._levels:
            self._follow(steps)
        if self._failed:
            return math.inf
        if self._lacks is not None:
            share = amplified(self._rounded, self._growth, self._course, steps, math.inf)
            self.rounding = math.inf if math.isnan(share) else SAFETY * share
        return SAFETY * rate * self._amplification(steps)

    @property
    def _failed(self) -> bool:
        return self.overflow is not None or not self.bounded

    def _walk(self, steps: int) -> None:
        """Follow the state and random vectors further by applying the highest power again and again."""
        top = 2.0 ** (self._seen - 1)
        for k in range(2, min(WALK, int(steps / top)) + 1):
            if self._failed:
                return
            multiply, bias = self._top
            multiply(self._late[1], bias, 0, 0, 1, self._spare[1])
            self._late, self._spare = self._spare, self._late
            for i, grown in enumerate(self._grown):
                multiply(grown[1], self._zero, 0, 0, 1, self._spare[1])
                self._grown[i], self._spare = self._spare, grown
            self._note(k * top)

    def _follow(self, steps: int) -> None:
        """Follow the state under the changing inputs by the powers that the run takes. It is followed from the first
        step at which it is not 0; then, as if it stayed constant in between, through the longest of the later spans
        between changes.
        """
        held = self._held
        begins, ends = held.steps, np.append(held.steps[1:], steps)
        first = 0
        if not np.any(self._host(self._x)):
            pushed = np.any(held.values != 0, axis=0)[held.which]
            first = int(np.argmax(pushed)) if np.any(pushed) else len(begins)
        begin = float(begins[first]) if first < len(begins) else float(steps)
        self._course.t[0] = self._rounded.t[0] = begin
        state, others = self._x, [self._twice, self._spare]
        for k, levels in self._parts(ends - begins, first):
            t = int(begins[k])
            for i in levels:
                multiply, sums = self._levels[i]
                sums.turn_to(int(held.which[k]))
                multiply(state[1], sums.view, 0, 0, 1, others[0][1])
                state, others = others[0], [others[1], others[0]]
                t += 2**i
                self._note_state(t, self._host(state))
                if self.overflow is not None:
                    return

    def _parts(self, lengths: np.ndarray, first: int) -> Iterator[tuple[int, list[int]]]:
        """(number, levels) of the spans between changes that are followed, with the powers that take the state through
        each: from span `first` on until half of the products are spent, then the longest of the other spans.
        """
        k, left = first, FOLLOWED - LATE
        while k < len(lengths) and left > 0:
            levels = self._through(int(lengths[k]), left)
            yield k, levels
            k, left = k + 1, left - len(levels)
        for late in sorted(np.argsort(-lengths[k:], kind="stable")[:LONGEST].tolist()):
            yield k + late, self._through(int(lengths[k + late]), LATE // LONGEST)

    def _through(self, steps: int, most: int) -> list[int]:
        """The levels of the powers that together take `steps` steps, or as many of them as `most` products take."""
        top = len(self._levels) - 1
        return [*(i for i in range(top) if steps >> i & 1), *[top] * min(steps >> top, most)][:most]

    def _note(self, t: float) -> np.ndarray:
        """Add a point at t to the curves of growth and of the state, or note that one of them left the range of
        numbers. Returns the state.
        """
        state = self._host(self._late)
        N = self._norm(np.column_stack([self._host(g) for g in self._grown])) / self._random
        self.bounded = bool(self._largest >= N)
        if self.bounded:
            self._growth.add(t, N)
        if not self._held.changes and self.bounded:
            self._note_state(t, state)
        elif not self._held.changes:
            self.overflow = self._when(t)
        return state

    def _note_state(self, t: float, state: np.ndarray) -> None:
        X = self._norm(state)
        if math.isfinite(X) and float(np.max(np.abs(state))) <= self._largest:
            self._course.add(t, X)
            self._rounded.add(t, self._lack(state))
        else:
            self.overflow = self._when(t) or t

    def _when(self, t: float) -> float | None:
        """The step up to `t` at which the state overflows if it goes on growing as between the last two points; None if
        it does not overflow by then.
        """
        at, X = self._course.t, self._course.size
        if len(at) < 3 or not 0 < X[-2] < X[-1]:
            return None
        rate = math.log(X[-1] / X[-2]) / (at[-1] - at[-2])
        step = at[-1] + math.log(self._largest / X[-1]) / rate
        return step if step <= t else None

    def _amplification(self, steps: int) -> float:
        """The error after `steps` steps as a multiple of the relative error of a single step."""
        seen = any(size > SMALLEST for size in self._course.size[1:])
        if not seen and self._course.t[-1] < steps and self._held.changes:
            return float(steps)
        worst = amplified(Curve(0.0, 1.0), self._growth, self._course, steps, math.sqrt(self._n))
        return min(worst, self._course.end(steps)) if self._positive else worst

    def _lack(self, x: np.ndarray) -> float:
        """The error that the rounding of exp(A dt) causes in a step from the state x, relative to the next state."""
        if self._lacks is None:
            return 0.0
        A, b = self._lacks
        size = self._norm(self._A @ x + self._pushed)
        return (self._norm(A @ x) + self._norm(b)) / size if SMALLEST < size < math.inf else 0.0

    def _rate(self) -> float:
        """The error of a step, relative to the state."""
        assert self._first is not None
        assert self._compared is not None
        q = min(DOUBLINGS, self._seen - 1)
        worst = 0.0
        for start in (self._x, self._late):
            multiply, bias = self._compared
            multiply(start[1], bias, 0, 0, 1, self._twice[1])
            expected = self._host(self._twice)
            self._step(start, 2**q)
            size = self._norm(expected)
            if SMALLEST < size < math.inf:
                worst = max(worst, self._norm(self._host(self._twice) - expected) / size)
        rate = worst / 2**q + sum(local / 2 ** (i + 1) for i, local in enumerate(self._local) if i >= q)
        return max(rate, LUCK) if self._local else 0.0

    def _step(self, start: tuple[Any, Any], steps: int) -> None:
        """Compute the state after so many steps, taken one by one from `start`, in `_twice`."""
        assert self._first is not None
        multiply, bias = self._first
        at_once = multiply.most_steps or steps
        source, others = start, [self._twice, self._spare]
        for done in range(0, steps, at_once):
            target = others[done // at_once % 2]
            multiply(source[1], bias, 0, 0, min(at_once, steps - done), target[1])
            source = target
        if source is self._spare:
            self._twice, self._spare = self._spare, self._twice

    def _vector(self, values: np.ndarray) -> tuple[Any, Any]:
        """(array, view) of one column on the device."""
        array = self._backend.array(np.ascontiguousarray(values[:, None]))
        view = self._backend.view(array)
        self._sharing.remember([array], [view])
        return array, view

    def _host(self, vector: tuple[Any, Any]) -> np.ndarray:
        return self._backend.to_host(vector[0])[:, 0]

    def _norm(self, X: np.ndarray) -> float:
        """The norm of X after scaling, computed so that nothing overflows on the way."""
        with np.errstate(all="ignore"):
            scaled = X.reshape(self._n, -1) / self._scale[:, None]
            largest = float(np.max(np.abs(scaled)))
            if largest == 0.0 or not math.isfinite(largest):
                return largest
            return largest * float(np.linalg.norm(scaled / largest))
