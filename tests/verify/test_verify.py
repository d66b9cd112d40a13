"""Verification: that it finds the orders of data that have one, passes what is right, and finds what is not."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import heat_reference
import matplotlib.image
import numpy as np
import pytest
import running
from conftest import ROOT
from scipy.integrate import solve_ivp

from simsuite.backends import open_backend
from simsuite.core import Snapshot
from simsuite.errors import VerificationFailure
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.sampling import cell_centres
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.verify import benchmarks
from simsuite.verify.checks import Check, at_most, near, require
from simsuite.verify.convergence import (
    averaged,
    fitted_line,
    is_round_off,
    limit,
    limit_of_field,
    orders,
    root_mean_square,
)
from simsuite.verify.heat import all_checks, cases, consistency, scenario_report, scenario_study, stepper_orders
from simsuite.verify.heat.benchmarks import benchmark_checks
from simsuite.verify.heat.scenario_study import Cause
from simsuite.verify.heat.semidiscrete import SemiDiscrete
from simsuite.verify.report import header, line, number, summary, table

SIZES = [0.1, 0.05, 0.025, 0.0125]

# ---- orders and limits of data made by hand


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.7])
def test_the_order_of_a_power_law_is_its_exponent(p: float) -> None:
    errors = [3.5 * h**p for h in SIZES]
    slope, factor = fitted_line(SIZES, errors)
    assert slope == pytest.approx(p, rel=1e-12)
    assert factor == pytest.approx(3.5, rel=1e-12)
    assert orders(SIZES, errors) == pytest.approx([p] * 3, rel=1e-12)


def test_the_fit_is_that_of_least_squares() -> None:
    """Three points worked out by hand: log2 of sizes 0, 1, 2 and of errors 0, 1, 5; slope = 5/2, intercept = -1/2."""
    slope, factor = fitted_line([1.0, 2.0, 4.0], [1.0, 2.0, 32.0])
    assert slope == pytest.approx(2.5, rel=1e-12)
    assert factor == pytest.approx(2**-0.5, rel=1e-12)


@pytest.mark.parametrize("errors", [[1.0, 0.0], [1.0, math.nan], [math.inf, 1.0]])
def test_errors_without_logarithm_have_no_order(errors: list[float]) -> None:
    assert math.isnan(fitted_line([0.2, 0.1], errors)[0])
    assert not near("x", "order", fitted_line([0.2, 0.1], errors)[0], 2.0, 0.1).passed


def test_a_line_needs_two_points() -> None:
    with pytest.raises(ValueError):
        fitted_line([0.1], [1.0])
    with pytest.raises(ValueError):
        fitted_line([0.1, 0.2], [1.0])


def test_the_limit_of_roache() -> None:
    """NASA's worked example of a grid convergence study (NPARC, Examining Spatial (Grid) Convergence): 0.97050, 0.96854
    and 0.96178 on grids of ratio 2 give p = 1.786, a limit of 0.97130 and an index of 0.103 % of the finest."""
    found = limit(0.96178, 0.96854, 0.97050)
    assert found.order == pytest.approx(1.786170, abs=1e-6)
    assert found.extrapolated == pytest.approx(0.97130, abs=1e-5)
    assert found.gci / 0.97050 == pytest.approx(0.00103083, rel=1e-3)


def test_the_limit_of_an_exact_parabola_is_exact() -> None:
    found = limit(*(7.0 - 3 * h**2 for h in (0.3, 0.1, 0.1 / 3)), ratio=3.0)
    assert found.order == pytest.approx(2.0, rel=1e-10)
    assert found.extrapolated == pytest.approx(7.0, rel=1e-12)
    assert found.gci == pytest.approx(1.25 * 3 * (0.1 / 3) ** 2, rel=1e-9)  # 1.25 times what is left


def test_what_does_not_converge_has_no_limit() -> None:
    found = limit(1.0, 2.0, 4.0)
    assert found.order == pytest.approx(-1.0)
    assert math.isnan(found.extrapolated)
    assert math.isnan(found.gci)
    assert math.isnan(limit(1.0, 1.0, 1.0).order)


def test_what_goes_up_and_down_has_no_order() -> None:
    found = limit(46.0865189, 46.4793966, 46.4114763)
    assert all(math.isnan(value) for value in (found.order, found.extrapolated, found.gci))


def test_the_limit_of_a_field_is_bounded_like_that_of_a_number() -> None:
    assert limit_of_field(4e-3, 1e-3).order == pytest.approx(2.0)
    assert limit_of_field(4e-3, 1e-3).gci == pytest.approx(1.25e-3 / 3)


def test_averaging_keeps_the_mean_of_each_cell() -> None:
    fine = np.arange(24.0).reshape(4, 6)
    assert np.array_equal(averaged(fine, 2), [[3.5, 5.5, 7.5], [15.5, 17.5, 19.5]])
    assert averaged(fine, 1) is fine
    with pytest.raises(ValueError):
        averaged(fine, 4)


def test_round_off_is_relative() -> None:
    assert is_round_off([1e-10, -2e-10], 300.0)
    assert not is_round_off([1e-10, 1e-6], 300.0)
    assert not is_round_off([1e-10], 1e-3)
    assert is_round_off([0.0], 0.0)


# ---- checks and how they are told


def test_what_is_off_is_said() -> None:
    good, bad = near("a", "order", 1.95, 2.0, 0.1), at_most("b", "ledger", -1e-3, 1e-12)
    require([good])
    with pytest.raises(VerificationFailure, match=r"1 of 2 checks is off: b \(ledger\)") as caught:
        require([good, bad])
    assert caught.value.exit_code == 5
    with pytest.raises(VerificationFailure, match="nothing"):
        require([])


def test_nan_never_passes() -> None:
    assert not near("a", "order", math.nan, 2.0, 0.1).passed
    assert not at_most("a", "ledger", math.nan, 1.0).passed


def test_lines_of_the_report_stand_in_columns() -> None:
    checks = [near("explicit", "order in space", 2.0123456, 2.0, 0.1), at_most("adi", "ledger", 3e-10, 1e-12)]
    text = [header(), *(line(check) for check in checks)]
    assert text[1].startswith("ok ")
    assert text[2].startswith("OFF")
    assert len({row.index(word) for row, word in zip(text, ("wanted", "2 +-", "<="))}) == 1
    assert all(row.isascii() for row in text)
    assert "✗" in line(checks[1], fancy=True)
    assert summary(checks) == "1 of 2 checks passed: order in space 1/1, ledger 0/1"


def test_numbers_are_short() -> None:
    assert [number(v) for v in (0.0, 2.0123456, 1e-13, 123456.0, math.nan, math.inf)] == [
        *("0", "2.012", "1.00e-13", "1.23e+05", "none", "inf")
    ]
    assert table([["", "a"], ["row", "123"]]) == "       a\nrow  123"


# ---- the cases, and the discretisation that steppers are compared with


def modelled(scenario: dict[str, Any]) -> HeatScenario:
    return HeatScenario.model_validate(scenario)


@pytest.mark.parametrize("material", cases.STEADY_MATERIALS)
@pytest.mark.parametrize("kind", cases.LINEAR_KINDS)
def test_closed_forms_solve_the_equation(kind: str, material: str) -> None:
    """By the matrix exponential of the independent discretisation, whose error then falls with the square of the cell:
    neither a wrong source nor a wrong edge value would let it."""
    errors = []
    for n in (8, 12, 16):
        model = modelled(cases.closed_form(kind, material, n, {"stepper": "exact"}))
        x, y = cell_centres(model)
        wanted = model.reference.temperature(x=x, y=y[:, None], t=cases.EXACT_END)
        errors.append(root_mean_square(SemiDiscrete(model).propagated(cases.EXACT_END) - wanted))
    assert fitted_line([1 / 8, 1 / 12, 1 / 16], errors)[0] == pytest.approx(2.0, abs=0.06)


def test_both_ways_to_solve_in_time_agree() -> None:
    discrete = SemiDiscrete(modelled(cases.steady("convection", "orthotropic", {"stepper": "exact"})))
    integrated = discrete.at([0.03, cases.END])
    assert len(integrated) == 2
    assert np.abs(integrated[1] / discrete.propagated(cases.END) - 1).max() <= 1e-11


def test_the_rate_is_that_of_the_reference_step() -> None:
    """`heat_reference` is the independent step that the solver's own tests go by."""
    edges = {
        "left": {"kind": "temperature", "value": 310.0},
        "right": {"kind": "flux", "value": 7.0},
        "bottom": {"kind": "convection", "h": 4.0, "ambient": 290.0},
        "top": {"kind": "insulated"},
    }
    material = {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0}
    plate = cases.plate(6, 5, material=material, boundary=edges, initial={"temperature": "300 + 20*sin(9*x*y)"})
    discrete = SemiDiscrete(modelled(plate | {"time": {"end": 1.0}}))
    lengths = (cases.LX, cases.LY)
    stepped = heat_reference.step(discrete.start, edges, lengths, 2.0, 15.0, 0.0, 0.5)
    assert np.allclose(discrete.start + 0.5 * discrete.rate(0.0, discrete.start), stepped, rtol=1e-14)


