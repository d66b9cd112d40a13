"""Checkpoints: whole, checked, and always at least one of them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure, SimsuiteError
from simsuite.io import checkpoint as checkpoint_module
from simsuite.io.checkpoint import NEWEST, PREVIOUS, Checkpoint, read_checkpoint, write_checkpoint

ROWS = {"time": 3, "sample": 7}


def state(step: int, n: int = 50) -> Snapshot:
    return Snapshot(step, {"u": np.arange(float(n)) + step, "count": np.array([step])})


def is_state(found: Checkpoint | None, step: int, n: int = 50) -> bool:
    return (
        found is not None
        and found.snapshot.step == step
        and all(np.array_equal(found.snapshot.arrays[k], a) for k, a in state(step, n).arrays.items())
    )


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_everything_comes_back_bit_for_bit(tmp_path: Path) -> None:
    arrays = {
        "a/b": np.random.default_rng(1).standard_normal((3, 4, 5)),
        "half": np.linspace(0, 1, 7, dtype=np.float32),
        "counters": np.array([2**64 - 1, 0], np.uint64),
        "flags": np.array([True, False]),
        "z": np.array([1 + 2j]),
        "scalar": np.array(0.1),
        "empty": np.zeros((0, 3), np.float32),
        "strided": np.arange(12.0).reshape(3, 4).T,
        "negative zero": np.array([-0.0]),
    }
    meta = {"device": "cuda:0 Größe", "seed": 2**60, "seconds": 0.1}
    write_checkpoint(tmp_path, Snapshot(12, arrays), ROWS, meta)
    found = read_checkpoint(tmp_path)
    assert found is not None
    assert (found.snapshot.step, found.rows, found.meta, found.note) == (12, ROWS, meta, None)
    assert list(found.snapshot.arrays) == list(arrays)
    for name, array in arrays.items():
        assert found.snapshot.arrays[name].dtype == array.dtype
        assert found.snapshot.arrays[name].shape == array.shape
        assert found.snapshot.arrays[name].tobytes() == np.ascontiguousarray(array).tobytes()
    assert os.listdir(tmp_path) == [NEWEST]


def test_arrays_of_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "_BLOCK", 16)
    write_checkpoint(tmp_path, state(4), ROWS, {})
    assert is_state(read_checkpoint(tmp_path), 4)
    bad = state(5)
    bad.arrays["u"][49] = np.inf
    with pytest.raises(NumericalFailure, match=r"u is not finite at index \(49\)$"):
        write_checkpoint(tmp_path, bad, ROWS, {})


@pytest.mark.parametrize(
    "bad", [np.array([[0.0], [np.nan]]), np.array([[0], [np.inf]], np.float32), np.array([[0], [complex(0, np.nan)]])]
)
def test_a_bad_state_replaces_nothing(tmp_path: Path, bad: np.ndarray) -> None:
    write_checkpoint(tmp_path, state(1), ROWS, {})
    write_checkpoint(tmp_path, state(2), ROWS, {})
    before = contents(tmp_path)
    with pytest.raises(NumericalFailure, match=r"velocity is not finite at index \(1, 0\)$"):
        write_checkpoint(tmp_path, Snapshot(3, {"u": np.zeros(3), "velocity": bad}), ROWS, {})
    assert contents(tmp_path) == before


def test_the_previous_one_stays(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path) is None
    for step in (1, 2, 3):
        write_checkpoint(tmp_path, state(step), ROWS, {})
    assert is_state(read_checkpoint(tmp_path), 3)
    assert sorted(os.listdir(tmp_path)) == [NEWEST, PREVIOUS]
    (tmp_path / NEWEST).unlink()
    assert is_state(read_checkpoint(tmp_path), 2)


def test_a_flipped_bit_is_noticed_and_the_previous_one_used(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, state(1), ROWS, {"device": "cpu"})
    write_checkpoint(tmp_path, state(2), ROWS, {"device": "cpu"})
    whole = (tmp_path / NEWEST).read_bytes()
    data = whole.index(state(2).arrays["u"].tobytes())
    generator = random.Random(3)
    places = [*range(data, data + 40, 3), *(generator.randrange(len(whole)) for _ in range(100))]
    noticed = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << generator.randrange(8)
        (tmp_path / NEWEST).write_bytes(damaged)
        found = read_checkpoint(tmp_path)
        if found is not None and found.note:
            assert is_state(found, 1)
            assert NEWEST in found.note
            noticed += 1
        else:  # a byte that nothing depends on
            assert is_state(found, 2)
            assert (found.rows, found.meta) == (ROWS, {"device": "cpu"})
            assert place not in range(data, data + 400)
    assert noticed > 14


def test_a_part_of_a_checkpoint_is_none(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, state(1), ROWS, {})
    write_checkpoint(tmp_path, state(2), ROWS, {})
    whole = (tmp_path / NEWEST).read_bytes()
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / NEWEST).write_bytes(whole[:size])
        assert is_state(read_checkpoint(tmp_path), 1)


def test_nothing_but_damage_is_an_error(tmp_path: Path) -> None:
    (tmp_path / NEWEST).write_bytes(b"not HDF5")
    with pytest.raises(SimsuiteError, match=r"checkpoint\.h5 is damaged.*--fresh"):
        read_checkpoint(tmp_path)


def test_a_damaged_newest_one_does_not_displace_a_good_previous_one(tmp_path: Path) -> None:
    """Whatever rotation does at each of its steps, the previous one is the only one that can be read."""
    for crash_at in range(1, 10):
        for path in tmp_path.iterdir():
            path.unlink()
        write_checkpoint(tmp_path, state(1), ROWS, {})
        write_checkpoint(tmp_path, state(2), ROWS, {})
        (tmp_path / NEWEST).write_bytes(b"damaged")
        if not crashed(lambda: write_checkpoint(tmp_path, state(3), ROWS, {}), crash_at):
            assert is_state(read_checkpoint(tmp_path), 3)
            break
        found = read_checkpoint(tmp_path)
        assert is_state(found, 1) or is_state(found, 3)
        write_checkpoint(tmp_path, state(4), ROWS, {})
        assert is_state(read_checkpoint(tmp_path), 4)
    assert crash_at > 3


class Crash(BaseException):
    pass


def crashed(action: Callable[[], None], nth: int) -> bool:
    """Run `action`, but stop it before its nth change of a name. Whether it was stopped."""
    left = nth

    def counting(change: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object, **options: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Crash
            change(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("link", "replace", "unlink"):
            patch.setattr(os, name, counting(getattr(os, name)))
        try:
            action()
        except Crash:
            return True
    return False


def test_without_hard_links_rotation_still_keeps_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    for step in (1, 2, 3):
        write_checkpoint(tmp_path, state(step), ROWS, {})
    assert is_state(read_checkpoint(tmp_path), 3)
    (tmp_path / NEWEST).unlink()
    assert is_state(read_checkpoint(tmp_path), 2)


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
import test_checkpoint as t
from pathlib import Path
step = 0
while True:
    step += 1
    t.write_checkpoint(Path(sys.argv[1]), t.state(step), {"time": step}, {})
    print(step, flush=True)
"""


