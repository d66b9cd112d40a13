"""What a check is: one thing measured, what it should be, and whether it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simsuite.errors import ScenarioError, VerificationFailure


@dataclass(frozen=True)
class Check:
    """name: what was looked at. kind: in which way ("order in space", "ledger", ...). measured: the number found.
    wanted: what it should be, in words. data: all else that is known, for `--json` and pictures.
    """

    name: str
    kind: str
    measured: float
    wanted: str
    passed: bool
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For `verify --json`."""
        return {
            "name": self.name,
            "kind": self.kind,
            "measured": self.measured,
            "wanted": self.wanted,
            "passed": self.passed,
            "data": dict(self.data),
        }


def near(name: str, kind: str, measured: float, wanted: float, within: float, **data: Any) -> Check:
    """Passes if `measured` is at most `within` away from `wanted`."""
    passed = abs(measured - wanted) <= within
    return Check(name, kind, measured, f"{wanted:.10g} +- {within:.3g}", passed, data)


def at_most(name: str, kind: str, measured: float, limit: float, **data: Any) -> Check:
    """Passes if |measured| is at most `limit`."""
    return Check(name, kind, measured, f"<= {limit:.3g}", math.isfinite(measured) and abs(measured) <= limit, data)


def not_checked(what: str, refusal: ScenarioError) -> str:
    """Why a solver does not compute something."""
    return f"not checked: {what}: " + "; ".join(dict.fromkeys(mistake.message for mistake in refusal.mistakes))


def require(checks: Sequence[Check]) -> None:
    """Raises VerificationFailure (exit code 5) unless all have passed, and if there are none."""
    off = [check for check in checks if not check.passed]
    if not checks:
        raise VerificationFailure("nothing was verified")
    if off:
        names = ", ".join(f"{check.name} ({check.kind})" for check in off[:3]) + (", ..." if len(off) > 3 else "")
        are = "is" if len(off) == 1 else "are"
        raise VerificationFailure(f"{len(off)} of {len(checks)} checks {are} off: {names}")
