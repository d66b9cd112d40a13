"""`simsuite sweep --slurm`: the script, and what is said of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.cli.console import say, show
from simsuite.errors import UsageError
from simsuite.words import counted

if TYPE_CHECKING:
    from simsuite.sweeps.sweep import Sweep

_MANY = 1000  # tasks of an array that SLURM allows, unless a cluster is set up otherwise


@dataclass(frozen=True)
class Asked:
    """What the command was asked for, as its options."""

    scenario: Path
    vary: Sequence[str]
    paired: bool
    random: int | None
    latin: bool
    seed: int
    set: Sequence[str]
    device: str | None
    workers: int | None
    most: int
    frames: str | None = None
    apart: bool = False

    def words(self, directory: Path) -> Iterator[str]:
        """The same command, in words, for the sweep in `directory`."""
        yield from (sys.executable, "-m", "simsuite", "sweep", str(self.scenario))
        for option, values in (("--vary", self.vary), ("--set", self.set)):
            for value in values:
                yield from (option, value)
        given = {"--zip": self.paired, "--latin": self.latin, "--apart": self.apart}
        yield from (option for option, wanted in given.items() if wanted)
        numbers = {"--random": self.random, "--device": self.device, "--workers": self.workers, "--frames": self.frames}
        for name, number in {**numbers, "--seed": self.seed, "--max-runs": self.most}.items():
            if number is not None:
                yield from (name, str(number))
        yield from ("--output", str(directory))


def write(path: Path, asked: Asked, whole: Sweep, per_task: int) -> None:
    """Write the script and say what to do with it. Raises ScenarioError where the first member has mistakes, and
    UsageError where there is a file of that name, or none can be written."""
    from simsuite.sweeps.slurm import script, tasks

    _, problem = whole.require_first()
    whole.warn_of(problem)
    members = len(whole.plan.members)
    words = list(asked.words(whole.directory))
    text = script(path, words, Path.cwd(), whole.directory / "sweep.h5", members, per_task, whole.retry)
    try:
        with path.open("x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        path.chmod(0o755)
    except FileExistsError:
        raise UsageError(f"{path} is there already: remove it, or give the script another name") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    count = tasks(members, per_task)
    if count > _MANY:
        say(f"warning: many clusters allow {_MANY} tasks of an array: --per-task N has each run N members")
    lines = [line.removeprefix("#     ") for line in text.splitlines() if line.startswith("#     ")]
    show(f"wrote {path}: {counted(count, 'task')} for {counted(members, 'member')}. Put in the time and what else your")
    show("cluster wants, then submit it, and a job after it that puts the results together:")
    for line in lines:
        show(f"    {line}")
