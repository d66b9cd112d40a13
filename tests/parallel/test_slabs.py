"""Plates in slabs, stepped by threads in place of processes: the bits of the whole plate."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from heat_random import random_plate
from meeting import OneOfThreads, of_threads

from simsuite.backends.cpu import CpuBackend
from simsuite.core import Pending, Snapshot
from simsuite.errors import ScenarioError
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid import slabs
from simsuite.solvers.heat.grid.slabs import halo_depth, slab_of
from simsuite.solvers.heat.problem import HeatProblem

T = TypeVar("T")


def shared(whole: HeatProblem, processes: int, steps: list[int]) -> list[Snapshot]:
    """A state and two observations after each of these numbers of steps, and the state at the end. In the middle the
    run is cut, and goes on in as many slabs and one more."""
    start, found = whole.initial(), []
    half = len(steps) // 2
    for count, some in ((processes, steps[:half]), (processes + 1, steps[half:])):
        parts = of_threads(functools.partial(_part_of, whole, start, some), count)
        found += [whole.join(each) for each in zip(*parts)]
        start = found[-1] if found else start
    return found


def _part_of(whole: HeatProblem, start: Snapshot, steps: list[int], communicator: OneOfThreads) -> list[Snapshot]:
    part = whole.cut(start, communicator.rank, communicator.size)
    return _course(whole.part(CpuBackend(), part, communicator), steps)


def _course(stepper: Any, steps: list[int]) -> list[Snapshot]:
    found = []
    for n in steps:
        stepper.advance(n)
        found += [_held(stepper.observe(series)) for series in ("time", "sample")]
        found.append(_held(stepper.snapshot()))
    return found


def _held(pending: Pending) -> Snapshot:
    with pending as held:
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def problem(seed: int, stepper: str, precision: str = "float64", steps: int = 30) -> HeatProblem:
    """A random plate. Steps are as long as they can be; those of rkl2 and adi there are 30 of, or more where rkl2 would
    take too many stages."""
    sections = dict(random_plate(seed, switches=seed % 4 == 0).sections)
    lx, ly = (sections["grid"][name] for name in ("lx", "ly"))
    probes = [{"name": f"{i}", "x": 0.3 * lx, "y": i / 7 * ly} for i in range(8)]
    end, tolerance = (sections["time"][name] for name in ("end", "tolerance"))
    time = {"end": end, "stepper": stepper.split()[0]}
    time |= {"explicit": {"dt": "auto"}, "controlled": {}}.get(stepper, {"dt": float(f"{end / steps:.3g}")})
    if "control" in stepper:
        time |= {"dt": "auto", "tolerance": max(tolerance, 1e-5)}
    if seed % 5 == 0 and precision != "float32c":
        time["steady_tolerance"] = 1e-9
    more = {} if sections["source"] else {"source": []}
    model = HeatScenario.model_validate(
        {**sections, **more, "solver": "heat", "probe": probes, "time": time, "run": {"precision": precision}}
    )
    try:
        return HeatProblem.from_scenario(model, Path())
    except ScenarioError:
        if stepper != "rkl2":
            raise
        return problem(seed, stepper, precision, 10 * steps)


def require_same(whole: HeatProblem, processes: int, steps: list[int]) -> None:
    alone = _course(whole.stepper(CpuBackend(), whole.initial()), steps)
    for expected, found in zip(alone, shared(whole, processes, steps), strict=True):
        assert (found.step, found.arrays.keys()) == (expected.step, expected.arrays.keys())
        for name, a in expected.arrays.items():
            assert found.arrays[name].tobytes() == a.tobytes(), name


@pytest.mark.parametrize("seed", range(40))
def test_slabs_have_the_bits_of_the_whole_plate(seed: int, one_thread: None) -> None:
    whole = problem(seed, "explicit", ("float64", "float32", "float32c")[seed % 3])
    assert whole.indivisible(2) is None
    steps = [n for n in (3, 8, 70, 1) if n <= whole.clock.end]
    require_same(whole, 1 + seed % 4, steps if sum(steps) <= whole.clock.end else steps[:1])


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_slabs_are_stepped_by_rkl2_and_adi_as_the_whole_plate_is(stepper: str, seed: int, one_thread: None) -> None:
    """Steps of rkl2 that have more stages than halos have rows are among them."""
    whole = problem(seed, stepper, ("float64", "float32")[seed % 2])
    require_same(whole, 1 + seed % 4, [3, 8, 18, 1])


@pytest.mark.parametrize("seed", range(40))
def test_slabs_control_their_error_as_the_whole_plate_does(seed: int, one_thread: None) -> None:
    whole = problem(seed, "auto controlled", ("float64", "float32")[seed % 2])
    assert whole.plan.control is not None
    first = whole.clock.steps[1]
    require_same(whole, 1 + seed % 4, [first, whole.clock.end - first])


@pytest.mark.parametrize(("ny", "processes", "periodic"), [(37, 4, False), (5, 3, True), (64, 1, True)])
def test_slabs_are_all_rows(ny: int, processes: int, periodic: bool) -> None:
    all_slabs = [slab_of(ny, p, processes, periodic) for p in range(processes)]
    assert np.concatenate([slab.rows[slab.own] for slab in all_slabs]).tolist() == list(range(ny))
    for before, after in itertools.pairwise(all_slabs):
        assert before.rows[before.own.stop :].tolist() == after.rows[after.own][: before.above].tolist()
        assert after.rows[: after.own.start].tolist() == before.rows[before.own][-after.below :].tolist()


@pytest.mark.parametrize("depth", [1, 2, 5, 33])
@pytest.mark.parametrize("stepper", ["explicit", "rkl2"])
def test_halos_may_be_of_any_depth(stepper: str, depth: int, one_thread: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured between two exchanges is right as well, and so is what follows."""
    monkeypatch.setattr(slabs, "halo_depth", lambda rows: min(rows, depth))
    for seed in range(4):
        whole = problem(seed, stepper)
        steps = [3, 8, 1, 17, 1]
        while sum(steps) > whole.clock.end:
            steps.pop()
        require_same(whole, 2 + seed % 2, steps)


