"""When a state that grows leaves the range of numbers, found before the run, where that is moderate work."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.solvers.linear.system import LinearSystem

_LIMIT = 3 * 10**8  # multiplications that it may take
_AGAIN = 64  # times that the highest finite power is applied


def overflow_step(system: LinearSystem, steps: int, largest: float) -> int | None:
    """The first of `steps` after which an entry of the state is larger than `largest`, if it grows from there on;
    None if it is none, or not found out at such cost, or inputs depend on time.

    From X_0 with A^(2^i), the highest first, as far as the state stays within the range: the binary digits of the last
    step at which it does. Powers that overflow themselves are left out, as the state may have no part in their growth.
    """
    n, m = system.start.shape
    if system.moves or (n**3 + n * n * m) * steps.bit_length() > _LIMIT:
        return None
    system = system.dense()
    with np.errstate(all="ignore"):
        powers = [(system.A, system.constant_input()[:, None])]
        while 2 ** len(powers) <= steps:
            A, c = powers[-1]
            square = A @ A, A @ c + c
            if not all(np.all(np.isfinite(part)) for part in square):
                break
            powers.append(square)
        X, step, outside = system.start, 0, False
        for level in reversed(range(len(powers))):
            A, c = powers[level]
            for _ in range(_AGAIN):
                if step + 2**level > steps:
                    break
                following = A @ X + c
                if not np.all(np.abs(following) <= largest):
                    outside = True
                    break
                X, step = following, step + 2**level
    return step + 1 if outside else None


def overflow_message(dtype: Any, when: str, steps: int) -> str:
    """What a run of so many steps is answered. when: "step 7"."""
    return f"the state grows beyond the range of {dtype} at {when} of {steps}"
