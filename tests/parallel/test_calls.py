"""`simsuite.run` in Python programs that MPI has started in several processes; commands that go on with a run."""

from __future__ import annotations

import json
from pathlib import Path

from shared_runs import HERE, commands, finished, require_same, simsuite, started, with_mpi
from test_shared_runs import written

pytestmark = with_mpi


def test_processes_that_call_run_share_it_and_all_have_its_results(tmp_path: Path) -> None:
    written(tmp_path, "batches")
    done = finished(started(3, [str(HERE / "calls.py"), "x.toml"], tmp_path))
    assert done.code == 0, done
    stopped, whole, rest, again, mistake, device, other, alone = json.loads(done.out.splitlines()[-1])
    for call, status in ((stopped, "stopped"), (whole, "complete"), (rest, "complete"), (again, "complete")):
        assert call == [call[0]] * 3
        assert call[0][:2] == [status, 3]
    assert rest == again
    assert rest[0][2] == whole[0][2]
    require_same(tmp_path / "stopped", tmp_path / "whole")
    for call, text in ((mistake, "did you mean `seed`"), (device, "3 processes cannot share the one device cuda:1"),
                       (other, "has read another scenario: run.seed")):  # fmt: skip
        assert [each[1] for each in call] == [2, 2, 2]
        assert all(text in each[2] for each in call), call
    assert [each[:2] for each in alone] == [["complete", None]] * 3
    assert alone[0][2] != alone[1][2]
    assert (tmp_path / "alone 2/results.h5").exists()
    assert simsuite(1, ["run", "x.toml", "-o", "one", "-q"], tmp_path).code == 0
    require_same(tmp_path / "whole", tmp_path / "one")


def test_runs_are_gone_on_with_by_several_processes(tmp_path: Path) -> None:
    """To a later end by --extend and by `resume --end`, and to more paths, each to the bits of one process that ran it
    at once."""
    for name in ("columns", "slabs", "fewer groups"):
        written(tmp_path, name)
        (tmp_path / "x.toml").rename(tmp_path / f"{name}.toml")
    later = ["--set", "time.end=0.6", "--set", "output.frames=9", "--set", "output.samples=17"]
    more = ["--set", "time.steps=600", "--set", "output.frames=9"]
    lines = [
        [str(tmp_path), *words.split(), "-q"] if isinstance(words, str) else [str(tmp_path), *words, "-q"]
        for words in (
            ["run", "slabs.toml", "-o", "slabs"],
            ["run", "slabs.toml", "-o", "slabs", "--extend", *later],
            ["run", "columns.toml", "-o", "columns"],
            ["resume", "columns", "--end", "6"],
            ["run", "fewer groups.toml", "-o", "paths"],
            ["resume", "paths", "--paths", "5500"],
        )
    ]
    codes, done = commands(2, lines, tmp_path)
    assert codes == [0] * len(lines), done
    alone = [
        ["run", "slabs.toml", "-o", "slabs alone", *later],
        ["run", "columns.toml", "-o", "columns alone", *more],
        ["run", "fewer groups.toml", "-o", "paths alone", "--set", "paths.count=5500"],
    ]
    codes, done = commands(1, [[str(tmp_path), *words, "-q"] for words in alone], tmp_path)
    assert codes == [0] * len(alone), done
    for name in ("slabs", "columns", "paths"):
        require_same(tmp_path / name, tmp_path / f"{name} alone")
