"""The MPI of this machine: which library mpi4py uses, and the launcher that belongs to it.

All is asked in processes of their own: one that has begun MPI could not start a launcher any more, which would take it
for a part of another run."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from simsuite.errors import PackageMissing, UsageError

_PATIENCE = 60.0  # seconds, after which a library or a launcher counts as stuck
_OPEN_MPI, _OTHER = "openmpi", "mpich"  # as Debian calls launchers: mpiexec.openmpi, mpiexec.mpich
_HELP = "`pip install mpich`, or install your machine's MPI"
# What Open MPI 4 and 5 ask for where root starts it, as in containers, or more processes than there are cores.
_OPEN_MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


class Installed(NamedTuple):
    """An MPI. name: with its version. vendor: "openmpi", or "mpich" for all that are made of MPICH. cuda: whether it
    takes arrays on GPUs; None where it does not say. launcher: None where there is none."""

    name: str
    vendor: str
    cuda: bool | None
    launcher: Path | None

    def command(self, processes: int) -> list[str]:
        """The beginning of a command that starts so many processes here. Raises UsageError without a launcher."""
        if self.launcher is None:
            raise UsageError(f"{self.name} has no mpiexec here\n  = help: {_HELP}")
        return [str(self.launcher), "-n", str(processes)]

    def passed_on(self, number: int, again: bool) -> signal.Signals:
        """The signal by which a launcher has its processes stop with a checkpoint, in place of another one; or end at
        once if `again`. MPICH's passes on SIGINT and SIGTERM. Open MPI's, told either, kills all a second later, but
        passes on SIGUSR1."""
        if self.vendor == _OPEN_MPI and not again:
            return signal.SIGUSR1
        return signal.SIGINT if number == signal.SIGINT else signal.SIGTERM

    @property
    def environment(self) -> dict[str, str]:
        """The environment for such a command."""
        return {**os.environ, **(_OPEN_MPI_ENVIRONMENT if self.vendor == _OPEN_MPI else {})}


def installed_mpi() -> Installed:
    """The MPI that mpi4py uses. Raises PackageMissing without mpi4py, and UsageError, with the reason, where its
    library cannot be loaded."""
    PackageMissing.unless(["mpi4py"], "mpi", "a run that several processes share")
    done = _asked([sys.executable, "-c", "from simsuite.parallel import installed; installed.tell()"])
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise UsageError(f"MPI cannot be loaded ({why}): {_HELP}")
    found = json.loads(done.stdout.splitlines()[-1])
    vendor = _OPEN_MPI if "Open MPI" in found["name"] else _OTHER
    return Installed(found["name"], vendor, found["cuda"], _launcher(vendor, found["library"]))


def tell() -> None:
    """Print what this process finds out of MPI, which it begins for that."""
    from mpi4py import MPI

    text = str(MPI.Get_library_version()).strip("\0\n ")
    found = re.search(r"(Open MPI) v?([\w.]+)|(MPICH|Intel\(R\) MPI|MVAPICH\w*)[^\d\n]*([\w.]+)", text)
    name = text.partition("\n")[0] if found is None else " ".join(part for part in found.groups() if part)
    library = _library()
    cuda = None
    if library is not None and hasattr(loaded := ctypes.CDLL(library), "MPIX_Query_cuda_support"):
        cuda = bool(loaded.MPIX_Query_cuda_support())
    print(json.dumps({"name": name, "library": library, "cuda": cuda}))


def trial(installed: Installed) -> str | None:
    """Why two processes that the launcher starts cannot exchange a number; None if they can. Raises UsageError without
    a launcher."""
    # One process alone prints: lines of two may come mixed.
    code = "from mpi4py import MPI; n = MPI.COMM_WORLD.allreduce(1); MPI.COMM_WORLD.rank == 0 and print(n)"
    done = _asked([*installed.command(2), sys.executable, "-c", code], installed.environment)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no output"])[0]
    if done.stdout.split() != ["2"]:
        return f"{installed.launcher} belongs to another MPI: processes that it starts do not see each other"
    return None


def _asked(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False, env=environment,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {_PATIENCE:.0f} s")


def _library() -> str | None:
    """The file of the library of MPI that this process has loaded, where Linux tells it."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    paths = (line.split(maxsplit=5)[5] for line in lines if line.count("/") > 0)
    return next((path for path in paths if re.match(r"libmpi(ch)?\.(so|\d)", Path(path).name)), None)


def _launcher(vendor: str, library: str | None) -> Path | None:
    """mpiexec beside a library, beside this Python, or on the path."""
    beside = [] if library is None else [Path(library).parent.parent / "bin"]
    places = [*map(str, beside), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    for name in (f"mpiexec.{vendor}", "mpiexec"):
        if (found := shutil.which(name, path=os.pathsep.join(places))) is not None:
            return Path(found)
    return None