def test_a_radiating_wall_balances_what_is_conducted() -> None:
    """A plate at 500 K that sees 900 K through a wall with 2k/Δ = 20: the flux is that of the wall, not the cell."""
    edges = cases.all_edges("insulated", {}) | {"right": {"kind": "radiation", "emissivity": 0.7, "ambient": 900.0}}
    plate = cases.plate(1, 1, material={"diffusivity": 10.0}, boundary=edges, initial={"temperature": 500.0})
    rate = SemiDiscrete(modelled(plate | {"time": {"end": 1.0}})).rate(0.0, np.full((1, 1), 500.0))[0, 0]
    wall = 500.0 + rate / 20.0  # what comes in through the wall, over 1 m of depth and length
    assert rate == pytest.approx(0.7 * 5.670374419e-8 * (900.0**4 - wall**4), rel=1e-12)
    assert 500.0 < wall < 900.0


def test_what_the_discretisation_does_not_know_it_refuses() -> None:
    with pytest.raises(ValueError):
        SemiDiscrete(modelled(cases.manufactured("flux", "constant", 8, {})))
    (name, everything), *_ = cases.everything("explicit", 8)
    assert name == "all at once"
    with pytest.raises(ValueError):
        SemiDiscrete(modelled(everything))
    del everything["region"]
    with pytest.raises(ValueError):
        SemiDiscrete(modelled(everything))


