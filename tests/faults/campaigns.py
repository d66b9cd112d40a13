"""Campaigns of injected faults, each a generator of so many cases: what came of each, and whether it must not.

A case is bad if a run is refused, hangs, crashes or comes to other bits where that is not the fault's due.
"""

from __future__ import annotations

import errno
import functools
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .disk import record
from .forks import command, ended, forked, simsuite
from .runs import Run

GOOD = ("continued", "same bits")
ASKING = [signal.Signals[f"SIG{name}"] for name in ("TERM", "INT", "HUP", "QUIT", "ALRM", "USR1", "USR2", "XCPU")]


@dataclass(frozen=True)
class Case:
    """outcome: in a few words. bad: whether it must not be. about: what identifies it. said: by the program."""

    outcome: str
    bad: bool
    about: str
    said: str = ""


Campaign = Callable[[list[Run], int, random.Random, Path], Iterator[Case]]


def kills(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """SIGKILL before a random operation on the disk, or in the midst of a write; one run in three is killed again while
    it goes on, or twice."""
    for _ in range(count):
        run, directory, faults = chance.choice(runs), work / "root" / "run", []
        while not faults or (len(faults) < 3 and chance.random() < 1 / 3):
            faults.append(f"{chance.randrange(run.operations) + 1} 0 {chance.choice((0, 0, 1, 8, 15))}")
            killed = simsuite("run", run.scenario, "-q", "-o", directory, output=work / "output", fault=faults[-1])
            if killed.code != -signal.SIGKILL:
                break
        rest, outcome = run.carry_on(directory, work / "output")
        yield Case(outcome, outcome not in GOOD, f"{run.kind}: {', '.join(faults)}", rest.output)
        shutil.rmtree(directory)


def cuts(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Power cuts at random moments: the files are what a disk may have kept, see `disk.Recording`."""
    recordings = {}
    for run in runs:
        whole = work / "root" / f"recorded-{run.kind}"
        (work / run.kind).mkdir()
        whole.mkdir()
        arguments = ["-m", "simsuite", "run", str(run.scenario), "-q", "-o", str(whole)]
        recordings[run.kind] = record(arguments, whole, work / run.kind)
    for _ in range(count):
        run, directory, seed = chance.choice(runs), work / "root" / "run", chance.randrange(1 << 30)
        recording = recordings[run.kind]
        moment = chance.randrange(len(recording.operations)) + 1
        directory.mkdir()
        recording.after_cut(moment, random.Random(seed), directory)
        looked = simsuite("info", directory, "--json", output=work / "output")
        rest, outcome = run.carry_on(directory, work / "output")
        if looked.crashed or looked.code not in (0, 1, 2):
            rest, outcome = looked, "info crashes"
        yield Case(outcome, outcome not in GOOD, f"{run.kind}: operation {moment}, seed {seed}", rest.output)
        shutil.rmtree(directory)


def errors(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """An error of the disk at a random operation, once or from there on, in a run or in the rest of one."""
    for _ in range(count):
        run, directory = chance.choice(runs), work / "root" / "run"
        if chance.random() < 0.3:
            half = f"{chance.randrange(run.operations) + 1} 0 0"
            simsuite("run", run.scenario, "-q", "-o", directory, output=work / "output", fault=half)
        number = chance.choice((errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.ESTALE))
        fault = f"{chance.randrange(run.operations) + 1} {number} {chance.randrange(2)}"
        failed = simsuite("run", run.scenario, "-q", "-o", directory, output=work / "output", fault=fault)
        about = f"{run.kind}: {fault} ({os.strerror(number)})"
        if failed.crashed:
            yield Case("crashes", True, about, failed.output)
        elif failed.code not in (0, 1, 2, 75):
            yield Case(f"exit code {failed.code}", True, about, failed.output)
        else:
            told = f"exit code {failed.code}, then "
            rest, outcome = run.carry_on(directory, work / "output")
            yield Case(told + outcome, outcome not in GOOD, about, rest.output)
        shutil.rmtree(directory, ignore_errors=True)


def damage(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Damage to one file of a run that was killed: bits that flip, pages of zeros or of other bytes, an end that is
    missing. The run goes on to the same bits, or says what is wrong."""
    killed = {}
    for run in runs:
        killed[run.kind] = work / "root" / f"killed-{run.kind}"
        fault = f"{run.operations * 3 // 4} 0 0"
        simsuite("run", run.scenario, "-q", "-o", killed[run.kind], output=work / "output", fault=fault)
    for _ in range(count):
        run, directory, seed = chance.choice(runs), work / "root" / "run", chance.randrange(1 << 30)
        shutil.copytree(killed[run.kind], directory)
        names = sorted(path.name for path in directory.iterdir() if path.stat().st_size)
        name = chance.choice([*names, "results.h5", "results.h5", "checkpoint.h5"])
        how = _harm(directory / name, random.Random(seed))
        looked = simsuite("info", directory, output=work / "output")
        rest, outcome = run.carry_on(directory, work / "output")
        if looked.crashed or looked.code not in (0, 1, 2):
            rest, outcome = looked, "info crashes"
        bad = outcome not in (*GOOD, "refused")
        yield Case(f"{name}: {outcome}", bad, f"{run.kind}: {how} of {name}, seed {seed}", rest.output)
        shutil.rmtree(directory)


def decay(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Damage to the results of a run that is finished: `simsuite check` tells of it, or nothing was changed that the
    file holds."""
    for run in runs:
        simsuite("run", run.scenario, "-q", "-o", work / "root" / f"decay-{run.kind}", output=work / "output")
    for _ in range(count):
        run, directory, seed = chance.choice(runs), work / "root" / "run", chance.randrange(1 << 30)
        shutil.copytree(work / "root" / f"decay-{run.kind}", directory)
        how = _harm(directory / "results.h5", random.Random(seed))
        looked = simsuite("check", directory, output=work / "output")
        outcome = f"exit code {looked.code}"
        if looked.crashed:
            outcome = "crashes"
        elif looked.code == 0:
            try:
                outcome = "same bits" if run.same(directory) else "unnoticed"
            except (OSError, RuntimeError):
                outcome = "unnoticed"
        yield Case(outcome, outcome in ("crashes", "unnoticed"), f"{run.kind}: {how}, seed {seed}", looked.output)
        shutil.rmtree(directory)


def _harm(path: Path, chance: random.Random) -> str:
    """Damage a file in some way, and name it."""
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    how = chance.choice(("flipped bit", "page of zeros", "strange bytes", "missing end", "page of before"))
    if how == "flipped bit":
        data[at] ^= 1 << chance.randrange(8)
    elif how == "page of zeros":
        page = at // 4096 * 4096
        data[page : page + 4096] = bytes(len(data[page : page + 4096]))
    elif how == "strange bytes":
        n = min(chance.choice((1, 8, 100, 4096)), len(data) - at)
        data[at : at + n] = chance.randbytes(n)
    elif how == "missing end":
        del data[at:]
    else:
        page, other = (chance.randrange(len(data)) // 4096 * 4096 for _ in range(2))
        n = len(data[page : page + 4096])
        data[page : page + n] = data[other : other + n].ljust(n, b"\0")
    path.write_bytes(data)
    return how


def storms(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Signals that ask a run to end, many of them, at any time after it has begun."""
    for _ in range(count):
        run, directory = chance.choice(runs), work / "root" / "run"
        storm = _Storm(directory / "checkpoint.h5", chance)
        words = ("run", run.scenario, "-q", "-o", directory, "--set", "output.checkpoint_every=1")
        with forked(functools.partial(command, *words), work / "output") as child:
            stopped = ended(child, work / "output", poll=functools.partial(storm.blow, child))
        about = f"{run.kind}: {storm.sent} signals"
        if stopped.code not in (0, 75, 130):
            yield Case(f"exit code {stopped.code}", True, about, stopped.output)
        else:
            rest, outcome = run.carry_on(directory, work / "output")
            yield Case(f"exit code {stopped.code}, then {outcome}", outcome not in GOOD, about, rest.output)
        shutil.rmtree(directory, ignore_errors=True)


class _Storm:
    """Signals for a child, from some moment after its first checkpoint on. sent: how many so far."""

    def __init__(self, checkpoint: Path, chance: random.Random) -> None:
        self._checkpoint, self._chance, self.sent = checkpoint, chance, 0
        self._first, self._pause = time.monotonic() + 0.2 * chance.random(), chance.choice((0.0, 0.002, 0.02))

    def blow(self, child: int) -> None:
        if time.monotonic() > self._first and self._checkpoint.exists():
            os.kill(child, self._chance.choice(ASKING))
            self.sent += 1
            time.sleep(self._pause)
