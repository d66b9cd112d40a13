"""results.h5: what other programs read in it, and what is left of it when its writer dies."""

from __future__ import annotations

import ctypes
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import fake_run
import h5py
import numpy as np
import pytest
import xarray as xr
from fake_run import append_frame, append_sample, small_file

from simsuite.core import Layout, Variable
from simsuite.errors import SimsuiteError, UsageError
from simsuite.io import layout as layout_module
from simsuite.io.directory import RunDirectory, State
from simsuite.io.reading import open_results
from simsuite.io.results_file import ResultsFile
from simsuite.io.superblock import lookup3, repair

pytestmark = pytest.mark.filterwarnings("error")
TESTS = Path(__file__).parents[1]


def load(path: Path) -> xr.Dataset:
    """All of the file but `run_id`, which no two files have in common."""
    with xr.open_dataset(path, engine="h5netcdf") as dataset:
        del dataset.attrs["run_id"]
        return dataset.load()


def frames_in_vtk(path: Path) -> list[tuple[float, np.ndarray]]:
    """Times and pictures [y, x] as ParaView would see them."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    frames = []
    for k in range(reader.GetNumberOfSteps()):
        reader.SetStep(k)
        reader.Update()
        image = reader.GetOutput()
        nx, ny, _ = image.GetDimensions()
        values = vtk_to_numpy(image.GetPointData().GetArray("temperature")).reshape(ny, nx).copy()
        frames.append((reader.GetTimeValue(), values))
    return frames


@pytest.mark.parametrize("compression", ["none", "lossless"])
def test_xarray_reads_the_shapes_of_heat(tmp_path: Path, compression: str) -> None:
    with small_file(tmp_path / "r.h5", compression=compression) as results:
        before = load(tmp_path / "r.h5")
        results.write_totals({"error_final": np.ones((6, 5))})
        results.set_status("complete")
    data = load(tmp_path / "r.h5")
    assert dict(data.sizes) == {"time": 3, "y": 6, "x": 5, "sample": 5, "probe": 2}
    assert set(data.coords) == {"time", "y", "x", "probe", "sample_time"}
    assert set(data.indexes) == {"time", "y", "x", "probe"}
    assert data.time.dtype == np.float64
    assert data.time.values.tolist() == [0.0, 0.25, 0.5]
    assert data.probe.values.tolist() == ["P", "Größe"]
    assert (data.temperature == np.arange(1.0, 4.0)[:, None, None]).all()
    assert data.probe_temperature.dtype == np.float32
    assert data.probe_temperature.values[:, 1].tolist() == [1, 0, -1, -2, -3]
    assert data.sample_time.dims == ("sample",)
    assert data.temperature.attrs == {"units": "°C", "long_name": "température"}
    assert data.attrs["Conventions"].startswith("CF-")
    assert (data.attrs["title"], int(data.attrs["seed"]), data.attrs["status"]) == ("Kühl", 7, "complete")
    assert before.attrs["status"] == "running"
    assert before.error_final.isnull().all()
    assert (data.error_final == 1).all()


def test_xarray_reads_the_shapes_of_gbm(tmp_path: Path) -> None:
    quantiles, paths = np.arange(30.0).reshape(3, 5, 2), np.arange(40.0, dtype=np.float32).reshape(4, 5, 2)
    with ResultsFile.create(tmp_path / "r.h5", fake_run.gbm_layout(), {}) as results:
        for k in range(5):
            row = {"price_mean": np.array([k, 2 * k]), "price_quantile": quantiles[:, k], "path": paths[:, k]}
            results.append("time", {"time": np.float64(k), **row})
        results.write_totals({"option_price": np.array([10.5, 5.25])})
    data = load(tmp_path / "r.h5")
    assert data.time.dtype == np.float64
    np.testing.assert_array_equal(data.price_quantile.transpose("quantile", "time", "asset"), quantiles)
    np.testing.assert_array_equal(data.path.transpose("path_id", "time", "asset"), paths)
    assert float(data.price_mean.sel(asset="B", time=3.0)) == 6.0
    assert float(data.option_price.sel(option="asian")) == 5.25
    assert "path_id" not in data.variables


def test_xarray_reads_the_shapes_of_linear(tmp_path: Path) -> None:
    states = np.arange(60.0).reshape(5, 3, 4)
    with ResultsFile.create(tmp_path / "r.h5", fake_run.linear_layout(), {}) as results:
        for k in range(5):
            results.append("time", {"time": np.float64(k), "state": states[k]})
    data = load(tmp_path / "r.h5")
    assert data.state.dims == ("time", "component", "sample")
    np.testing.assert_array_equal(data.state, states)


def test_big_rows_are_stored_in_slabs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "_LARGEST_CHUNK", {"none": 150})
    monkeypatch.setattr(layout_module, "SMALL_CHUNK", 8)
    frame = np.arange(30.0).reshape(6, 5)
    with ResultsFile.create(tmp_path / "r.h5", fake_run.heat_layout(), {}) as results:
        results.append("time", {"time": 0.0, "temperature": frame})
        results.append("time", {"time": 1.0, "temperature": -frame[::-1]})
    with open_results(tmp_path / "r.h5") as file:
        assert file["temperature"].chunks == (1, 3, 5)
        np.testing.assert_array_equal(file["temperature"], [frame, -frame[::-1]])
    assert layout_module.chunk_shape((7, 3, 5), 1, 8, "none") == (1, 1, 3, 5)
    assert layout_module.chunk_shape((4, 40), 0, 8, "none") == (1, 1, 18)


class _Heap(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd")),
        *((name, ctypes.c_size_t) for name in ("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")),
    ]


def test_memory_does_not_grow_with_the_rows_of_a_run(tmp_path: Path) -> None:
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        pytest.skip("this C library does not tell how much memory is in use")
    mallinfo2.restype = _Heap
    in_use = []
    with small_file(tmp_path / "r.h5") as results:
        for k in range(3, 1604):
            append_frame(results, k)
            if k % 800 == 3:
                results.flush_to_disk()
                found = mallinfo2()
                in_use.append(found.uordblks + found.hblkhd)
    assert in_use[2] - in_use[1] < 0.3 * 800 * fake_run.NY * fake_run.NX * 8  # the rows themselves would be 1


def test_vtk_reads_every_frame(tmp_path: Path) -> None:
    small_file(tmp_path / "r.h5").close()
    frames = frames_in_vtk(tmp_path / "r.h5")
    assert [t for t, _ in frames] == [0.0, 0.25, 0.5]
    assert [values.shape for _, values in frames] == [(6, 5)] * 3
    assert [values.max() for _, values in frames] == [1, 2, 3]


def test_the_plot_that_h5web_opens_first_is_named(tmp_path: Path) -> None:
    small_file(tmp_path / "r.h5").close()
    with h5py.File(tmp_path / "r.h5") as file:
        assert file.attrs["title"] == "Kühl"
        assert file[file.attrs["signal"].decode()] == file["temperature"]
        assert [a.decode() for a in file.attrs["axes"]] == ["time", "y", "x"]


def test_other_processes_read_while_the_writer_lives(tmp_path: Path) -> None:
    script = (
        "import sys, xarray; sys.path.insert(0, sys.argv[2]); import test_results_file as t\n"
        "d = t.load(sys.argv[1]); print(d.sizes['time'], float(d.temperature[-1, 0, 0]), d.attrs['status'])\n"
        "print(len(t.frames_in_vtk(sys.argv[1])))"
    )
    with small_file(tmp_path / "r.h5"):
        command = [sys.executable, "-c", script, str(tmp_path / "r.h5"), str(TESTS)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TESTS.parent)
        with open_results(tmp_path / "r.h5") as file:
            assert len(file["time"]) == 3
    assert answer.stdout.split() == ["3", "3.0", "running", "3"]


def test_rows_must_be_whole(tmp_path: Path) -> None:
    with small_file(tmp_path / "r.h5") as results:
        with pytest.raises(ValueError, match="lacks temperature"):
            results.append("time", {"time": 1.0})
        with pytest.raises(ValueError, match="shape"):
            results.append("time", {"time": 1.0, "temperature": np.zeros((6, 4))})
        with pytest.raises(ValueError, match="no variable of fixed size"):
            results.write_totals({"temperature": np.zeros((6, 5))})
        assert results.all_rows() == {"time": 3, "sample": 5}


def test_layouts_that_contradict_themselves_leave_no_file(tmp_path: Path) -> None:
    layout = fake_run.heat_layout()
    wrong = Variable("k", ("y", "x"), values=np.ones((2, 2)))
    with pytest.raises(ValueError, match="its dimensions say"):
        ResultsFile.create(tmp_path / "r.h5", Layout(layout.sizes, layout.series, (*layout.variables, wrong)), {})
    both = Variable("k", ("time", "sample"))
    with pytest.raises(ValueError, match="several dimensions"):
        ResultsFile.create(tmp_path / "r.h5", Layout(layout.sizes, layout.series, (*layout.variables, both)), {})
    assert list(tmp_path.iterdir()) == []


def test_reopening_cuts_back_and_continues(tmp_path: Path) -> None:
    rows = {"time": 2, "sample": 1}
    with small_file(tmp_path / "r.h5", 2, 1) as results:
        results.flush_to_disk()
        copy = results.copy_metadata()
        append_frame(results, 2)
        for k in range(1, 5):
            append_sample(results, k)
        results.write_totals({"error_final": np.ones((6, 5))})
    with ResultsFile.reopen(tmp_path / "r.h5", fake_run.heat_layout(), rows, copy) as results:
        assert results.all_rows() == {"time": 2, "sample": 1}
        assert dict(load(tmp_path / "r.h5").sizes) == {"time": 2, "y": 6, "x": 5, "sample": 1, "probe": 2}
        append_frame(results, 2)
        for k in range(1, 5):
            append_sample(results, k)
        results.write_totals({"error_final": np.full((6, 5), np.nan)})
    small_file(tmp_path / "s.h5").close()
    xr.testing.assert_identical(load(tmp_path / "r.h5"), load(tmp_path / "s.h5"))


def test_reopening_works_while_a_reader_holds_the_file(tmp_path: Path) -> None:
    with small_file(tmp_path / "r.h5") as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    script = "import h5py, sys; f = h5py.File(sys.argv[1], 'r'); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, str(tmp_path / "r.h5")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        reader.stdout.readline()
        with ResultsFile.reopen(tmp_path / "r.h5", fake_run.heat_layout(), rows, copy) as results:
            append_frame(results, 3)
        reader.stdin.close()
    assert load(tmp_path / "r.h5").sizes["time"] == 4


def test_reopening_refuses_what_is_not_this_run(tmp_path: Path) -> None:
    with small_file(tmp_path / "r.h5") as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    small_file(tmp_path / "other.h5").close()
    before = (tmp_path / "other.h5").read_bytes()
    with pytest.raises(SimsuiteError, match=r"not the file that its checkpoint.*--fresh"):
        ResultsFile.reopen(tmp_path / "other.h5", fake_run.heat_layout(), rows, copy)
    assert (tmp_path / "other.h5").read_bytes() == before
    with pytest.raises(SimsuiteError, match="--fresh"):
        ResultsFile.reopen(tmp_path / "r.h5", fake_run.linear_layout(), rows, copy)
    with pytest.raises(SimsuiteError, match=r"3, 'sample': 5} rows.*--fresh"):
        ResultsFile.reopen(tmp_path / "r.h5", fake_run.heat_layout(), rows | {"time": 4}, copy)
    assert load(tmp_path / "r.h5").sizes["time"] == 3


def test_whatever_becomes_of_metadata_they_are_restored(tmp_path: Path) -> None:
    """All that is written while rows are added, but for the rows themselves, may be there, in part or damaged."""
    with small_file(tmp_path / "r.h5") as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    small_file(tmp_path / "s.h5").close()
    whole, generator = (tmp_path / "r.h5").read_bytes(), random.Random(2)
    mark = whole.index(copy.mark.encode())
    assert copy.content.nbytes < copy.size
    for _ in range(8):
        damaged = bytearray(whole + generator.randbytes(generator.randrange(5000)))
        for start, length in copy.places.tolist():
            if not start <= mark < start + length and generator.random() < 0.5:
                damaged[start : start + length] = generator.randbytes(length)
        damaged[:2000] = generator.randbytes(2000)
        assert mark > 2000
        (tmp_path / "r.h5").write_bytes(damaged)
        ResultsFile.reopen(tmp_path / "r.h5", fake_run.heat_layout(), rows, copy).close()
        xr.testing.assert_identical(load(tmp_path / "r.h5"), load(tmp_path / "s.h5"))


@pytest.mark.parametrize("keep", [0, 30, 2000, -200])
def test_damaged_files_say_what_to_do(tmp_path: Path, keep: int) -> None:
    with small_file(tmp_path / "r.h5") as results:
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
    data = (tmp_path / "r.h5").read_bytes()
    (tmp_path / "r.h5").write_bytes(data[:keep])
    with pytest.raises(SimsuiteError, match="--fresh"):
        open_results(tmp_path / "r.h5")
    with pytest.raises(SimsuiteError, match="--fresh"):
        ResultsFile.reopen(tmp_path / "r.h5", fake_run.heat_layout(), rows, copy)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_results(tmp_path / "r.h5")


def test_files_that_point_into_other_files_are_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.ones(3)
    with h5py.File(tmp_path / "link.h5", "w", libver="v110") as file:
        file.create_group("deep")["time"] = h5py.ExternalLink("secret.h5", "x")
    with h5py.File(tmp_path / "virtual.h5", "w", libver="v110") as file:
        source = h5py.VirtualLayout((3,), float)
        source[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "x", (3,))
        file.create_virtual_dataset("time", source)
    with h5py.File(tmp_path / "storage.h5", "w", libver="v110") as file:
        file.create_dataset("time", (3,), "f8", external=[(str(tmp_path / "secret.h5"), 0, 24)])
    for name in ("link.h5", "virtual.h5", "storage.h5"):
        with pytest.raises(SimsuiteError, match="another file"):
            open_results(tmp_path / name)


def test_lookup3_gives_the_values_its_author_published() -> None:
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551


# Dies at the n-th of the calls by which a row reaches the file, for n = 1, 2, .. until nothing is left to die at.
DYING = """
import os, pickle, signal, sys
sys.path.insert(0, sys.argv[2])
import h5py, fake_run
from pathlib import Path
from simsuite.io.results_file import ResultsFile
path, left = Path(sys.argv[1]), 0

