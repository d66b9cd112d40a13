"""Whether this process was started by a launcher of MPI, and as which of how many: read from the environment alone, so
that plain runs never import MPI."""

from __future__ import annotations

import contextlib
import os
import sys

# Variables for rank and size of Open MPI, of MPICH, Intel MPI and SLURM's PMI, of MVAPICH, and of PMIx. SLURM's own
# variables alone say nothing: they are set in batch scripts, too, where a single process runs.
_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
)


def rank_and_size() -> tuple[int, int]:
    """The number of this process, from 0 on, and the number of processes that were started together; (0, 1) for a
    process that no launcher started."""
    for rank, size in _VARIABLES:
        found = [os.environ.get(name, "") for name in (rank, size)]
        if all(text.isdigit() for text in found) and int(found[0]) < int(found[1]):
            return int(found[0]), int(found[1])
    return 0, 1


def give_up(code: int) -> None:
    """End all processes that were started together, with this exit code, where MPI itself cannot be loaded to do so.

    Launchers that speak PMI 1 (MPICH's Hydra and those made of it) would wait for ever for a process that ends before
    MPI begins there, and are told so by a message of that protocol, see "PMI wire protocol" in MPICH's documentation.
    Others end all processes once one has an exit code that is not 0."""
    pipe = os.environ.get("PMI_FD", "")
    if pipe.isdigit():
        with contextlib.suppress(OSError):
            os.write(int(pipe), b"cmd=init pmi_version=1 pmi_subversion=1\n")
            os.read(int(pipe), 1024)
            os.write(int(pipe), f"cmd=abort exitcode={code}\n".encode())


def be_silent() -> None:
    """Say nothing to the end of this process: of several, the first one alone does."""
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
