"""How a linear system is taken from frame to frame: step by step, or by powers of A."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from simsuite.errors import SimsuiteError
from simsuite.solvers.linear.jumps import Jumps
from simsuite.solvers.linear.power_error import PROBES

LITTLE = 10**7  # operations, up to which a run steps, whatever else would be faster
SCATTERED = 8  # times longer a multiplication takes with a sparse matrix
WORTH = 2  # times cheaper powers must be to be taken


@dataclass(frozen=True)
class Plan:
    """method: step or power. reason: why, in words. asked: whether the scenario says so."""

    method: str
    reason: str
    asked: bool = False

    @classmethod
    def remembered(cls, plan: Mapping[str, Any]) -> Plan:
        """What `to_remember` gave. Raises SimsuiteError if it is none of that."""
        try:
            return cls(str(plan["method"]), str(plan["reason"]))
        except (KeyError, TypeError) as error:
            raise SimsuiteError(
                f"the method that this run began with is damaged ({error}); --fresh begins again"
            ) from None

    def to_remember(self) -> dict[str, str]:
        """As JSON: nothing if the scenario says it all."""
        return {} if self.asked else {"method": self.method, "reason": self.reason}


def make_plan(
    method: str,
    steps_only: str | None,
    jumps: Jumps,
    lack_of_memory: Callable[[], str | None],
    share: float = 1.0,
    sparse: bool = False,
) -> Plan:
    """The plan for a scenario's `time.method`. steps_only: why no power of A takes several steps at once, None if one
    does. lack_of_memory: why powers do not fit on the device, None if they do. share: of the
    multiplications of a dense A that a step takes; sparse: whether A is kept like that."""
    if method != "auto":
        return Plan(method, "asked for", asked=True)
    n, m, steps = jumps.n, jumps.m, jumps.steps
    operations = 2 * n * n * m * steps * share
    if operations <= LITTLE:
        return Plan("step", f"{steps} products take {operations:.2g} operations only")
    if steps_only is not None:
        return Plan("step", steps_only)
    power, step = jumps.columns(PROBES), jumps.columns_of_steps * (share * SCATTERED if sparse else 1.0)
    sizes = f"{jumps.squares} products of squares and {jumps.applied} with the states"
    if step < WORTH * power:
        return Plan("step", f"{steps} products with the states are not {WORTH} times as much work as {sizes}")
    lacking = lack_of_memory()
    if lacking is not None:
        return Plan("step", lacking)
    return Plan("power", f"{sizes}, {_ratio(step / power)} times less work than {steps} steps")


def _ratio(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.10g}"