# ---- the whole solver


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """`simsuite verify ARGS --device cpu` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *args: running.call(capsys, "verify", *args, "--device", "cpu")


def only_object(text: str) -> dict[str, Any]:
    assert len(text.splitlines()) == 1
    return json.loads(text)


def test_the_heat_solver_passes(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stepper and edge kind, as `verify heat --quick` does it, with its JSON and its pictures. Of benchmarks
    a few, since `test_heat_benchmarks` runs all, and no more grids and steps than an order takes."""
    monkeypatch.setattr(all_checks, "benchmark_files", lambda: benchmarks.benchmark_files()[:3])
    monkeypatch.setattr(all_checks, "QUICK", stepper_orders.Extent(("orthotropic",), (8, 12), 1, (7,)))
    done = cli("heat", "--quick", "--json", "-o", "pictures")
    found = only_object(done.stdout)
    assert [check for check in found["checks"] if not check["passed"]] == []
    assert found["passed"] is True
    assert done.returncode == 0
    kinds = {(check["kind"], check["data"].get("stepper")) for check in found["checks"]}
    for stepper in ("explicit", "rkl2", "adi"):
        assert {("order in space", stepper), ("order in time", stepper)} <= kinds
    assert {("order in space", "exact"), ("exact in time", None), ("ledger", None)} <= kinds
    assert "nothing to compare it with" in done.stderr
    for stepper in ("explicit", "rkl2", "adi", "exact"):
        picture = matplotlib.image.imread(f"pictures/heat_{stepper}.png")
        assert picture.shape[1] > 1000
        assert picture.std() > 0.05


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verification of one stepper, one edge kind and one material."""
    monkeypatch.setattr(stepper_orders, "ORDER_IN_TIME", {"rkl2": 2})
    monkeypatch.setattr(cases, "KINDS", ("flux",))
    monkeypatch.setattr(cases, "LINEAR_KINDS", ())
    monkeypatch.setattr(all_checks, "QUICK", stepper_orders.Extent(("constant",), (6, 8, 12), 2, (1,)))
    monkeypatch.setattr(consistency, "STEPPERS", ("rkl2",))
    monkeypatch.setattr(benchmarks, "DIRECTORY", Path())


@pytest.fixture
def less(little: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of that, all but the runs whose steps are as long as the tolerance allows."""
    monkeypatch.setattr(all_checks, "tolerance_checks", lambda *args: iter(()))


def harmed(monkeypatch: pytest.MonkeyPatch, harm: Callable[[HeatProblem, dict[str, np.ndarray]], None]) -> None:
    """Let `harm` change what every run ends with."""
    make = HeatProblem.stepper

    class Harmed:
        def __init__(self, problem: HeatProblem, stepper: Any) -> None:
            self._problem, self._stepper = problem, stepper

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stepper, name)

        @contextlib.contextmanager
        def _changed(self, pending: Any) -> Iterator[Snapshot]:
            with pending as held:
                arrays = {name: np.array(a) for name, a in held.arrays.items()}
                harm(self._problem, arrays)
                yield Snapshot(held.step, arrays)

        def snapshot(self) -> Any:
            return self._changed(self._stepper.snapshot())

        def observe(self, series: str) -> Any:
            return self._changed(self._stepper.observe(series))

    monkeypatch.setattr(HeatProblem, "stepper", lambda self, *args: Harmed(self, make(self, *args)))


