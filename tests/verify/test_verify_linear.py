"""Verification of linear systems: that it passes what is right, and finds matrices, inputs, products that are not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
import running
import scipy.linalg
from cuda_host import HostCuda, host_cuda  # noqa: F401

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.errors import Mistake, ScenarioError
from simsuite.solvers.linear import problem, system
from simsuite.solvers.linear.analysis import reachability, report
from simsuite.solvers.linear.discretisation import series
from simsuite.solvers.linear.generators import generate
from simsuite.solvers.linear.matrices.embedding import embedded
from simsuite.solvers.linear.powers import powers
from simsuite.solvers.linear.spectral import stepper
from simsuite.solvers.linear.stepping import step, step_product
from simsuite.solvers.matmul.sparse import Matrix, filled, in_rows
from simsuite.verify.checks import Check
from simsuite.verify.linear import (
    analysis,
    cases,
    hard_exponentials,
    known_solutions,
    methods,
    noise,
    orders,
    power_errors,
    products,
)
from simsuite.verify.linear.runs import kernels
from simsuite.verify.z_scores import SEEDS

CPU = open_backend("cpu")
CASES = {case.name: case for case in [*cases.cases(True), *hard_exponentials.exponential_cases()]}
KINDS = {
    "closed form",
    "conserved",
    "residual",
    "Jordan block",
    "permutation",
    "input",
    "exponential",
    "order in space",
}


@pytest.fixture(scope="module", autouse=True)
def _little_work() -> Iterator[None]:
    with CPU.on_threads(1):
        yield


def off(checks: Iterator[Check]) -> set[str]:
    """The kinds of the checks that have not passed."""
    return {check.kind for check in checks if not check.passed}


def states(names: Sequence[str] = (), kind: str | None = None) -> Iterator[Check]:
    """Checks of some cases, or of a few of each kind, or of one kind."""
    few = [case for case in CASES.values() if case.start.shape[1] < 31 and kind in (None, case.kind)]
    return known_solutions.state_checks(CPU, [CASES[name] for name in names] or few, print)


def test_the_solver_passes(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that `verify linear --quick` does, with JSON and picture. Limits are far below what mistakes change, and most
    errors within a thousandth of them."""
    monkeypatch.chdir(tmp_path)
    done = running.call(capsys, "verify", "linear", "--quick", "--json", "-o", "pictures", "--device", "cpu")
    found = json.loads(done.stdout)
    assert [check for check in found["checks"] if not check["passed"]] == []
    assert done.returncode == 0
    assert {check["kind"] for check in found["checks"]} == KINDS | {
        "whole numbers",
        "rounded product",
        "analysis",
        "power_error",
        "methods",
        "exact moments",
        "Lyapunov",
        "over seeds",
    }
    assert "nothing to compare it with" in done.stderr
    names = [check["name"] for check in found["checks"]]
    assert {"quantum walk, float32", "33 x 33, 31 columns, 5 observed", "Ward, 3"} <= set(names)
    assert matplotlib.image.imread("pictures/linear_heat1d.png").std() > 0.05
    ratios = []
    for check in found["checks"]:
        if check["kind"] in ("closed form", "input", "exponential"):
            limit = float(check["wanted"].removeprefix("<= "))
            assert limit < (2e-8 if "float32" not in check["name"] else 5e-3), check["name"]
            ratios.append(check["measured"] / limit)
    assert np.median(ratios) > 1e-3


@pytest.mark.long
def test_all_shapes_pass() -> None:
    checks = list(products.product_checks(CPU, products.FULL))
    assert [check.name for check in checks if not check.passed] == []
    assert {"1 x 1, 1 column", "1000 x 1500, 33 columns, float32"} <= {check.name for check in checks}


def test_little_passes_everywhere(backend: Backend) -> None:
    names = "2 x 2, 2 columns", "double integrator, u = t, hold zero", "leslie", "Ward, 3"
    most = 11 if backend.name == "cudasim" else 1000  # steps: there each takes a tenth of a second
    some = [replace(CASES[name], steps=min(CASES[name].steps, most)) for name in names]
    assert off(known_solutions.state_checks(backend, some, print)) == set()
    shapes = ((1, 1, 1), (9, 1, 2), (1, 9, 3), (2, 2, 1), (3, 3, 33))
    checks = list(products.product_checks(backend, shapes))
    assert len(checks) >= 4 * len(shapes)
    assert off(iter(checks)) == set()


