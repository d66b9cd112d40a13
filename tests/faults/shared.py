"""Campaigns with runs that several processes of MPI share: SIGKILL of one of them, or of all, and disks that fail the
first one. What is left of a run goes on with the same number of processes, and with another number, to the bits that
one process comes to alone."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from running import contents
from shared_runs import FAULTY, ended_by_itself, has_mpi, started
from test_resume import GBM, HEAT, LINEAR, write

from simsuite.backends.cuda import count_gpus

from .campaigns import GOOD, Case
from .forks import Ended
from .runs import Run

KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # seconds of steps, with many rows and checkpoints
    "heat": (HEAT, {"units": "degC", "time.end": 6.0, "output.samples": 401, "output.checkpoint_every": 60}),
    "gbm": (GBM, {"paths.count": 400000, "paths.batch": 8192, "output.checkpoint_every": 20}),
    "linear": (LINEAR, {"time.method": "step", "initial.state.batch": 5, "time.steps": 60000, "output.frames": 301,
                        "output.checkpoint_every": 1000}),
}  # fmt: skip
MOST = 4  # processes
DEVICE = os.environ.get("FAULTS_DEVICE", "cpu")
_LIMIT = 240.0  # seconds, after which processes hang: four of them on two busy cores take long
_VARIABLES = (b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK=")
_DISK_ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


@dataclass
class _Shared:
    """A kind of run. seconds: that two processes take for it from the first file that they write on."""

    run: Run
    seconds: float

    def started(
        self, processes: int, directory: Path, where: Path, environment: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.Popen[str]:
        """So many processes that run it. Where there are fewer GPUs than these, all share the first one."""
        words = ["run", str(self.run.scenario), "-o", str(directory), "--device", DEVICE]
        alike = DEVICE == "cuda" and 1 < processes > count_gpus()
        program = [str(FAULTY), "-1", "one gpu", "0"] if alike else ["-m", "simsuite"]
        return started(processes, [*program, *words], where, environment)

    def carry_on(self, directory: Path, processes: int) -> tuple[Ended, str]:
        """As `Run.carry_on`, by so many processes."""
        rest = _ended(self.started(processes, directory, directory.parent))
        if rest.code is None or rest.crashed:
            return rest, "hangs" if rest.code is None else "crashes"
        if rest.code != 0:
            return rest, "refused"
        if not self.run.same(directory):
            return rest, "other bits"
        return rest, "continued" if "continuing" in rest.output else "same bits"

    def carry_on_twice(self, directory: Path, processes: int, other: int) -> tuple[str, str]:
        """What comes of it with each of two numbers of processes, and what was said."""
        outcomes, said = [], ""
        for number in (processes, other):
            copy = directory.with_name("copy")
            shutil.copytree(directory, copy) if directory.exists() else None
            rest, outcome = self.carry_on(copy, number)
            outcomes.append(outcome)
            said += "" if outcome in GOOD else rest.output
            shutil.rmtree(copy, ignore_errors=True)
        return next((outcome for outcome in outcomes if outcome not in GOOD), outcomes[0]), said


def shared_kills(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """SIGKILL of one process, or of all and what started them, at a random moment of a run."""
    kinds = _prepared(work)
    for _ in range(count):
        kind, processes, directory = chance.choice(kinds), chance.randint(1, MOST), work / "root" / "run"
        other = chance.choice([n for n in range(1, MOST + 1) if n != processes])
        victim = chance.choice((None, None, *range(processes)))
        process = kind.started(processes, directory, work)
        if chance.random() < 0.85:  # else while it begins
            _wait_for(directory / "results.h5", process)
        moment = chance.uniform(0.0, kind.seconds)
        time.sleep(moment)
        pids = _processes(process.pid)
        while victim not in (None, *pids) and process.poll() is None:  # it has not been started yet
            time.sleep(0.005)
            pids = _processes(process.pid)
        for pid in [*pids.values(), process.pid] if victim is None else [pids.get(victim, 0)]:
            _kill(pid)
        killed = _ended(process)
        whom = "all" if victim is None else f"process {victim}"
        about = f"{kind.run.kind}: {whom} of {processes} after {moment:.3f} s, then {processes} and {other}"
        late = time.monotonic() + _LIMIT
        while any(map(_runs, pids.values())) and time.monotonic() < late:
            time.sleep(0.05)
        left = [pid for pid in pids.values() if _runs(pid)]
        if killed.code is None or left:
            yield Case("hangs" if killed.code is None else "processes are left", True, about, killed.output)
            for pid in left:
                _kill(pid)
        else:
            outcome, said = kind.carry_on_twice(directory, processes, other)
            name = "all" if victim is None else "one"
            yield Case(f"{name} killed, then {outcome}", outcome not in GOOD, about, killed.output + said)
        shutil.rmtree(directory, ignore_errors=True)


def shared_errors(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """An error of the disk at a random operation of the first process, once or from there on."""
    kinds = _prepared(work)
    for kind in kinds:
        kind.run.operations = _operations(kind, work / "root" / f"shared-{kind.run.kind}", work / "log")
    for _ in range(count):
        kind, processes, directory = chance.choice(kinds), chance.randint(2, MOST), work / "root" / "run"
        fault = f"{chance.randrange(kind.run.operations) + 1} {chance.choice(_DISK_ERRORS)} {chance.randrange(2)}"
        failed = _ended(kind.started(processes, directory, work, {"FAULTS_FAIL": fault}))
        about = f"{kind.run.kind}: {fault} with {processes} processes"
        if failed.code not in (0, 1, 2, 75) or failed.crashed:
            outcome = "hangs" if failed.code is None else f"exit code {failed.code}"
            yield Case(outcome, True, about, failed.output)
        else:
            outcome, said = kind.carry_on_twice(directory, processes, 1 + processes % MOST)
            told = f"exit code {failed.code}, then {outcome}"
            yield Case(told, outcome not in GOOD, about, failed.output + said)
        shutil.rmtree(directory, ignore_errors=True)


def _prepared(work: Path) -> list[_Shared]:
    """All kinds of runs, run by one process and by two, so that their kernels are compiled."""
    if not has_mpi():
        raise RuntimeError("this campaign needs MPI: pip install 'simsuite[mpi]' mpich")
    kinds = []
    for name, (document, changes) in KINDS.items():
        path = write(work / f"shared-{name}.toml", document, changes)
        directory = work / "root" / f"shared-{name}"
        kind = _Shared(Run(name, path, {}, 0), 0.0)
        alone = _ended(kind.started(1, directory, work))
        if alone.code != 0:
            raise RuntimeError(f"{name} does not run: {alone.output}")
        kind.run.whole = contents(directory / "results.h5")
        shutil.rmtree(directory)
        process = kind.started(2, directory, work)
        began = _wait_for(directory / "results.h5", process)
        ended = _ended(process)
        if ended.code != 0:
            raise RuntimeError(f"two processes do not run {name}: {ended.output}")
        kind.seconds = time.monotonic() - began
        shutil.rmtree(directory)
        kinds.append(kind)
    return kinds


def _operations(kind: _Shared, directory: Path, log: Path) -> int:
    """How many operations a run makes on its files, of those that can fail."""
    from .disk import operations_in

    ended = _ended(kind.started(2, directory, log.parent, {"FAULTS_LOG": str(log)}))
    if ended.code != 0:
        raise RuntimeError(f"two processes do not run {kind.run.kind}: {ended.output}")
    found = sum(operation.kind != "c" for operation in operations_in(log.read_bytes()))
    log.unlink()
    shutil.rmtree(directory)
    return found


def _ended(process: subprocess.Popen[str]) -> Ended:
    done = ended_by_itself(process, _LIMIT)
    return Ended(None, "") if done is None else Ended(done.code, done.out + done.err)


def _wait_for(path: Path, process: subprocess.Popen[str]) -> float:
    """Wait until a file is there, or until a process has ended. Returns when that was."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)
    return time.monotonic()


def _processes(launcher: int) -> Mapping[int, int]:
    """The process numbers of what a launcher has started, by rank; of what runs without one, itself."""
    parents, ranks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat, environment = (entry / "stat").read_text(), (entry / "environ").read_bytes()
            except OSError:  # it has ended meanwhile
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            for variable in environment.split(b"\0"):
                name, _, value = variable.partition(b"=")
                if name + b"=" in _VARIABLES:
                    ranks[int(entry.name)] = int(value)
    found = {rank: pid for pid, rank in ranks.items() if launcher in _ancestors(pid, parents)}
    return found or {0: launcher}


def _ancestors(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def _kill(pid: int) -> None:
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
