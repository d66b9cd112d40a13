"""The cache of compiled kernels: damaged, full, read-only, shared by processes that start at once."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import caching, types
from scipy.linalg import expm

from simsuite.backends import cache_files, kernel_cache, numba_cache
from simsuite.errors import DeviceError

SCENARIO: dict[str, Any] = {
    "solver": "linear",
    "system": {"kind": "continuous", "matrix": [[0.0, 1.0], [-1.0, -0.1]]},
    "initial": {"state": [1.0, 0.0]},
    "time": {"steps": 20, "dt": 0.1},
    "run": {"device": "cpu", "precision": "float64"},
}
RUN = Path(__file__).parents[1] / "counted_run.py"
KEY = ((types.int64, types.Array(types.float64, 2, "C")), ("x86_64", "skylake", "+avx2"), ("a1", "b2"))


@pytest.fixture(autouse=True)
def told_anew() -> Iterator[None]:
    """What is told once is told once in each test."""
    yield
    cache_files._tell_of_writing.cache_clear()
    cache_files._tell_of_damage.cache_clear()


def begin(tmp_path: Path, name: str, precision: str = "float64", **environment: str) -> subprocess.Popen[str]:
    scenario = SCENARIO | {"run": {"device": "cpu", "precision": precision}}
    command = [sys.executable, str(RUN), json.dumps(scenario), str(tmp_path / name), "state"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=os.environ | cache | environment, **pipes)


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How many functions were compiled, the states, and what was said."""
    out, said = process.communicate()
    assert process.returncode == 0, said
    compiled, states = out.split()[-2:]
    return int(compiled), states, said


def kernels(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.kernel"))


def damaged(data: bytes, rng: random.Random) -> bytes:
    """As it may be after power was lost, or the disk failed."""
    at = rng.randrange(len(data))
    return rng.choice(
        [
            b"",
            data[:at],
            bytes(len(data)),
            data[:at] + bytes(len(data) - at),
            data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :],
            rng.randbytes(len(data)),
            data + b"\0",
        ]
    )


def files(directory: Path) -> Any:
    """As Numba makes them for a function."""
    return numba_cache._sealed(caching.IndexDataCacheFile)(str(directory), "module.f-1.py311", (0.0, 1))


def test_500_damaged_files_are_missing_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rng, value = random.Random(5), {"code": bytes(range(256)) * 8}
    files(tmp_path).save(KEY, value)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for _ in range(500):
        path.write_bytes(damaged(whole, rng))
        assert files(tmp_path).load(KEY) in (None, value)
        if path.read_bytes() != whole:
            assert files(tmp_path).load(KEY) is None
    path.write_bytes(whole)
    assert files(tmp_path).load(KEY) == value
    assert len(caplog.records) == 1
    assert "is damaged" in caplog.text


def test_files_of_another_function_type_or_machine_are_not_taken(tmp_path: Path) -> None:
    sig, target, code = KEY
    files(tmp_path).save(KEY, "one")
    for other in [
        ((types.int32, sig[1]), target, code),
        (sig, ("x86_64", "znver4", "+avx512f"), code),
        (sig, target, ("a1", "c3")),
    ]:
        assert files(tmp_path).load(other) is None
        (path,) = tmp_path.glob("*.kernel")
        os.rename(path, files(tmp_path)._path(other))
        assert files(tmp_path).load(other) is None, "the file says what it is for"
        os.rename(files(tmp_path)._path(other), path)
    assert files(tmp_path).load(KEY) == "one"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_what_cannot_be_written_is_told_once(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(cache_files.os, "replace", full)
    for _ in range(3):
        files(tmp_path).save(KEY, "value")
    assert files(tmp_path).load(KEY) is None
    assert list(tmp_path.iterdir()) == []
    assert len(caplog.records) == 1
    assert os.strerror(number) in caplog.text


def test_a_written_module_is_private_where_the_cache_is_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write, cache = kernel_cache.write_whole, kernel_cache.cache_directory()

    def full(path: Path, data: bytes) -> None:
        if path.parent != cache:
            write(path, data)

    monkeypatch.setattr(kernel_cache, "write_whole", full)
    path = kernel_cache._file("nowhere_else.py", b"a = 1\n")
    assert path.parent == kernel_cache.private_directory()
    assert path.read_bytes() == b"a = 1\n"
    monkeypatch.setattr(kernel_cache, "write_whole", lambda path, data: None)
    with pytest.raises(DeviceError, match="no kernels can be made"):
        kernel_cache._file("nowhere_at_all.py", b"a = 1\n")


def test_runs_on_damaged_caches_have_the_same_bits(tmp_path: Path) -> None:
    rng = random.Random(7)
    compiled, states, _ = end(begin(tmp_path, "first"))
    assert compiled > 0
    assert end(begin(tmp_path, "second"))[:2] == (0, states)
    for path in kernels(tmp_path):
        path.write_bytes(damaged(path.read_bytes(), rng))
    _, again, said = end(begin(tmp_path, "third"))
    assert again == states
    assert said.count("is damaged") == 1 or said.count("is not as it was written") >= 1
    assert "Traceback" not in said
    assert end(begin(tmp_path, "fourth")) == (0, states, "")


def test_two_first_runs_at_once(tmp_path: Path) -> None:
    """Numba's own index gives the functions of both the same number."""
    both = [begin(tmp_path, precision, precision) for precision in ("float32", "float64")]
    found = [end(process)[1] for process in both]
    for precision, states in zip(("float32", "float64"), found, strict=True):
        assert end(begin(tmp_path, f"{precision} again", precision))[:2] == (0, states)
        times, A = np.linspace(0.0, 2.0, 11), np.array(SCENARIO["system"]["matrix"])
        exact = [expm(A * t)[:, 0] for t in times]
        tolerance = 50 * np.finfo(precision).eps
        np.testing.assert_allclose(
            np.frombuffer(bytes.fromhex(states), precision).reshape(-1, 2), exact, atol=tolerance
        )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o500)
    _, _, said = end(begin(tmp_path, "run"))
    assert said.count("kernels are compiled anew in every run") == 1


def test_a_home_that_is_no_directory(tmp_path: Path) -> None:
    _, _, said = end(begin(tmp_path, "run", NUMBA_CACHE_DIR="/dev/null", TMPDIR=str(tmp_path)))
    assert said.count("kernels are compiled anew in every run") == 1
    assert not list(tmp_path.glob("simsuite-*")), "the directory goes with the process"


def test_what_versions_that_are_gone_have_compiled_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    find = kernel_cache.cache_directory.__wrapped__
    mine = find()
    ages = {"0123456789abcdef": 1.1, "fedcba9876543210": 0.9, "someone's": 9.0, "0123456789abcdef.json": 9.0}
    long_ago = {name: time.time() - age * kernel_cache.UNUSED for name, age in ages.items()}
    for name, used in [*long_ago.items(), (mine.name, 0.0)]:
        directory = tmp_path / "simsuite" / name
        directory.mkdir(exist_ok=True)
        (directory / "some.kernel").touch()
        os.utime(directory, (used, used))
    assert find() == mine
    assert {path.name for path in mine.parent.iterdir()} == {mine.name, *ages} - {"0123456789abcdef"}
    assert mine.stat().st_mtime > time.time() - 60.0, "that it is in use is noted"


def test_messages_go_to_our_logger(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"none")
    with caplog.at_level(logging.WARNING, "simsuite"):
        assert cache_files.read_sealed(tmp_path / "x") is None
    assert caplog.records[0].name == "simsuite"