def dying(method):
    def call(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*arguments, **options)
    return call

h5py.Dataset.resize, h5py.File.flush = dying(h5py.Dataset.resize), dying(h5py.File.flush)
h5py.AttributeManager.modify = dying(h5py.AttributeManager.modify)
for n in range(1, 1000):
    target = path / f"{n}.h5"
    child = os.fork()
    if child == 0:
        left = n
        results = fake_run.small_file(target, 1, 1)
        results.flush_to_disk()
        rows, copy = results.all_rows(), results.copy_metadata()
        target.with_suffix(".copy").write_bytes(pickle.dumps(copy))
        fake_run.append_frame(results, 1)
        fake_run.append_sample(results, 1)
        results.close()
        results = ResultsFile.reopen(target, fake_run.heat_layout(), rows, copy)
        fake_run.append_frame(results, 1)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def test_death_between_any_two_writes_leaves_the_committed_rows(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DYING, str(tmp_path), str(TESTS)], check=True, cwd=TESTS.parent)
    files = sorted(tmp_path.glob("*.h5"), key=lambda path: int(path.stem))
    assert len(files) > 30
    for path in files:
        with open_results(path) as file:
            times, steps = file["time"][...], int(file["VTKHDF/Steps"].attrs["NSteps"])
            times = times[np.isfinite(times)]
            assert steps <= len(times)
            for k in range(len(times)):
                assert times[k] == 0.25 * k
                assert (file["temperature"][k] == k + 1).all()
        copy = shutil.copy(path, tmp_path / "copy")
        repair(copy)
        assert load(copy).time.isnull().sum() <= 1
        if path.with_suffix(".copy").exists():
            metadata = pickle.loads(path.with_suffix(".copy").read_bytes())
            rows = {"time": 1, "sample": 1}
            with ResultsFile.reopen(path, fake_run.heat_layout(), rows, metadata) as results:
                append_frame(results, 1)
            assert load(path).time.values.tolist() == [0.0, 0.25]


