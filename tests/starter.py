"""Processes that run simsuite, forked by one that has imported what a run needs.

To start Python and import it all takes a second, ten times as long as the short runs of tests. So each process of tests
has a server, `python starter.py SOCKET`, that imports it once and then forks a process for each request. What such a
process does, how it can be killed, and what it leaves behind are those of `python -m simsuite`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

IMPORTED = (
    "h5py",
    "numba",
    "simsuite.cli",
    "simsuite.execution",
    "simsuite.backends.cpu",
    "simsuite.solvers.gbm.paths.stepper",
    "simsuite.solvers.gbm.solver",
    "simsuite.solvers.heat.problem",
    "simsuite.solvers.linear.problem",
)
MOST = 1 << 17  # bytes of a request
BEFORE = dict(os.environ)  # what tests change later is for the processes that they start, not for the server
STREAMS = ("stdout", "stderr", "status")


class Started:
    """A process that the server has forked, with what tests use of `subprocess.Popen`."""

    def __init__(self, args: list[str], cwd: Path) -> None:
        pipes = {name: os.pipe() for name in STREAMS}
        environment = os.environ | {"NUMBA_NUM_THREADS": "1"}
        request = {"args": args, "cwd": str(cwd), "environment": environment}
        socket.send_fds(_server(), [json.dumps(request).encode()], [pipes[name][1] for name in STREAMS])
        for _, written in pipes.values():
            os.close(written)
        self.args, self.returncode = args, None
        self.stdout, self.stderr = (os.fdopen(pipes[name][0], encoding="utf-8") for name in STREAMS[:2])
        self._status = os.fdopen(pipes["status"][0], "rb", buffering=0)
        self.pid = self._number()

    def _number(self) -> int:
        return int.from_bytes(self._status.read(8), "little", signed=True)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = self._number()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it may end at this moment
            if self.poll() is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        texts = ["", ""]

        def read(which: int) -> None:
            with (self.stdout, self.stderr)[which] as stream:
                texts[which] = stream.read()

        readers = [threading.Thread(target=read, args=(which,), daemon=True) for which in range(2)]
        end = time.monotonic() + timeout
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(max(0.0, end - time.monotonic()))
        self.wait(max(0.0, end - time.monotonic()))
        self._status.close()
        return texts[0], texts[1]


@functools.cache
def _server() -> socket.socket:
    """Where the server of this process takes requests; it ends when this process closes the socket."""
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = BEFORE | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": paths}
    with other:
        command = [sys.executable, __file__, str(other.fileno())]
        server = subprocess.Popen(command, env=environment, pass_fds=[other.fileno()])

    def end() -> None:
        own.close()
        server.wait()

    atexit.register(end)
    return own


def _serve(requests: socket.socket) -> list[str]:
    """Imports what runs need, and forks a process for each request. Returns in such a process alone: the arguments of
    the command that it is to run."""
    for name in IMPORTED:
        importlib.import_module(name)
    importlib.import_module("simsuite.backends.numba_arrays").import_arrays("numba.np")
    cpu = importlib.import_module("numba.core.registry").cpu_target
    for context in (cpu.typing_context, cpu.target_context):
        context.refresh()  # has Numba import what it knows of Python and NumPy, as for the first kernel
    while True:
        data, files, _, _ = socket.recv_fds(requests, MOST, len(STREAMS))
        _forget_ended()
        if not data:
            sys.exit()
        if os.fork() == 0:
            requests.close()
            return _begin(json.loads(data), *files)
        for file in files:
            os.close(file)


def _forget_ended() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _begin(request: dict[str, Any], stdout: int, stderr: int, status: int) -> list[str]:
    """Fork the process that is to run a command and return its arguments there. This process tells its number and, when
    it has ended, its exit code, and ends too."""
    child = os.fork()
    if child:
        os.write(status, child.to_bytes(8, "little", signed=True))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(status, code.to_bytes(8, "little", signed=True))
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for file, stream in ((nothing, 0), (stdout, 1), (stderr, 2)):
        os.dup2(file, stream)
    for file in (nothing, stdout, stderr, status):
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    return list(request["args"])


if __name__ == "__main__":
    sys.argv = ["simsuite", *_serve(socket.socket(fileno=int(sys.argv[1])))]
    main = importlib.import_module("simsuite.__main__").main
    main()
