"""The class of a check, which compares a measured number with what it should be, and functions that make checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simsuite.errors import ScenarioError, VerificationFailure


@dataclass(frozen=True)
class Check:
    """The result of a check. name: what was checked. kind: the kind of check ("order in space", "ledger", ...).
    measured: the number found. wanted: what it should be, in words. data: further numbers, for `--json` and pictures.
    """

    name: str
    kind: str
    measured: float
    wanted: str
    passed: bool
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The check as `verify --json` prints it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "measured": self.measured,
            "wanted": self.wanted,
            "passed": self.passed,
            "data": dict(self.data),
        }


def near(name: str, kind: str, measured: float, wanted: float, within: float, **data: Any) -> Check:
    """A check that passes if `measured` is at most `within` away from `wanted`."""
    passed = abs(measured - wanted) <= within
    return Check(name, kind, measured, f"{wanted:.10g} +- {within:.3g}", passed, data)


def at_most(name: str, kind: str, measured: float, limit: float, **data: Any) -> Check:
    """A check that passes if |measured| is at most `limit`."""
    return Check(name, kind, measured, f"<= {limit:.3g}", math.isfinite(measured) and abs(measured) <= limit, data)


def not_checked(what: str, refusal: ScenarioError) -> str:
    """A sentence that says why a solver does not compute something."""
    return f"not checked: {what}: " + "; ".join(dict.fromkeys(mistake.message for mistake in refusal.mistakes))


def require(checks: Sequence[Check]) -> None:
    """Raise VerificationFailure (exit code 5) unless all checks have passed, or if there are none."""
    off = [check for check in checks if not check.passed]
    if not checks:
        raise VerificationFailure("nothing was verified")
    if off:
        names = ", ".join(f"{check.name} ({check.kind})" for check in off[:3]) + (", ..." if len(off) > 3 else "")
        if len(checks) == 1:
            raise VerificationFailure(f"the check is off: {names}")
        are = "is" if len(off) == 1 else "are"
        raise VerificationFailure(f"{len(off)} of {len(checks)} checks {are} off: {names}")