def off_in_time(problem: HeatProblem, arrays: dict[str, np.ndarray]) -> None:
    arrays["temperature"] *= 1 + 0.1 * problem.dt


def off_in_space(problem: HeatProblem, arrays: dict[str, np.ndarray]) -> None:
    arrays["temperature"] *= 1 + 1e-3 / problem.scenario.grid.nx


def off_in_energy(problem: HeatProblem, arrays: dict[str, np.ndarray]) -> None:
    if "row_heat" in arrays:
        arrays["row_heat"][0] *= 1 + 1e-9


def test_little_passes(cli: Callable, little: None) -> None:
    done = cli("heat", "--quick")
    assert done.returncode == 0
    assert (
        "16 of 16 checks passed: ledger 5/5, error over tolerance 9/9, order in space 1/1, order in time 1/1"
        in done.stdout
    )
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("harm", "kind"),
    [(off_in_time, "order in time"), (off_in_space, "order in space")],
)
def test_a_solver_that_is_off_fails(
    cli: Callable, less: None, monkeypatch: pytest.MonkeyPatch, harm: Callable, kind: str
) -> None:
    harmed(monkeypatch, harm)
    done = cli("heat", "--quick")
    assert done.returncode == 5
    assert re.search(rf"^OFF +{kind}", done.stdout, re.MULTILINE)
    assert re.search(r"^error: \d+ of 4 checks (is|are) off", done.stderr, re.MULTILINE)


def test_what_is_off_is_in_the_json(cli: Callable, less: None, monkeypatch: pytest.MonkeyPatch) -> None:
    harmed(monkeypatch, off_in_energy)
    done = cli("heat", "--quick", "--json")
    assert done.returncode == 5
    found = only_object(done.stdout)
    assert found["passed"] is False
    assert "ledger" in {check["kind"] for check in found["checks"] if not check["passed"]}


def test_another_device_is_compared_with_the_cpu(little: None) -> None:
    cpu = open_backend("cpu")
    found = [check for check in consistency.whole_checks(cpu, cpu, 8) if check.kind == consistency.DEVICE]
    assert [check.measured for check in found] == [0.0, 0.0]
    assert all(check.passed for check in found)


# ---- benchmarks

SINE = """solver = "heat"
grid = {nx = 8, ny = 8}
material = {diffusivity = 1.0}
initial = {temperature = "sin(pi*x)*sin(pi*y)"}
boundary = {left = {kind = "temperature", value = 0.0}, right = {kind = "temperature", value = 0.0}, \
bottom = {kind = "temperature", value = 0.0}, top = {kind = "temperature", value = 0.0}}
time = {end = 0.02, stepper = "explicit"}
"""
WAVE = '[reference]\ntemperature = "exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)"\n'
CENTRE = '[[probe]]\nname = "centre"\nx = 0.5\ny = 0.5\n'
AT_CENTRE = math.exp(-2 * math.pi**2 * 0.02)


def benchmark(directory: Path, text: str) -> list[Any]:
    (directory / "wave.toml").write_text(text, encoding="utf-8")
    files = [directory / "wave.toml"]
    return list(benchmark_checks(open_backend("cpu"), files, refine=True))


def test_a_benchmark_that_is_right_passes(tmp_path: Path) -> None:
    found = benchmark(tmp_path, f"{SINE}{CENTRE}expected = {AT_CENTRE}\nwithin = 0.05\n{WAVE}within = 0.05\n")
    assert [(check.name, check.kind) for check in found] == [
        ("wave centre", "benchmark"),
        ("wave centre", "finer is closer"),
        ("wave relative_l2", "benchmark"),
        ("wave relative_l2", "finer is closer"),
    ]
    assert all(check.passed for check in found)
    assert found[2].measured / found[3].measured == pytest.approx(4.0, rel=0.1)


def test_a_benchmark_that_is_off_fails(tmp_path: Path) -> None:
    off = AT_CENTRE - 0.1  # so that a finer grid, closer to the truth, is also further from this
    found = benchmark(tmp_path, f"{SINE}{CENTRE}expected = {off}\nwithin = 0.05\n{WAVE}within = 1e-6\n")
    assert [check.passed for check in found] == [False, False, False, True]


def test_a_benchmark_has_to_expect_something(tmp_path: Path) -> None:
    assert [check.passed for check in benchmark(tmp_path, SINE + CENTRE + WAVE)] == [False]