@pytest.mark.parametrize(
    ("rows", "depth"), [(1, 1), (7, 7), (8, 8), (2047, 8), (2048, 16), (4096, 32), (8191, 32), (8192, 64), (10**6, 64)]
)
def test_halos_of_high_slabs_are_deeper(rows: int, depth: int) -> None:
    assert halo_depth(rows) == depth
    assert slab_of(2 * rows, 0, 2, False).above == depth


@pytest.mark.parametrize("processes", [2, 5, 30])
def test_a_slab_needs_less_memory_than_the_plate(processes: int) -> None:
    """As far as there are slabs: steps of adi need two rows, besides halos of as many."""
    sections = {
        "grid": {"nx": 1000, "ny": 1000, "lx": 1.0, "ly": 1.0},
        "material": {"diffusivity": 1.0},
        "initial": {"temperature": "x"},
    }
    model = HeatScenario.model_validate({**sections, "solver": "heat", "time": {"end": 1.0, "tolerance": 1e-3}})
    whole = HeatProblem.from_scenario(model, Path())
    assert whole.part_bytes(1) == whole.device_bytes()
    assert whole.part_bytes(processes) < 2.0 * whole.device_bytes() / processes + whole.device_bytes() / 30


def exact_problem(seed: int) -> HeatProblem:
    """A random plate whose axes separate."""
    rng = np.random.default_rng((31, seed))
    nx, ny = (int(2 ** rng.uniform(0, 6.5)) for _ in range(2))
    boundary = {}
    for pair, along in ((("left", "right"), "y"), (("bottom", "top"), "x")):
        periodic = rng.random() < 0.2
        for edge in pair:
            kinds = [
                {"kind": "insulated"}, {"kind": "temperature", "value": f"300+20*{along}"},
                {"kind": "flux", "value": f"30*sin(5*{along})"},
                {"kind": "convection", "h": 5.0, "ambient": f"300+9*{along}"},
            ]  # fmt: skip
            boundary[edge] = {"kind": "periodic"} if periodic else kinds[rng.integers(4)]
    model = HeatScenario.model_validate(
        {
            "solver": "heat",
            "run": {"precision": ("float64", "float32")[seed % 2]},
            "grid": {"nx": nx, "ny": ny, "lx": 1.0, "ly": 2.0},
            "material": {"conductivity": [1.0, 3.0], "density": 2.0, "specific_heat": 5.0},
            "initial": {"temperature": "300+50*exp(-((x-0.4)**2+(y-0.9)**2)/0.1)"},
            "boundary": boundary,
            "source": [{"power": "100*x*y"}] if seed % 3 else [],
            "time": {"end": 1.0, "stepper": "exact", "dt": 0.1},
            "probe": [{"name": f"{i}", "x": 0.3, "y": i / 4} for i in range(8)],
        }
    )
    return HeatProblem.from_scenario(model, Path())


@pytest.mark.parametrize("seed", range(40))
def test_slabs_take_exact_steps_as_the_whole_plate_does(seed: int, one_thread: None) -> None:
    whole = exact_problem(seed)
    require_same(whole, 1 + seed % 4, [1, 2, 4, 3])
