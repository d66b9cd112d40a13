"""Steps as long as their error allows: what is estimated, what is kept, what is the same however a run is cut."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.plan import TICKS
from simsuite.solvers.heat.problem import HeatProblem

EVERYTHING = {
    "grid": {"nx": 9, "ny": 7, "lx": 1.0, "ly": 0.7},
    "material": {"conductivity": "1 + 0.3*sin(5*x)", "density": 1.0, "specific_heat": 1.0},
    "initial": {"temperature": "300 + 5*exp(-20*((x - 0.5)**2 + (y - 0.3)**2))"},
    "boundary": {
        "left": {"kind": "temperature", "value": "300 + 3*sin(40*t)"},
        "top": {"kind": "convection", "h": 3.0, "ambient": "where(t < 0.02, 300, 310)"},
    },
    "source": [{"power": "200*(t >= 0.03)*x"}],
    "time": {"end": 0.05, "stepper": "auto", "tolerance": 1e-4},
    "output": {"frames": 4},
}
PLAIN = {
    "grid": {"nx": 8, "ny": 8},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "sin(3*x)*y"},
    "boundary": {"left": {"kind": "temperature", "value": "cos(30*t)"}},
    "time": {"end": 0.05, "stepper": "rkl2", "tolerance": 1e-4},
    "output": {"frames": 3},
}
GROWING = PLAIN | {  # errors far from the left edge matter for what they may grow to
    "material": {"diffusivity": 0.05},
    "initial": {"temperature": "exp(-30*x**2)"},
    "source": [{"power": "150*T*(1 - T)*(1 + y)"}],
}
LAW = {"conductivity": "1 + 0.01*(T - 300)", "density": 1.0, "specific_heat": 1.0}
METHODS = {
    "auto": EVERYTHING,
    "rkl2": EVERYTHING | {"time": EVERYTHING["time"] | {"stepper": "rkl2"}},
    "adi": EVERYTHING | {"time": EVERYTHING["time"] | {"stepper": "adi"}},
    "plain": PLAIN,
    "growing": GROWING,
    "law": EVERYTHING | {"material": LAW, "time": EVERYTHING["time"] | {"stepper": "adi"}},
}


def controlled(problem: HeatProblem, backend: Backend, start: Snapshot | None = None) -> ControlledStepper:
    stepper = problem.stepper(backend, problem.initial() if start is None else start)
    assert isinstance(stepper, ControlledStepper)
    return stepper


def held(stepper: ControlledStepper) -> Snapshot:
    with stepper.snapshot() as snapshot:
        return Snapshot(snapshot.step, {name: np.array(a) for name, a in snapshot.arrays.items()})


def hybrid(problem: HeatProblem, worth: float) -> HeatProblem:
    """Of which a step of adi takes as long as so many stages of rkl2: few, and it is used."""
    assert problem.plan.control is not None
    return replace(problem, plan=replace(problem.plan, control=replace(problem.plan.control, worth=worth)))


@pytest.mark.parametrize("name", ["auto", "rkl2", "adi"])
def test_results_count_steps_and_stages(
    heat: Callable[..., HeatProblem], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Against a note of every try, of which the last one at each time counts."""
    p = heat(**METHODS[name])
    if name == "auto":
        p = hybrid(p, 0.5)
    tries: list[tuple[int, str, int]] = []
    for method in ("rkl2", "adi"):
        right = getattr(ControlledStepper, f"_try_{method}")

        def noted(self: ControlledStepper, dt: float, right: Any = right, method: str = method) -> Any:
            tries.append((self.step, method, self._stages(dt) if method == "rkl2" else 0))
            return right(self, dt)

        monkeypatch.setattr(ControlledStepper, f"_try_{method}", noted)
    stepper = controlled(p, open_backend("cpu"))
    for end in (p.clock.end // 2, p.clock.end):  # it counts on where a run goes on
        stepper.advance(max(end - stepper.step, 0))
        stepper = controlled(p, open_backend("cpu"), held(stepper))
    with stepper.observe("time") as observed:
        results = p.results(observed)
    counted = {step: (method, stages) for step, method, stages in tries}
    assert results["rejected_steps"] == len(tries) - len(counted)
    assert stepper.taken == len(counted)
    by_adi, stages = (sum(method == "adi" for method, _ in counted.values()), sum(n for _, n in counted.values()))
    assert results.get("adi_steps") == (by_adi if name != "rkl2" else None)
    assert results.get("rkl2_stages") == (stages if name != "adi" else None)
    assert name == "rkl2" or by_adi > 0
    assert name == "adi" or stages > 0


@pytest.mark.parametrize("name", METHODS)
def test_a_run_is_the_same_however_it_is_cut(heat: Callable[..., HeatProblem], backend: Backend, name: str) -> None:
    """At any tick, and begun again from what a checkpoint holds."""
    sections = METHODS[name]
    if backend.name == "cudasim":  # which is slow
        if name not in ("auto", "growing"):
            pytest.skip("steps by both methods, and sources that make errors grow, are enough for the simulator")
        few = {"grid": {"nx": 3, "ny": 2}, "time": sections["time"] | {"tolerance": 5e-2}}
        sections = sections | few
    p = heat(**sections)
    if name == "auto":
        p = hybrid(p, 0.5)
    whole = controlled(p, backend)
    whole.advance(p.clock.end)
    stepper = controlled(p, backend)
    rng = np.random.default_rng(5)
    while stepper.step < p.clock.end:
        stepper.advance(min(int(TICKS * rng.uniform(0.01, 0.7)), p.clock.end - stepper.step))
        stepper = controlled(p, backend, held(stepper))
    a, b = held(whole), held(stepper)
    assert a.step == b.step == p.clock.end
    for key, value in a.arrays.items():
        assert value.tobytes() == b.arrays[key].tobytes(), key
    assert whole.taken > (10 if backend.name != "cudasim" else 1)


@pytest.mark.parametrize("name", METHODS)
def test_gpu_and_cpu_go_the_same_way(heat: Callable[..., HeatProblem], backend: Backend, name: str) -> None:
    """As many steps, and the same temperatures but for rounding: short runs on the simulator, which is slow."""
    if backend.name == "cpu":
        pytest.skip("compared with the CPU")
    sections = METHODS[name]
    if backend.name == "cudasim":
        sections = sections | {"grid": {"nx": 4, "ny": 3}, "time": sections["time"] | {"tolerance": 2e-2}}
    p = heat(**sections)
    on_cpu, there = controlled(p, open_backend("cpu")), controlled(p, backend)
    end = p.clock.steps[1] if backend.name == "cudasim" else p.clock.end
    on_cpu.advance(end)
    there.advance(end)
    assert on_cpu.taken == there.taken
    here, far = held(on_cpu).arrays, held(there).arrays
    rounding = 1e-10 * np.abs(here["temperature"]).max()
    for array in ("temperature", "lasting_error"):
        np.testing.assert_allclose(here[array], far[array], rtol=0, atol=rounding)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (31, 33), (5, 300)], ids=str)