def test_killed_at_any_moment_one_can_be_read(tmp_path: Path) -> None:
    generator, tests = random.Random(5), Path(__file__).parents[1]
    for _ in range(5):
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(tests)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tests.parent) as process:
            first = process.stdout.readline()
            time.sleep(generator.uniform(0.0, 0.03))
            process.send_signal(signal.SIGKILL)
            done = int((first + process.stdout.read()).split()[-1])
        found = read_checkpoint(tmp_path)
        assert found is not None
        assert found.note is None
        assert found.snapshot.step in (done, done + 1)
        assert is_state(found, found.snapshot.step)
        assert found.rows == {"time": found.snapshot.step}


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
import test_checkpoint as t
from pathlib import Path
t.write_checkpoint(Path(sys.argv[1]), t.state(1), {}, {})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    t.write_checkpoint(Path(sys.argv[1]), t.state(2, 5000), {}, {})
except t.SimsuiteError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize("limit", [0, 900, 20_000, 41_000])
def test_a_full_disk_keeps_the_last_one(tmp_path: Path, limit: int) -> None:
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-c", FULL, str(tmp_path), str(tests), str(limit)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tests.parent)
    assert (ended.returncode, ended.stdout[:12]) == (1, "cannot write"), ended.stderr
    assert is_state(read_checkpoint(tmp_path), 1)
    assert os.listdir(tmp_path) == [NEWEST]


def test_checkpoints_that_point_into_other_files_are_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, state(1), ROWS, {})
    os.rename(tmp_path / NEWEST, tmp_path / "other.h5")
    with h5py.File(tmp_path / NEWEST, "w", libver="v110") as file:
        for name in ("meta", "array0", "array1"):
            file[name] = h5py.ExternalLink("other.h5", name)
    with pytest.raises(SimsuiteError, match="another file"):
        read_checkpoint(tmp_path)


def test_a_checkpoint_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, state(1), ROWS, {})
    with h5py.File(tmp_path / NEWEST, "r+") as file:
        del file["array0"]
        file.create_dataset("array0", (10**15,), "f8", chunks=(1000,), fletcher32=True)
    with pytest.raises(SimsuiteError, match="incomplete"):
        read_checkpoint(tmp_path)
