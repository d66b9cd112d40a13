"""Running simsuite from tests, in this process or in one that can be killed, and comparing what it wrote."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from starter import Started

from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.reading import open_results

ROOT = Path(__file__).parents[1]
Process = Started | subprocess.Popen[str]
LIMIT = 120  # seconds that no process here comes near


def start(*args: object, cwd: Path) -> Started:
    """`python -m simsuite ARGS`, under way, on one thread: waiting for others takes most of the time of short runs."""
    return Started([*map(str, args)], cwd)


def start_python(code: str, *args: object, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """`python -c CODE ARGS`, under way, on one thread."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=cwd,
        env=os.environ | {"NUMBA_NUM_THREADS": "1"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: Process) -> subprocess.CompletedProcess[str]:
    """Wait for it; never leaves it behind."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """Ends the whole process, with a traceback, if what is inside does not come to an end: a number with billions of
    digits cannot be interrupted otherwise."""
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def simsuite(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`python -m simsuite ARGS`, at its end."""
    return finish(start(*args, cwd=cwd))


def polls(process: Process) -> Iterator[None]:
    """Moments to look at what a process has done so far, until it ends."""
    began = time.monotonic()
    while process.poll() is None:
        assert time.monotonic() - began < LIMIT
        yield
        time.sleep(0.001)


def wait_for_step(process: Process, directory: Path, step: int) -> bool:
    """Return as soon as there is a checkpoint of `step` or later; False if the process ended before that."""
    seen = None
    for _ in polls(process):
        try:
            now = (directory / "checkpoint.h5").stat().st_ino
            if now != seen:
                seen = now
                found = read_checkpoint(directory)
                if found is not None and found.snapshot.step >= step:
                    return True
        except FileNotFoundError:
            pass
    return False


def contents(path: Path) -> dict[str, np.ndarray]:
    """Every array in a result file, by name."""
    found: dict[str, np.ndarray] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[...]

    with open_results(path) as file:
        file.visititems(keep)
    return found


def plain(array: np.ndarray) -> bytes:
    """Bits, which also tell -0 from 0 and NaN from NaN; texts are compared as such."""
    return repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()


def assert_same_bits(path: Path, expected: Path) -> None:
    """Every dataset of two result files: names, types, shapes, bytes."""
    found, wanted = contents(path), contents(expected)
    assert found.keys() == wanted.keys()
    assert found
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert plain(found[name]) == plain(array), f"{name} differs"


def call(capsys: pytest.CaptureFixture[str], *args: object) -> subprocess.CompletedProcess[str]:
    """`simsuite ARGS` within this process, which takes a tenth of the time."""
    import numba

    from simsuite.cli import main

    capsys.readouterr()
    numba.set_num_threads(1)
    argv, sys.argv = sys.argv, ["simsuite", *map(str, args)]
    code: Any = 0
    try:
        main()
    except SystemExit as e:
        code = e.code or 0
    finally:
        sys.argv = argv
    out, err = capsys.readouterr()
    return subprocess.CompletedProcess(args, code, out, err)