def test_errors_are_judged_in_every_cell(backend: Backend, shape: tuple[int, int]) -> None:
    """The largest estimate and the extremes, and NaN where there is one, which no comparison may hide."""
    from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS

    rng = np.random.default_rng(shape[1])
    Y, Y0, D = rng.normal(size=(3, *shape))
    k = backend.kernels("simsuite.solvers.heat.operator.defect")
    judge = backend.launcher(k.judge, (shape[0] * k.THREADS,), (k.THREADS,))
    gather = backend.launcher(k.gather, shape[::-1], (8, 8))
    y, x = rng.integers(shape[0]), rng.integers(shape[1])
    for bad in (False, True):
        if bad:
            Y[y, x] = math.nan
        arrays = [backend.array(a) for a in (Y, Y0, D)]
        rows = backend.zeros((3, shape[0]), np.float64)
        views = [backend.view(a) for a in arrays]
        judge(views[0], views[1], 0.3, views[2], 0.0, backend.view(rows))
        expected = [np.abs(D + 0.3 * (Y - Y0)).max(axis=1), Y.min(axis=1), Y.max(axis=1)]
        np.testing.assert_allclose(backend.to_host(rows), expected, rtol=1e-14)
        np.testing.assert_allclose(backend.to_host(arrays[2]), D + 0.3 * (Y - Y0), rtol=1e-14, atol=1e-15)
        gather(views[0], views[1], 0.3, True, views[2])
        gather(views[0], views[1], 0.3, False, views[2])
        np.testing.assert_allclose(backend.to_host(arrays[2]), 0.6 * (Y - Y0), rtol=1e-14, atol=1e-15)
    assert THREADS % 2 == 0


