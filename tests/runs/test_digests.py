"""Rows of results that were changed since they were written are found, and named, and no run goes on with them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import fake_run
import h5py
import numpy as np
import pytest
from conftest import SIMULATING
from fake_run import append_frame, append_sample, heat_layout, small_file
from running import assert_same_bits, call
from test_resume import GBM, HEAT, write

from simsuite.errors import SimsuiteError
from simsuite.io import layout as layout_module
from simsuite.io.digests import damages, digest, in_words
from simsuite.io.results_file import ResultsFile

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved")


@pytest.mark.parametrize("n", [1, 7, 4096, 65536, 65537, 69_632, 100_003])
def test_any_flipped_bit_and_any_page_that_moved_is_found(n: int) -> None:
    chance = random.Random(n)
    data = np.frombuffer(chance.randbytes(n), np.uint8)
    for _ in range(50):
        changed = data.copy()
        changed[chance.randrange(n)] ^= 1 << chance.randrange(8)
        assert digest(changed) != digest(data)
    if n > 65536:
        moved = np.concatenate([data[4096:8192], data[:4096], data[8192:]])
        assert digest(moved) != digest(data)
    assert digest(data.copy()) == digest(data)


def test_the_type_and_shape_of_an_array_do_not_matter() -> None:
    values = np.arange(3000.0).reshape(30, 100)
    assert (
        digest(values) == digest(values.ravel()) == digest(np.asfortranarray(values)) == digest(values.view(np.int64))
    )
    assert digest(np.float64(1.5)) == digest(np.array([1.5]))


@pytest.mark.parametrize("compression", ["none", "lossless"])
def test_the_rows_of_a_file_are_as_written(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "results.h5"
    with small_file(path, compression=compression) as results:
        results.flush_to_disk()
        append_frame(results, 3)
        append_sample(results, 5)
    with h5py.File(path, "r+") as file:
        assert file["digests/time"].shape == (4, 2)
        assert file["digests/sample"].shape == (6, 3)
        assert not list(damages(file))
        file["temperature"][2, 3, 1] += 1e-13
        file["energy_stored"][4] = 0.0
        file["sample_time"][0] = 7.0
        found = {(damage.variable, *damage.rows) for damage in damages(file)}
        assert found == {("temperature", 2), ("energy_stored", 4), ("sample_time", 0)}
        assert in_words(file, damages(file)).endswith("(and 2 more rows)")


def test_a_reader_that_knows_nothing_of_digests_sees_none(tmp_path: Path) -> None:
    import xarray as xr

    small_file(tmp_path / "results.h5").close()
    with xr.open_dataset(tmp_path / "results.h5", engine="h5netcdf") as dataset:
        assert set(dataset.variables) == {v.name for v in heat_layout().variables} | {"time", "sample_time"}


def flip(path: Path, variable: str, row: int) -> None:
    """Change a bit of a row that has a chunk of its own, behind HDF5's back."""
    with h5py.File(path) as file:
        at = file[variable].id.get_chunk_info(row).byte_offset
    with path.open("r+b") as raw:
        raw.seek(at + 5)
        byte = raw.read(1)[0]
        raw.seek(at + 5)
        raw.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("large", [True, False])
def test_a_run_does_not_go_on_with_changed_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], large: bool
) -> None:
    """Chunks that are not full yet are part of the checkpoint, which brings them back."""
    changes = {"run.device": "cpu", "time.end": 0.1} | ({"grid.nx": 100, "grid.ny": 90} if large else {})
    path = write(tmp_path / "s.toml", HEAT, changes)
    assert call(capsys, "run", path, "-o", tmp_path / "whole").returncode == 0
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    flip(tmp_path / "run/results.h5", "temperature", 0)
    rest = call(capsys, "resume", tmp_path / "run")
    if large:
        assert rest.returncode == 1
        assert "cannot be continued (temperature at time = 0 changed since it was written)" in rest.stderr
    else:
        assert rest.returncode == 0, rest.stderr
        assert_same_bits(tmp_path / "run/results.h5", tmp_path / "whole/results.h5")


