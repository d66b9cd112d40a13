"""How many paths a run makes: until a standard error is reached, and more of them after its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import pytest
from gbm_problems import ASIAN, ASSET, CALL, tables
from running import assert_same_bits, call, contents, finish, start, wait_for_step
from test_resume import OFTEN, kill_somewhere, write

from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.reading import open_results

COUNTS = (3000, 7500)  # neither of whole groups
BASE = tables(
    market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
    asset=[ASSET | {"holding": 1.0}, {"spot": 40.0, "volatility": 0.4, "holding": -2.0}],
    time={"end": 1.0, "steps": 6},
    option=[CALL | {"holding": -1.0}, ASIAN | {"asset": "B", "strike": 40.0}],
    output={"frames": 4, "store_paths": 5, "risk": {}, "exposure": True},
    paths={"antithetic": True},
)


def run(capsys: pytest.CaptureFixture[str], *args: object) -> dict[str, Any]:
    done = call(capsys, *args, "--json", "-q")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("batch", [None, 2048, 4096])
def test_an_extended_run_has_the_bits_of_one_that_was_as_long_from_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batch: int | None
) -> None:
    few, many = COUNTS
    changes = {"paths.count": few, "run.device": "cpu"} | ({"paths.batch": batch} if batch else {})
    path = write(tmp_path / "s.toml", BASE, changes)
    first = run(capsys, "run", path, "-o", tmp_path / "run")
    extended = run(capsys, "resume", tmp_path / "run", "--paths", many)
    whole = run(capsys, "run", path, "--set", f"paths.count={many}", "-o", tmp_path / "whole")
    assert extended["results"] == whole["results"]
    assert extended["results"]["paths"] == many
    assert extended["results"] != first["results"]
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "whole" / "results.h5")
    with (
        open_results(tmp_path / "run" / "results.h5") as left,
        open_results(tmp_path / "whole" / "results.h5") as right,
    ):
        assert left.attrs["scenario"].replace("/run", "/whole") == right.attrs["scenario"]
        assert left.attrs["title"] == right.attrs["title"] == "s"
    ends = [read_checkpoint(tmp_path / name) for name in ("run", "whole")]
    assert ends[0] is not None
    assert ends[1] is not None
    for name, array in ends[1].snapshot.arrays.items():
        assert (ends[0].snapshot.arrays[name] == array).all(), name


def test_only_new_paths_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is spoilt in the sums of the first run is still there after the extension."""
    path = write(tmp_path / "s.toml", BASE, {"paths.count": 4096, "run.device": "cpu"})
    run(capsys, "run", path, "-o", tmp_path / "run")
    file = tmp_path / "run" / "checkpoint.h5"
    with h5py.File(file, "r+") as opened:
        about = json.loads(opened["meta"][...].tobytes())
        assert not {"x", "kept"} & about["shapes"].keys(), "nothing that is as long as there are paths"
        histogram = opened[f"array{list(about['shapes']).index('histogram')}"]
        counts = histogram[...]
        counts[-1] += 1000
        histogram[...] = counts
    run(capsys, "resume", tmp_path / "run", "--paths", 8192)
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert found.snapshot.arrays["histogram"].sum() == 3 * 2 * 8192 + 1000


def test_an_extension_that_is_killed_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few, many = 3000, 24000
    path = write(tmp_path / "s.toml", BASE, {"paths.count": few, "paths.batch": 1024, "run.device": "cpu"})
    whole = run(capsys, "run", path, "--set", f"paths.count={many}", "-o", tmp_path / "whole")
    run(capsys, "run", path, "-o", tmp_path / "run", "--set", OFTEN)
    process = start("resume", tmp_path / "run", "--paths", many, "-q", cwd=tmp_path)
    assert wait_for_step(process, tmp_path / "run", 40)
    process.kill()
    assert finish(process).returncode != 0
    done = run(capsys, "resume", tmp_path / "run")
    assert done["results"] == whole["results"]
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "whole" / "results.h5")


def test_what_cannot_be_extended_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.toml", BASE, {"paths.count": 3000, "run.device": "cpu"})
    run(capsys, "run", path, "-o", tmp_path / "run")
    fewer = call(capsys, "resume", tmp_path / "run", "--paths", 2000)
    assert fewer.returncode == 2
    assert "3000" in fewer.stderr
    odd = call(capsys, "resume", tmp_path / "run", "--paths", 5001)
    assert odd.returncode == 2
    assert "pairs" in odd.stderr
    same = run(capsys, "resume", tmp_path / "run", "--paths", 3000)
    assert same["results"]["paths"] == 3000


TARGET = tables(time={"end": 1.0, "steps": 4}, run={"device": "cpu"}, option=[CALL | {"control_variate": False}])