def test_a_day_of_sunshine_does_not_drift(heat: Callable[..., HeatProblem]) -> None:
    """A copper plate, one edge at 300 + 20 sin(2πt/day): with the diffusion time of seconds it follows the edge."""
    p = heat(
        grid={"nx": 32, "ny": 32, "lx": 0.1, "ly": 0.1},
        material={"conductivity": 401.0, "density": 8960.0, "specific_heat": 385.0},
        initial={"temperature": 300.0},
        boundary={"left": {"kind": "temperature", "value": "300 + 20*sin(2*pi*t/86400)"}},
        time={"end": 86400.0, "stepper": "auto"},
    )
    stepper = p.stepper(open_backend("cpu"), p.initial())
    stepper.advance(p.clock.end)
    with stepper.observe("time") as observed:
        T = observed.arrays["temperature"]
        # T lags behind the edge by about lx²/2D at the far end, with the slope of the sine at the end of the day.
        slope, D, x = 20 * 2 * math.pi / 86400, 401.0 / (8960 * 385), p.made.centres[0]
        lag = slope / D * (0.1 * x - 0.5 * x**2)
        np.testing.assert_allclose(T, np.broadcast_to(300 - lag, T.shape), atol=2e-3)
        assert p.results(observed)["time_error"] <= 1e-5
    assert stepper.taken < 20_000


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_a_switch_costs_few_steps(heat: Callable[..., HeatProblem], stepper: str) -> None:
    """A source that is switched on in the middle, against the exact solution of the plate as a whole, insulated."""
    p = heat(
        grid={"nx": 16, "ny": 16},
        initial={"temperature": 300.0},
        source=[{"power": "7*(t >= 0.3)"}],
        time={"end": 1.0, "stepper": stepper},
    )
    found = p.stepper(open_backend("cpu"), p.initial())
    assert isinstance(found, ControlledStepper)
    assert p.plan.changes == (0.3,)
    found.advance(p.clock.end)
    np.testing.assert_allclose(held(found).arrays["temperature"], 300 + 7 * 0.7, rtol=1e-12)
    assert found.taken < 60


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
def test_steps_are_counted_and_named(heat: Callable[..., HeatProblem], stepper: str) -> None:
    p = heat(**EVERYTHING | {"time": EVERYTHING["time"] | {"stepper": stepper}})
    found = controlled(p, open_backend("cpu"))
    n = 0
    while found.step < p.clock.end:
        found.advance(1)
        n += 1
    assert found.taken == n
    with found.observe("time") as observed:
        results: dict[str, Any] = p.results(observed)
    assert 0 < results["time_error"] <= 1e-4
    shortest, longest = results["dt"]
    assert shortest <= 0.05 / n <= longest


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
def test_nan_ends_in_a_message_and_not_in_a_loop(heat: Callable[..., HeatProblem], stepper: str) -> None:
    """Of a source that depends on T, which is looked at before a run at the start only."""
    p = heat(source=[{"power": "sqrt(0.004 - t)*(1 + T)"}], time={"end": 1e-2, "stepper": stepper})
    found = controlled(p, open_backend("cpu"))
    found.advance(p.clock.end)
    with found.observe("time") as observed:
        assert p.fault(observed) is not None


