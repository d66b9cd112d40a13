"""The benchmark of the Monte Carlo solver: what it times is checked, what is wrong is found, and its figures follow.

Nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import importlib.util
import io
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

from simsuite import rng
from simsuite.backends import open_backend
from simsuite.backends.program import compile_program, program_text
from simsuite.bench import machine, machine_cpu, timing
from simsuite.bench.findings import Wish, wrong
from simsuite.bench.gbm import accuracy, cases, comparison, measurements, units
from simsuite.bench.gbm.cases import ASIAN, BARRIER, BASKET, CASES, STEPS, STORED, TERMINAL, Case
from simsuite.bench.gbm.effort import FULL, PRECISIONS
from simsuite.bench.gbm.needs import needs_of
from simsuite.bench.gbm.peers import PEERS, Peer
from simsuite.bench.gbm.pricing import price_deviation, run, stored_deviation
from simsuite.bench.gbm.rates import Device, rate_rows
from simsuite.bench.gbm.report import head, lines, machine_lines
from simsuite.bench.gbm.units import Units, measure_units
from simsuite.bench.machine import Machine
from simsuite.bench.timing import Patience, device_seconds
from simsuite.core import Backend
from simsuite.errors import VerificationFailure
from simsuite.pictures.bench import draw_bench
from simsuite.solvers.gbm.paths.launches_numba import NumbaLaunches
from simsuite.solvers.gbm.statistics.statistics import Estimate

pytestmark = pytest.mark.usefixtures("one_thread")

Found = list[tuple[str, dict[str, Any]]]
HASTE = Patience(stretch=1e-4, repeats=1, most=0.0)
TINY = replace(
    FULL, patience=HASTE, paths={"cpu": 2048}, chunk={"cpu": 512}, stored={"cpu": 1024}, pilot=1024, longest=0.05
)
FEW = ("float32", "float64")  # precisions; to compile every kernel for a third takes half as long again
METHODS = tuple(method for method in accuracy.METHODS if method.control)  # one with each kernel for paths, likewise
MACHINE = Machine(4e12, {"float32": 3e13, "float64": 1.5e13})
UNITS = Units(philox_rounds=6e12, normal_pairs=8e11, powers=4e12)


@pytest.fixture
def cpu() -> Backend:
    return open_backend("cpu")


@pytest.fixture(scope="module")
def found() -> Found:
    """Everything, with the fewest paths that there are, in a hurry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurements, "FULL", replace(TINY, slow_peers=False))
        patch.setattr(accuracy, "METHODS", METHODS)
        patch.setattr(machine, "COPIED", 1 << 20)
        patch.setattr(machine_cpu, "ELEMENTS", 1 << 12)
        return list(measurements.measurements(open_backend("cpu"), Wish((), FEW)))


def rows(found: Found, section: str) -> list[dict[str, Any]]:
    return [row for name, row in found if name == section]


def call(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, found: Found, *args: object) -> Any:
    """`simsuite bench gbm ARGS` on the CPU, with these measurements."""
    patch.setattr(measurements, "measurements", lambda backend, wish: iter(found))
    return running.call(capsys, "bench", "gbm", "--device", "cpu", *args)


# ---- what is priced, and whether it is right


def test_exact_prices_are_those_of_numpy_paths() -> None:
    """Written down once more: five correlated assets, all steps, antithetic."""
    n, generator = 1 << 13, np.random.default_rng(5)
    factor = np.linalg.cholesky(np.full((5, 5), 0.5) + 0.5 * np.eye(5))
    x = np.zeros((2, 5, n))
    total, least = np.zeros((2, n)), np.full((2, n), np.inf)
    for _ in range(STEPS):
        noise = 0.2 / np.sqrt(STEPS) * (factor @ generator.standard_normal((5, n)))
        x += (0.05 - 0.02) / STEPS + np.stack([noise, -noise])
        price = 100 * np.exp(x[:, 0])
        total += price
        least = np.minimum(least, price)
    end = 100 * np.exp(x)
    payoffs = {
        TERMINAL.name: np.maximum(end[:, 0] - 100, 0),
        STORED.name: np.maximum(end[:, 0] - 100, 0),
        ASIAN.name: np.maximum(total / STEPS - 100, 0),
        BARRIER.name: np.where(least > 90, np.maximum(end[:, 0] - 100, 0), 0),
        BASKET.name: np.maximum(end.mean(axis=1) - 100, 0),
    }
    assert [case.name for case in CASES] == ["terminal", "asian", "barrier", "basket", "stored"]
    for case in CASES:
        each = np.exp(-0.05) * payoffs[case.name].mean(axis=0)
        assert abs(each.mean() - case.exact) < 4 * each.std() / np.sqrt(n), case.name


