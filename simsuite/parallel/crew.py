"""The processes of a run, as `Execution` sees them: one alone, or the first of several, which leads the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simsuite.communication.communicator import ONLY_SEAT, Seat
from simsuite.core import Backend, Problem, Snapshot, Stepper


class Crew(Protocol):
    """The processes that share a run. size: how many there are. seat: where this one works."""

    size: int
    seat: Seat

    def require_alike(self, own: tuple[str, ...], differences: Callable[[str], list[str]]) -> None:
        """Raises UsageError unless all processes have read the same scenario. own: what this one has read, see
        `follower.signature`. differences: the keys by which the scenario differs from another one, given as text."""

    def require_divisible(self, problem: Problem) -> None:
        """Raises UsageError, with the reason, if these processes cannot share the problem."""

    def stepper(self, problem: Problem, backend: Backend, start: Snapshot) -> Stepper:
        """The stepper of a run: what is asked of it is asked of all processes, and what it lets see is what all of them
        have together."""

    def settled(self, stepper: Stepper) -> None:
        """`Problem.settle` may have changed where the stepper is."""

    def stopped(self, own: Callable[[], str | None]) -> Callable[[], str | None]:
        """A function that gives the reason to stop early: this process's own, or what another was told."""


class Single:
    """A process alone."""

    size = 1
    seat = ONLY_SEAT

    def require_alike(self, own: tuple[str, ...], differences: Callable[[str], list[str]]) -> None: ...

    def require_divisible(self, problem: Problem) -> None: ...

    def stepper(self, problem: Problem, backend: Backend, start: Snapshot) -> Stepper:
        return problem.stepper(backend, start)

    def settled(self, stepper: Stepper) -> None: ...

    def stopped(self, own: Callable[[], str | None]) -> Callable[[], str | None]:
        return own