def test_a_run_stops_at_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At the end of the first batch at which it is reached, and with rows for all of its frames."""
    target = 0.05
    path = write(
        tmp_path / "s.toml",
        TARGET,
        {"paths.count": 1000000, "paths.batch": 4096, "paths.target_standard_error": target, "output.frames": 5},
    )
    found = run(capsys, "run", path, "-o", tmp_path / "run")["results"]
    option = found["options"]["option1"]
    assert found["target"] == {"standard_error": target, "reached": True}
    assert found["paths"] % 4096 == 0
    assert 0.97 * target < option["standard_error"] <= target
    assert abs(option["price"] - 10.450583572185565) < 4 * option["standard_error"]
    rows = contents(tmp_path / "run" / "results.h5")
    assert rows["time"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert rows["price_mean"][-1, 0] == found["assets"]["A"]["mean"]

    same = run(
        capsys, "run", path, "-o", tmp_path / "same", "--set", f"paths.count={found['paths']}",
        "--set", "paths.target_standard_error=0",
    )  # fmt: skip
    assert same["results"]["options"] == found["options"]
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "same" / "results.h5")


def test_more_paths_for_a_target_that_was_reached_say_that_none_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = {"paths.count": 100000, "paths.batch": 4096, "paths.target_standard_error": 0.2}
    path = write(tmp_path / "s.toml", TARGET, changes)
    found = run(capsys, "run", path, "-o", tmp_path / "run")["results"]
    assert found["target"]["reached"]
    done = call(capsys, "resume", tmp_path / "run", "--paths", 200000)
    assert done.returncode == 0
    message = f"reached its paths.target_standard_error of 0.2 with {found['paths']} paths: no more are made"
    assert message in done.stderr
    assert read(tmp_path / "run")["paths"] == found["paths"]
    fewer = call(capsys, "resume", tmp_path / "run", "--paths", 2 * found["paths"])
    assert "holds a run of at most 200000 paths" in fewer.stderr


def test_more_paths_for_a_target_that_took_all_paths_are_made_up_to_the_end_of_a_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As from the start. It was said that none are made."""
    path = write(tmp_path / "s.toml", TARGET, {"paths.count": 20000, "paths.target_standard_error": 0.2})
    found = run(capsys, "run", path, "-o", tmp_path / "run")["results"]
    assert (found["target"]["reached"], found["paths"]) == (True, 20000)
    done = call(capsys, "resume", tmp_path / "run", "--paths", 50000)
    assert "with 20000 paths: more are made only up to the end of a batch" in done.stderr
    whole = run(capsys, "run", path, "-o", tmp_path / "whole", "--set", "paths.count=50000")["results"]
    assert read(tmp_path / "run") == whole
    assert whole["paths"] == 50000


def test_no_such_words_for_a_target_that_was_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"paths.count": 8192, "paths.batch": 4096, "paths.target_standard_error": 0.1}
    path = write(tmp_path / "s.toml", TARGET, changes)
    assert not run(capsys, "run", path, "-o", tmp_path / "run")["results"]["target"]["reached"]
    done = call(capsys, "resume", tmp_path / "run", "--paths", 16384)
    assert "no more are made" not in done.stderr
    assert read(tmp_path / "run")["paths"] == 16384


def read(directory: Path) -> dict[str, Any]:
    """What a run came to."""
    return json.loads((directory / "summary.json").read_text(encoding="utf-8"))["results"]


def test_a_run_with_a_target_that_is_killed_stops_where_it_would_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = {"paths.count": 10**6, "paths.batch": 1024, "paths.target_standard_error": 0.1, "output.frames": 5}
    path = write(tmp_path / "s.toml", TARGET, changes)
    whole = run(capsys, "run", path, "-o", tmp_path / "whole")
    assert kill_somewhere(path, tmp_path / "parts", 30, 0.0, "--set", OFTEN)
    rest = run(capsys, "run", path, "-o", tmp_path / "parts")
    assert rest["results"] == whole["results"]
    assert_same_bits(tmp_path / "parts" / "results.h5", tmp_path / "whole" / "results.h5")


def test_a_target_out_of_reach_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "s.toml", TARGET, {"paths.count": 100000, "paths.target_standard_error": 1e-4})
    for command in ("check", "run"):
        said = call(capsys, command, path, "-o", tmp_path / "run")
        assert said.returncode == 2
        assert "takes about 2.2e+10 paths" in said.stderr
        assert "^" in said.stderr
    assert not (tmp_path / "run").exists()


def test_a_target_just_out_of_reach_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too close to the number of paths to be known before."""
    changes = {"paths.count": 20000, "paths.target_standard_error": 0.095, "paths.batch": 4096}
    path = write(tmp_path / "s.toml", TARGET, changes)
    found = run(capsys, "run", path, "-o", tmp_path / "run")["results"]
    assert found["paths"] == 20000
    assert found["target"]["reached"] is False
    assert found["options"]["option1"]["standard_error"] > 0.095
