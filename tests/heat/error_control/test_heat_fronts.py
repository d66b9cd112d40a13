"""Fronts that pass a dip or a peak of the conductivity, where the equations of cells are unstable for a short time.

The first rods of all were 2.4 to 9 tolerances off, with hardly more than one told. The random ones were off by up to
10, a third of them by more than one, before a second solution followed what errors grow to.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from heat_fronts import Edge, Rod, random_rod
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.error_control.companion import Contrasts
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem

pytestmark = pytest.mark.usefixtures("one_thread")

_HOT = Edge("temperature", "60*(t < 1000)", changes=(1000.0,))
_RAMP = Edge("temperature", "60*min(1, t/100)", changes=(100.0,))
_OPEN = Edge("convection", "0", 1e-5)
MELTING = {
    "plateau": Rod(24, 0.02, 3000.0, "1e-7*(1 - 0.95*exp(-((T - 30)/5)**4))", (_HOT, _OPEN), "0", 1e-4),
    "steep": Rod(24, 0.02, 3000.0, "1e-7*(1 - 0.98*exp(-((T - 30)/5)**8))", (_HOT, _OPEN), "0", 1e-4),
    "rational": Rod(40, 0.02, 1500.0, "1e-7*(1 - 0.9/(1 + ((T - 30)/6)**8))", (_RAMP, _OPEN), "0", 1e-4),
}


def off(problem: HeatProblem, rod: Rod, backend: Backend) -> tuple[float, float]:
    """The largest error at frames and what is told of it, both in tolerances."""
    want, span = rod.solution()
    if span == 0.0:
        return 0.0, 0.0
    run = problem.stepper(backend, problem.initial())
    largest = 0.0
    for step, T in zip(problem.layout.series[0].steps, want, strict=True):
        run.advance(step - run.step)
        largest = max(largest, float(np.max(np.abs(backend.to_host(run.state["temperature"])[0] - T))))
    with run.observe("time") as observed:
        told = problem.results(observed)["time_error"]
    return largest / span / rod.tolerance, told / rod.tolerance


@pytest.mark.parametrize(
    ("name", "stepper"),
    others_long(
        [(name, stepper) for name in MELTING for stepper in ("auto", "adi")],
        {("plateau", "auto"), ("rational", "adi")},
        several=True,
    ),
)
def test_a_front_that_melts_a_row_arrives_in_time(heat: Callable[..., HeatProblem], name: str, stepper: str) -> None:
    rod = MELTING[name]
    problem = heat(**rod.sections | {"time": rod.sections["time"] | {"stepper": stepper}})
    error, told = off(problem, rod, open_backend("cpu"))
    assert error <= 2.0
    assert error <= 1.0 or told > 1.0


@pytest.mark.parametrize("seeds", others_long([range(0, 3), range(3, 100)], [range(0, 3)]), ids=str)
def test_random_rods_keep_their_tolerance_or_say_so(heat: Callable[..., HeatProblem], seeds: range) -> None:
    """One of the hundred is off by 53 tolerances, of which nothing is told: in a row of 9 cells, k(T) is 57 times as
    large within 2 K, which a cell passes within a stage."""
    missed = untold = far = 0
    for seed in seeds:
        rod = random_rod(seed)
        error, told = off(heat(**rod.sections), rod, open_backend("cpu"))
        missed += error > 1.05
        untold += error > 1.05 and told <= 1.0
        far += error > 3.0
    assert far <= 0.01 * len(seeds)
    assert untold <= 0.02 * len(seeds)
    assert missed <= max(1, 0.1 * len(seeds))


@pytest.mark.gpu
def test_a_gpu_follows_errors_as_a_cpu_does(heat: Callable[..., HeatProblem], cuda: Backend) -> None:
    rod = MELTING["plateau"]
    results = [off(heat(**rod.sections), rod, on) for on in (open_backend("cpu"), cuda)]
    assert results[0] == pytest.approx(results[1], rel=1e-3)


def test_a_run_that_is_cut_has_the_same_bits(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    """While errors are followed the second solution is part of the state."""
    rod = Rod(6, 0.005, 30.0, MELTING["plateau"].diffusivity, (Edge("temperature", "60"), _OPEN), "0", 1e-2)
    problem = heat(**rod.sections)
    whole = problem.stepper(backend, problem.initial())
    whole.advance(problem.clock.end // 2)
    assert isinstance(whole, ControlledStepper)
    assert whole.control.followed
    with whole.snapshot() as snapshot:
        arrays = {name: np.array(a) for name, a in snapshot.arrays.items()}
    cut = problem.stepper(backend, Snapshot(whole.step, arrays))
    ends = []
    for run in (whole, cut):
        run.advance(problem.clock.end - run.step)
        with run.snapshot() as snapshot:
            ends.append({name: np.array(a) for name, a in snapshot.arrays.items()})
    for name, array in ends[0].items():
        np.testing.assert_array_equal(array, ends[1][name], err_msg=name)


def test_a_second_solution_that_is_lost_begins_again_and_that_is_told(heat: Callable[..., HeatProblem]) -> None:
    """As where k(T) is NaN at temperatures that only the second solution comes to."""
    rod = Rod(6, 0.005, 30.0, MELTING["plateau"].diffusivity, (Edge("temperature", "60"), _OPEN), "0", 1e-2)
    problem = heat(**rod.sections)
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end // 2)
    with run.snapshot() as snapshot:
        arrays = {name: np.array(a) for name, a in snapshot.arrays.items()}
    arrays["lasting_error"][0, 2] = np.nan
    again = problem.stepper(open_backend("cpu"), Snapshot(run.step, arrays))
    again.advance(problem.clock.end - again.step)
    with again.snapshot() as snapshot:
        assert np.isfinite(snapshot.arrays["lasting_error"]).all()
        assert np.isfinite(snapshot.arrays["temperature"]).all()
    with again.observe("time") as observed:
        assert problem.results(observed)["time_error"] >= 1.0


def contrast(heat: Callable[..., HeatProblem], law: str, low: float = 0.0, high: float = 60.0) -> float:
    problem = heat(grid={"nx": 4, "ny": 3}, material={"diffusivity": law}, initial={"temperature": 20.0})
    return Contrasts(problem.made, (0.0, 60.0), 1.0).between(low, high)


def test_dips_and_peaks_are_found(heat: Callable[..., HeatProblem]) -> None:
    dip = "1 - 0.9*exp(-((T - 30)/5)**4)"
    assert contrast(heat, dip) == pytest.approx(10.0, rel=1e-3)
    assert contrast(heat, "1 + 6*exp(-((T - 30)/5)**2)") == pytest.approx(7.0, rel=1e-3)
    assert contrast(heat, f"(1 + 4*(y > 0.5))*({dip})") == pytest.approx(10.0, rel=1e-3)
    assert contrast(heat, dip, 0.0, 29.0) == 1.0  # only the way down
    assert 1.5 < contrast(heat, dip, 0.0, 35.0) < 9.0  # up again in part


MONOTONE = ["1 + T/60", "T/60", "max(0, T - 10)**3", "exp(-T/10)", "1 + 20*(T > 30)", "2 - cos(T/30)"]


@pytest.mark.parametrize("law", [*MONOTONE, "1 + 0.15*sin(T/4)"])
def test_monotone_and_flat_conductivities_do_not_count(heat: Callable[..., HeatProblem], law: str) -> None:
    assert contrast(heat, law) == 1.0


def test_only_what_dips_at_temperatures_that_occur_is_followed(heat: Callable[..., HeatProblem]) -> None:
    """A source could drive cells to temperatures at which k(T) dips, but does not."""
    rod = MELTING["plateau"]
    sections = rod.sections | {"source": [{"power": "0.05*(t < 10)"}], "initial": {"temperature": 0.0}}
    left = {"kind": "temperature", "value": 5.0}
    problem = heat(**sections | {"boundary": sections["boundary"] | {"left": left}})
    assert problem.plan.control is not None
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    assert isinstance(run, ControlledStepper)
    assert not run.control.followed
