"""`simsuite export`: which files it writes, and what it refuses; disks that fail; runs that are under way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from exported_runs import runs_in
from running import ROOT, call, finish, polls, start_python

import simsuite
from simsuite.exporting import SUFFIXES

Runs = Callable[..., simsuite.Run]
Captured = pytest.CaptureFixture[str]
LIMITED = """
import resource, runpy, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.argv[:2] = ["simsuite"]
runpy.run_module("simsuite", run_name="__main__")
"""


@pytest.fixture
def run_of(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run of a solver, in a directory of its own."""
    return runs_in(tmp_path, tmp_path_factory)


def test_the_command_tells_what_it_wrote(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("heat").directory
    done = call(capsys, "export", directory / "results.h5", "--to", "csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"wrote {directory}/export/samples.csv\n"
    found = call(capsys, "export", directory, "--to", "csv", "-o", directory / "other", "--json")
    assert json.loads(found.stdout) == {"status": "written", "files": [f"{directory}/other/samples.csv"]}


def test_names_are_of_variables_or_tables(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("gbm").directory
    done = call(capsys, "export", directory, "--to", "csv", "--what", "paths, option_price", "-o", directory / "e")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (directory / "e").iterdir()} == {"paths.csv", "options.csv"}
    header = (directory / "e" / "options.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "option,option_price"
    unknown = call(capsys, "export", directory, "--to", "csv", "--what", "option_prise")
    assert unknown.returncode == 2
    assert "there is no table or variable 'option_prise'" in unknown.stderr
    assert "did you mean option_price?" in unknown.stderr
    nothing = call(capsys, "export", directory, "--to", "csv", "--what", ",")
    assert (nothing.returncode, nothing.stderr) == (2, "error: nothing is named that could be exported\n")


def test_a_file_can_be_named_where_there_is_one(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("gbm").directory
    one = call(capsys, "export", directory, "--to", "csv", "--what", "options", "-o", directory / "prices.CSV")
    assert one.returncode == 0, one.stderr
    assert (directory / "prices.CSV").is_file()
    several = call(capsys, "export", directory, "--to", "csv", "-o", directory / "all.csv")
    assert several.returncode == 2
    assert "all.csv is one file, and these are 3: options.csv, assets.csv, paths.csv" in several.stderr


def test_files_that_are_there_stay_without_force(run_of: Runs, capsys: Captured) -> None:
    run = run_of("heat")
    there = run.directory / "export" / "samples.csv"
    there.parent.mkdir()
    there.write_text("mine")
    refused = call(capsys, "export", run.directory, "--to", "csv")
    assert refused.returncode == 2
    assert f"{there}: there already; --force replaces what is there" in refused.stderr
    with pytest.raises(simsuite.UsageError, match="force=True replaces what is there"):
        run.export("csv")
    assert there.read_text() == "mine"
    assert call(capsys, "export", run.directory, "--to", "csv", "--force").returncode == 0
    assert there.read_text(encoding="utf-8").startswith("sample_time [s],")
    assert list(there.parent.iterdir()) == [there]


def test_what_is_no_run_is_told(run_of: Runs, tmp_path: Path, capsys: Captured) -> None:
    directory = run_of("heat").directory
    for path, said in ((tmp_path / "heta", "no such directory"), (tmp_path, "holds no run")):
        done = call(capsys, "export", path, "--to", "csv")
        assert done.returncode == 2
        assert said in done.stderr
    assert str(directory) in call(capsys, "export", tmp_path / "heta", "--to", "csv").stderr, "runs nearby are named"
    (directory / "results.h5").write_bytes(b"no HDF5")
    damaged = call(capsys, "export", directory, "--to", "csv")
    assert damaged.returncode == 1
    assert "results.h5 cannot be read" in damaged.stderr
    (directory / "results.h5").unlink()
    (directory / "progress.json").write_text("{}")
    assert "has no results yet" in call(capsys, "export", directory, "--to", "csv").stderr
    wrong = call(capsys, "export", directory, "--to", "xlsx")
    assert wrong.returncode == 2
    assert "Invalid value for '--to': 'xlsx' is not one of 'csv'" in wrong.stderr
    with pytest.raises(simsuite.UsageError, match="cannot export to 'xlsx': the formats are csv, netcdf"):
        simsuite.Run(directory, {}).export("xlsx")


@pytest.mark.parametrize("form", SUFFIXES)
def test_a_disk_that_fails_leaves_what_was_there(form: str, run_of: Runs) -> None:
    """As a full disk does, the limit on the size of files makes writing fail in the middle."""
    if form in ("zarr", "vtk", "parquet"):
        pytest.importorskip({"vtk": "vtkmodules", "parquet": "pyarrow"}.get(form, form), reason="simsuite[export]")
    run = run_of("heat", grid__nx=64, grid__ny=64)
    run.export(form)
    files = set((run.directory / "export").rglob("*"))
    before = {path: path.read_bytes() for path in files if path.is_file()}
    largest = max(map(len, before.values()))
    for limit in (64, largest // 4, largest // 2):
        words = (limit, "export", run.directory, "--to", form, "--force")
        done = finish(start_python(LIMITED, *words, cwd=ROOT))
        assert done.returncode == 1, done.stderr
        assert "; what was there before is as it was" in done.stderr
        assert "File too large" in done.stderr or (form == "vtk" and "No space left" in done.stderr)
    assert {path: path.read_bytes() for path in before} == before
    assert set((run.directory / "export").rglob("*")) == files


def test_a_directory_that_cannot_be_written_to(run_of: Runs, capsys: Captured) -> None:
    directory = run_of("heat").directory
    (directory / "export").write_text("a file")
    done = call(capsys, "export", directory, "--to", "csv")
    assert done.returncode == 1
    assert "cannot write" in done.stderr


@pytest.mark.parametrize(
    ("form", "package"),
    [("netcdf", "h5netcdf"), ("zarr", "zarr"), ("zarr", "xarray"), ("vtk", "vtk"), ("parquet", "pyarrow")],
)
def test_a_package_that_is_missing_is_named(
    form: str, package: str, run_of: Runs, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run = run_of("heat")
    real = simsuite.errors.importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: real("json" if name != package else "no_such_package"))
    done = call(capsys, "export", run.directory, "--to", form)
    assert done.returncode == 1
    extra = "vtk" if form == "vtk" else "export"
    said = f"to {form} needs {package}, which is not installed: pip install 'simsuite[{extra}]'"
    assert f"export {said}" in done.stderr
    with pytest.raises(simsuite.SimsuiteError) as caught:
        run.export(form)
    assert str(caught.value) == f"run.export {said}"


def test_a_table_without_pandas(run_of: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("heat")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(simsuite.SimsuiteError, match=r"run\.table\(\) needs pandas, .*simsuite\[export\]"):
        run.table()


def test_a_run_that_is_under_way_is_exported_as_far_as_it_is(tmp_path: Path, capsys: Captured) -> None:
    """The run is the helper's of other tests, of which a step takes a while."""
    code = (ROOT / "tests" / "fake_run.py").read_text(encoding="utf-8")
    process = start_python(code, tmp_path / "run", "0.02", cwd=ROOT / "tests", PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}")
    try:
        rows = 0
        for _ in polls(process):
            if not (tmp_path / "run" / "results.h5").exists():
                continue
            done = call(capsys, "export", tmp_path / "run", "--to", "csv", "--force", "-o", tmp_path)
            if done.returncode == 0:
                lines = (tmp_path / "samples.csv").read_text(encoding="utf-8").splitlines()
                assert len(lines) - 1 >= rows
                assert "nan" not in lines[-1].split(",")[0]
                rows = len(lines) - 1
            if rows > 3:
                break
        assert process.poll() is None
        assert rows > 3
    finally:
        process.kill()
        finish(process)
