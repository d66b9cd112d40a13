"""Runs that processes of MPI share, each with a time limit, and what such a run leaves behind."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import h5py
import numpy as np
import pytest

HERE = Path(__file__).parent
FAULTY = HERE / "faulty.py"
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def has_mpi() -> bool:
    return MPIEXEC is not None and importlib.util.find_spec("mpi4py") is not None


with_mpi = pytest.mark.skipif(not has_mpi(), reason="needs MPI: pip install 'simsuite[mpi]' mpich")
LIMIT = 240  # seconds, after which processes count as stuck and are killed
_OVERSUBSCRIBED = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
_AS_ROOT = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")  # as in containers


class Done(NamedTuple):
    code: int
    out: str
    err: str


def started(
    processes: int, words: Sequence[str], directory: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> subprocess.Popen[str]:
    """Python with these arguments in so many processes, in a process group of their own."""
    assert MPIEXEC is not None
    launcher = [MPIEXEC, "-n", str(processes)] if processes > 1 else []
    env = {**os.environ, **_OVERSUBSCRIBED, **_AS_ROOT, "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env |= environment
    return subprocess.Popen(
        [*launcher, sys.executable, *words], cwd=directory, env=env, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> Done:
    done = ended_by_itself(process, LIMIT)
    if done is None:
        pytest.fail(f"stuck for {LIMIT} s")
    return done


def ended_by_itself(process: subprocess.Popen[str], seconds: float) -> Done | None:
    """What came of processes; None if they were stuck after so many seconds, and had to be killed."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return Done(process.returncode, out, err)


def simsuite(processes: int, words: Sequence[str], directory: Path) -> Done:
    """`simsuite` with these words, in so many processes."""
    return finished(started(processes, ["-m", "simsuite", *words], directory))


def faulty(processes: int, fault: Sequence[object], words: Sequence[str], directory: Path) -> Done:
    """The same with a fault, see faulty.py."""
    return finished(started(processes, [str(FAULTY), *map(str, fault), *words], directory))


def commands(
    processes: int,
    lines: Sequence[Sequence[str]],
    directory: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[int], Done]:
    """The exit codes of several command lines, each with its directory first, in the same processes; if these crash, of
    those before."""
    (directory / "commands.json").write_text(json.dumps(lines), encoding="utf-8")
    done = finished(started(processes, [str(HERE / "commands.py"), "commands.json"], directory, environment))
    lists = [line for line in done.out.splitlines() if line.startswith("[")]
    return json.loads(lists[-1]) if lists else [], done


_OF_ONE_RUN = ("run_id", "date_created", "date_modified", "history", "command_line", "overrides")  # tells runs apart
_AS_SHARED = (
    "kernel",  # which kernels of a GPU there are may depend on how many rows, or columns, a process has
    "versions",  # of the libraries that are loaded, which are others where processes meet
)
_LEFT_OUT = (*_OF_ONE_RUN, *_AS_SHARED)
_COMPUTED = ("digest", "results")  # from all else, what tells runs apart included: a hash, places in a file


def contents(run: Path) -> dict[str, object]:
    """The bits of all variables in the files of a run, and what is said of it all, but for what tells runs apart."""
    found = dict[str, object]()
    with h5py.File(run / "results.h5") as file:
        found |= {f"of all {key}": _elsewhere(value) for key, value in file.attrs.items() if key not in _LEFT_OUT}
        for name in file:
            _add(found, f"results.h5/{name}", file[name])
    if (run / "checkpoint.h5").exists():
        with h5py.File(run / "checkpoint.h5") as file:
            about = json.loads(bytes(np.asarray(file["meta"])).rstrip(b"\0"))
            said = about.pop("meta")
            found |= {f"about {key}": value for key, value in about.items() if key not in _COMPUTED}
            found |= {f"said of {key}": _elsewhere(value) for key, value in said.items() if key not in _LEFT_OUT}
            names = [name for name in file if name not in ("meta", "results")]
            for name in names:
                _add(found, name, file[name])
    return found


def _elsewhere(said: object) -> str:
    """What is said of a run, without the name of its directory."""
    return re.sub(r"(?m)^directory = .*$", "", str(said))


def _add(found: dict[str, object], name: str, item: h5py.Dataset | h5py.Group) -> None:
    if isinstance(item, h5py.Group):
        for inner in item:
            _add(found, f"{name}/{inner}", item[inner])
    else:
        values = np.asarray(item)
        found[name] = item.dtype.str, item.shape, values.tolist() if values.dtype == object else values.tobytes()


def require_same(run: Path, other: Path) -> None:
    ours, others = contents(run), contents(other)
    differing = [key for key in ours.keys() | others.keys() if ours.get(key) != others.get(key)]
    assert differing == []