def test_a_price_may_be_off_by_four_standard_errors() -> None:
    off = price_deviation(ASIAN, "float64", Estimate(ASIAN.exact + 0.039, 0.01))
    assert off.right
    assert off.error == pytest.approx(0.039 / ASIAN.exact)
    assert not price_deviation(ASIAN, "float64", Estimate(ASIAN.exact - 0.041, 0.01)).right
    assert not price_deviation(ASIAN, "float32", Estimate(np.nan, 0.01)).right


def spoilt(change: Any, patch: pytest.MonkeyPatch) -> None:
    """Kernels whose state is changed after each launch."""
    launch = NumbaLaunches.advance

    def wrong(self: Any, *args: Any) -> None:
        launch(self, *args)
        change(self)

    patch.setattr(NumbaLaunches, "advance", wrong)


def test_prices_at_all_steps_are_looked_at(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stored_deviation(cpu, run(cpu, STORED.problem("float64", 1024), 0)).right

    def amid(engine: Any) -> None:
        engine.seen[100] *= 1.3

    spoilt(amid, monkeypatch)
    done = run(cpu, STORED.problem("float64", 1024), 0)
    assert price_deviation(STORED, "float64", done.estimate).right
    assert not stored_deviation(cpu, done).right


def test_a_kernel_that_is_off_has_no_rate(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(engine: Any) -> None:
        engine.seen += 0.5

    spoilt(shifted, monkeypatch)
    monkeypatch.setattr("simsuite.bench.gbm.rates.CASES", (TERMINAL,))
    (row,) = rate_rows(Device(cpu, MACHINE, None, HASTE), TINY, (1024,), ("float64",))
    assert not row["right"]
    assert "rate" not in row
    assert "WRONG" in "\n".join(lines("rates", row))
    with pytest.raises(VerificationFailure, match="terminal float64"):
        measurements.require([("rates", row)])


def test_a_timed_launch_has_to_leave_the_same_bits(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def restless(engine: Any) -> None:
        engine._arrays["x"][0, 0] = np.nextafter(engine._arrays["x"][0, 0], np.inf)

    def timed(backend: Backend, work: Any, patience: Patience) -> float:
        spoilt(restless, monkeypatch)
        work()
        return 1.0

    monkeypatch.setattr("simsuite.bench.gbm.rates.CASES", (TERMINAL,))
    monkeypatch.setattr("simsuite.bench.gbm.rates.device_seconds", timed)
    (row,) = rate_rows(Device(cpu, MACHINE, None, HASTE), TINY, (1024,), ("float64",))
    assert not row["right"]
    assert row["largest_error"] == np.inf


# ---- what the device allows


@pytest.mark.parametrize(
    ("case", "precision", "rounds", "pairs", "powers", "instructions", "doubles", "nbytes"),
    [
        (TERMINAL, "float32", 2, 0.5, 0, 58 / 4, 0, 0),
        (ASIAN, "float32", 2, 0.5, 1, 66 / 4, 0, 0),
        (BARRIER, "float32", 2, 0.5, 0, 66 / 4, 0, 0),
        (BASKET, "float32", 10, 2.5, 0, 87.5, 0, 0),
        (STORED, "float32", 2, 0.5, 0, 58 / 4 + 1, 0, 4),
        (ASIAN, "mixed", 2, 0.5, 1, 67 / 4, 0.25, 0),
        (STORED, "mixed", 2, 0.5, 0, 58 / 4 + 2, 1, 8),
        (TERMINAL, "float64", 4, 0, 0, 90 / 2, 27, 0),
        (ASIAN, "float64", 4, 0, 0, 122 / 2, 43, 0),
        (STORED, "float64", 4, 0, 0, 92 / 2, 27, 8),
    ],
)
def test_what_a_step_needs(
    case: Case,
    precision: str,
    rounds: float,
    pairs: float,
    powers: float,
    instructions: float,
    doubles: float,
    nbytes: int,
) -> None:
    needs = needs_of(case, precision)
    assert (needs.rounds, needs.pairs, needs.powers) == (rounds, pairs, powers)
    assert (needs.instructions, needs.doubles, needs.nbytes) == (instructions, doubles, nbytes)


def test_the_slowest_unit_is_the_limit() -> None:
    needs = needs_of(ASIAN, "float32")
    assert needs.limits(MACHINE, UNITS) == {
        "philox": pytest.approx(3e12),
        "special functions": pytest.approx(1 / (0.5 / 8e11 + 1 / 4e12)),
        "instructions": pytest.approx(3e13 / 16.5),
    }
    assert needs.limits(MACHINE, None) == {}
    assert needs_of(STORED, "float64").limits(MACHINE, None) == {"memory": 5e11}
    assert needs_of(STORED, "float64").limits(MACHINE, UNITS)["float64"] == pytest.approx(1.5e13 / 27)


def test_the_chains_of_words_are_those_of_the_generator() -> None:
    """As the device's are compared with these, and these are written once more in Python."""
    wanted = [0] * 4
    for chain in range(4):
        v = (7, chain, 0, 0)
        for _ in range(units.TURNS * units.PER_TURN // 4):
            v = rng.philox4x32(*v, units.KEY, units.KEY)
        wanted = [a ^ int(b) for a, b in zip(wanted, v)]
    assert units.words_of(7) == wanted


def test_units_compile_for_an_h200() -> None:
    log = io.StringIO()
    assert compile_program(units.SOURCE, {"THREADS": units.THREADS}, "sm_90", log)
    assert len(re.findall(r"Used \d+ registers", log.getvalue())) == 3
    assert not re.findall(r"[1-9]\d* bytes spill", log.getvalue())
    assert "double" not in program_text(units.SOURCE, {})


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
def test_units_are_measured_where_there_are_programs(backend: Backend) -> None:
    measured = measure_units(backend, HASTE)
    assert (measured is not None) == backend.compiles
    if measured is not None:
        assert min(measured.as_json().values()) > 1e9


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_case_is_right_on_a_gpu(backend: Backend, precision: str) -> None:
    effort = replace(TINY, paths={"cuda": 1 << 16}, stored={"cuda": 1 << 14})
    found = list(rate_rows(Device(backend, MACHINE, UNITS, HASTE), effort, (), (precision,)))
    assert [row["case"] for row in found] == [case.name for case in CASES]
    assert all(row["right"] for row in found)
    assert {row["kernel"] for row in found} == {"nvrtc"}


def test_device_time_is_the_median_after_warming_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fence:
        def __init__(self, at: float) -> None:
            self.at = at

        def seconds_since(self, earlier: Fence) -> float:
            return self.at - earlier.at

    class Device:
        def __init__(self) -> None:
            self.now, self.took = 0.0, iter([9.0, 8.0, 2.0, 1.0, 3.0, 5.0, 4.0])

        def work(self) -> None:
            self.now += next(self.took)

        def fence(self) -> Fence:
            return Fence(self.now)

    device: Any = Device()
    assert device_seconds(device, device.work, Patience(0.0, 5, 100.0)) == 3.0
    device = Device()
    assert device_seconds(device, device.work, Patience(0.0, 5, 1.0)) == 2.0  # there is no time for more than one
    assert timing.WARM > 0


# ---- time to an error


def test_paths_follow_from_the_pilot(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard error of 2 from 1024 paths, and a target of 1: four times as many, and 2 % more, in whole groups."""
    study = accuracy._Study(cpu, TINY, "float64", accuracy.METHODS[0])
    asked = []

    def fake(self: Any, paths: int, repeats: int = 3) -> Any:
        asked.append(paths)
        return accuracy.Run(None, None, 1e-3 * paths / 1024, Estimate(ASIAN.exact, 2 * (1024 / paths) ** 0.5))  # type: ignore[arg-type]

    monkeypatch.setattr(accuracy._Study, "_run", fake)
    monkeypatch.setattr(accuracy, "TARGETS", (1.0, 0.1))
    near, far = study.rows()
    assert asked == [1024, 5 * 1024]
    assert near["met"]
    assert near["paths"] == 5 * 1024
    assert far["paths"] == 1024 * 408
    assert far == {"paths": 1024 * 408, "forecast_seconds": pytest.approx(0.408)}


def test_sobol_points_are_doubled_until_the_error_is_met(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    method = next(m for m in accuracy.METHODS if m.name == "sobol + control")
    assert (method.control, method.sampling) == (True, {"sampling": "sobol"})
    study = accuracy._Study(cpu, TINY, "float64", method)
    first = accuracy.FEWEST

    def fake(self: Any, paths: int, repeats: int = 3) -> Any:
        return accuracy.Run(None, None, 1e-3 * paths / first, Estimate(ASIAN.exact, first / paths))  # type: ignore[arg-type]

    monkeypatch.setattr(accuracy._Study, "_run", fake)
    monkeypatch.setattr(accuracy, "TARGETS", (0.3, 1e-4))
    near, far = study.rows()
    assert (near["paths"], near["met"]) == (4 * first, True)
    assert (far["paths"], far["met"]) == (32 * first, False)  # the next would take longer than allowed


def test_errors_are_reached(found: Found) -> None:
    own = rows(found, "accuracy")
    assert {(row["method"], row["precision"]) for row in own} == {
        (method.name, precision) for method in METHODS for precision in FEW
    }
    timed = [row for row in own if "seconds" in row]
    assert {row["method"] for row in timed} >= {"plain + control", "antithetic + control"}
    for row in timed:
        assert row["right"]
        if row["met"]:
            assert row["standard_error"] <= row["target"]
    for row in own:
        assert ("seconds" in row) + ("forecast_seconds" in row) + ("skipped" in row) == 1


# ---- everything, in a hurry


def test_every_combination_is_a_row(found: Found) -> None:
    assert [(row["case"], row["precision"]) for row in rows(found, "rates")] == [
        (case.name, precision) for case in CASES for precision in FEW
    ]
    peers = {(row["name"], row["precision"]) for row in rows(found, "peers")}
    assert peers == {("simsuite numba", precision) for precision in FEW} | {
        (peer.name, p) for peer in PEERS if "cpu" in peer.dialects for p in peer.precisions if p in FEW
    }
    assert not wrong(found)
    measurements.require(found)


def test_figures_follow_from_each_other(found: Found) -> None:
    (limits,) = rows(found, "machine")
    assert "units" not in limits  # they are not known of a CPU
    for row in rows(found, "rates"):
        assert row["kernel_rate"] > 0
        assert row["rate"] > 0
        assert row["largest_error"] <= row["error_limit"]
        assert row["paths"] == (1024 if row["case"] == "stored" else 2048)
        if row["case"] == "stored":
            memory = max(limits["copy_bytes_per_second"], limits["write_bytes_per_second"])
            wall = memory / (4 if row["precision"] == "float32" else 8)
            assert row["limits"] == {"memory": pytest.approx(wall)}
            assert row["fraction_of_limit"] == pytest.approx(row["kernel_rate"] / wall)
        else:
            assert "limits" not in row


def test_everything_has_its_line(found: Found, cpu: Backend) -> None:
    (limits,) = rows(found, "machine")
    assert cpu.device_name in "\n".join(machine_lines(cpu.name, cpu.device_name, limits))
    known = limits | {"units": UNITS.as_json()}
    assert "6000 G/s philox rounds" in "\n".join(machine_lines(cpu.name, cpu.device_name, known))
    for section in ("rates", "accuracy", "peers"):
        title, header = list(head(section))[1:]
        assert title
        for row in rows(found, section):
            (text,) = lines(section, row)
            assert row["precision"] in text
            assert "not timed: " in text if "skipped" in row else len(text) <= len(header) + 12


def test_all_of_it_is_drawn(found: Found, cpu: Backend, tmp_path: Path) -> None:
    path = tmp_path / "bench.png"
    limited = [(name, row | {"limits": {"philox": 2e9}, "limited_by": "philox"}) for name, row in found]
    assert draw_bench(path, measurements.document(cpu, Wish((), PRECISIONS), limited))
    assert matplotlib.image.imread(path).std() > 0.05
    nothing = measurements.document(cpu, Wish((), PRECISIONS), found[:1])
    assert not draw_bench(tmp_path / "nothing.png", nothing)


# ---- peers


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_peers_price_the_same(backend: Backend, peer: Peer, precision: str) -> None:
    if backend.name == "cudasim" or backend.dialect not in peer.dialects or precision not in peer.precisions:
        pytest.skip("not for this device, or not in this precision")
    if importlib.util.find_spec(peer.library) is None:
        pytest.skip(f"{peer.library} is not installed")
    price = peer.start(comparison.WANTED, precision, backend.name, 2048)
    first, second = (Estimate(*price(2 * 2048)) for _ in range(2))
    assert first.value != second.value  # other paths every time
    for found in (first, second):
        assert price_deviation(ASIAN, precision, found).right
        assert found.standard_error == pytest.approx(0.125, rel=0.1)  # 8.0 a path


def peer_rows(monkeypatch: pytest.MonkeyPatch, *peers: Peer) -> Iterator[dict[str, Any]]:
    monkeypatch.setattr(comparison, "PEERS", peers)
    return comparison.comparison(open_backend("cpu"), replace(TINY, slow_peers=False), 1024, ("float64",))


def test_a_peer_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        raise RuntimeError("no compiler")

    own, missing, slow, failing = peer_rows(
        monkeypatch,
        Peer("missing", "surely_not_there", ("cpu",), fail),
        Peer("slow", "numpy", ("cpu",), fail, slow=True),
        Peer("failing", "numpy", ("cpu",), fail),
        Peer("elsewhere", "numpy", ("cuda",), fail),
        Peer("single", "numpy", ("cpu",), fail, precisions=("float32",)),
    )
    assert own["rate"] > 0
    assert missing["skipped"] == "surely_not_there is not installed"
    assert "quick" in slow["skipped"]
    assert failing["skipped"] == "RuntimeError: no compiler"


def test_a_peer_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*args: Any) -> Any:
        return lambda paths: (6.0, 0.01)

    own, lazy = peer_rows(monkeypatch, Peer("lazy", "numpy", ("cpu",), start))
    assert own["right"]
    assert "rate" not in lazy
    with pytest.raises(VerificationFailure, match="lazy float64"):
        measurements.require([("peers", own), ("peers", lazy)])


# ---- the command


def test_the_command_prints_one_object(
    found: Found, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call(capsys, monkeypatch, found, "--json")
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == len(found) - 1  # all but the machine
    assert "done: basket float64\n" in done.stderr
    assert "done: plain + control float64 to 0.01\n" in done.stderr
    data = json.loads(done.stdout)
    assert data["passed"]
    assert (data["solver"], data["device"], data["format"]) == ("gbm", "cpu", 1)
    page = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page))
    for section in ("rates", "accuracy", "peers"):
        assert len(data[section]) == len(rows(found, section))
        assert set().union(*data[section]) <= documented, section
    assert {*data, *UNITS.as_json(), "units"} <= documented


def test_the_command_writes_data_and_picture(
    found: Found, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = call(capsys, monkeypatch, found, "-o", tmp_path / "new")
    assert done.returncode == 0
    assert done.stdout.startswith("device      cpu")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["bench.json", "bench.png"]


def test_a_wrong_price_is_exit_code_5(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "exact_price", lambda name: 20.0)
    monkeypatch.setattr(measurements, "QUICK", TINY)
    monkeypatch.setattr(machine, "COPIED", 1 << 16)
    monkeypatch.setattr(machine_cpu, "ELEMENTS", 1 << 10)
    args = ("--quick", "--only", "rates", "--precision", "float64")
    done = running.call(capsys, "bench", "gbm", "--device", "cpu", *args)
    assert done.returncode == 5
    assert "WRONG" in done.stdout
    assert "error: 5 of what was to be timed computes something else: terminal float64" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--sizes", "1000"], "--sizes 1000: write numbers from 1024 on"),
        (["--precision", "float16"], "--precision float16: gbm has float32, mixed and float64"),
        (["--only", "precision", "--sizes", "4096"], "follows from the error"),
        (["--device", "cudasim"], "simulator"),
    ],
)
def test_what_cannot_be_measured_is_a_mistake(capsys: pytest.CaptureFixture[str], args: list[str], words: str) -> None:
    done = running.call(capsys, "bench", "gbm", *args)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("args", "wish"),
    [
        ([], Wish((), PRECISIONS)),
        (["--quick", "--only", "rates"], Wish((), PRECISIONS, True, "rates")),
        (["--sizes", "4096,2048,4096"], Wish((2048, 4096), PRECISIONS)),
        (["--precision", "mixed,float32"], Wish((), ("float32", "mixed"))),
    ],
)
def test_options_say_what_is_measured(
    found: Found, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, args: list[str], wish: Wish
) -> None:
    wishes = []
    monkeypatch.setattr(measurements, "measurements", lambda backend, wish: iter((wishes.append(wish), found)[1]))
    assert running.call(capsys, "bench", "gbm", "--device", "cpu", "--json", *args).returncode == 0
    assert wishes == [wish]


def test_parts_are_measured_alone(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "measure_machine", lambda *args: MACHINE)
    for name in ("rate_rows", "accuracy_rows", "comparison"):
        monkeypatch.setattr(measurements, name, lambda *args, name=name: iter([{"name": name}]))
    for part, sections in measurements.PARTS.items():
        wish = Wish((), PRECISIONS, only=part)
        found = list(measurements.measurements(cpu, wish))
        assert tuple(section for section, _ in found) == ("machine", *sections)
        assert {*sections} == measurements.document(cpu, wish, found).keys() & {"rates", "accuracy", "peers"}


def test_paths_that_do_not_fit_are_left_out(cpu: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "memory_free", lambda: 1000, raising=False)
    found = list(rate_rows(Device(cpu, MACHINE, None, HASTE), TINY, (2048,), ("float64",)))
    assert len(found) == len(CASES)
    assert all("memory" in row["skipped"] for row in found)
    assert "not timed" in "\n".join(lines("rates", found[0]))