def test_a_step_that_is_taken_again_leaves_no_trace(heat: Callable[..., HeatProblem]) -> None:
    """Neither in the ledger nor in what iterations changed, which is that of steps that count."""
    burning = {"source": [{"power": "2e3*exp(-100/max(T, 1))*(1 + T)"}], "initial": {"temperature": "20 + 10*x"}}
    problem = heat(**burning, time={"end": 0.05, "stepper": "adi", "tolerance": 1e-4})
    stepper = controlled(problem, open_backend("cpu"))
    stepper._save()
    stepper._look(0.0, 0.05, False)
    before = {name: np.array(a) for name, a in stepper.state.items() if name != "temperature"}
    stepper._try_adi(0.05)
    assert stepper.state["iteration_change"][0] > 0
    stepper._restore()
    for name, a in before.items():
        np.testing.assert_array_equal(stepper.state[name], a)


def test_times_that_differ_by_rounding_are_the_same(heat: Callable[..., HeatProblem]) -> None:
    """A frame at 3·0.1 s, which is not 0.3 in binary, and a source that is switched on at 0.3 s."""
    switched = {"source": [{"power": "1e3*(t >= 0.3)"}], "time": {"end": 1.0, "stepper": "rkl2"}}
    problem = heat(**PLAIN | switched | {"output": {"every": 0.1}, "boundary": {"left": {"kind": "insulated"}}})
    assert problem.plan.changes == (3 * 0.1,)
    assert problem.plan.changes != (0.3,)
    assert len(problem.clock.times) == 11


def test_a_stepper_comes_back_when_its_time_is_over(heat: Callable[..., HeatProblem]) -> None:
    """However many ticks it was asked for: a signal must not wait for all of them."""
    problem = heat(**PLAIN)
    stepper = controlled(problem, open_backend("cpu"))
    stepper.advance_for(problem.clock.end, 0.0)
    assert stepper.taken == 1
    stepper.advance_for(problem.clock.end - stepper.step, 3600.0)
    assert stepper.step == problem.clock.end


@pytest.mark.parametrize("stiff", [0.3, 1e4])
def test_what_is_measured_of_steps_of_adi(heat: Callable[..., HeatProblem], backend: Backend, stiff: float) -> None:
    """One mode of an insulated plate, in closed form, with z = Δt/2 times its rates: smoothing divides it by
    (1 + zx)(1 + zy), and splitting adds zx zy / (1 + zx) of the step's -2 (zx + zy) / ((1 + zx)(1 + zy))."""
    nx, ny, kx, ky = 9, 6, 2.0, 0.5
    edges = {edge: {"kind": "insulated"} for edge in ("left", "right", "bottom", "top")}
    sections = {
        "grid": {"nx": nx, "ny": ny},
        "material": {"conductivity": [kx, ky], "density": 1.0, "specific_heat": 1.0},
    }
    times = {"time": {"end": 1.0, "stepper": "adi", "tolerance": 1e-3}, "output": {"frames": 2}}
    x, y = (np.arange(nx) + 0.5) / nx, ((np.arange(ny) + 0.5) / ny)[:, None]
    mode = np.cos(3 * np.pi * x) * np.cos(2 * np.pi * y)
    problem = heat(**sections, **times, boundary=edges, initial={"temperature": "cos(3*pi*x)*cos(2*pi*y)"})
    stepper = controlled(problem, backend)
    rates = 4 * kx * nx**2 * np.sin(1.5 * np.pi / nx) ** 2, 4 * ky * ny**2 * np.sin(np.pi / ny) ** 2
    dt = 2 * stiff / rates[0]
    zx, zy = (0.5 * dt * rate for rate in rates)
    stepper._look(0.0, dt, False)
    stepper._try_adi(dt)
    D, W = (backend.array(a) for a in (mode, np.zeros_like(mode)))
    T = backend.view(backend.array(mode))
    stepper._adi.smooth(backend.view(D), T, 0, dt)
    stepper._adi.splitting(T, backend.view(W), 0, 2, dt)
    step = -2 * (zx + zy) / ((1 + zx) * (1 + zy))
    for got, factor in ((D, 1 / ((1 + zx) * (1 + zy))), (W, zx * zy / (1 + zx) * step)):
        assert np.max(np.abs(backend.to_host(got) - factor * mode)) <= 1e-10 * abs(factor)


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
def test_a_spot_that_leaves_a_cell_as_it_comes_to_the_next(
    heat: Callable[..., HeatProblem], backend: Backend, stepper: str
) -> None:
    """Both times differ by rounding. The source was looked at between them, so that steps of 5e-12 s were taken and the
    estimate was 0.42, where the error is 2e-6. In all, heat comes at a rate that does not change."""
    if backend.name == "cudasim":
        pytest.skip("the device has no part in what times there are to look at")
    p = heat(
        grid={"nx": 10, "ny": 1, "lx": 0.1, "ly": 0.01},
        material={"diffusivity": 1e-5},
        source=[{"power": "(abs(x - 0.02 - 0.001*t) < 0.015)"}],
        time={"end": 60.0, "stepper": stepper, "tolerance": 1e-3},
    )
    taken = p.stepper(backend, p.initial())
    taken.advance(p.clock.end)
    with taken.observe("time") as seen:
        results = p.results(seen)
    assert results["time_error"] <= 1e-3
    assert taken.control["shortest"] > 1e-6
    assert results["energy"]["source"] == pytest.approx(60.0 * 0.03 * 0.01, rel=1e-9)


