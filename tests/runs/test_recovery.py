"""Results files that nothing opens: restored, begun again or refused with a line, and never waited for."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from running import assert_same_bits, call, finish, no_hang, start, wait_for_step
from test_resume import HEAT, OFTEN, SHORT, write

import simsuite
from simsuite.errors import SimsuiteError
from simsuite.inspection import look_through
from simsuite.io import reading as reading_module
from simsuite.io.directory import RunDirectory
from simsuite.io.lock import Lock
from simsuite.io.reading import open_results


def damage(path: Path) -> None:
    """As after some power cuts: the superblock tells of an earlier end, and metadata do not match their checksums.

    Readers in HDF5's SWMR mode never give up on such a file.
    """
    content = bytearray(path.read_bytes())
    for word in (b"OHDR", b"EAHD", b"EAIB", b"FRHP"):
        at = content.find(word)
        while at >= 0:
            content[at + 20] ^= 255
            at = content.find(word, at + 1)
    path.write_bytes(content + bytes(5000))


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    return write(tmp_path / "plate.toml", HEAT, SHORT)


@pytest.mark.parametrize("verb", ["run", "resume"])
def test_a_damaged_file_is_restored_from_the_checkpoint(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    assert call(capsys, "run", plate, "-o", whole).returncode == 0
    assert call(capsys, "run", plate, "-o", stopped, "--max-minutes", 0).returncode == 75
    damage(stopped / "results.h5")
    with no_hang():
        for command in ("info", stopped), ("plot", stopped, "-o", tmp_path / "x.png"):
            refused = call(capsys, *command)
            assert refused.returncode == 1
            assert f"`simsuite resume {stopped}` restores it" in refused.stderr
            assert "Traceback" not in refused.stderr
        rest = call(capsys, *(("run", plate, "-o", stopped) if verb == "run" else ("resume", stopped)))
    assert rest.returncode == 0, rest.stderr
    assert "results.h5 was damaged; it is restored to what it was at the newest checkpoint" in rest.stderr
    assert_same_bits(stopped / "results.h5", whole / "results.h5")


def test_a_file_damaged_before_there_was_a_checkpoint_is_begun_again(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, whole = tmp_path / "run", tmp_path / "whole"
    assert call(capsys, "run", plate, "-o", whole).returncode == 0
    assert call(capsys, "run", plate, "-o", run, "--max-minutes", 0).returncode == 75
    (run / "checkpoint.h5").unlink()
    damage(run / "results.h5")
    other = call(capsys, "run", plate, "-o", run, "--set", "grid.nx=41")
    assert (other.returncode, "grid.nx" in other.stderr) == (2, True)
    again = call(capsys, "run", plate, "-o", run)
    assert again.returncode == 0, again.stderr
    assert "was damaged before there was a checkpoint; the run begins again" in again.stderr
    assert_same_bits(run / "results.h5", whole / "results.h5")


def test_a_file_of_another_run_is_not_restored(tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        assert call(capsys, "run", plate, "-o", tmp_path / name, "--max-minutes", 0).returncode == 75
    shutil.copy(tmp_path / "two/results.h5", tmp_path / "one/results.h5")
    for _ in range(2):
        before = (tmp_path / "one/results.h5").read_bytes()
        refused = call(capsys, "run", plate, "-o", tmp_path / "one")
        assert refused.returncode == 1
        assert "it is not the file that its checkpoint was made with" in refused.stderr
        assert (tmp_path / "one/results.h5").read_bytes()[48:] == before[48:]  # but for the superblock
        damage(tmp_path / "one/results.h5")


def test_looking_at_a_damaged_file_of_a_live_writer_ends(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "_LIMIT", 3.0)
    monkeypatch.setattr(reading_module, "_ATTEMPTS", 1)
    assert call(capsys, "run", plate, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    damage(tmp_path / "run/results.h5")
    with no_hang(), Lock(tmp_path / "run").held(), pytest.raises(SimsuiteError, match="no end"):
        open_results(tmp_path / "run/results.h5")


@pytest.mark.parametrize("what", ["deleted", "moved", "replaced", "directory"])
def test_results_that_are_taken_away_end_the_run(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    run, away = tmp_path / "run", tmp_path / "away"
    process = start("run", plate, "-o", run, "--set", OFTEN, "--set", "time.end=1e6", cwd=tmp_path)
    assert wait_for_step(process, run, 3)
    results = run / "results.h5"
    if what == "deleted":
        results.unlink()
    elif what == "moved":
        results.rename(away)
    elif what == "replaced":
        shutil.copy(results, away)
        away.replace(results)
    else:
        run.rename(away)
    ended = finish(process)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    if what == "directory":
        return
    assert "results.h5 was deleted, moved or replaced while the run was writing it" in ended.stderr
    assert not (run / "summary.json").exists()
    if what == "moved":
        away.rename(results)
        again = call(capsys, "run", plate, "-o", run, "--set", "time.end=1e6", "--max-minutes", 0)
        assert "continuing" in again.stderr


def test_a_run_that_a_mistake_of_the_program_ends_has_failed(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was called killed, with the advice to go on at once."""

    def mistaken(*_: object) -> bytes:
        raise ZeroDivisionError("by nobody")

    run = tmp_path / "run"
    monkeypatch.setattr("simsuite.solvers.heat.problem.HeatProblem.results", mistaken)
    ended = call(capsys, "run", plate, "-o", run)
    assert ended.returncode == 1
    assert "this is a bug in simsuite" in ended.stderr
    shown = call(capsys, "info", run).stdout
    monkeypatch.undo()
    assert "run, failed" in shown.splitlines()[0], shown
    assert call(capsys, "run", plate, "-o", run).returncode == 0


def test_a_page_of_zeros_in_a_list_of_texts_is_told_of(plate: Path, tmp_path: Path) -> None:
    """HDF5's own reading of such a global heap has no end."""
    assert simsuite.run(plate, directory=tmp_path / "run").summary["status"] == "complete"
    path = tmp_path / "run" / "results.h5"
    whole = path.read_bytes()
    heap = whole.index(b"GCOL")
    size = int.from_bytes(whole[heap + 8 : heap + 16], "little")
    second = 16 + 16 + -(-int.from_bytes(whole[heap + 24 : heap + 32], "little") // 8) * 8
    for first in (16, second):
        path.write_bytes(whole[: heap + first] + bytes(size - first) + whole[heap + size :])
        with no_hang(), pytest.raises(SimsuiteError, match=r"results\.h5 cannot be read"):
            look_through(RunDirectory(tmp_path / "run"))
    path.write_bytes(whole)
    assert look_through(RunDirectory(tmp_path / "run"))["damaged"] == []


def test_a_disk_that_fails_while_a_file_is_mended_is_told_of(
    plate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Path) -> bool:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    simsuite.run(plate, directory=tmp_path / "run", max_minutes=0)
    damage(tmp_path / "run" / "results.h5")
    monkeypatch.setattr("simsuite.io.recovery.is_hdf5", fails)
    with pytest.raises(SimsuiteError, match=r"cannot read .*results\.h5: .*Stale file handle"):
        simsuite.run(plate, directory=tmp_path / "run")
