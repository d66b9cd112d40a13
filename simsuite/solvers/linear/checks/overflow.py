"""At which step a growing state leaves the range of numbers, found before the run, where that takes moderate work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.solvers.linear.system import LinearSystem

_LIMIT = 3 * 10**10  # The search may take so many multiplications of matrices: a second of two cores.
_ALONE = 20  # A multiplication takes so many times longer in a product with few columns.
_SCATTERED = 60  # A multiplication takes so many times longer with a sparse matrix.
_CALL = 2 * 10**5  # Any product, however small, takes as long as so many multiplications.
_WALKED = 64  # So many steps are taken one by one first, as a state may leave the range and come back.
_MOVED = 10**5  # So many steps are taken one by one where inputs depend on time.
_AGAIN = 64  # The highest finite power is applied up to so many times.
_MARGIN = 1e3  # Bounds must be so many times below the largest number.


@dataclass(frozen=True)
class Overflow:
    """When the state overflows. step: the first step after which an entry of the state is out of range. growth: the
    factor by which the state grows in that step.
    """

    step: int
    growth: float


def find_overflow(system: LinearSystem, steps: int, largest: float) -> Overflow | None:
    """When, within `steps`, an entry of the state becomes larger than `largest` and stays so; None if no entry does, or
    if finding out takes too much work.

    Where inputs do not depend on time, the last step within the range is found by its binary digits: the powers A^(2^i)
    are applied, the highest first, as long as the state stays within the range. Powers that overflow themselves are
    left out, as the state may have no part in their growth.
    """
    n, m = system.start.shape
    with np.errstate(all="ignore"):
        walked = min(steps, _MOVED if system.moves else _WALKED)
        walked = min(walked, int(_LIMIT / cost_of_a_step(system, m)))
        X, step = _walk(system, system.inputs.values(range(walked)), largest)
        if step < walked:
            return Overflow(step + 1, _growth(system, X))
        bits = (steps - walked).bit_length()
        if walked == steps or system.moves or (n**3 + n * n * m) * bits > _LIMIT:
            return None
        system = system.dense()
        c = system.constant_input()[:, None]
        X, further, outside = _leap([(system.A, c)], X, steps - walked, largest)
        return Overflow(walked + further + 1, _growth(system, X)) if outside else None


def cost_of_a_step(system: LinearSystem, m: int) -> float:
    """The cost of a step with m states on the host, in multiplications of large matrices."""
    slower = _SCATTERED if system.sparse else _ALONE if m < 32 else 1
    products = 1 if system.series is None else system.series.products
    return float(system.multiplications * m * slower + (products + 1) * _CALL)


def overflow_message(dtype: Any, when: str, steps: int) -> str:
    """The message for a run of so many steps whose state overflows. when: for example "step 7"."""
    return f"the state grows beyond the range of {dtype} at {when} of {steps}"


def overflow_help(growth: float | None = None) -> str:
    """The help that follows the message of an overflow. growth: by what the state grows in a step, if known."""
    what = f"it becomes {growth:.6g} times as large in a step there: " if growth and 1 < growth < np.inf else ""
    return f"\n  = help: {what}take fewer steps, or check the matrix"


def _walk(system: LinearSystem, U: np.ndarray, largest: float) -> tuple[np.ndarray, int]:
    """The last state within the range, and its step, after at most as many single steps as there are values U (p,
    steps) of inputs.
    """
    X = system.start
    for step, u in enumerate(U.T):
        following = system.following(X, u)
        if not np.abs(following).max() <= largest:
            return X, step
        X = following
    return X, U.shape[1]


def _leap(
    powers: list[tuple[np.ndarray, np.ndarray]], X: np.ndarray, steps: int, largest: float
) -> tuple[np.ndarray, int, bool]:
    """The last state within the range, and its step, found from X on with powers of the map X -> A X + c; and whether
    the next step is known to be out of range. `powers` holds the map itself and is extended by its squares. Where these
    overflow in a direction that X has no part in, the state found may be within range before `steps` are taken.
    """
    while 2 ** len(powers) <= steps:
        if any(_bound(powers, X, steps, order) * _MARGIN <= largest for order in (1, np.inf)):
            return X, steps, False
        A, c = powers[-1]
        square = A @ A, A @ c + c
        if not all(np.all(np.isfinite(part)) for part in square):
            break
        powers.append(square)
    step, outside = 0, False
    for level in reversed(range(len(powers))):
        A, c = powers[level]
        for _ in range(_AGAIN):
            if step + 2**level > steps:
                break
            following = A @ X + c
            outside = not np.all(np.abs(following) <= largest)
            if outside:
                break
            X, step = following, step + 2**level
    return X, step, outside and step < steps


def _bound(powers: Iterable[tuple[np.ndarray, np.ndarray]], X: np.ndarray, steps: int, order: float) -> float:
    """A bound on the norm of the state in all of so many steps: the highest power is applied again and again, then each
    of the lower ones once. order: the order of the norm.
    """
    sizes = [tuple(float(np.linalg.norm(part, order)) for part in power) for power in powers]
    bound = max(float(np.linalg.norm(x, order)) for x in X.T)
    growth, added = sizes[-1]
    count = steps >> (len(sizes) - 1)
    bound = float(np.float64(max(growth, 1.0)) ** count * (bound + count * added))
    for growth, added in reversed(sizes[:-1]):
        bound = max(growth, 1.0) * bound + added
    return bound


def _growth(system: LinearSystem, X: np.ndarray) -> float:
    """By what factor the largest entry of the state X grows in a step by A alone."""
    X = X / np.abs(X).max()
    return float(np.abs(system.following(X, np.zeros(system.inputs.width))).max())