def test_an_error_counts_in_kelvin_and_not_by_the_range_of_its_moment(heat: Callable[..., HeatProblem]) -> None:
    """All temperatures are equal at first, and the conductivity beside the left edge differs after any time at all: of
    what has changed after the first step, its error is a large part. It is next to nothing of what changes later."""
    problem = heat(
        material={"conductivity": "1 + 4*(T > 0.5)", "density": 1.0, "specific_heat": 1.0},
        initial={"temperature": 0.0},
        boundary={"left": {"kind": "temperature", "value": 1.0}},
        time={"end": 0.2, "stepper": "rkl2", "tolerance": 1e-3},
    )
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    with run.observe("frames") as observed:
        found = problem.results(observed)["time_error"]
    assert 1e-6 < found < 2e-3


@pytest.mark.parametrize("conductivity", [237.0, "237*(1 + 0*x)", "237 + 0.1*T"], ids=["constant", "field", "k(T)"])
@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
def test_the_ledger_is_in_joules(heat: Callable[..., HeatProblem], stepper: str, conductivity: float | str) -> None:
    """And closes, and is what flows through a plate that has come to its steady state: k ΔT/L, 10 cells high."""
    problem = heat(
        grid={"nx": 10, "ny": 10, "lx": 0.1, "ly": 0.1},
        material={"conductivity": conductivity, "density": 2700.0, "specific_heat": 900.0},
        initial={"temperature": 300.0},
        boundary={
            "left": {"kind": "temperature", "value": 310.0},
            "right": {"kind": "temperature", "value": 300.0},
        },
        time={"end": 2000.0, "stepper": stepper, "tolerance": 1e-4},
        output={"frames": 3},
    )
    run = problem.stepper(open_backend("cpu"), problem.initial())
    found = []
    for step in problem.layout.series[0].steps[-2:]:
        run.advance(step - run.step)
        with run.observe("frames") as observed:
            found.append(problem.results(observed))
    first, last = (results["energy"] for results in found)
    moved = last["edges"]["left"]
    assert abs(last["residual"]) < 1e-11 * moved
    assert not problem.shortcomings(found[-1])
    k = 237.0 + 0.1 * 305.0 if conductivity == "237 + 0.1*T" else 237.0
    assert moved - first["edges"]["left"] == pytest.approx(k * 10.0 / 0.1 * 0.1 * 1000.0, rel=1e-4)
