"""The choice how a linear system is taken from frame to frame: step by step, by powers of A, or by its modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simsuite.errors import AFRESH, SimsuiteError, UsageError
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import RECORDED
from simsuite.solvers.linear.powers.power_error import FOLLOWED, PROBES
from simsuite.solvers.linear.spectral.cost import Pace, gain_by_modes
from simsuite.solvers.linear.system import LinearSystem
from simsuite.words import counted

LITTLE = 10**7  # A run of up to so many operations takes steps, whatever else would be faster.
SCATTERED = 8  # A multiplication takes so many times longer with a sparse matrix.
# Powers are taken if they are so many times cheaper than steps, and modes if so many times cheaper than powers.
WORTH = 2


@dataclass(frozen=True)
class Plan:
    """The choice of a method. method: step, power or spectral. reason: why, in words. asked: whether the scenario names
    it.
    """

    method: str
    reason: str
    asked: bool = False

    @classmethod
    def remembered(cls, plan: Mapping[str, Any]) -> Plan:
        """The plan that `to_remember` wrote. Raises SimsuiteError if `plan` is not one."""
        if "members" in plan:
            raise UsageError("this is a run of several members of a sweep: the command of the sweep continues it")
        try:
            return cls(str(plan["method"]), str(plan["reason"]))
        except (KeyError, TypeError) as error:
            raise SimsuiteError(f"the method that this run began with is damaged ({error}); ", AFRESH) from None

    def to_remember(self) -> dict[str, str]:
        """The plan in JSON types, to be stored with a run; empty if the scenario names the method."""
        return {} if self.asked else {"method": self.method, "reason": self.reason}


def columns_of_steps(jumps: Jumps, share: float | None) -> float:
    """What the steps of a run cost, in the unit of `Jumps.columns`. share: as `LinearSystem.share`."""
    return jumps.columns_of_steps * (1.0 if share is None else SCATTERED * share)


def make_plan(
    method: str,
    system: LinearSystem,
    jumps: Jumps,
    lack_of_memory: Callable[[str], str | None],
    timed: Callable[[], Pace | None],
) -> Plan:
    """The plan for a scenario's `time.method`. lack_of_memory: tells why a method does not fit on the device, None if
    it does. timed: tells how fast the device is, None if there is no device to time.
    """
    if method != "auto":
        return Plan(method, "asked for", asked=True)
    n, m, steps = jumps.n, jumps.m, jumps.steps
    operations = 2 * n * n * m * steps * (system.share or 1.0)
    products = counted(steps, "product")
    if operations <= LITTLE:
        return Plan("step", f"{products} of {operations:.2g} operations in all")
    if system.steps_only is not None:
        return Plan("step", system.steps_only)
    power, step = jumps.columns(PROBES + _for_changes(system, n)), columns_of_steps(jumps, system.share)
    sizes = f"{counted(jumps.squares, 'product')} of squares and {jumps.applied} with the states"
    gain = 0.0 if system.moves else gain_by_modes(jumps, min(jumps.columns(0), step), timed)
    if gain >= WORTH and lack_of_memory("spectral") is None:
        others = sizes if power < step else counted(steps, "step")
        return Plan("spectral", f"one product a frame and the modes of A, {_ratio(gain)} times less work than {others}")
    if step < WORTH * power:
        return Plan("step", f"stepping, {products} with the states, is not {WORTH} times as much work as {sizes}")
    lacking = lack_of_memory("power")
    if lacking is not None:
        return Plan("step", lacking)
    return Plan("power", f"{sizes}, {_ratio(step / power)} times less work than {counted(steps, 'step')}")


def _for_changes(system: LinearSystem, n: int) -> int:
    """What changes of the inputs cost, in products with a column.

    The state is followed once to estimate the error, and the host spends some 5 us at each change, in which a device
    takes up to forty steps of a small system. Without recorded graphs of the launches it spends ten times as long.
    """
    if system.held is None or not system.moves:
        return 0
    slower = 1 if system.held.values.shape[1] <= RECORDED else 10
    return FOLLOWED + len(system.held.steps) * slower * min(40, 5 + 40_000 // n**2)


def _ratio(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.10g}"
