"""Which members of a sweep run together, as one run.

Members that differ in elements of a list alone, for scenarios that say which list that is (`joined_by`, the options of
a Monte Carlo scenario), are one run with the elements of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.scenario import Scenario
from simsuite.sweeps.plan import Plan

MOST = 1024  # elements of the list in one run: payoffs are kept for all of them at a time


def groups(plan: Plan, first: Scenario) -> list[list[int]]:
    """The members of the plan, those together that run together. first: the scenario of the first member."""
    key = getattr(first.model, "joined_by", None)
    within = [k for k, name in enumerate(plan.keys) if key is not None and name.startswith((f"{key}.", f"{key}["))]
    if not within or not first.model.can_join:
        return [[member] for member in range(len(plan.members))]
    most = max(MOST // max(len(getattr(first.model, str(key))), 1), 1)
    alike: dict[tuple[str, ...], list[int]] = {}
    for member, values in enumerate(plan.members):
        others = tuple(repr(value) for k, value in enumerate(values) if k not in within)
        alike.setdefault(others, []).append(member)
    return [some[i : i + most] for some in alike.values() for i in range(0, len(some), most)]


def left_of(found: Sequence[Sequence[int]], left: set[int]) -> list[list[int]]:
    """What there is to run of the groups. A group of which some members have ended is run member by member, since the
    run that all of them shared is of other members."""
    whole = [list(group) for group in found if left.issuperset(group)]
    rest = [[i] for group in found if not left.issuperset(group) for i in group if i in left]
    return [*whole, *rest]
