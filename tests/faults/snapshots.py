"""The campaign of power cuts on real file systems: snapshots of a loop device while a run writes to it."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from .campaigns import GOOD, Case
from .forks import command, ended, forked, simsuite
from .loop_disk import LoopDisk, available, loop_disk
from .runs import Run


def snapshots(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Power cuts at random moments of a run: what a file system finds on its device when it is mounted again. In half
    of the cases something else syncs the file system now and then, so that more of the run's files is on the device
    than the run itself has asked for."""
    kinds = available()
    if not kinds:
        raise SystemExit("snapshots of a loop device need Linux and root")
    root, copy = work / "root" / "disk", work / "copy"
    root.mkdir()
    for at, kind in enumerate(kinds):
        with loop_disk(kind, work, root) as disk:
            seconds = {run.kind: _seconds(run, disk, work) for run in runs}
            for number in range(count * at // len(kinds), count * (at + 1) // len(kinds)):
                run, syncs, share = runs[number % len(runs)], chance.random() < 0.5, chance.random()
                moment = share * seconds[run.kind]
                _cut(run, disk, copy, moment, syncs, work)
                about = f"{run.kind} on {kind.name} ({kind.options}), after {moment:.3f} s, synced besides: {syncs}"
                try:
                    disk.mount()
                except subprocess.CalledProcessError as error:
                    disk.make()
                    disk.mount()
                    yield Case("not mounted", True, about, error.stderr.decode())
                    continue
                directory = root / "run"
                looked = simsuite("info", directory, "--json", output=work / "output")
                rest, outcome = run.carry_on(directory, work / "output")
                if looked.crashed or looked.code not in (0, 1, 2):
                    rest, outcome = looked, "info crashes"
                yield Case(f"{kind.name}: {outcome}", outcome not in GOOD, about, rest.output)
                disk.unmount()
                disk.make()
                disk.mount()


def _seconds(run: Run, disk: LoopDisk, work: Path) -> float:
    """How long the run takes on the disk."""
    began = time.monotonic()
    simsuite("run", run.scenario, "-q", "-o", disk.root / "run", output=work / "output")
    took = time.monotonic() - began
    disk.unmount()
    disk.make()
    disk.mount()
    return took


def _cut(run: Run, disk: LoopDisk, copy: Path, moment: float, syncs: bool, work: Path) -> None:
    """Begin the run, copy the device after `moment` seconds, end the run, and put the copy in the device's place."""
    root = os.open(disk.root, os.O_RDONLY)
    with forked(lambda: command("run", run.scenario, "-q", "-o", disk.root / "run"), work / "output") as child:
        until = time.monotonic() + moment
        while (rest := until - time.monotonic()) > 0:
            time.sleep(min(rest, 0.01))
            if syncs:
                ctypes.CDLL(None).syncfs(root)
        disk.copy(copy)
        os.kill(child, signal.SIGKILL)
        ended(child, work / "output")
    os.close(root)
    disk.unmount()
    disk.replace(copy)
    copy.unlink()
