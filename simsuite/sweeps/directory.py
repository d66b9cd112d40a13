"""The directory of a sweep: what it is of, what became of each member, and the members' runs.

sweep.json      the plan: the scenario as it was at the beginning, overrides, keys and the values of all members
members.jsonl   a line for each member that has ended, with its results, in the order in which they ended
sweep.h5        the results of all members along the keys
members/0000/   the run of a member, as `simsuite run` leaves it
members/0000-0255/   the run of several members that differ in options alone
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
    error: why it failed. seconds: that it took."""

    member: int
    status: str
    results: dict[str, float | None]
    units: dict[str, str]
    error: str | None
    seconds: float


class SweepDirectory:
    """Names and files of the sweep in `path`. What writes needs `locked`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scenario = path / "members" / "scenario.toml"
        self.plan = path / "sweep.json"
        self.log = path / "members.jsonl"
        self.results = path / "sweep.h5"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """In this context no other process works on the sweep. Raises UsageError where one does."""
        self.path.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(Lock(self.path).held())
            except BlockingIOError:
                raise UsageError(f"another simsuite works on the sweep in {self.path}") from None
            yield

    def member(self, number: int) -> Path:
        """Where the run of a member is."""
        return self.path / "members" / f"{number:04}"

    def shared(self, members: Sequence[int]) -> Path:
        """Where the run is that several members share."""
        return self.path / "members" / f"{members[0]:04}-{members[-1]:04}"

    def require_own(self) -> None:
        """Raises UsageError where the directory holds something else than a sweep."""
        own = {path.name for path in (self.plan, self.log, self.results)} | {"lock", "members"}
        own |= {f"{name}.new" for name in own}
        strangers = [path.name for path in self.path.iterdir() if path.name not in own]
        if strangers and not self.plan.exists():
            raise UsageError(
                f"{self.path} holds something else than a sweep; ",
                Advice("-o DIR puts this one elsewhere", "give directory=.."),
            )

    def begin(self, text: str, about: dict[str, object], plan: Plan) -> None:
        """Store what the sweep is of, or make sure that it is the one that is stored. text: of the scenario. Raises
        UsageError."""
        what = {"version": _VERSION, "scenario": text, **about, **asdict(plan)}
        wanted = json.loads(json.dumps(what, default=str))
        if self.plan.exists():
            if json.loads(self.plan.read_text("utf-8")) != wanted:
                raise UsageError(
                    f"{self.path} holds another sweep; ",
                    Advice("-o DIR puts this one elsewhere, --fresh in its place", "give directory=.., or fresh=True"),
                )
        else:
            _replace(self.plan, json.dumps(wanted))
        self.scenario.parent.mkdir(exist_ok=True)
        _replace(self.scenario, text)

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
        found, whole, size = self._records()
        if whole < size:
            with self.log.open("r+b") as file:
                file.truncate(whole)
        return found

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
        try:
            members = len(json.loads(self.plan.read_text("utf-8"))["members"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SimsuiteError(f"the sweep in {self.path} is damaged: {error}") from error
        found, _, _ = self._records()
        return members, len(found), sum(each.status == "failed" for each in found.values())

    @property
    def in_use(self) -> bool:
        """Whether a simsuite works on it."""
        return Lock(self.path).in_use

    def add(self, ended: Sequence[Ended]) -> None:
        """Store that members have ended, in such a way that a power cut does not lose it."""
        with self.log.open("ab") as file:
            file.write(b"".join(json.dumps(asdict(each)).encode() + b"\n" for each in ended))
            file.flush()
            os.fsync(file.fileno())


def _replace(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
