"""Sobol points until a standard error is reached: where runs stop, that they are those of as many points, and whether
their errors are right."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, problem, tables
from gbm_problems import run as whole_run
from running import assert_same_bits, finish, start, wait_for_step
from running import call as said
from test_gbm_paths import run
from test_resume import OFTEN, kill_somewhere, write

from simsuite.backends.cpu import CpuBackend
from simsuite.io.checkpoint import read_checkpoint
from simsuite.scenario.gbm import GROUP
from simsuite.solvers.gbm.closed_forms import european, geometric_asian
from simsuite.solvers.gbm.schedule.batches import Batches

pytestmark = pytest.mark.usefixtures("one_thread")

GEOMETRIC = ASIAN | {"average": "geometric"}
TURN = 4 * GROUP  # paths that all replicates have a group more by
BASE = tables(
    run={"device": "cpu"},
    market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
    asset=[ASSET, {"spot": 40.0, "volatility": 0.4, "dividend_yield": 0.02}],
    time={"end": 1.5, "steps": 10},
    paths={"count": 32 * TURN, "sampling": "sobol", "replicates": 4},
    option=[
        CALL | {"greeks": True},
        CALL | {"asset": "B", "payoff": "put", "strike": 45.0},
        ASIAN | {"fixings": 5},
        GEOMETRIC | {"fixings": 3, "asset": "B", "strike": 40.0, "payoff": "put"},
    ],
    output={"frames": 3, "store_paths": 5},
)  # whose kernels other tests have, too


def target(kernel: str = "auto", **paths: Any) -> Any:
    paths = {"sampling": "sobol", "replicates": 4} | paths
    return problem(run={"kernel": kernel}, time={"steps": 16}, paths=paths, option=[CALL, GEOMETRIC])


def stopped(p: Any, backend: Any, cut: int = 0) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    """`results` of a run that asks where it is to be asked, and after how many paths it was told which end. cut: a step
    from which it goes on from a snapshot."""
    stepper, told = p.stepper(backend, p.initial()), []
    while stepper.step < p.batches_end:
        look = p.next_look(stepper.step + 1)
        if stepper.step < cut < look:
            stepper.advance(cut - stepper.step)
            stepper = p.stepper(backend, copied(stepper.snapshot()))
        stepper.advance(look - stepper.step)
        done = stepper.paths_done
        told.append((done, p.settle(stepper)))
    stepper.advance(p.clock.end - stepper.step)
    return p.results(copied(stepper.observe("time"))), told


# ---- batches


@pytest.mark.parametrize(
    ("size", "marks"), [(3, (0, 4, 8, 16, 21)), (100, (0, 4, 8, 16, 21)), (5, (0, 20)), (7, (0, 20))]
)
def test_batches_end_at_marks_and_leave_no_path_out(size: int, marks: tuple[int, ...]) -> None:
    batches = Batches(size, marks)
    bounds = [(batches.begin(b), batches.end(b)) for b in range(batches.before[-1])]
    assert [path for begin, end in bounds for path in range(begin, end)] == list(range(marks[-1]))
    assert max(end - begin for begin, end in bounds) <= size
    assert {end for _, end in bounds} >= set(marks[1:])
    assert [batches.of(path) for path in range(marks[-1])] == [
        b for b, (s, e) in enumerate(bounds) for _ in range(s, e)
    ]
    assert [bounds[n - 1][1] for n in batches.before[1:]] == list(marks[1:])
    end = batches.before[-1]
    assert (batches.begin(end), batches.of(marks[-1])) == (marks[-1], end)


@pytest.mark.parametrize("batch", [None, GROUP, 3 * GROUP])
def test_looks_fall_on_powers_of_2(batch: int | None) -> None:
    """Points a replicate; whatever the batch, and in the end at all."""
    p = target(count=11 * TURN + 40, target_standard_error=1.0, batch=batch)
    step, looks = 0, []
    while (step := p.next_look(step + 1)) is not None:
        looks.append(p.batches.begin(step // p.n_steps))
    assert looks == [TURN, 2 * TURN, 4 * TURN, 8 * TURN, 11 * TURN + 40]
    assert p.work(p.clock.end) == p.work(p.batches_end) == p.n_steps * (11 * TURN + 40)
    parts = np.diff([p.work(step) for step in range(p.batches_end + 1)]).reshape(-1, p.n_steps)
    at_once = [min(p.block, p.n_steps - k) if k % p.block == 0 else 0 for k in range(p.n_steps)]
    assert (parts == [[(end - begin) * k for k in at_once] for begin, end in batch_bounds(p)]).all()


def batch_bounds(p: Any) -> list[tuple[int, int]]:
    return [(p.batches.begin(b), p.batches.end(b)) for b in range(p.n_batches)]


def test_the_first_batch_has_room_for_stored_paths() -> None:
    p = problem(
        paths={"count": 8 * TURN, "sampling": "sobol", "replicates": 4, "target_standard_error": 1.0, "batch": GROUP},
        output={"store_paths": 3 * TURN},
    )
    assert p.batches.marks == (0, 4 * TURN, 8 * TURN)
    assert p.batch == 3 * TURN


# ---- where runs stop


@pytest.mark.parametrize("batch", [None, 3 * GROUP])
def test_a_run_is_that_of_the_points_at_which_it_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batch: int | None
) -> None:
    """The first power of 2 at which runs of so many points have the errors; to the bit."""
    goal = 4e-3
    path = write(tmp_path / "s.toml", BASE, {"paths.batch": batch} if batch else {})
    found = run(capsys, "run", path, "-o", tmp_path / "run", "--set", f"paths.target_standard_error={goal}")["results"]
    assert found["target"] == {"standard_error": goal, "reached": True}
    worst = []
    for count in (TURN << k for k in range(5)):
        whole = run(capsys, "run", path, "-o", tmp_path / f"{count}", "--set", f"paths.count={count}")["results"]
        worst.append(max(option["standard_error"] for option in whole["options"].values()))
        if worst[-1] <= goal:
            break
    assert 2 <= len(worst) < 5, "after a look at which it had to go on"
    assert found["paths"] == count
    assert {k: v for k, v in found.items() if k != "target"} == whole
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / f"{count}" / "results.h5")


def test_what_is_told_grows_like_the_error() -> None:
    """With the power -0.8 of the points, up to the next power of 2."""
    p = target(count=64 * TURN, target_standard_error=5e-4, batch=GROUP)
    _, told = stopped(p, CpuBackend())
    assert len(told) > 2
    for done, end in told[:-1]:
        error = worst_error(done)
        needed = done * (error / 5e-4) ** 1.25
        doublings = math.ceil(math.log2(needed / TURN))
        assert p.batches.begin(end // p.n_steps) == min(TURN << doublings, 64 * TURN)
    assert told[-1][1] == p.clock.end


def worst_error(count: int) -> float:
    options = whole_run(target(count=count), CpuBackend())[0]["options"]
    return max(option["standard_error"] for option in options.values())


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
def test_devices_stop_at_the_same_points(backend: Any, kernel: str) -> None:
    if kernel == "nvrtc" and backend.name == "cudasim":
        pytest.skip("needs a GPU")
    few = backend.name == "cudasim"  # in which a thread is one of Python
    count, goal, stops = (36, 20.0, 36) if few else (32 * TURN, 2e-3, 4 * TURN)
    found, expected = (
        stopped(target(count=count, target_standard_error=goal, kernel=k), on)[0]
        for k, on in ((kernel, backend), ("auto", CpuBackend()))
    )
    assert found["paths"] == expected["paths"] == stops
    assert found["target"] == expected["target"] == {"standard_error": goal, "reached": True}
    for name, option in expected["options"].items():
        for key in ("price", "standard_error"):
            np.testing.assert_allclose(found["options"][name][key], option[key], rtol=1e-10)


# ---- killed and extended


def test_a_run_that_is_cut_changes_nothing() -> None:
    """Amid batches and between them."""
    p = target(count=32 * TURN, target_standard_error=2e-3, batch=3 * GROUP)
    expected = stopped(p, CpuBackend())
    assert expected[0]["paths"] == 4 * TURN
    for cut in (1, 16, 17, 37, 48, 50, 64, 79, 80, 95):
        assert stopped(p, CpuBackend(), cut) == expected


def test_a_killed_run_stops_where_it_would_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"paths.count": 10**6, "paths.batch": GROUP, "paths.target_standard_error": 1e-3}
    path = write(tmp_path / "s.toml", BASE, changes)
    whole = run(capsys, "run", path, "-o", tmp_path / "whole")
    assert whole["results"]["target"]["reached"]
    assert kill_somewhere(path, tmp_path / "parts", 30, 0.0, "--set", OFTEN)
    rest = run(capsys, "run", path, "-o", tmp_path / "parts")
    assert rest["results"] == whole["results"]
    assert_same_bits(tmp_path / "parts" / "results.h5", tmp_path / "whole" / "results.h5")


@pytest.mark.parametrize(
    ("few", "many", "goal", "stops"),
    [
        (TURN - 400, 10 * TURN, 4e-3, 4 * TURN),  # not even a group of each
        (3 * TURN + 400, 10 * TURN, 4e-3, 4 * TURN),  # amid a batch, with a rest that is shared out anew
        (2 * TURN, 10 * TURN, 4e-3, 4 * TURN),  # at a mark
        (6 * TURN, 10 * TURN, 4e-3, 4 * TURN),  # reached before
        (3 * TURN + 400, 10 * TURN + 80, 3e-4, 10 * TURN + 80),  # never
    ],
)
@pytest.mark.parametrize("batch", [None, 3 * GROUP])
def test_an_extended_run_has_the_bits_of_one_that_had_as_many_from_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], few: int, many: int, goal: float, stops: int, batch: int | None
) -> None:
    changes = {"paths.target_standard_error": goal, "paths.count": few} | ({"paths.batch": batch} if batch else {})
    path = write(tmp_path / "s.toml", BASE, changes)
    run(capsys, "run", path, "-o", tmp_path / "run")
    extended = run(capsys, "resume", tmp_path / "run", "--paths", many)
    whole = run(capsys, "run", path, "--set", f"paths.count={many}", "-o", tmp_path / "whole")
    assert extended["results"] == whole["results"]
    assert whole["results"]["paths"] == stops
    assert_same_bits(tmp_path / "run" / "results.h5", tmp_path / "whole" / "results.h5")


def test_an_extension_makes_new_points_only_and_may_be_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is spoilt in the sums of the first run is still there at the end."""
    changes = {"paths.count": TURN, "paths.batch": GROUP, "paths.target_standard_error": 1e-9}
    path = write(tmp_path / "s.toml", BASE, changes)
    run(capsys, "run", path, "-o", tmp_path / "run", "--set", "output.checkpoint_every=10")
    file = tmp_path / "run" / "checkpoint.h5"
    with h5py.File(file, "r+") as opened:
        about = json.loads(opened["meta"][...].tobytes())
        histogram = opened[f"array{list(about['shapes']).index('histogram')}"]
        counts = histogram[...]
        counts[-1] += 1000
        histogram[...] = counts
    many = 12 * TURN
    process = start("resume", tmp_path / "run", "--paths", many, "-q", cwd=tmp_path)
    assert wait_for_step(process, tmp_path / "run", 60)
    process.kill()
    assert finish(process).returncode != 0
    assert run(capsys, "resume", tmp_path / "run")["results"]["paths"] == many
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert found.snapshot.arrays["histogram"].sum() == 2 * 2 * many + 1000 * counts[-1].size