def test_fake_runs_have_digests_of_all_rows(tmp_path: Path) -> None:
    fake_run.run(tmp_path)
    with h5py.File(tmp_path / "results.h5") as file:
        assert {dim: len(rows) for dim, rows in file["digests"].items()} == {"time": 7, "sample": 31, "fixed": 4}
        assert not list(damages(file))


def test_a_row_is_told_when_the_file_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "SMALL_CHUNK", 1)
    path = tmp_path / "results.h5"
    with small_file(path) as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    flip(path, "temperature", 1)
    with pytest.raises(SimsuiteError, match=r"temperature at time = 0\.25 changed since it was written"):
        ResultsFile.reopen(path, heat_layout(), rows, copy)


def test_monte_carlo_has_digests_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.toml", GBM, {"run.device": "cpu"})
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    with h5py.File(tmp_path / "run/results.h5") as file:
        assert len(file["digests/time"]) == len(file["time"]) == 6
        assert not list(damages(file))


def test_numbers_that_do_not_grow_are_put_right(tmp_path: Path) -> None:
    path = tmp_path / "results.h5"
    with small_file(path) as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    with h5py.File(path) as file:
        at = file["x"].id.get_offset()
    with path.open("r+b") as raw:
        raw.seek(at)
        raw.write(b"\x01\x02\x03")
    ResultsFile.reopen(path, heat_layout(), rows, copy).close()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["x"], np.arange(5) / 4)


@pytest.mark.parametrize("finished", [True, False])
def test_check_looks_through_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], finished: bool) -> None:
    path = write(tmp_path / "s.toml", HEAT, {"run.device": "cpu", "time.end": 0.1, "grid.nx": 100, "grid.ny": 90})
    run = tmp_path / "run"
    assert call(capsys, "run", path, "-o", run, *(() if finished else ("--max-minutes", 0))).returncode in (0, 75)
    whole = call(capsys, "check", run)
    assert whole.returncode == 0, whole.stderr
    n = 6 if finished else 1
    assert f"{n} row{'s' * (n > 1)} along time" in whole.stdout
    assert "0 of them damaged" in whole.stdout
    flip(run / "results.h5", "temperature", n - 1)
    found = call(capsys, "check", run)
    assert found.returncode == 5
    assert f"temperature at time = {'0.1' if finished else '0'} changed since it was written" in found.stdout
    assert "results.h5 has 1 damaged row" in found.stderr
    as_json = json.loads(call(capsys, "check", run, "--json").stdout)
    assert as_json["damaged"] == [{"variable": "temperature", "coordinate": "time", "at": 0.1 if finished else 0.0}]


def test_check_tells_of_a_damaged_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.toml", HEAT, {"run.device": "cpu", "time.end": 0.1})
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    content = bytearray((tmp_path / "run/checkpoint.h5").read_bytes())
    content[len(content) // 2] ^= 4
    (tmp_path / "run/checkpoint.h5").write_bytes(content)
    found = call(capsys, "check", tmp_path / "run")
    assert found.returncode == 5
    assert "checkpoint.h5 is damaged" in found.stderr
    assert "is whole" in found.stdout


def test_check_tells_steps_as_the_run_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the ticks that a clock counts where the error of steps is controlled."""
    path = write(tmp_path / "s.toml", HEAT, {"run.device": "cpu", "time.end": 0.1, "time.stepper": "rkl2"})
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--set", 'time.dt="auto"').returncode == 0
    told = json.loads(call(capsys, "info", tmp_path / "run", "--json").stdout)
    found = json.loads(call(capsys, "check", tmp_path / "run", "--json").stdout)
    assert told["checkpoint"] is None, "a complete run needs none"
    assert found["checkpoint"] == {name: told["summary"][of] for name, of in (("step", "steps"), ("time", "time"))}


def test_variables_that_do_not_grow_have_digests(tmp_path: Path) -> None:
    path = tmp_path / "results.h5"
    with small_file(path) as results:
        results.write_totals({"error_final": np.full((6, 5), 2.0)})
    with h5py.File(path, "r+") as file:
        assert not list(damages(file))
        file["error_final"][2, 2] = 2.5
        file["probe"][1] = "Grösse"
        file["y"][0] = 7.0
        assert {damage.variable for damage in damages(file)} == {"error_final", "probe", "y"}
        assert in_words(file, damages(file)) == "y (and 2 more rows)"
