"""How many threads of a CPU a run takes, and how they wait for each other.

Numba's parallel loops run on threads of OpenMP. By default such a thread spins while it waits for the next loop, for
about 300 000 turns, which takes several milliseconds. On a machine that other programs use too, a thread that spins
takes a core away from the very thread that it waits for, and runs of small grids took 10 to 400 times as long. So
threads spin for SPIN turns and then sleep; waking one takes about as long as that.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

SPIN = "1000"  # turns
# variables of the environment for OpenMP by GNU (turns) and by LLVM (ms)
_WAITING = {"GOMP_SPINCOUNT": SPIN, "KMP_BLOCKTIME": "0"}
_ASKED = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def threads_available() -> int:
    """The number of threads that this process may keep busy: the cores that it may run on (affinity), or fewer where
    its control group allows it a share of them only (a container, a batch job), or where NUMBA_NUM_THREADS or
    OMP_NUM_THREADS is smaller, or `numba.set_num_threads` was called with a smaller number."""
    limits = [cores(), _quota(), _numba(), *map(_number, _ASKED)]
    return min(limit for limit in limits if limit is not None)


def cores() -> int:
    """The number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _numba() -> int | None:
    """The number of threads that Numba takes at present; None where it has not been imported."""
    if "numba" not in sys.modules:
        return None
    load_openmp()
    return int(sys.modules["numba"].get_num_threads())


def _number(name: str) -> int | None:
    """A positive number in the environment. OpenMP allows a list, one number for each level of nesting."""
    text = os.environ.get(name, "").partition(",")[0].strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


def _quota() -> int | None:
    """The number of cores that the process's control group and those around it may use, rounded up; None where there
    is no limit."""
    try:
        own = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    shares = []
    for line in own:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            root = _GROUPS / controllers
            inside = root / path.lstrip("/")
            shares += [_share(group) for group in (inside, *inside.parents) if group.is_relative_to(root)]
    return min((max(1, math.ceil(share)) for share in shares if share is not None), default=None)


def _share(group: Path) -> float | None:
    """The number of cores that a control group may use, by its files of version 2 or of version 1."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        return float(quota) / float(period)  # quota is "max" where there is no limit
    with contextlib.suppress(OSError, ValueError):
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period"))
        return float(quota) / float(period) if float(quota) > 0 else None
    return None


@functools.cache
def load_openmp() -> None:
    """Have Numba load its library of threads now, if it has not done so. Its threads sleep soon when they wait, unless
    the environment says how they are to wait."""
    import numba

    if "OMP_WAIT_POLICY" in os.environ:
        numba.get_num_threads()
        return
    with _environment({name: value for name, value in _WAITING.items() if name not in os.environ}):
        numba.get_num_threads()


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            del os.environ[name]


@contextlib.contextmanager
def on_threads(n: int) -> Iterator[None]:
    """Kernels that this thread of Python calls in here run on n threads, or on as many as Numba has."""
    import numba

    load_openmp()
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(n, numba.config.NUMBA_NUM_THREADS)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