# ---- mistakes that must be found


def test_a_wrong_matrix_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of each generated matrix is off by a billionth of the largest."""

    def harmed(*args: Any) -> Matrix:
        A = generate(*args)
        off = filled(A)
        off[-1, -2] += 1e-9 * np.max(np.abs(off))
        return A if off is A else in_rows(off)

    monkeypatch.setattr(system, "generate", harmed)
    found = {check.name for check in states(kind="closed form") if check.kind == "closed form" and not check.passed}
    closed = [case for case in CASES.values() if case.kind == "closed form"]
    assert found >= {case.name for case in closed if "generator" in case.system["matrix"]}
    assert "conserved" in off(states(["rotation, 10 000 steps", "quantum walk", "springs, undamped"]))


def test_a_transposed_matrix_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right, sparse = step_product.product, step_product.sparse_product

    def other(A: Any) -> Any:
        return A if A.shape[0] != A.shape[1] else np.ascontiguousarray(A.T)

    def transposed(backend: Any, A: Any, *args: Any, **more: Any) -> Any:
        return right(backend, other(A), *args, **more)

    class Transposed(powers.Products):
        def __call__(self, A: Any) -> Any:
            return super().__call__(other(A))

    def transposed_sparse(backend: Any, A: Any, *args: Any) -> Any:
        return sparse(backend, in_rows(A.T).astype(A.dtype), *args)

    for module in (step_product, series):
        monkeypatch.setattr(module, "sparse_product", transposed_sparse)
    for module in (step_product, stepper):
        monkeypatch.setattr(module, "product", transposed)
    monkeypatch.setattr(powers, "Products", Transposed)
    checks = list(states())
    assert off(iter(checks)) == KINDS - {"order in space", "residual"}  # which tells how far off such a run is
    right_names = [check.name for check in checks if check.kind == "closed form" and check.passed]
    passed = {name.partition(", float32")[0] for name in right_names if "spectral" not in name}  # is another matrix
    passed = {name.removesuffix(", power") for name in passed}
    assert passed <= {
        "heat1d, its modes",
        "rc_ladder, discharged",
        "lattice walk, sparse",
    }  # whose matrices are symmetric


def test_a_complex_matrix_taken_for_its_conjugate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "embedded", lambda A: embedded(A.conj()))
    found = {check.name for check in states(kind="closed form") if not check.passed and check.kind == "closed form"}
    assert {"rabi, complex", "rabi, complex, float32"} <= found
    assert all(name.startswith("rabi, complex") for name in found)


@pytest.mark.parametrize("late", [-1, 1])
def test_inputs_a_step_late_or_early_are_found(monkeypatch: pytest.MonkeyPatch, late: int) -> None:
    """Also where powers take them."""
    prepare, right = step._Inputs.prepare, system.held_inputs
    monkeypatch.setattr(step._Inputs, "prepare", lambda self, k, n: prepare(self, max(k + late, 0), n))

    def shifted(*args: Any) -> Any:
        held = right(*args)
        return held and replace(held, steps=np.maximum(held.steps - late, 0) * (held.steps > 0))

    monkeypatch.setattr(system, "held_inputs", shifted)
    found = {check.name for check in states(kind=cases.INPUT) if not check.passed}
    moving = {case.name for case in cases.input_cases() if case.start.shape[1] < 31} - {"ladder, switched on"}
    stepped = moving | {f"{name}, float32" for name in moving}
    assert found == stepped | {"lag, pulses, power", "lag, pulses, float32, power"}


def test_inputs_that_are_not_integrated_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if B dt were what an input adds in a step."""
    right = system.discretise
    monkeypatch.setattr(system, "discretise", lambda A, B, dt: (right(A, B, dt)[0], B * dt))
    found = {check.name for check in states(kind=cases.INPUT) if not check.passed}
    assert {"ladder, switched on", "double integrator, u = t, hold zero", "oscillator, u = cos(t), hold zero"} <= found


