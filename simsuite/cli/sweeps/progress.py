"""What a sweep says while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simsuite.cli.console import say
from simsuite.words import counted, duration, with_prefix

if TYPE_CHECKING:
    from simsuite.core import Problem
    from simsuite.scenario import Scenario
    from simsuite.sweeps.directory import Ended
    from simsuite.sweeps.sweep import Sweep

_WARNINGS = 10  # as many are said


def begins(whole: Sweep) -> Callable[[int, int, Scenario, Problem], None]:
    """Says what begins: how many members, how long the first one takes, and how much room they take on the disk."""

    def tell(left: int, workers: int, first: Scenario, problem: Problem) -> None:
        done = len(whole.ended)
        before = f", {done} done before" if done else ""
        number = counted(len(whole.plan.members), "member")
        which = number if whole.part is None else f"members {whole.part[0]}-{whole.part[1]} of {number}"
        say(f"sweep: {which}{before}, {workers} at a time, in {whole.directory}")
        say(_forecast(whole, left, first, problem))

    return tell


def searches(whole: Sweep) -> Callable[[int, int, Scenario, Problem], None]:
    """Says what a search begins with."""

    def tell(left: int, workers: int, first: Scenario, problem: Problem) -> None:
        before = f", {counted(len(whole.ended), 'run')} done before" if whole.ended else ""
        say(f"search: one run after another{before}, in {whole.directory}")
        say(_forecast(whole, left, first, problem))

    return tell


def warns(whole: Sweep) -> Callable[[str, int | None], None]:
    """Says each warning once, with the member in which it came up; of many the first ones."""

    def tell(text: str, member: int | None) -> None:
        where = "" if member is None else f"{whole.plan.words(member)}: "
        if len(whole.warnings) <= _WARNINGS:
            say(f"warning: {where}{text}")
        elif len(whole.warnings) == _WARNINGS + 1:
            say("warning: there are more: `simsuite info DIR` of a member tells its own")

    return tell


def _forecast(whole: Sweep, left: int, first: Scenario, problem: Problem) -> str:
    """What the first member takes, and what those that are left take on the disk."""
    from simsuite.assembly import device_of, disk_bytes, estimate, name_of
    from simsuite.cli.check import seconds_in_words
    from simsuite.io.disk import free_bytes

    found = estimate(problem, name_of(device_of(first), first))
    seconds = "a time that is not known before" if found["seconds"] is None else seconds_in_words(found)
    size, free = left * disk_bytes(first, problem), free_bytes(whole.directory)
    room = f", of which only {with_prefix(free, 'B')} are free" if size > free else ""
    return f"the first takes {seconds}, after some seconds to start; all {with_prefix(size, 'B')} on the disk{room}"


def tells(whole: Sweep) -> Callable[[Ended, int], None]:
    """Says each member that ends in a line, with its main results."""
    total = len(whole.plan.members) if whole.part is None else whole.part[1] - whole.part[0] + 1

    def tell(ended: Ended, count: int) -> None:
        from simsuite.summaries.numbers import number
        from simsuite.sweeps.table import main_numbers

        if ended.status == "failed":
            result = f"failed: {ended.error}"
        else:
            names = main_numbers(whole.solver, list(ended.results))[:3]
            shown = ((name, ended.results[name]) for name in names)
            result = "  ".join(f"{name} {'?' if value is None else number(value)}" for name, value in shown)
        say(
            f"{count:>{len(str(total))}}/{total}  {whole.plan.words(ended.member)}  {result}  {duration(ended.seconds)}"
        )

    return tell