def test_a_figure_that_does_not_move_need_not_come_closer(tmp_path: Path) -> None:
    """As where a one-dimensional steady field is exact on any grid, and the published figure rounded."""
    still = SINE.replace('"sin(pi*x)*sin(pi*y)"', "0.0") + CENTRE
    found = benchmark(tmp_path, f"{still}expected = 0.01\nwithin = 0.05\n")
    assert [check.passed for check in found] == [True, True]


def test_the_benchmarks_that_are_found_are_the_shipped_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert benchmarks.DIRECTORY == ROOT / "simsuite" / "verify" / "benchmarks"
    monkeypatch.setattr(benchmarks, "DIRECTORY", tmp_path)
    (tmp_path / "b.toml").write_text(SINE, encoding="utf-8")
    (tmp_path / "a.toml").write_text(SINE, encoding="utf-8")
    (tmp_path / "notes.txt").write_text(SINE, encoding="utf-8")
    assert [path.name for path in benchmarks.benchmark_files()] == ["a.toml", "b.toml"]


# ---- a scenario of one's own


@pytest.fixture
def study(cli: Callable) -> Callable:
    """`simsuite verify` of a scenario with this text."""

    def verify(text: str, *args: object) -> subprocess.CompletedProcess[str]:
        Path("mine.toml").write_text(text, encoding="utf-8")
        return cli("mine.toml", *args)

    return verify


def test_errors_against_a_reference_fall_as_they_should(study: Callable) -> None:
    done = study(SINE + WAVE, "-o", "pictures")
    assert done.returncode == 0
    assert re.search(r"^K +8 x 8 +16 x 16 +32 x 32 +order$", done.stdout, re.MULTILINE)
    assert re.search(r"^error l2: order [12]\.\d+, wanted 2", done.stdout, re.MULTILINE)
    assert matplotlib.image.imread("pictures/mine.png").std() > 0.05


def test_json_of_a_study_has_every_level(study: Callable) -> None:
    found = only_object(study(SINE + WAVE, "--json", "--levels", 4).stdout)
    assert found["passed"] is True
    assert [level["nx"] for level in found["levels"]] == [8, 16, 32, 64]
    steps = [level["steps"] for level in found["levels"]]
    assert all(b == 4 * a for a, b in itertools.pairwise(steps))
    (l2, *_) = found["checks"]
    assert l2["name"] == "error l2"
    assert l2["data"]["orders"] == pytest.approx([2.0] * 3, abs=0.05)


def test_without_a_reference_a_scenario_converges_to_itself(study: Callable) -> None:
    found = only_object(study(SINE + CENTRE, "--json").stdout)
    checks = {check["name"]: check for check in found["checks"]}
    assert list(checks) == ["field", "min", "max", "mean", "probe centre"]
    assert found["passed"] is True
    assert checks["field"]["measured"] == pytest.approx(2.0, abs=0.1)
    for name, exact in (("mean", 4 / math.pi**2 * AT_CENTRE), ("probe centre", AT_CENTRE)):
        data = checks[name]["data"]
        assert abs(data["values"][-1] - exact) <= data["gci"]  # the index bounds the error, which is known here
        assert abs(data["extrapolated"] - exact) < 0.1 * abs(data["values"][-1] - exact)


@pytest.mark.parametrize("stepper", ["explicit", "rkl2"])
def test_time_steps_shrink_with_the_grid(study: Callable, stepper: str) -> None:
    text = SINE.replace('stepper = "explicit"', f'stepper = "{stepper}", dt = 1e-3')
    levels = only_object(study(text, "--json").stdout)["levels"]
    assert [level["steps"] for level in levels] == ([20, 80, 320] if stepper == "explicit" else [20, 40, 80])


def test_a_study_of_what_is_exact_passes(study: Callable) -> None:
    done = study('solver = "heat"\ngrid = {nx = 4, ny = 4}\nmaterial = {diffusivity = 1.0}\ntime = {end = 1e-2}\n')
    assert done.returncode == 0
    assert "nothing but round-off" in done.stdout


def test_rough_data_are_reported(study: Callable) -> None:
    """A disc that cuts through cells moves with the grid."""
    disc = '[[region]]\nshape = "circle"\ncenter = [0.43, 0.38]\nradius = 0.08\ntemperature = 4.0\n'
    done = study(SINE + disc)
    assert done.returncode == 5
    assert "not the order of the scheme" in done.stdout
    assert "it is not the steps in time" in done.stdout
    assert "the check is off: field (order)" in done.stderr


def test_a_reference_that_is_not_the_solution_is_reported(study: Callable) -> None:
    done = study(SINE + WAVE.replace("2*pi", "3*pi"))
    assert done.returncode == 5
    assert "error l2 (order)" in done.stderr
    assert "it is not the steps in time" in done.stdout


