"""Whether powers, or modes, are accurate enough for a run, which is known once they are computed."""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure
from simsuite.solvers.linear.checks.overflow import overflow_help, overflow_message
from simsuite.solvers.linear.method_choice.method import Plan
from simsuite.solvers.linear.powers.power import ANCHOR
from simsuite.solvers.linear.powers.powers import Powers
from simsuite.solvers.linear.spectral.prepare import Prepared

_OTHERS = '\n  = help: write method = "power", or "step", in [time]'


def powers_or_not(
    make: Callable[[], Powers], start: Snapshot, plan: Plan, tolerance: float
) -> tuple[Powers | None, str]:
    """The powers that `make` makes for a run that begins at `start`, or None if they cannot be used; and the reason.

    Errors by the rounding of exp(A dt), and of products, do not count against powers, as steps make them too. A run
    that was continued goes on with the method it began with: where that was not powers, its snapshot has no anchor.
    Raises NumericalFailure where the scenario asks for powers and they lose more than `tolerance`, overflow, or show
    that the state overflows.
    """
    if ANCHOR not in start.arrays:
        return None, "powers of A were found not to do when this run began"
    powers = make()
    if start.step == 0 and not powers.lost <= tolerance:
        found, help = _refusal(powers, tolerance)
        if plan.asked:
            raise NumericalFailure(found + help)
        return None, found
    why = f"powers of A lose about {powers.error:.1g} of the state"
    if powers.error > tolerance and powers.products > powers.rounding:
        why += ", most of it at a frame where hardly anything is left of it, by roundings that steps would have as well"
    elif powers.error > tolerance:
        why += ", most of it by the rounding of exp(A dt), which steps would lose as well, but modes would not"
    return powers, why


def _refusal(powers: Powers, tolerance: float) -> tuple[str, str]:
    """What is wrong with the powers, and what to do about it."""
    if powers.overflow is not None:
        return overflow_message(powers.dtype, f"about step {powers.overflow:.0f}", powers.steps), overflow_help()
    help = '\n  = help: write method = "step" in [time]'
    if math.isinf(powers.lost):
        return f"powers of A overflow {powers.dtype}", help
    found = f"powers of A would lose about {powers.lost:.1g} of the state, more than {tolerance:g}"
    return found, f"{help}, or a tolerance that is not so small"


def modes_or_not(
    make: Callable[[], Prepared], start: Snapshot, plan: Plan, tolerance: float, steps: int
) -> tuple[Prepared | None, str]:
    """The modes that `make` makes for a run that begins at `start`, or None if they cannot be used; and the reason.

    A run that was continued takes its modes from the snapshot; if there are none, they were refused when it began.
    steps: how many the run has. Raises NumericalFailure where the scenario asks for modes and they cannot be used.
    """
    kept = Prepared.of(start.arrays)
    if kept is None and start.step > 0:
        return None, "modes of A were found not to do when this run began"
    try:
        prepared = kept or make()
    except ValueError as reason:
        found, help = f"A cannot be taken apart into modes: {reason}", _OTHERS
    else:
        found, help = _refusal_of_modes(prepared, tolerance, steps)
        if not found:
            return prepared, f"modes of A lose about {prepared.loss.error:.1g} of the state"
    if plan.asked:
        raise NumericalFailure(found + help)
    return None, found


def _refusal_of_modes(prepared: Prepared, tolerance: float, steps: int) -> tuple[str, str]:
    loss, dtype = prepared.loss, prepared.modes.dtype
    if loss.overflow is not None:
        return overflow_message(dtype, f"about step {loss.overflow}", steps), overflow_help()
    if math.isinf(loss.error):
        return f"modes of A overflow {dtype}", _OTHERS
    if loss.error <= tolerance:
        return "", ""
    found = f"modes of A would lose about {loss.error:.1g} of the state, more than {tolerance:g}"
    return found, f"{_OTHERS}, or a tolerance that is not so small"