def test_a_run_killed_again_and_again_ends_as_if_it_never_was(tmp_path: Path) -> None:
    fake_run.run(tmp_path / "whole")
    whole = load(tmp_path / "whole/results.h5")
    killed = RunDirectory(tmp_path / "killed")
    generator, kills = random.Random(1), 0
    command = [sys.executable, fake_run.__file__, str(killed.path), "0.012"]
    for attempt in range(60):
        with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.PIPE) as process:
            if attempt % 4:
                process.stdout.readline()
            time.sleep(generator.uniform(0.0, 0.3))
            process.kill()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
        committed_rows_are_those_of(whole, killed.results)
    assert kills >= 3
    assert killed.state() is State.FINISHED
    xr.testing.assert_identical(load(killed.results), whole)
    assert [t for t, _ in frames_in_vtk(killed.results)] == whole.time.values.tolist()


def committed_rows_are_those_of(whole: xr.Dataset, path: Path) -> None:
    if not path.exists():
        return
    with open_results(path) as file:
        n = int(np.isfinite(file["time"][...]).sum())
        np.testing.assert_array_equal(file["temperature"][:n], whole.temperature[:n])
        steps = int(file["VTKHDF/Steps"].attrs["NSteps"])
        m = int(np.isfinite(file["sample_time"][...]).sum())
        np.testing.assert_array_equal(file["energy_stored"][:m], whole.energy_stored[:m])
    copy = path.with_name("copy.h5")
    shutil.copy(path, copy)
    repair(copy)
    np.testing.assert_array_equal(load(copy).temperature[:n], whole.temperature[:n])
    assert n - 1 <= steps <= n
    frames = frames_in_vtk(copy) if steps > 1 else []  # VTK takes a file of one step for one without time
    assert len(frames) == (steps if steps > 1 else 0)
    for k, (moment, values) in enumerate(frames):
        assert moment == whole.time[k]
        np.testing.assert_array_equal(values, whole.temperature[k])
    copy.unlink()


