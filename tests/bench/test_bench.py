"""The benchmark: what it times is checked, what is wrong is found, and what it says of its figures follows from them.

Nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
import running
from conftest import ROOT

from simsuite.backends import open_backend
from simsuite.bench import comparison, heat, machine, machine_cpu, plates, solution, timing, wave
from simsuite.bench.checking import FEW_STEPS, Deviation, deviation, explicit_deviation, rounding, stepper_deviation
from simsuite.bench.effort import FULL, QUICK, Effort
from simsuite.bench.findings import Wish, wrong
from simsuite.bench.machine import Machine, measure_machine
from simsuite.bench.peers import PEERS, Peer, Running
from simsuite.bench.plates import Plate, kernels_for, reference_steps, started
from simsuite.bench.rates import OPERATIONS, STEPPERS, WORDS, default_sizes
from simsuite.bench.report import head, lines, machine_lines
from simsuite.bench.solution import TARGETS, Timed, crossing, default_size, reach
from simsuite.bench.timing import Patience, seconds
from simsuite.core import Backend
from simsuite.errors import DeviceError, ScenarioError, UsageError, VerificationFailure
from simsuite.pictures.bench import draw_bench
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper
from simsuite.solvers.heat.rkl2.rkl2 import Rkl2Stepper
from simsuite.verify.heat.semidiscrete import SemiDiscrete

Found = list[tuple[str, dict[str, Any]]]
HASTE = Patience(stretch=1e-4, repeats=1, most=1.0)
TINY = replace(FULL, patience=HASTE, long=64, solution=(16,), longest_run=0.02, slow_peers=False)
BOTH = ("float64", "float32")


@pytest.fixture
def cpu() -> Backend:
    return open_backend("cpu")


@pytest.fixture(scope="module")
def found() -> Found:
    """Everything, on the smallest grid that there is, in a hurry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heat, "FULL", TINY)
        patch.setattr(machine, "COPIED", 1 << 20)
        patch.setattr(machine_cpu, "ELEMENTS", 1 << 12)
        return list(heat.measurements(open_backend("cpu"), Wish((16,), BOTH)))


def rows(found: Found, section: str) -> list[dict[str, Any]]:
    return [row for name, row in found if name == section]


def call(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, found: Found, *args: object) -> Any:
    """`simsuite bench ARGS` on the CPU, with these measurements."""
    patch.setattr(heat, "measurements", lambda backend, wish: iter(found))
    return running.call(capsys, "bench", "--device", "cpu", *args)


# ---- the plates and their reference


@pytest.mark.parametrize("edges", plates.EDGES)
@pytest.mark.parametrize("material", plates.MATERIALS)
def test_the_reference_is_the_semidiscrete_equation(material: str, edges: str) -> None:
    """Euler steps of it, and of the verification's own discretisation of the same scenario."""
    plate = Plate(9, "float64", material, edges=edges)
    equation, T = SemiDiscrete(plate.scenario()), plate.start()
    for step in range(5):
        T = T + plate.dt * equation.rate(step * plate.dt, T)
    np.testing.assert_allclose(reference_steps(9, material, edges, 5), T, rtol=1e-13)


def test_a_plate_starts_alike_in_both_precisions() -> None:
    assert np.array_equal(Plate(9, "float64").start(), Plate(9, "float32").start())


