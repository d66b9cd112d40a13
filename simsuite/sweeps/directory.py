"""The directory of a sweep: what it is of, what became of each member, and the members' runs.

sweep.json      the plan: the scenario as it was at the beginning, overrides, keys and the values of all members; of a
                search for a value, of the members so far
members.jsonl   a line for each member that has ended, with its results, in the order in which they ended
sweep.h5        the results of all members along the keys
members/0000/   the run of a member, as `simsuite run` leaves it
members/0000-0255/   the run of several members that run together
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from simsuite.errors import Advice, SimsuiteError, UsageError
from simsuite.io.lock import Lock
from simsuite.sweeps.plan import Plan

_VERSION = 1


@dataclass(frozen=True)
class Ended:
    """A member that has ended. status: "complete" or "failed". results: its numbers by dotted name. units: of these.
    error: why it failed. seconds: that it took. run: the name of the directory of its run, where others share it.
    place: which of them it is in there."""

    member: int
    status: str
    results: dict[str, float | None]
    units: dict[str, str]
    error: str | None
    seconds: float
    run: str = ""
    place: int = 0


class SweepDirectory:
    """Names and files of the sweep in `path`. What writes needs `locked`.

    Several processes may share the lock, each of which runs members of its own: they write one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scenario = path / "members" / "scenario.toml"
        self.plan = path / "sweep.json"
        self.log = path / "members.jsonl"
        self.results = path / "sweep.h5"
        self._writing = Lock(path, "lock.members")

    @contextlib.contextmanager
    def locked(self, shared: bool = False) -> Iterator[None]:
        """In this context no other process works on the sweep, or only such as share it. Raises UsageError where
        another one does."""
        self.path.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(Lock(self.path).held(shared))
            except BlockingIOError:
                raise UsageError(f"another simsuite works on the sweep in {self.path}") from None
            yield

    def member(self, number: int) -> Path:
        """Where the run of a member is."""
        return self.path / "members" / f"{number:04}"

    def run_of(self, ended: Ended) -> Path:
        """Where the run of a member that has ended is, which others may share."""
        return self.path / "members" / (ended.run or f"{ended.member:04}")

    def shared(self, members: Sequence[int]) -> Path:
        """Where the run is that several members share."""
        return self.path / "members" / f"{members[0]:04}-{members[-1]:04}"

    def require_own(self) -> None:
        """Raises UsageError where the directory holds something else than a sweep."""
        own = {path.name for path in (self.plan, self.log, self.results)} | {
            "lock",
            "lock.members",
            "members",
            "plot.png",
            "report.html",
        }
        own |= {f"{name}.new" for name in own}
        strangers = [path.name for path in self.path.iterdir() if path.name not in own]
        if strangers and not self.plan.exists():
            raise UsageError(
                f"{self.path} holds something else than a sweep; ",
                Advice("-o DIR puts this one elsewhere", "give directory=.."),
            )

    def begin(self, text: str, about: dict[str, object], plan: Plan, goal: dict[str, object] | None = None) -> Plan:
        """Store what the sweep is of, or make sure that it is the one that is stored, and return its plan. text: of the
        scenario. goal: what a search is for, whose members are found on the way: whatever it was for before, the
        members that are stored serve it. Raises UsageError."""
        what = {"version": _VERSION, "scenario": text, **about, **asdict(plan)} | ({} if goal is None else {"goal": {}})
        wanted = json.loads(json.dumps(what, default=str))
        with self._writing.awaited():
            if self.plan.exists():
                stored = self._stored()
                plan = plan if goal is None else _plan(stored)
                grown: dict[str, object] = {} if goal is None else {"goal": {}, "members": [], "shape": []}
                if ("goal" in stored) != (goal is not None) or stored | grown != wanted | grown:
                    elsewhere = "-o DIR puts this one elsewhere, --fresh in its place"
                    advice = Advice(elsewhere, "give directory=.., or fresh=True")
                    raise UsageError(f"{self.path} holds another sweep; ", advice)
            if goal is not None or not self.plan.exists():
                _replace(self.plan, json.dumps(wanted | asdict(plan) | ({} if goal is None else {"goal": goal})))
            self.scenario.parent.mkdir(exist_ok=True)
            if not self.scenario.exists() or self.scenario.read_text("utf-8") != text:
                _replace(self.scenario, text)
        return plan

    def grow(self, plan: Plan) -> None:
        """Store a plan with more members."""
        _replace(self.plan, json.dumps(self._stored() | asdict(plan)))

    def end_search(self, how: str) -> None:
        """Store how a search has ended: "found", or "failed" where there is no solution, or a run has none."""
        stored = self._stored()
        _replace(self.plan, json.dumps(stored | {"goal": stored["goal"] | {"ended": how}}))

    def stored(self) -> tuple[str, Plan, dict[str, Any] | None]:
        """The solver, the plan, and what a search is for and how it has ended. Raises SimsuiteError where the file is
        damaged. Any: the goal has names and numbers."""
        try:
            stored = self._stored()
            return stored["solver"], _plan(stored), stored.get("goal")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SimsuiteError(f"the sweep in {self.path} is damaged: {error}") from error

    def _stored(self) -> dict[str, Any]:
        stored: dict[str, Any] = json.loads(self.plan.read_text("utf-8"))
        return stored

    def discard(self) -> None:
        """Remove the sweep, if there is one: what it was of last, so that a half removed one is still a sweep."""
        if self.plan.exists():
            if self.scenario.parent.exists():
                shutil.rmtree(self.scenario.parent)
            for file in (self.results, self.log, self.plan):
                file.with_name(f"{file.name}.new").unlink(missing_ok=True)
                file.unlink(missing_ok=True)

    def ended(self) -> dict[int, Ended]:
        """The members that have ended, by number, each as it did last. A line at the end that a kill cut short is
        removed. Raises SimsuiteError for other damage."""
        with self._writing.awaited():
            found, whole, size = self._records()
            if whole < size:
                os.truncate(self.log, whole)
        return found

    def read(self) -> dict[int, Ended]:
        """The members that have ended, as `ended`, by who only looks. Raises SimsuiteError for damage."""
        return self._records()[0]

    def _records(self) -> tuple[dict[int, Ended], int, int]:
        """The members that have ended, how many bytes of the log are whole lines, and how many it has."""
        if not self.log.exists():
            return {}, 0, 0
        found: dict[int, Ended] = {}
        data = self.log.read_bytes()
        whole = data.rfind(b"\n") + 1
        known = {field.name for field in fields(Ended)}
        try:
            for line in data[:whole].splitlines():
                record: dict[str, Any] = json.loads(line)
                ended = Ended(**{name: value for name, value in record.items() if name in known})
                found[ended.member] = ended
        except (ValueError, TypeError, AttributeError) as error:
            raise SimsuiteError(f"{self.log} is damaged: {error}") from error
        return found, whole, len(data)

    def counts(self) -> tuple[int, int, int]:
        """How many members there are, how many have ended, and how many of these failed. Raises SimsuiteError where
        that cannot be read."""
        _, plan, _ = self.stored()
        found = self.read()
        return len(plan.members), len(found), sum(each.status == "failed" for each in found.values())

    @property
    def in_use(self) -> bool:
        """Whether a simsuite works on it, or several."""
        return Lock(self.path).in_use_or_shared

    def add(self, ended: Sequence[Ended], once: bool = False) -> None:
        """Store that members have ended, in such a way that a power cut does not lose it. A line before that was cut
        short is removed. once: but for those that are stored as complete already."""
        with self._writing.awaited(), self.log.open("a+b") as file:
            there = self._records()[0] if once else {}
            new = [each for each in ended if each.member not in there or there[each.member].status != "complete"]
            size = file.seek(0, os.SEEK_END)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                file.truncate(self._records()[1])
            file.write(b"".join(json.dumps(asdict(each)).encode() + b"\n" for each in new))
            file.flush()
            os.fsync(file.fileno())


def _plan(stored: dict[str, Any]) -> Plan:
    """The plan of what is stored. Any: as JSON has it."""
    return Plan(tuple(stored["keys"]), tuple(map(tuple, stored["members"])), tuple(stored["shape"]))


def _replace(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