# Every file that the process writes may have so many bytes; room is not asked for, as if another program took it.
FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
import fake_run
from pathlib import Path
from simsuite.errors import SimsuiteError
from simsuite.io.results_file import ResultsFile
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    with fake_run.small_file(Path(sys.argv[1]), 0, 0) as results:
        for k in range(1000):
            fake_run.append_frame(results, k)
            fake_run.append_sample(results, k)
            print(k, flush=True)
except SimsuiteError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize("limit", [5_000, 60_000, 130_000, 150_001])
def test_a_full_disk_is_an_error_and_harms_nothing(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "r.h5"), str(TESTS), str(limit)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent)
    assert ended.returncode == SimsuiteError.exit_code, ended.stderr
    assert "cannot write" in ended.stderr
    written = len(ended.stdout.split())
    if limit > 5_000:
        with open_results(tmp_path / "r.h5") as file:
            assert (file["temperature"][:written, 0, 0] == np.arange(written) + 1).all()
    assert (tmp_path / "r.h5").exists() == (limit > 5_000)
    assert (written > 0) == (limit > 60_000)


def test_too_little_room_is_noticed_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_file(tmp_path / "r.h5") as results:
        monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 1000))
        with pytest.raises(SimsuiteError, match="no space left"):
            append_frame(results, 3)
        monkeypatch.undo()
        append_frame(results, 3)
    assert load(tmp_path / "r.h5").sizes["time"] == 4


def test_a_file_that_looks_damaged_while_it_is_written_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For some milliseconds a file's end may be elsewhere than its superblock says."""
    path = tmp_path / "results.h5"
    small_file(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1000])
    pauses = []

    def written_meanwhile(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            path.write_bytes(whole)

    monkeypatch.setattr("simsuite.io.reading.time.sleep", written_meanwhile)
    with open_results(path) as file:
        assert len(file["time"]) == 3
    assert len(pauses) == 3
    path.write_bytes(whole[:-1000])
    os.utime(path, (0.0, time.time() - 60.0))
    with pytest.raises(SimsuiteError):
        open_results(path)
    assert len(pauses) == 3, "nobody writes it any more"
