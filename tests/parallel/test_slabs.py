"""Plates in slabs, stepped by threads in place of processes: the bits of the whole plate."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from heat_random import random_plate

from simsuite.backends.cpu import CpuBackend
from simsuite.communication.communicator import Halos, neighbours
from simsuite.core import Pending, Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.slabs import slab_of
from simsuite.solvers.heat.problem import HeatProblem

T = TypeVar("T")


class OneOfThreads:
    """A communicator of threads. rows: what each has to give, with a barrier before and after these are taken."""

    def __init__(self, rank: int, size: int, rows: list[Halos | None], barrier: threading.Barrier) -> None:
        self.rank, self.size, self._rows, self._barrier = rank, size, rows, barrier

    def from_first(self, make: Callable[[], T]) -> T:
        raise AssertionError("nothing is decided")

    def exchange(self, halos: Halos, periodic: bool) -> None:
        self._rows[self.rank] = halos
        self._barrier.wait(60)
        before, after = neighbours(self.rank, self.size, periodic)
        for other, of in ((before, "before"), (after, "after")):
            if other is not None:
                given = self._rows[other]
                assert given is not None
                getattr(halos, of)[...] = given.last if of == "before" else given.first
        self._barrier.wait(60)


def shared(whole: HeatProblem, processes: int, steps: list[int]) -> list[Snapshot]:
    """A state and two observations after each of these numbers of steps, and the state at the end."""
    rows: list[Halos | None] = [None] * processes
    barrier = threading.Barrier(processes)

    def of_one(rank: int) -> list[Snapshot]:
        communicator = OneOfThreads(rank, processes, rows, barrier)
        stepper = whole.part(CpuBackend(), whole.cut(whole.initial(), rank, processes), communicator)
        return _course(stepper, steps)

    with ThreadPoolExecutor(processes) as pool:
        parts = list(pool.map(of_one, range(processes)))
    return [whole.join(each) for each in zip(*parts)]


def _course(stepper: object, steps: list[int]) -> list[Snapshot]:
    found = []
    for n in steps:
        stepper.advance(n)  # type: ignore[attr-defined]
        found += [_held(stepper.observe(series)) for series in ("time", "sample")]  # type: ignore[attr-defined]
        found.append(_held(stepper.snapshot()))  # type: ignore[attr-defined]
    return found


def _held(pending: Pending) -> Snapshot:
    with pending as held:
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def problem(seed: int, precision: str = "float64") -> HeatProblem:
    """A random plate, of those that can be shared, or one near it."""
    sections = dict(random_plate(seed).sections)
    fixed = [source for source in sections.pop("source", []) if "power" in source and not _moves(source["power"])]
    lx, ly = (sections["grid"][name] for name in ("lx", "ly"))
    probes = [{"name": f"{i}", "x": 0.3 * lx, "y": i / 7 * ly} for i in range(8)]
    material = dict(sections["material"])
    if "T" in str(material["conductivity"]):
        material["conductivity"] = 2.0
    regions = [region for region in sections.pop("region", []) if "T" not in str(region.get("conductivity", ""))]
    time = {"end": 1.0, "stepper": "explicit", "dt": "auto"}
    more = {"source": fixed} if fixed else {}
    model = HeatScenario.model_validate(
        {
            **sections, **more, "solver": "heat", "material": material, "region": regions, "probe": probes,
            "time": {**time, "end": float(sections.get("time", time)["end"])}, "run": {"precision": precision},
        }
    )  # fmt: skip
    return HeatProblem.from_scenario(model, Path())


def _moves(power: object) -> bool:
    return bool({"t", "T"} & set(str(power).replace("exp", "").replace("sqrt", "")))


@pytest.mark.parametrize("seed", range(40))
def test_slabs_have_the_bits_of_the_whole_plate(seed: int, one_thread: None) -> None:
    whole = problem(seed, ("float64", "float32", "float32c")[seed % 3])
    processes = min(1 + seed % 4, whole.made.ny)
    assert whole.indivisible(processes) is None
    steps = [n for n in (3, 8, 70, 1) if n <= whole.clock.end]
    steps = steps if sum(steps) <= whole.clock.end else steps[:1]
    alone = _course(whole.stepper(CpuBackend(), whole.initial()), steps)
    for expected, found in zip(alone, shared(whole, processes, steps), strict=True):
        assert (found.step, found.arrays.keys()) == (expected.step, expected.arrays.keys())
        for name, a in expected.arrays.items():
            assert found.arrays[name].tobytes() == a.tobytes(), name


@pytest.mark.parametrize(("ny", "processes", "periodic"), [(37, 4, False), (5, 3, True), (64, 1, True)])
def test_slabs_are_all_rows(ny: int, processes: int, periodic: bool) -> None:
    slabs = [slab_of(ny, p, processes, periodic) for p in range(processes)]
    assert np.concatenate([slab.rows[slab.own] for slab in slabs]).tolist() == list(range(ny))
    for before, after in itertools.pairwise(slabs):
        assert before.rows[before.own.stop :].tolist() == after.rows[after.own][: before.above].tolist()
        assert after.rows[: after.own.start].tolist() == before.rows[before.own][-after.below :].tolist()


def test_a_grid_of_fewer_rows_than_processes_is_refused() -> None:
    whole = problem(0)
    assert whole.indivisible(whole.made.ny + 1) == f"its grid has {whole.made.ny} rows"