def test_lines_that_begin_where_they_should_end_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = system.discretise_between

    def backwards(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        Ad, both = right(A, B, dt)
        return Ad, np.roll(both, B.shape[1], axis=1)

    monkeypatch.setattr(system, "discretise_between", backwards)
    found = {check.name.removesuffix(", float32") for check in states(kind=cases.INPUT) if not check.passed}
    assert found == {"double integrator, u = t, hold first", "oscillator, u = cos(t), hold first"}


def taylor(A: np.ndarray) -> np.ndarray:
    """The first of the dubious ways to compute an exponential."""
    term = total = np.eye(len(A))
    for k in range(1, 400):
        term = term @ A / k
        total = total + term
    return total


def eigenvectors(A: np.ndarray) -> np.ndarray:
    """The fourteenth."""
    values, vectors = np.linalg.eig(A)
    return np.real(vectors * np.exp(values) @ np.linalg.inv(vectors))


@pytest.mark.parametrize(
    ("exponential", "fails"),
    [
        (taylor, {"Moler, Van Loan, -1 and -17", "companion, -1 and -39", "oscillation"}),
        (eigenvectors, {"Moler, Van Loan, nearly defective", "Jordan block", "Moler, Van Loan, nilpotent"}),
        (lambda A: scipy.linalg.expm(A) * (1 + 1e-8), {"Ward, 1, defective", "Ward, 3", "short step"}),
    ],
)
def test_dubious_exponentials_are_found(
    monkeypatch: pytest.MonkeyPatch, exponential: Callable, fails: set[str]
) -> None:
    monkeypatch.setattr(system, "discretise", lambda A, B, dt: (exponential(A * dt), B))
    nonstiff = [case for case in hard_exponentials.exponential_cases() if not case.name.startswith("stiff")]
    with np.errstate(all="ignore"):
        checks = list(known_solutions.state_checks(CPU, nonstiff, print))
    assert {check.name for check in checks if not check.passed} >= fails


def test_products_that_leave_something_out_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of an odd number of products, as a tile might; and the addition in float32, but for whole numbers."""
    right = products._multiplied

    def cut(backend: Any, A: np.ndarray, *args: Any) -> np.ndarray:
        A = A.copy()
        A[:, 32:33] = 0
        return right(backend, A, *args)

    monkeypatch.setattr(products, "_multiplied", cut)
    bad = [check for check in products.product_checks(CPU, products.QUICK) if not check.passed]
    assert {check.kind for check in bad} == {"whole numbers", "rounded product"}
    assert {check.name.split(",")[0] for check in bad} == {"31 x 33", "65 x 127"}

    def rounded(backend: Any, A: np.ndarray, X: np.ndarray, bias: np.ndarray, kernel: str) -> np.ndarray:
        return right(backend, A.astype(np.float32), X.astype(np.float32), bias.astype(np.float32), kernel)

    monkeypatch.setattr(products, "_multiplied", rounded)
    assert off(products.product_checks(CPU, products.QUICK)) == {"rounded product"}


def test_a_residual_that_is_told_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "residual", lambda *args: 0.0)
    assert off(states(["rotation, 10 000 steps", "leslie", "ladder, switched on"])) == {"residual"}


def test_a_wrong_spacing_has_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """length/points instead of length/(points + 1)."""

    def harmed(source: Any, *args: Any) -> np.ndarray:
        return generate(source, *args) * (source.points / (source.points + 1)) ** 2

    assert off(orders.rod_checks(CPU, (15, 23, 31))) == set()
    monkeypatch.setattr(system, "generate", harmed)
    assert off(orders.rod_checks(CPU, (15, 23, 31))) == {"order in space"}


def test_wrong_analysis_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = report.spectrum
    monkeypatch.setattr(report, "spectrum", lambda A, continuous: right(A * (1 + 1e-9), continuous))
    monkeypatch.setattr(report, "steady_state", lambda A, b, continuous: (b, 0.0))
    monkeypatch.setattr(report.Chain, "stationary", property(lambda self: np.ones(len(self.moves)) / len(self.moves)))
    monkeypatch.setattr(report, "reach", lambda A, B: report.Reach(len(A) - 1, len(A), 1.0))
    found = {c.name for c in analysis.analysis_checks(CPU, analysis.known()) if not c.passed}
    assert {
        "rotation: marginally stable",
        "rotation: spectral_radius",
        "springs, damping 0.4: slowest frequency",
    } <= found
    assert {"rc_ladder: steady_state", "markov: stationary", "double integrator: observability rank"} <= found


def test_ranks_by_the_staircase_alone_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or in units that A alone suggests."""
    ranked = [system for system in analysis.known() if any(key.endswith("rank") for key in system.numbers)]
    assert {c.passed for c in analysis.analysis_checks(CPU, ranked)} == {True}
    with monkeypatch.context() as patch:
        patch.setattr(reachability, "nearest", lambda A, B, enough: (1.0, A[0]))
        patch.setattr(reachability, "without_untouched", lambda A, B, tolerance: np.eye(len(A)))
        found = {c.name for c in analysis.analysis_checks(CPU, ranked) if not c.passed}
    assert any(name.startswith("observer of 8 states") for name in found)
    monkeypatch.setattr(reachability, "levelled", lambda A, B: (A, B))
    found = {c.name for c in analysis.analysis_checks(CPU, ranked) if not c.passed}
    assert found == {"cascade of lags in any units: controllability rank"}


def test_an_error_of_powers_without_that_of_the_exponential_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(power_errors.power_error_checks(CPU)) == set()
    monkeypatch.setattr(powers, "lacking", lambda system: None)
    assert off(power_errors.power_error_checks(CPU)) == {"power_error"}


def test_devices_and_methods_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "SIZES", (5,))
    checks = list(methods.method_checks(CPU, CPU, print))
    compared = [check for check in checks if check.kind == methods.DEVICE]
    stepped = [check for check in compared if not re.search("power|spectral", check.name)]
    assert [check.measured for check in stepped] == [0.0] * 6
    assert off(iter(checks)) == set()
    right, runs = methods.run, iter(range(10**6))

    def drifting(*args: Any) -> Any:
        found = right(*args)
        for X in found.states.values():
            X *= 1 + 1e-4 * next(runs)
        return found

    monkeypatch.setattr(methods, "run", drifting)
    assert methods.DEVICE in off(methods.method_checks(CPU, CPU, print))


