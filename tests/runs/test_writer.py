"""The I/O thread, and the outputs that give it work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fake_run import END, FakePending, FakeProblem, FakeStepper, small_file

from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure, SimsuiteError
from simsuite.io import outputs as outputs_module
from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.outputs import CheckpointOutput, SeriesOutput
from simsuite.io.results_file import ResultsFile
from simsuite.io.writer_thread import Writer


def pending(step: int) -> FakePending:
    return FakePending(Snapshot(step, {}))


def fail(snapshot: Snapshot) -> None:
    raise OSError(f"disk failed at {snapshot.step}")


def test_actions_run_in_order_on_another_thread() -> None:
    seen: list[tuple[int, int]] = []
    handed = [pending(k) for k in range(20)]
    with Writer() as writer:
        for p in handed:
            writer.submit(p, lambda snapshot: seen.append((snapshot.step, threading.get_ident())))
        writer.drain()
        assert len(seen) == 20
    assert [step for step, _ in seen] == list(range(20))
    assert {thread for _, thread in seen}.isdisjoint({threading.get_ident()})
    assert [p.released for p in handed] == [1] * 20


def test_a_caller_that_waits_finds_everything_done() -> None:
    seen: list[int] = []

    def slow(snapshot: Snapshot) -> None:
        time.sleep(0.02)
        seen.append(snapshot.step)

    writer = Writer(waits=True)
    for k in range(5):
        writer.submit(pending(k), slow)
        assert seen == list(range(k + 1))
    with pytest.raises(OSError, match="disk failed at 5"):
        writer.submit(pending(5), fail)
    with pytest.raises(OSError, match="disk failed at 5"):
        writer.close()


def test_a_slow_disk_holds_the_caller_back() -> None:
    gate, submitted = threading.Event(), []
    with Writer() as writer:

        def caller() -> None:
            for k in range(7):
                writer.submit(pending(k), lambda snapshot: gate.wait(10) and None)
                submitted.append(k)

        thread = threading.Thread(target=caller)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        assert submitted == [0, 1, 2, 3, 4]  # one at work, four waiting
        gate.set()
        thread.join(10)
    assert submitted == [0, 1, 2, 3, 4, 5, 6]


def test_an_error_stops_the_work_and_reaches_the_caller() -> None:
    ran: list[int] = []
    gate = threading.Event()
    handed = [pending(k) for k in range(4)]
    writer = Writer()
    writer.submit(handed[0], lambda snapshot: gate.wait(10) and fail(snapshot))
    writer.submit(handed[1], lambda snapshot: ran.append(1))
    writer.submit(handed[2], lambda snapshot: ran.append(2))
    gate.set()
    with pytest.raises(OSError, match="disk failed at 0"):
        writer.drain()
    with pytest.raises(OSError, match="disk failed at 0"):
        writer.submit(handed[3], lambda snapshot: ran.append(3))
    with pytest.raises(OSError, match="disk failed at 0"):
        writer.check()
    with pytest.raises(OSError, match="disk failed at 0"):
        writer.close()
    assert ran == []
    assert [p.released for p in handed] == [1] * 4


def test_an_error_surfaces_at_the_end_of_the_block_but_hides_no_other() -> None:
    with pytest.raises(OSError, match="disk failed at 3"), Writer() as writer:
        writer.submit(pending(3), fail)
    with pytest.raises(ZeroDivisionError), Writer() as writer:
        submit_and_divide(writer)


def submit_and_divide(writer: Writer) -> None:
    writer.submit(pending(3), fail)
    raise ZeroDivisionError


def test_a_closed_writer_takes_nothing_and_releases_it() -> None:
    with Writer() as writer:
        pass
    late = pending(1)
    with pytest.raises(RuntimeError, match="closed"):
        writer.submit(late, lambda snapshot: None)
    assert late.released == 1


@pytest.fixture
def results(tmp_path: Path) -> ResultsFile:
    with ResultsFile.create(tmp_path / "results.h5", FakeProblem.layout, {}) as results:
        yield results


def test_a_series_is_due_at_its_steps_from_the_first_missing_row_on(tmp_path: Path) -> None:
    problem = FakeProblem()
    frames, samples = problem.layout.series
    with small_file(tmp_path / "r.h5", frames=2, samples=0) as results, Writer() as writer:
        output = SeriesOutput(problem, results, writer, frames)
        assert [output.due(step) for step in (10, 11, 20)] == [False, False, True]
        assert [output.next_step(step) for step in (0, 10, 20)] == [20, 20, 20]
        with pytest.raises(SimsuiteError, match="row 2 along time belongs to step 20, before 21"):
            output.next_step(21)
        output.emit(FakeStepper(Snapshot(20, {"u": np.full((6, 5), 9.0)}), 0))
        assert output.next_step(20) == 30
        assert SeriesOutput(problem, results, writer, samples).next_step(0) == 0
        writer.drain()
        assert results.rows("time") == 3


def test_a_series_ends(results: ResultsFile) -> None:
    problem = FakeProblem()
    with Writer() as writer:
        output = SeriesOutput(problem, results, writer, problem.layout.series[0])
        stepper = problem.stepper(None, problem.initial())
        while stepper.step < END:
            assert output.due(stepper.step) == (stepper.step % 10 == 0)
            if output.due(stepper.step):
                output.emit(stepper)
            stepper.advance(1)
        output.emit(stepper)
        assert output.next_step(END) is None
        assert not output.due(END)
    assert results.rows("time") == 7


def test_a_bad_row_is_named_and_not_written(results: ResultsFile) -> None:
    problem = FakeProblem()
    stepper = problem.stepper(None, Snapshot(20, problem.initial().arrays))
    stepper.state["u"][4, 3] = np.nan
    writer = Writer()
    SeriesOutput(problem, results, writer, problem.layout.series[0]).emit(stepper)
    with pytest.raises(NumericalFailure, match=r"cell 3 along x, 4 along y at step 20, time 5 s"):
        writer.close()
    assert results.rows("time") == 0


class FakeClock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def checkpoints(
    tmp_path: Path, results: ResultsFile
) -> Callable[..., tuple[CheckpointOutput, FakeClock, FakeStepper, Writer]]:
    def make(minutes: float, every: int, start: int = 0):
        clock, problem, writer = FakeClock(), FakeProblem(), Writer()
        output = CheckpointOutput(tmp_path, results, writer, minutes, every, {"seed": 7}, clock, start)
        return output, clock, problem.stepper(None, Snapshot(start, problem.initial().arrays)), writer

    return make


def test_checkpoints_every_so_many_steps(checkpoints) -> None:
    output, _, stepper, writer = checkpoints(0.0, 8)
    assert [output.next_step(step) for step in (0, 1, 8, 9)] == [8, 8, 8, 16]
    assert [step for step in range(20) if output.due(step)] == [8, 16]
    with writer:
        stepper.advance(8)
        output.emit(stepper)
        assert not output.due(8)
        assert output.next_step(8) == 16
    output, _, _, writer = checkpoints(0.0, 8, start=16)
    assert not output.due(16)
    assert output.next_step(16) == 24
    writer.close()


def test_checkpoints_every_so_many_minutes(checkpoints) -> None:
    output, clock, stepper, writer = checkpoints(2.0, 0)
    with writer:
        assert output.next_step(5) is None
        stepper.advance(5)
        clock.now += 119
        assert not output.due(5)
        clock.now += 1
        assert output.due(5)
        assert not output.due(0)
        output.emit(stepper)
        assert not output.due(6)
        clock.now += 120
        assert output.due(6)
        assert not output.due(5)


def test_no_checkpoints_unless_asked(checkpoints, tmp_path: Path) -> None:
    output, clock, stepper, writer = checkpoints(0.0, 0)
    clock.now += 1e9
    with writer:
        stepper.advance(3)
        assert not output.due(3)
        assert read_checkpoint(tmp_path) is None
        output.emit(stepper)
    assert read_checkpoint(tmp_path).snapshot.step == 3


def test_a_checkpoint_counts_the_rows_of_its_moment(
    checkpoints, results: ResultsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    flush, write = results.flush_to_disk, outputs_module.write_checkpoint
    monkeypatch.setattr(results, "flush_to_disk", lambda: (order.append("flush"), flush()))
    monkeypatch.setattr(outputs_module, "write_checkpoint", lambda *a: (order.append("checkpoint"), write(*a)))
    output, _, stepper, writer = checkpoints(0.0, 1)
    with writer:
        problem = FakeProblem()
        series = SeriesOutput(problem, results, writer, problem.layout.series[1])
        for _ in range(3):
            series.emit(stepper)
            stepper.advance(2)
        output.emit(stepper)
        series.emit(stepper)
    found = read_checkpoint(tmp_path)
    assert (found.snapshot.step, found.rows, found.meta) == (6, {"time": 0, "sample": 3}, {"seed": 7})
    np.testing.assert_array_equal(found.snapshot.arrays["u"], stepper.state["u"])
    assert results.rows("sample") == 4
    assert order == ["flush", "checkpoint"]


def test_a_bad_state_is_no_checkpoint(checkpoints, tmp_path: Path) -> None:
    output, _, stepper, writer = checkpoints(0.0, 1)
    stepper.advance(1)
    output.emit(stepper)
    stepper.advance(1)
    stepper.state["u"][2, 2] = np.inf
    output.emit(stepper)
    with pytest.raises(NumericalFailure, match="step 2"):
        writer.close()
    assert read_checkpoint(tmp_path).snapshot.step == 1
