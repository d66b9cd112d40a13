"""Which members of a sweep run together, as one run.

Scenarios, or their problems, say by which keys members may differ that are one run (`joined_by`): elements of the list
of options of a Monte Carlo scenario, and the matrices, inputs and initial states of small linear systems.
"""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.capabilities import Joining
from simsuite.core import Problem
from simsuite.scenario import Scenario
from simsuite.sweeps.plan import Plan

MOST = 1024  # options, or linear systems, in one run: payoffs and results of all of them are kept at a time


def groups(plan: Plan, first: Scenario, problem: Problem | None = None) -> list[list[int]]:
    """The members of the plan, those together that run together. first, problem: the scenario of the first member, and
    what it is made."""
    keys = problem.joined_by if isinstance(problem, Joining) else getattr(first.model, "joined_by", ())
    prefixes = tuple(f"{key}{sign}" for key in keys for sign in ".[")
    within = [k for k, name in enumerate(plan.keys) if name.startswith(prefixes)]
    if not within or not first.model.can_join:
        return [[member] for member in range(len(plan.members))]
    most = max(MOST // max(first.model.joined_size, 1), 1)
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
