"""A sweep from its plan to its results."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from simsuite.assembly import device_of, make_problem
from simsuite.backends.threads import threads_available
from simsuite.capabilities import Advising
from simsuite.core import Problem
from simsuite.errors import Advice, UsageError
from simsuite.progress import Silent
from simsuite.provenance import Origin, origin_of
from simsuite.scenario import Scenario, load, load_table, settings
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.frames import WHICH
from simsuite.sweeps.members import Answer, together
from simsuite.sweeps.plan import Plan
from simsuite.sweeps.results_file import write_results
from simsuite.sweeps.table import numbers
from simsuite.sweeps.together import groups, left_of
from simsuite.sweeps.workers import run_members
from simsuite.version import VERSION
from simsuite.words import closest


@dataclass
class Sweep:
    """One call of `simsuite sweep`.

    scenario: its file, or a dictionary as a file would be read to. overrides: of all members, as "key=value". told:
    called for each member that ends, with how many have ended. begins: called before the first one, with how many are
    left, how many processes run them, and the first one. warned: called for each warning when it comes up first, with
    the number of its member, None where it is about the scenario of the first one. stopped: gives a reason to stop, or
    None. workers: processes at a time; by default as many as there are cores, or one where members run on a GPU. units:
    of a member's results. part: the first and the last of the members that are run; others may run the rest at the same
    time, and sweep.h5 is left to a call for all members. apart: whether each member has a run of its own, although
    several could share one. frames: which frames of members sweep.h5 has as well, "last" or "all". names: what reports
    of mistakes put before an override of all members, and before a value of one. left_out: variables whose frames it
    lacks, since their shapes differ between members. warnings: of the runs of this call, each once.
    """

    scenario: Path | Mapping[str, object]
    plan: Plan
    directory: Path
    overrides: Sequence[str] = ()
    workers: int | None = None
    retry: bool = False
    fresh: bool = False
    told: Callable[[Ended, int], None] = lambda ended, count: None
    begins: Callable[[int, int, Scenario, Problem], None] = lambda left, workers, first, problem: None
    warned: Callable[[str, int | None], None] = lambda text, member: None
    stopped: Callable[[], str | None] = lambda: None
    units: Callable[[Mapping[str, Any]], dict[str, str]] = lambda summary: {}  # Any: what `run --json` prints
    part: tuple[int, int] | None = None
    apart: bool = False
    frames: str | None = None
    names: tuple[str, str] = ("--set ", "--vary ")
    left_out: list[str] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    solver: str = field(default="", init=False)
    ended: dict[int, Ended] = field(default_factory=dict, init=False)

    @cached_property
    def origin(self) -> Origin:
        """Of the files of this call."""
        return origin_of(Path() if isinstance(self.scenario, Mapping) else self.scenario.parent)

    def member(self, number: int) -> Scenario:
        """The scenario of a member. Raises ScenarioError."""
        return self._scenario(settings(self.plan.settings(number)))

    def _scenario(self, varied: Sequence[str] = ()) -> Scenario:
        """The scenario with these values of the keys that vary."""
        of_all, of_one = self.names
        values, options = [*self.overrides, *varied], {text: f"{of_one}{text}" for text in varied}
        if isinstance(self.scenario, Mapping):
            return load_table(self.scenario, Path("scenario.toml"), values, of_all, options)
        return load(self.scenario, values, override_name=of_all, options=options)

    def run(self) -> bool:
        """Run all members that have not ended, or those of `part`. Returns whether all have; False if it was stopped
        early.

        Members that failed do not stop others; they are run again with `retry` alone. Raises ScenarioError where the
        first member cannot be run, and UsageError for a directory that is in use or holds something else.
        """
        with self.begun() as (files, first, problem):
            wanted = self._wanted()
            self.ended = {i: each for i, each in self.ended.items() if i in wanted}
            left = {i for i in wanted if i not in self.ended}
            if left:
                together = [[i for i in group if i in wanted] for group in self._groups(first, problem)]
                self._run(left_of([group for group in together if group], left), first, problem, files)
            if self.part is None:
                self.write(files, first)
        return len(self.ended) == len(wanted)

    def _groups(self, first: Scenario, problem: Problem) -> list[list[int]]:
        """The members, those together that run together."""
        return [[i] for i in range(len(self.plan.members))] if self.apart else groups(self.plan, first, problem)

    @contextlib.contextmanager
    def begun(self, goal: dict[str, object] | None = None) -> Iterator[tuple[SweepDirectory, Scenario, Problem]]:
        """A context in which members can be run: the files, the first member and its problem. `ended` has the members
        that have ended. goal: what a search is for. Raises ScenarioError and UsageError, as `run` does."""
        if self.frames is not None and self.frames not in WHICH:
            raise UsageError(f"frames are {' or '.join(WHICH)}, not {self.frames!r}")
        first, problem = self.require_first()
        self.solver = first.solver
        text = self._text()
        files = SweepDirectory(self.directory)
        if self.fresh and self.part is not None:
            no = "a part of a sweep cannot begin it afresh, which would discard the other parts: "
            raise UsageError(no, Advice("leave out --fresh", "leave out fresh"))
        with files.locked(self.part is not None):
            files.require_own()
            if self.fresh:
                files.discard()
            about: dict[str, object] = {
                "solver": first.solver,
                "overrides": list(self.overrides),
                "files": first.files() | _book(first),
            }
            self.plan = files.begin(text, about, self.plan, goal)
            self.ended = files.ended()
            if self.retry:
                self.ended = {i: each for i, each in self.ended.items() if each.status == "complete"}
            yield files, first, problem

    def require_first(self) -> tuple[Scenario, Problem]:
        """The first member and its problem. Raises ScenarioError where it cannot be run, and UsageError for constants
        that the scenario does not have."""
        self._require_constants()
        first = self.member(0)
        return first, make_problem(first, device_of(first))

    def _wanted(self) -> range:
        """The numbers of the members that are to be run. Raises UsageError where there are none such."""
        total = len(self.plan.members)
        if self.part is None:
            return range(total)
        first, last = self.part
        if not 0 <= first <= last < total:
            raise UsageError(f"there are no members {first}-{last}: the sweep has members 0-{total - 1}")
        return range(first, last + 1)

    def _require_constants(self) -> None:
        """Raises UsageError where a constant varies that the scenario does not have: a misspelt one would vary
        nothing."""
        varied = [key.partition(".")[2] for key in self.plan.keys if key.startswith("constants.")]
        known = (self._scenario().model.constants or {}) if varied else {}
        for name in varied:
            if name not in known:
                near = closest(name, known)
                help = f"; did you mean `{near}`?" if near else ""
                raise UsageError(f"the scenario has no constant `{name}`{help}")

    def _text(self) -> str:
        if isinstance(self.scenario, Mapping):
            return "\n".join(settings(self.scenario)) + "\n"
        return self.scenario.read_text("utf-8")

    def _run(self, left: Sequence[Sequence[int]], first: Scenario, problem: Problem, files: SweepDirectory) -> None:
        """left: members that are to be run, those together that run together."""
        workers, threads = self.shared_out(len(left), first)
        self.begin(sum(map(len, left)), workers, first, problem)
        still = self._still_left(left, files)
        if len(left) == 1:
            still = self._here(list(still), files)
        for _ in self.results_of(still, files, workers, threads):
            pass

    def begin(self, left: int, workers: int, first: Scenario, problem: Problem) -> None:
        """Tells that members begin, see `begins`, and the warnings about the scenario of the first."""
        self.begins(left, workers, first, problem)
        self.warn_of(problem)

    def warn_of(self, problem: Problem) -> None:
        """Tells the warnings about the scenario of the first member."""
        self._warn(problem.warnings if isinstance(problem, Advising) else (), None)

    def _warn(self, texts: Iterable[str], member: int | None) -> None:
        for text in texts:
            if text not in self.warnings:
                self.warnings.append(text)
                self.warned(text, member)

    def _here(self, left: Sequence[Sequence[int]], files: SweepDirectory) -> Iterator[Sequence[int]]:
        """Runs those members that make one run in this process, which has its device and what it imports already;
        yields those that have to run on their own, in processes, where one that fails takes no other with it."""
        for group in left:
            found = (
                together(self._asked(group, files), self._shared(files), self.stopped, Silent()) if group[1:] else []
            )
            for _ in self._record(found, files):
                pass
            answered = {answer["member"] for answer in found}
            yield from ([i] for i in group if i not in answered)

    def _still_left(self, found: Sequence[Sequence[int]], files: SweepDirectory) -> Iterator[Sequence[int]]:
        """The members but for those that another process has run meanwhile; the others of their group run alone."""
        for group in found:
            there = {} if self.part is None else files.ended()
            done = {i: there[i] for i in group if i in there and there[i].status == "complete"}
            self.ended |= done
            if done:
                yield from ([i] for i in group if i not in done)
            else:
                yield group

    def results_of(
        self, members: Iterable[Sequence[int]], files: SweepDirectory, workers: int, threads: int
    ) -> Iterator[Ended | None]:
        """Run members and store what becomes of each; None of one that was stopped. members: those together that run
        together. workers, threads: how many processes run at a time, with how many threads each. The next members are
        taken when a process is free for them."""
        asked = functools.partial(self._asked, files=files)
        for answers in run_members(members, asked, self._shared(files), workers, threads, self.stopped):
            yield from self._record(answers, files)

    def _shared(self, files: SweepDirectory) -> Mapping[str, object]:
        """What is the same for all members, see `members`."""
        base = Path() if isinstance(self.scenario, Mapping) else self.scenario.parent
        return {
            "scenario": str(files.scenario),
            "parent": os.getpid(),
            "overrides": list(self.overrides),
            "base": str(base.resolve()),
            "origin": self.origin.told(),
        }

    def _asked(self, group: Sequence[int], files: SweepDirectory) -> Mapping[str, object]:
        """What names members, see `members`."""
        values = [json.loads(json.dumps(self.plan.settings(i), default=str)) for i in group]
        named = [{"member": i, "directory": str(files.member(i)), "values": each} for i, each in zip(group, values)]
        return {"members": named, "shared": str(files.shared(group))}

    def _record(self, answers: Sequence[Answer], files: SweepDirectory) -> Iterator[Ended | None]:
        """Stores what became of members; None of one that was stopped."""
        found = list(map(self._ended, answers))
        files.add([ended for ended in found if ended is not None], once=self.part is not None)
        for ended in found:
            if ended is not None:
                self.ended[ended.member] = ended
                self.told(ended, len(self.ended))
            yield ended

    def _ended(self, answer: Answer) -> Ended | None:
        """A member that has ended; None for one that was stopped."""
        if answer["status"] == "stopped":
            return None
        summary = answer.get("summary")
        results, units = ({}, {}) if summary is None else (numbers(summary["results"]), self.units(summary))
        self._warn(() if summary is None else summary.get("warnings", ()), answer["member"])
        seconds = answer.get("seconds", 0.0)
        where = {name: answer[name] for name in ("run", "place") if name in answer}
        return Ended(answer["member"], answer["status"], results, units, answer.get("error"), seconds, **where)

    def shared_out(self, members: int, first: Scenario) -> tuple[int, int]:
        """How many processes run at a time, and how many threads each may take."""
        cores = threads_available()
        if self.workers is not None:
            workers = self.workers
        elif device_of(first)().name.startswith("cuda:"):
            workers = 1
        else:
            workers = cores
        workers = max(1, min(workers, members))
        return workers, max(1, cores // workers)

    def write(self, files: SweepDirectory, first: Scenario) -> None:
        """Write sweep.h5, with the members that have ended."""
        made = {"title": first.model.title, "solver": first.solver, "source": f"simsuite {VERSION}"}
        runs = {i: (files.run_of(each), each.place) for i, each in self.ended.items() if each.status == "complete"}
        made |= {"date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **self.origin.attributes(self.overrides, {})}
        line = self.origin.line(f"{len(self.ended)} of {len(self.plan.members)} members")
        self.left_out = write_results(files.results, self.plan, self.ended, made, runs, self.frames, line)


def _book(scenario: Scenario) -> dict[str, str]:
    """SHA-256 of the table that gives options, if there is one: a changed one makes another sweep."""
    attached = scenario.document.attached
    return {} if attached is None else {"book": hashlib.sha256(attached.text.encode()).hexdigest()}