def test_kernels_are_those_that_the_device_and_the_scenario_know(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels_for(cpu) == ("numba",)
    monkeypatch.setattr(plates, "KERNELS", {"cpu": ("unheard-of", "numba")})
    assert kernels_for(cpu) == ("numba",)


def test_a_kernel_that_the_device_refuses_is_not_timed(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise DeviceError("not here")

    monkeypatch.setattr(plates, "started", refuse)
    assert kernels_for(cpu) == ()


# ---- checking


@pytest.mark.parametrize("precision", BOTH)
@pytest.mark.parametrize("material", plates.MATERIALS)
def test_explicit_steps_are_right(backend: Backend, material: str, precision: str) -> None:
    if backend.name == "cudasim":
        pytest.skip("too many steps")
    plate = Plate(20, precision, material)
    off = explicit_deviation(backend, plate, started(plate.problem(), backend, plate.start()))
    assert off.right
    assert off.limit < 1e-12 if precision == "float64" else off.limit < 1e-4


@pytest.mark.parametrize(("stepper", "material", "edges"), STEPPERS)
def test_other_steppers_are_right(cpu: Backend, stepper: str, material: str, edges: str) -> None:
    assert stepper_deviation(cpu, Plate(0, "float64", material, stepper=stepper, edges=edges)).right


def one_cell_off(cls: type, patch: pytest.MonkeyPatch, by: float) -> None:
    """A stepper that is a little off in one corner."""
    advance = cls.advance

    def wrong(self: Any, n: int) -> None:
        advance(self, n)
        self.fields[self.now][0, 0] += by

    patch.setattr(cls, "advance", wrong)


def test_a_wrong_corner_is_found(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    plate = Plate(20, "float32")
    one_cell_off(ExplicitStepper, monkeypatch, 1e-3)
    assert not explicit_deviation(cpu, plate, started(plate.problem(), cpu, plate.start())).right


def test_a_stepper_that_is_off_is_found(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    one_cell_off(Rkl2Stepper, monkeypatch, 1e-3)
    assert not stepper_deviation(cpu, Plate(0, "float64", "variable", stepper="rkl2")).right


def test_nan_is_never_right() -> None:
    assert not deviation(np.array([np.nan, 1.0]), np.ones(2), 0.1).right
    assert deviation(np.array([1.05, 1.0]), np.ones(2), 0.1) == Deviation(pytest.approx(0.05), 0.1)
    assert rounding("float32", 4 * FEW_STEPS) == 2 * rounding("float32", FEW_STEPS)


# ---- timing and the machine


class Clock:
    """Time that passes when work is done."""

    def __init__(self) -> None:
        self.now, self.done = 0.0, []

    def work(self, n: int) -> None:
        self.done.append(n)
        self.now += 0.25 * n


@pytest.mark.parametrize(
    ("patience", "first", "wanted"),
    [
        (Patience(stretch=1.0, repeats=3, most=100.0), 1, [*[1] * 7, 2, 4, 4, 4, 4]),
        (
            Patience(stretch=1.0, repeats=3, most=2.0),
            1,
            [*[1] * 7, 2, 4, 4, 4],
        ),  # two repeats last as long as allowed
        (Patience(stretch=1.0, repeats=3, most=0.1), 100, [100] * 3),  # too long for recordings to matter
    ],
)
def test_stretches_double_and_are_repeated(
    cpu: Backend, monkeypatch: pytest.MonkeyPatch, patience: Patience, first: int, wanted: list[int]
) -> None:
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now)
    assert seconds(cpu, clock.work, patience, first) == (0.25, wanted[-1])
    assert clock.done == wanted


def test_the_machine_is_measured(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its kernels compute what they should, which is looked at there."""
    monkeypatch.setattr(machine, "COPIED", 1 << 11)
    monkeypatch.setattr(backend.kernels("simsuite.bench.machine"), "ELEMENTS", 1 << 8)
    measured = measure_machine(backend, BOTH, replace(HASTE, stretch=0.0))
    assert measured.copy > 0
    assert all(measured.fma[precision] > 0 for precision in BOTH)


def test_sizes_suit_the_machine() -> None:
    fast, slow = (Machine(copy, {"float64": 1e12}) for copy in (4e12, 2e10))
    assert default_sizes(FULL, fast) == (256, 1024, 4096, 16384)
    assert default_sizes(FULL, slow) == (256, 1024, 4096)
    assert default_sizes(QUICK, slow) == (256, 1024)
    assert default_sizes(QUICK, Machine(1e6, {})) == (256,)
    assert (default_size(FULL, fast), default_size(FULL, slow), default_size(QUICK, slow)) == (2048, 512, 128)


# ---- time to solution

LADDER = [Timed("adi", 2, 0, 1.0, 1e-2), Timed("adi", 4, 0, 2.0, 1e-4), Timed("rkl2", 3, 9, 5.0, 1e-6)]


def test_an_error_is_reached_between_two_runs() -> None:
    """Half way from 1e-2 to 1e-4, in logarithms, is half way from 1 s to 2 s."""
    found = reach(LADDER, 1e-3)
    assert found["steppers"]["adi"] == {"seconds": pytest.approx(2**0.5), "run_seconds": 2.0, "steps": 4}
    assert found["steppers"]["rkl2"] == {"seconds": 5.0, "run_seconds": 5.0, "steps": 3}
    assert reach(LADDER, 1e-5)["steppers"]["adi"] is None


def test_a_run_that_is_dearer_and_worse_draws_no_line() -> None:
    assert crossing(Timed("adi", 2, 0, 3.0, 1e-2), LADDER[1], 1e-3) == 2.0
    assert crossing(Timed("adi", 2, 0, 1.0, 1e-5), LADDER[1], 1e-3) == 2.0


def test_the_solution_of_the_constant_material() -> None:
    """The closed form against the matrix exponential of another discretisation."""
    exact = SemiDiscrete(wave.wave(12, "constant", "float64").scenario)
    np.testing.assert_allclose(wave.closed_form(12), exact.propagated(wave.END), rtol=0, atol=1e-13)


@pytest.mark.parametrize("material", wave.MATERIALS)
def test_the_reference_is_what_it_says(cpu: Backend, material: str) -> None:
    against = wave.reference(12, material, cpu)
    exact = SemiDiscrete(wave.wave(12, material, "float64").scenario).propagated(wave.END)
    assert against.error(exact) < 1e-11
    assert against.deviation < 0.1 * TARGETS[-1]


def test_references_that_differ_are_an_error(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    one_cell_off(Rkl2Stepper, monkeypatch, 1e-4)
    (row,) = solution.work_precision(cpu, replace(TINY, materials=("variable",)), 8, "float64")
    assert not row["right"]
    assert "runs" not in row
    assert "WRONG" in "\n".join(lines("work_precision", row))


# ---- everything, in a hurry


def test_every_combination_is_a_row(found: Found) -> None:
    combinations = {(row["material"], row["precision"], row["kernel"]) for row in rows(found, "rates")}
    assert combinations == {(m, p, "numba") for m in plates.MATERIALS for p in BOTH}
    steppers = {(row["stepper"], row["material"], row["edges"], row["precision"]) for row in rows(found, "steppers")}
    assert steppers == {(*plate, p) for plate in STEPPERS for p in BOTH}
    assert [row["material"] for row in rows(found, "work_precision")] == list(wave.MATERIALS)
    assert {row["name"] for row in rows(found, "peers")} == {"simsuite numba"} | {
        peer.name for peer in PEERS if "cpu" in peer.dialects
    }
    assert not wrong(found)
    heat.require(found)


def test_figures_follow_from_each_other(found: Found) -> None:
    (limits,) = rows(found, "machine")
    for row in rows(found, "rates"):
        size = np.dtype(row["precision"]).itemsize
        assert row["steps"] >= TINY.long
        assert row["rate"] == pytest.approx(16 * 16 / row["microseconds_per_step"] * 1e6)
        assert row["bytes_per_cell"] == WORDS[row["material"]] * size
        wall = limits["copy_bytes_per_second"] / row["bytes_per_cell"]
        assert row["fraction_of_one_pass"] == pytest.approx(row["rate"] / wall)
        limit = limits["fma_per_second"][row["precision"]] / OPERATIONS[row["material"]]
        assert row["fraction_of_arithmetic"] == pytest.approx(row["rate"] / limit)
        assert row["largest_error"] <= row["error_limit"]
    for row in rows(found, "steppers"):
        words = row["words_per_cell"] * 16 * 16 * np.dtype(row["precision"]).itemsize
        assert words == pytest.approx(row["microseconds_per_step"] * 1e-6 * limits["copy_bytes_per_second"])


def test_ladders_get_to_their_errors(found: Found) -> None:
    for row in rows(found, "work_precision"):
        for stepper in ("explicit", "rkl2", "adi"):
            errors = [run["error"] for run in row["runs"] if run["stepper"] == stepper]
            assert errors == sorted(errors, reverse=True)
        exact = [run["error"] for run in row["runs"] if run["stepper"] == "exact"]
        assert len(exact) == (row["material"] == "constant")
        assert all(error < 1e-12 for error in exact)
        assert [reached["error"] for reached in row["reached"]] == list(TARGETS)
        for auto, target in zip(row["auto"], TARGETS):
            assert auto["tolerance"] == target
            assert auto["met"]
            assert auto["error"] <= target


def test_everything_has_its_line(found: Found, cpu: Backend) -> None:
    (limits,) = rows(found, "machine")
    assert cpu.device_name in "\n".join(machine_lines(cpu.name, cpu.device_name, limits))
    for section in ("rates", "steppers", "peers"):
        title, header = list(head(section))[1:]
        assert title
        for row in rows(found, section):
            (text,) = lines(section, row)
            assert "16 x 16" in text
            assert "not timed: " in text if "skipped" in row else len(text) <= len(header) + 12
    for row in rows(found, "work_precision"):
        text = list(lines("work_precision", row))
        assert len(text) == 3 + len(TARGETS)
        assert "auto takes" in text[2]


def test_all_of_it_is_drawn(found: Found, cpu: Backend, tmp_path: Path) -> None:
    path = tmp_path / "bench.png"
    assert draw_bench(path, heat.document(cpu, Wish((16,), BOTH), found))
    assert matplotlib.image.imread(path).std() > 0.05


def test_nothing_to_draw_is_no_picture(cpu: Backend, tmp_path: Path) -> None:
    (limits,) = [("machine", {"copy_bytes_per_second": 1.0, "fma_per_second": {}})]
    skipped = ("rates", {"n": 16, "material": "constant", "skipped": "too large"})
    assert not draw_bench(tmp_path / "bench.png", heat.document(cpu, Wish((), BOTH), [limits, skipped]))
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_written_is_said(found: Found, cpu: Backend, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        draw_bench(tmp_path / "nowhere" / "bench.png", heat.document(cpu, Wish((16,), BOTH), found))


# ---- peers


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("precision", BOTH)
def test_peers_compute_the_same(backend: Backend, peer: Peer, precision: str) -> None:
    if backend.name == "cudasim" or backend.dialect not in peer.dialects:
        pytest.skip("not for this device")
    if importlib.util.find_spec(peer.library) is None:
        pytest.skip(f"{peer.library} is not installed")
    plate = Plate(24, precision, edges="cold")
    run = peer.start(plate.start(), plate.dt, backend.name)
    run.advance(FEW_STEPS - 10)
    run.advance(10)
    assert run.result().dtype == precision
    assert deviation(run.result(), plate.after(FEW_STEPS), rounding(precision, FEW_STEPS)).right


def peer_rows(monkeypatch: pytest.MonkeyPatch, *peers: Peer, effort: Effort = TINY) -> Iterator[dict[str, Any]]:
    monkeypatch.setattr(comparison, "PEERS", peers)
    return comparison.comparison(open_backend("cpu"), Machine(1e10, {}), effort, 16, ("float64",))


def test_a_peer_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Running:
        raise RuntimeError("no compiler")

    _, missing, slow, failing = peer_rows(
        monkeypatch,
        Peer("missing", "surely_not_there", ("cpu",), fail),
        Peer("slow", "numpy", ("cpu",), fail, slow=True),
        Peer("failing", "numpy", ("cpu",), fail),
    )
    assert missing["skipped"] == "surely_not_there is not installed"
    assert "quick" in slow["skipped"]
    assert failing["skipped"] == "RuntimeError: no compiler"


def test_a_peer_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(T: np.ndarray, r: float, device: str) -> Running:
        return Running(lambda n: None, lambda: T)

    own, wrong = peer_rows(monkeypatch, Peer("lazy", "numpy", ("cpu",), start))
    assert own["right"]
    assert "rate" not in wrong
    with pytest.raises(VerificationFailure, match="lazy float64 16²"):
        heat.require([("peers", own), ("peers", wrong)])


# ---- the command


def test_the_command_prints_one_object(
    found: Found, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call(capsys, monkeypatch, found, "heat", "--json")
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == len(found) - 1  # all but the machine
    assert "done: adi variable float32 16²\n" in done.stderr
    data = json.loads(done.stdout)
    assert data["passed"]
    assert (data["solver"], data["device"], data["format"]) == ("heat", "cpu", 1)
    page = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page))
    for section in ("rates", "steppers", "work_precision", "peers"):
        assert len(data[section]) == len(rows(found, section))
        assert set().union(*data[section]) <= documented, section
    assert set(data) <= documented
    for row in data["work_precision"]:
        assert set().union(*row["runs"], *row["reached"], *row["auto"]) <= documented


def test_the_command_writes_data_and_picture(
    found: Found, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = call(capsys, monkeypatch, found, "-o", tmp_path / "new")
    assert done.returncode == 0
    assert done.stdout.startswith("device      cpu")
    assert "bench.json" in done.stderr
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["bench.json", "bench.png"]
    data = json.loads((tmp_path / "new" / "bench.json").read_text(encoding="utf-8"))
    assert len(data["rates"]) == len(rows(found, "rates"))


def test_a_wrong_kernel_is_exit_code_5(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    one_cell_off(ExplicitStepper, monkeypatch, 1e-3)
    monkeypatch.setattr(heat, "QUICK", replace(TINY, steppers=0))
    monkeypatch.setattr(machine, "COPIED", 1 << 16)
    monkeypatch.setattr(machine_cpu, "ELEMENTS", 1 << 10)
    done = running.call(capsys, "bench", "--device", "cpu", "--quick", "--only", "rates", "--sizes", "16")
    assert done.returncode == 5
    assert "WRONG" in done.stdout
    assert (
        "error: 6 of what was to be timed computes something else: explicit numba constant float64 16²" in done.stderr
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["weather"], "no benchmark of weather"),
        (["--sizes", "256,x"], "--sizes 256,x"),
        (["--sizes", "2"], "--sizes 2"),
        (["--precision", "float16"], "float16"),
        (["--device", "cudasim"], "simulator"),
        (["--only", "everything"], "everything"),
        (["-o", __file__], "cannot make"),
    ],
)
def test_what_cannot_be_measured_is_a_mistake(capsys: pytest.CaptureFixture[str], args: list[str], words: str) -> None:
    done = running.call(capsys, "bench", *args)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("args", "wish"),
    [
        ([], Wish((), BOTH)),
        (["--quick", "--only", "rates"], Wish((), BOTH, True, "rates")),
        (["--sizes", "64, 16,64"], Wish((16, 64), BOTH)),
        (["--precision", "float32"], Wish((), ("float32",))),
        (["--precision", "float32,float64"], Wish((), BOTH)),
    ],
)
def test_options_say_what_is_measured(
    found: Found,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    wish: Wish,
) -> None:
    wishes = []
    monkeypatch.setattr(heat, "measurements", lambda backend, wish: iter((wishes.append(wish), found)[1]))
    assert running.call(capsys, "bench", "--device", "cpu", "--json", *args).returncode == 0
    assert wishes == [wish]


def test_parts_are_measured_alone(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heat, "measure_machine", lambda *args: Machine(1e10, {}))
    for name in ("explicit_rates", "stepper_rates", "work_precision", "comparison"):
        monkeypatch.setattr(heat, name, lambda *args, name=name: iter([{"name": name}]))
    for part, sections in heat.PARTS.items():
        found = list(heat.measurements(cpu, Wish((16,), BOTH, only=part)))
        assert tuple(section for section, _ in found) == ("machine", *sections)
        document = heat.document(cpu, Wish((16,), BOTH, only=part), found)
        assert {*sections} == document.keys() & {name for names in heat.PARTS.values() for name in names}


def test_a_plate_that_is_too_large_is_left_out(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plates, "memory_available", lambda: 1000)
    with pytest.raises(DeviceError, match="memory"):
        plates.fitting(cpu, Plate(64, "float64"))
    monkeypatch.setattr(plates, "memory_available", lambda: None)  # where it is not known
    monkeypatch.setattr(cpu, "memory_free", lambda: 1000, raising=False)
    with pytest.raises(DeviceError, match="device"):
        plates.fitting(cpu, Plate(64, "float64"))


def test_exact_does_not_apply_to_a_variable_material() -> None:
    with pytest.raises(ScenarioError):
        Plate(16, "float64", "variable", stepper="exact").problem()
