"""Small runs of all kinds that campaigns of faults are made with, and what they come to when nothing is amiss."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from running import contents, plain
from test_resume import GBM, HEAT, LINEAR, write

from .disk import operations_in
from .forks import Ended, command, ended, forked, simsuite

KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # with many rows and some checkpoints
    "heat": (HEAT, {"time.end": 0.3, "output.checkpoint_every": 30}),
    "adi": (
        HEAT,
        {"time.stepper": "adi", "time.end": 0.1, "output.checkpoint_every": 8, "output.compression": "lossless"},
    ),
    "gbm": (GBM, {"output.checkpoint_every": 20}),
    "linear": (LINEAR, {"output.checkpoint_every": 250}),
}


@dataclass
class Run:
    """A kind of run. whole: every array of its results. operations: what it does to its files."""

    kind: str
    scenario: Path
    whole: dict[str, np.ndarray]
    operations: int

    def same(self, directory: Path) -> bool:
        """Whether the results in a directory have the bits of the whole run."""
        found = contents(directory / "results.h5")
        return found.keys() == self.whole.keys() and all(
            (found[name].dtype, found[name].shape, plain(found[name])) == (array.dtype, array.shape, plain(array))
            for name, array in self.whole.items()
        )

    def carry_on(self, directory: Path, output: Path, fault: str | None = None) -> tuple[Ended, str]:
        """Run what is left in a directory to its end. Returns what came of it in a word or two."""
        rest = simsuite("run", self.scenario, "-o", directory, output=output, fault=fault)
        if rest.code is None:
            return rest, "hangs"
        if rest.crashed:
            return rest, "crashes"
        if rest.code != 0:
            return rest, "refused"
        if not self.same(directory):
            return rest, "other bits"
        return rest, "continued" if "continuing" in rest.output else "same bits"


def prepared(work: Path) -> list[Run]:
    """All kinds of runs, run once, so that their kernels are compiled in this process."""
    runs = []
    for kind, (document, changes) in KINDS.items():
        path = write(work / f"{kind}.toml", document, changes | {"run.device": "cpu"})
        directory = work / "root" / f"whole-{kind}"
        if command("run", path, "-q", "-o", directory) != 0:
            raise RuntimeError(f"{kind} does not run")
        operations = _operations(path, work)
        runs.append(Run(kind, path, contents(directory / "results.h5"), operations))
        shutil.rmtree(directory)
    return runs


def _operations(path: Path, work: Path) -> int:
    """How many operations a run makes, or a few less: closing a file is none that fails."""
    log, directory = work / "log", work / "root" / "counted"

    def logged() -> int:
        os.environ["FAULTS_LOG"] = str(log)
        return command("run", path, "-q", "-o", directory)

    with forked(logged, work / "output") as child:
        if ended(child, work / "output").code != 0:
            raise RuntimeError(f"{path} does not run")
    found = sum(operation.kind != "c" for operation in operations_in(log.read_bytes()))
    log.unlink()
    shutil.rmtree(directory)
    return found