PULSED = '[[source]]\npower = "500*exp(-((t - 0.0131)/0.0003)**2)*sin(pi*x)*sin(pi*y)"\n'


@pytest.mark.parametrize("dt", [0.004, 0.002])
def test_steps_that_are_in_the_way_of_the_order_are_named(study: Callable, dt: float) -> None:
    """A pulse that lasts less than a step: with steps 64 times shorter the same study has the right order."""
    late = SINE.replace('stepper = "explicit"', f'stepper = "adi", dt = {dt}') + PULSED
    done = study(late)
    assert done.returncode == 5
    assert "the steps in time are in the way of the order" in done.stdout
    assert "the grids are too coarse" not in done.stdout
    done_json = study(late, "--json").stdout
    field = only_object(done_json)["checks"][0]
    assert (field["name"], field["passed"], field["data"]["cause"]) == ("field", False, "time")
    fine = only_object(study(late.replace(f"dt = {dt}", f"dt = {dt / 64}"), "--json").stdout)
    assert fine["passed"] is True
    change, of_grid = (found["checks"][0]["data"]["differences"][0] for found in (only_object(done_json), fine))
    assert field["data"]["error_in_time"] > 0.2 * abs(change - of_grid)
    assert "cause" not in fine["checks"][0]["data"]


SWINGING = """solver = "heat"
grid = {nx = 8, ny = 8}
material = {diffusivity = "1e-2*(1 + x)"}
time = {end = 10.0, tolerance = 0.1}
boundary = {left = {kind = "temperature"}, right = {kind = "temperature"}, bottom = {kind = "temperature"}, \
top = {kind = "temperature"}}
[reference]
temperature = "20 + 10*sin(3*t)*sin(pi*x)*sin(pi*y)"
manufactured = true
"""


def test_a_tolerance_that_is_in_the_way_of_the_order_is_named(study: Callable) -> None:
    done = study(SWINGING)
    assert done.returncode == 5
    assert "as long as the tolerance allows:\ngive a smaller tolerance" in done.stdout
    assert "smaller dt" not in done.stdout


def test_what_to_do_about_steps_in_the_way_depends_on_what_their_length_goes_by() -> None:
    for stepper, estimated, words in (
        ("explicit", False, "Explicit steps go by stability, whatever the\ntolerance: give a smaller dt"),
        ("adi", False, "These steps of adi are equal, as\ndt says: give a smaller dt"),
        ("rkl2", True, "They are as long as the tolerance allows:\ngive a smaller tolerance"),
    ):
        assert words in scenario_report.advice(Cause("8 x 8", stepper, 0.5, 1.0, estimated, 3))


def test_where_it_is_the_grid_one_level_more_than_there_were_is_proposed() -> None:
    for levels, words in ((3, "try --levels 4 or begin\n"), (4, "try --levels 5 or begin\n"), (6, "try begin")):
        said = scenario_report.advice(Cause("8 x 8", "adi", 0.0, 1.0, True, levels))
        assert "So it is not the steps in time" in said
        assert words in said


SPOT = """solver = "heat"
grid = {nx = 8, ny = 8}
material = {diffusivity = 1.0}
initial = {temperature = "where(hypot(x - 0.4, y - 0.3) < 0.41, 100, 0)"}
time = {end = 0.1, stepper = "exact"}
"""


def test_an_order_that_is_too_high_is_not_explained_by_what_makes_it_low(study: Callable) -> None:
    """A spot whose outline meets cells otherwise on each grid: the first change is large by chance."""
    done = study(SPOT)
    assert done.returncode == 5
    assert "The order is too high" in done.stdout
    assert "grids are too coarse to tell the order: try --levels 4 or begin with a finer grid" in done.stdout
    assert "lowers" not in done.stdout
    assert "lowers" in scenario_report.advice(Cause("8 x 8", "adi", 0.0, 1.0, True, 3, False))


def test_an_error_in_time_is_no_part_of_a_smaller_whole() -> None:
    """Errors may cancel: "of 1 K .., 3 K are" was said."""
    by_tolerance = "seen with a tolerance 16 times smaller"
    part = scenario_report.advice(Cause("8 x 8", "rkl2", 0.5, 1.0, True, 3))
    assert (
        f"Of 1 K by which 8 x 8 cells differ from the reference,\n0.5 K are by steps in time ({by_tolerance}).\n"
        in part
    )
    for controlled, how in ((True, by_tolerance), (False, "seen with steps 4 times shorter")):
        more = scenario_report.advice(Cause("8 x 8", "rkl2", 3.0, 1.0, controlled, 3))
        assert f"Steps in time are off by 3 K ({how}):\nmore than the 1 K by which 8 x 8 cells differ from the" in more
        assert "Of 1 K" not in more
        assert "So the steps in time are in the way" in more