def test_what_a_method_refuses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> Any:
        raise ScenarioError([Mistake(("time", "method"), "power would lose 9 digits")])

    monkeypatch.setattr(known_solutions, "run", refuse)
    monkeypatch.setattr(known_solutions, "methods", lambda: ["step", "power"])
    notes: list[str] = []
    checks = list(known_solutions.state_checks(CPU, [CASES["leslie"]], notes.append))
    assert [(check.name, check.passed) for check in checks] == [("leslie", False), ("leslie, float32", False)]
    assert notes[0] == "not checked: leslie, power: power would lose 9 digits"


def test_noise_of_another_size_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """G G' dt instead of the integral over a step, as Euler and Maruyama have it; and factors of a right one."""
    with monkeypatch.context() as patch:
        patch.setattr(system, "noise_covariance", lambda A, G, dt: G @ G.T * dt)
        bad = [check for check in noise.noise_checks(CPU, None, 6) if not check.passed]
    assert {check.kind for check in bad} == {noise.MOMENTS, SEEDS}
    continuous = {"Ornstein-Uhlenbeck", "particle, pushed", "spring in a bath"}
    assert {check.name.rsplit(", ", 1)[0] for check in bad if check.kind == noise.MOMENTS} == continuous

    right = system.noise_factor
    monkeypatch.setattr(system, "noise_factor", lambda Q: 1.1 * right(Q))
    bad = [check for check in noise.noise_checks(CPU, None, 6) if not check.passed]
    assert noise.LYAPUNOV not in {check.kind for check in bad}
    assert continuous <= {check.name.partition(", var")[0] for check in bad if check.kind == SEEDS}


def test_noise_is_compared_with_another_device(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = noise.noisy_systems()[:1]
    monkeypatch.setattr(noise, "noisy_systems", lambda: systems)
    found = [check for check in noise.noise_checks(CPU, CPU, 2) if check.kind == noise.DEVICE]
    assert [check.measured for check in found] == [0.0]


def test_every_kernel_is_verified_that_can_have_a_matrix(host_cuda: HostCuda, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    sparse = CASES["springs, sparse, by series"]
    assert [name for name, case in CASES.items() if case.sparse] == ["lattice walk, sparse", sparse.name]
    assert (kernels(host_cuda), kernels(host_cuda, sparse=True)) == (["numba", "nvrtc"], ["numba"])
    assert all(check.passed for check in known_solutions.state_checks(host_cuda, [sparse], print))
    monkeypatch.setattr(host_cuda, "products", lambda: "a library", raising=False)
    assert (kernels(host_cuda), kernels(host_cuda, sparse=True)) == (["numba", "nvrtc", "cublas"], ["numba"])
    assert kernels(CPU) == ["numba"]
