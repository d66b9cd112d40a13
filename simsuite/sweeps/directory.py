"""The directory of a sweep: what it is of, what became of each member, and the members' runs.

scenario.toml   the scenario, as it was when the sweep began
sweep.json      the plan: overrides, keys and the values of all members
members.jsonl   a line for each member that has ended, with its results, in the order in which they ended
sweep.h5        the results of all members along the keys
members/0000/   the run of a member, as `simsuite run` leaves it
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
        self.scenario = path / "scenario.toml"
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

    def begin(self, text: str, about: dict[str, object], plan: Plan) -> None:
        """Store what the sweep is of, or make sure that it is the one that is stored. text: of the scenario. Raises
        UsageError."""
        wanted = json.loads(json.dumps({"version": _VERSION, **about, **asdict(plan)}, default=str))
        if self.plan.exists():
            if json.loads(self.plan.read_text("utf-8")) != wanted or self.scenario.read_text("utf-8") != text:
                raise UsageError(
                    f"{self.path} holds another sweep; ",
                    Advice("-o DIR puts this one elsewhere, --fresh in its place", "give directory=.., or fresh=True"),
                )
            return
        if any(item.name not in ("lock", self.scenario.name) for item in self.path.iterdir()):
            raise UsageError(
                f"{self.path} holds something else than a sweep; ",
                Advice("-o DIR puts this one elsewhere", "give directory=.."),
            )
        _replace(self.scenario, text)
        _replace(self.plan, json.dumps(wanted))

    def discard(self) -> None:
        """Remove the sweep, if there is one: what it was of last, so that a half removed one is still a sweep."""
        if self.plan.exists():
            shutil.rmtree(self.path / "members", ignore_errors=True)
            for file in (self.results, self.log, self.scenario, self.plan):
                file.unlink(missing_ok=True)

    def ended(self) -> dict[int, Ended]:
        """The members that have ended, by number. A line that a kill cut short does not count, and is removed."""
        if not self.log.exists():
            return {}
        found, whole = {}, 0
        data = self.log.read_bytes()
        for line in data.splitlines(keepends=True):
            try:
                record: dict[str, Any] = json.loads(line)
                ended = Ended(**record)
            except (ValueError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            found[ended.member] = ended
            whole += len(line)
        if whole < len(data):
            with self.log.open("r+b") as file:
                file.truncate(whole)
        return found

    def counts(self) -> tuple[int, int, int]:
        """How many members there are, how many have ended, and how many of these failed. Raises SimsuiteError where
        that cannot be read."""
        try:
            members = len(json.loads(self.plan.read_text("utf-8"))["members"])
            lines = self.log.read_bytes().splitlines(keepends=True) if self.log.exists() else []
            states = [json.loads(line)["status"] for line in lines if line.endswith(b"\n")]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SimsuiteError(f"the sweep in {self.path} is damaged: {error}") from error
        return members, len(states), states.count("failed")

    @property
    def in_use(self) -> bool:
        """Whether a simsuite works on it."""
        return Lock(self.path).in_use

    def add(self, ended: Ended) -> None:
        """Store that a member has ended, in such a way that a power cut does not lose it."""
        with self.log.open("ab") as file:
            file.write(json.dumps(asdict(ended)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _replace(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