@pytest.mark.parametrize("stepper", ["steady", "exact"])
def test_errors_of_steps_that_there_are_not_are_not_spoken_of(stepper: str) -> None:
    said = scenario_report.advice(Cause("8 x 8", stepper, 0.0, 1.0, True, 3))
    assert said.startswith("This is not the order of the scheme.\nEither the grids are too coarse")
    assert "in time" not in said


def test_errors_in_time_on_a_finer_grid_are_measured_by_its_own_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the first change is two thirds of the second one, which has the wrong order by that."""

    def outcome(n: int, in_time: float) -> Any:
        grid = SimpleNamespace(nx=n, ny=n)
        problem = SimpleNamespace(adaptive=False, method={"stepper": "adi"}, scenario=SimpleNamespace(grid=grid))
        return SimpleNamespace(problem=problem, in_time=in_time)

    found = [outcome(8, 0.0), outcome(16, 0.1), outcome(32, 0.0)]
    monkeypatch.setattr(scenario_study, "_error_in_time", lambda outcome, base, backend: outcome.in_time)
    check = Check("field", "order", 2.7, "2", False, {"gci": 0.1, "differences": [1.0, 0.15]})
    why = scenario_study.cause(found, [check], Path(), open_backend("cpu"))
    assert (why.steps, why.grid, why.off) == (True, "16 x 16", 0.15)
    assert "0.15 K by which 16 x 16 cells differ from the grid beside them" in scenario_report.advice(why)


def test_a_study_takes_the_steps_of_the_run(study: Callable) -> None:
    """Those that find out how long they may be end where heat is switched on, which equal ones do not."""
    text = SINE.replace(', stepper = "explicit"', ', stepper = "rkl2"') + PULSED
    done = study(text)
    assert done.returncode == 0
    assert re.search(r"^done: 16 x 16 cells, \d+ steps of \S+ to \S+ s by rkl2$", done.stderr, re.MULTILINE)
    levels = only_object(study(text, "--json").stdout)["levels"]
    assert all(1.5 * a["steps"] < b["steps"] < 3 * a["steps"] for a, b in itertools.pairwise(levels))
    assert all(level["dt"] * level["steps"] >= 0.02 for level in levels), "the longest step"


def test_an_error_in_time_that_is_small_is_told_to_be_so(study: Callable) -> None:
    disc = '[[region]]\nshape = "circle"\ncenter = [0.43, 0.38]\nradius = 0.08\ntemperature = 4.0\n'
    found = only_object(study(SINE.replace("explicit", "rkl2") + disc, "--json").stdout)["checks"][0]["data"]
    assert found["cause"] == "space"
    assert 0 < found["error_in_time"] < 1e-5 * 4.1


def test_what_a_scenario_expects_is_judged_too(study: Callable) -> None:
    """`expected` and `within` were of no effect, and the exit code was 0."""
    probe = '[[probe]]\nname = "middle"\nx = 0.5\ny = 0.5\nexpected = {}\nwithin = 1e-2\n'
    value = math.exp(-2 * math.pi**2 * 0.02)
    right, wrong = (study(SINE + probe.format(expected)) for expected in (value, value + 0.05))
    assert (right.returncode, wrong.returncode) == (0, 5)
    assert re.search(r"ok +expected +middle on 32 x 32 +\S+ +0\.67\S+ \+- 0\.01", right.stdout)
    assert re.search(r"OFF +expected +middle on 32 x 32 +\S+ +0\.72\S+ \+- 0\.01", wrong.stdout)
    assert "1 of 2 checks is off: middle on 32 x 32 (expected)" in wrong.stderr
    reference = '[reference]\ntemperature = "exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)"\nwithin = {}\n'
    assert study(SINE + reference.format("0.05")).returncode == 0
    found = study(SINE + reference.format("1e-9"), "--json")
    assert found.returncode == 5
    told = only_object(found.stdout)
    assert not told["passed"]
    assert [check["name"] for check in told["checks"] if not check["passed"]] == ["relative_l2 on 32 x 32"]


FORGETS = """solver = "heat"
grid = {nx = 15, ny = 1, lx = 0.12, ly = 0.01}
material = {diffusivity = 1e-5}
initial = {temperature = 293.0}
time = {end = 2400.0, stepper = "adi", tolerance = 1e-4}
boundary.left = {kind = "temperature", value = "293 + 1000*min(1, t/600) - 900*max(0, min(1, (t - 1200)/300))"}
boundary.right = {kind = "temperature", value = "293 + 1000*min(1, t/600) - 1000*(t >= 1500)"}
"""


def test_an_error_in_time_is_that_of_the_field_that_is_studied(tmp_path: Path) -> None:
    """The run's own estimate is of all times, when the bar was hotter. Taken for a share of the temperatures at the
    end, it was a tenth of the error that is left then, which Radau IIA shows."""
    backend = open_backend("cpu")
    found = list(scenario_study.outcomes(HeatScenario.model_validate(tomllib.loads(FORGETS)), tmp_path, backend, 3))
    why = scenario_study.cause(found, scenario_study.study(found), tmp_path, backend)
    (outcome,) = (o for o in found if why.grid == f"{o.problem.scenario.grid.nx} x {o.problem.scenario.grid.ny}")
    n = outcome.temperature.shape[1]
    d = 1e-5 / (0.12 / n) ** 2

    def rate(t: float, T: np.ndarray) -> np.ndarray:
        ramp = 293 + 1000 * min(1, t / 600)
        left, right = ramp - 900 * max(0, min(1, (t - 1200) / 300)), ramp - 1000 * (t >= 1500)
        return d * np.diff(T, 2, prepend=2 * left - T[0], append=2 * right - T[-1])

    T = np.full(n, 293.0)
    for begin, end in itertools.pairwise([0.0, 600.0, 1200.0, 1500.0, 2400.0]):
        inside = end - 1e-9 * (end < 2400)  # at 1500 s the right edge has jumped
        T = solve_ivp(rate, (begin, inside), T, "Radau", rtol=1e-9, atol=1e-8).y[:, -1]
    true = math.sqrt(np.mean((outcome.temperature[0] - T) ** 2))
    assert why.in_time == pytest.approx(true, rel=0.3)


def test_a_steady_state_is_refined_without_steps(study: Callable) -> None:
    """The mean of -T'' = 6x between 0 and 0 is that of x - x³, 1/4: less than the index away."""
    steady = SINE.replace('end = 0.02, stepper = "explicit"', "steady = true")
    edges = re.sub(r"(bottom|top) = {[^}]*}", r'\1 = {kind = "insulated"}', steady)
    done = study(edges + '[[source]]\npower = "6*x"\n')
    assert done.returncode == 0
    assert "steps" not in done.stderr
    found = only_object(study(edges + '[[source]]\npower = "6*x"\n', "--json").stdout)
    mean = next(check["data"] for check in found["checks"] if check["name"] == "mean")
    assert abs(mean["values"][-1] - 0.25) <= mean["gci"] < 1e-3


def test_arrays_of_fixed_shape_cannot_be_refined(study: Callable) -> None:
    np.save("T0.npy", np.zeros((8, 8)))
    done = study(SINE.replace('"sin(pi*x)*sin(pi*y)"', '{file = "T0.npy"}'))
    assert done.returncode == 2
    assert "initial.temperature is an array of fixed shape" in done.stderr


def test_mistakes_are_answered_as_by_other_commands(study: Callable) -> None:
    done = study(SINE.replace("end = 0.02", "end = 0.02, dt = 1.0"))
    assert done.returncode == 2
    assert "mine.toml:6:26" in done.stderr
    assert "unstable" in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["heat", "--levels", "3"], "go with a scenario"),
        (["heat", "--set", "grid.nx=4"], "go with a scenario"),
        ([str(ROOT / "scenarios" / "linear.toml")], "is a linear scenario"),
        ([str(ROOT / "scenarios" / "heat.toml"), "--quick"], "goes with a solver"),
        (["nothing.toml"], "nothing.toml"),
        (["linaer"], "did you mean 'linear'?"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Callable, args: list[str], said: str) -> None:
    done = cli(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_directory_that_cannot_be_made_is_said_at_once(study: Callable) -> None:
    Path("taken").write_text("", encoding="utf-8")
    done = study(SINE, "-o", "taken")
    assert done.returncode == 2
    assert "cannot make taken" in done.stderr


@pytest.mark.parametrize(
    ("measured", "wanted", "said"),
    [
        (5092.4031, "5092.438924 +- 4 x 0.011", "5092.403"),
        (460.40912, "460.4060863 +- 4 x 0.012", "460.409"),
        (1.98765, "2 +- 0.1", "1.988"),
        (0.25, "<= 1", "0.25"),
    ],
)
def test_a_number_has_the_digits_that_it_is_judged_by(measured: float, wanted: str, said: str) -> None:
    assert said in line(Check("an option", "closed form", measured, wanted, True)).split()
