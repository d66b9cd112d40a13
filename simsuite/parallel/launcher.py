"""A command of simsuite in several processes of this machine, one for each of its GPUs: started by MPI's launcher."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from simsuite.parallel.installed import Installed, installed_mpi

ALL_GPUS = "cuda:all"  # the device of a command that is to be started so
EACH_ITS_OWN = "cuda"  # that of its processes
_STOPS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU")
_STOPPED, _CTRL_C = 75, 130  # exit codes


def run_in(processes: int, words: Sequence[str]) -> int:
    """Run `simsuite WORDS` in so many processes, and return the exit code. Signals that ask this process to stop are
    passed on. Raises UsageError, or PackageMissing, where there is no MPI to start them."""
    mpi = installed_mpi()
    command = [*mpi.command(processes), sys.executable, "-m", "simsuite", *words]
    # A session of its own keeps signals of a terminal's keys away, which would come twice.
    started = subprocess.Popen(command, env=mpi.environment, stdin=subprocess.DEVNULL, start_new_session=True)
    with _passing_on(started, mpi) as came:
        code = started.wait()
    if code == _STOPPED and signal.SIGINT in came:
        return _CTRL_C
    return code if code >= 0 else 128 - code


@contextmanager
def _passing_on(started: subprocess.Popen[bytes], mpi: Installed) -> Iterator[list[int]]:
    """Signals that come in here are passed on to a launcher. Gives a list of them."""
    came: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        started.send_signal(mpi.passed_on(number, again=came.count(signal.SIGINT) > 1))

    before = {number: signal.signal(number, handle) for number in map(signal.Signals.__getitem__, _STOPS)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
