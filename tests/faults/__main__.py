"""`cd tests; PYTHONPATH=cli:runs:parallel python -m faults [CAMPAIGN[=N] ..] [--count N] [--seed S]`: faults in runs,
and what came of them.

Prints a table of outcomes; what is bad has its case and its messages. Exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from . import campaigns
from .disk import library
from .runs import Run, prepared
from .shared import shared_errors, shared_kills
from .snapshots import snapshots
from .strangers import strangers

CAMPAIGNS: dict[str, campaigns.Campaign] = {
    "kills": campaigns.kills,
    "cuts": campaigns.cuts,
    "snapshots": snapshots,
    "errors": campaigns.errors,
    "damage": campaigns.damage,
    "decay": campaigns.decay,
    "storms": campaigns.storms,
    "strangers": strangers,
    "shared_kills": shared_kills,
    "shared_errors": shared_errors,
}
SHOWN = 5  # bad cases of a campaign, with what was said


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m faults")
    options.add_argument("campaigns", nargs="*", default=[], help=f"of {', '.join(CAMPAIGNS)}, all by default")
    options.add_argument("--count", type=int, default=100, help="cases of each")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--work", help="where, such as /dev/shm, which waits for no disk")
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="for runs that processes share")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="faults-", dir=asked.work) as work:
        if "FAULTS_ROOT" not in os.environ:  # once more, with the library that makes operations fail
            environment = os.environ | {"LD_PRELOAD": str(library(Path(work))), "FAULTS_ROOT": str(Path(work) / "root")}
            environment["FAULTS_DEVICE"] = asked.device
            environment |= {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            return subprocess.run([sys.executable, "-m", "faults", *sys.argv[1:]], env=environment).returncode
        root = Path(os.environ["FAULTS_ROOT"])
        root.mkdir()
        words = asked.campaigns or list(CAMPAIGNS)
        runs = [] if all(word.startswith("shared_") for word in words) else prepared(root.parent)
        bad = 0
        for word in words:
            name, _, count = word.partition("=")
            bad |= _campaign(name, int(count or asked.count), asked.seed, runs, root.parent)
        return bad


def _campaign(name: str, count: int, seed: int, runs: list[Run], work: Path) -> int:
    began, outcomes, bad = time.process_time() + sum(os.times()[2:4]), Counter(), []
    for case in CAMPAIGNS[name](runs, count, random.Random(f"{name} {seed}"), work):
        outcomes[case.outcome, case.bad] += 1
        if case.bad:
            bad.append(case)
    took = time.process_time() + sum(os.times()[2:4]) - began
    print(f"{name}: {count} cases, seed {seed}, {len(bad)} bad, {took:.0f} s of a core")
    for (outcome, is_bad), number in sorted(outcomes.items(), key=lambda item: -item[1]):
        print(f"  {number:6d}  {outcome}{'   BAD' if is_bad else ''}")
    for case in bad[:SHOWN]:
        print(
            f"  bad: {case.outcome}: {case.about}\n"
            + "".join(f"    | {line}\n" for line in case.said.splitlines()[-12:])
        )
    sys.stdout.flush()
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