# ---- out of reach


def test_what_no_points_could_reach_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Errors of 4 replicates of 1024 points are 0.01, and 32 times as many have at best 32^-1.5 of it, 6e-5: with
    what few replicates can be off by, 1e-5 is not ruled out."""
    for goal, refused in ((1e-7, True), (1e-5, False)):
        path = write(tmp_path / "s.toml", BASE, {"paths.target_standard_error": goal})
        found = said(capsys, "check", path)
        assert found.returncode == (2 if refused else 0)
        assert ("fall faster than count^-1.5" in found.stderr) is refused
        assert ("^" in found.stderr) is refused
    path = write(tmp_path / "s.toml", BASE, {"paths.target_standard_error": 1e-7, "paths.count": TURN})
    assert said(capsys, "check", path).returncode == 0, "too few to tell"


def test_a_target_that_is_not_reached_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.toml", BASE, {"paths.target_standard_error": 5e-4, "paths.count": 3 * TURN})
    found = run(capsys, "run", path, "-o", tmp_path / "run")["results"]
    assert found["paths"] == 3 * TURN
    assert found["target"] == {"standard_error": 5e-4, "reached": False}


# ---- errors


def test_true_errors_are_about_the_target() -> None:
    """By closed forms, over 30 seeds. The last look at an error is one at which it is small, now and then by chance."""
    goal = 1e-3
    exact = [
        european(100, 100, 0.05, 0.05, 0.2, 1.0, "call"),
        geometric_asian(100, 100, 0.05, 0.05, 0.2, 1.0, [(k + 1) / 16 for k in range(16)], "call"),
    ]
    errors, held, paths = [], [], []
    for seed in range(1, 31):
        p = problem(
            run={"seed": seed},
            time={"steps": 16},
            paths={"count": 2**20, "sampling": "sobol", "target_standard_error": goal},
            option=[CALL, GEOMETRIC],
        )
        found = stopped(p, CpuBackend())[0]
        options = list(found["options"].values())
        assert found["target"]["reached"]
        assert max(option["standard_error"] for option in options) <= goal
        errors.append([option["price"] - e for option, e in zip(options, exact)])
        held.append([option["ci95"][0] <= e <= option["ci95"][1] for option, e in zip(options, exact)])
        paths.append(found["paths"] / (16 * GROUP))
    assert len(set(paths)) > 1, "not always at the same number"
    assert (np.sqrt(np.mean(np.square(errors), axis=0)) < 1.3 * goal).all()
    assert np.abs(errors).max() < 4 * goal
    assert (np.mean(held, axis=0) > 0.8).all()
    assert (np.abs(np.mean(errors, axis=0)) < 4 * goal / math.sqrt(30)).all(), "no bias"
