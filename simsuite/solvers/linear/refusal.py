"""Whether powers do, which is known once they are made."""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure
from simsuite.solvers.linear.method import Plan
from simsuite.solvers.linear.overflow import overflow_message
from simsuite.solvers.linear.power import ANCHOR
from simsuite.solvers.linear.powers import Powers


def powers_or_not(
    make: Callable[[], Powers], start: Snapshot, plan: Plan, tolerance: float
) -> tuple[Powers | None, str]:
    """The powers that `make` makes for a run that begins at `start`, or None if it has to be stepped after all; and
    why.

    A run goes on as it began: the state of one that was stepped after all has no anchor. Raises NumericalFailure where
    powers are asked for and lose more than `tolerance`, or overflow, or show that the state does.
    """
    if ANCHOR not in start.arrays:
        return None, "powers of A were found not to do when this run began"
    powers = make()
    if start.step == 0 and not powers.error <= tolerance:
        found, help = _refusal(powers, tolerance)
        if plan.asked:
            raise NumericalFailure(found + help)
        return None, found
    return powers, f"{plan.reason}; powers of A lose about {powers.error:.1g} of the state"


def _refusal(powers: Powers, tolerance: float) -> tuple[str, str]:
    """What is wrong with them, and what to do about it."""
    if powers.overflow is not None:
        return overflow_message(powers.dtype, f"about step {powers.overflow:.0f}", powers.steps), ""
    help = '\n  = help: write method = "step" in [time]'
    if math.isinf(powers.error):
        return f"powers of A overflow {powers.dtype}", help
    found = f"powers of A would lose about {powers.error:.1g} of the state, more than {tolerance:g}"
    return found, f"{help}, or a tolerance that is not so small"
