"""Linear systems in one run: each has the bits that it has alone, and none is stopped by another."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simsuite.core import Backend
from simsuite.errors import SimsuiteError, UsageError
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.joined.problem import JoinedProblem
from simsuite.solvers.linear.problem import LinearProblem

COUNT, STEPS = 5, 37
INPUTS = {
    "none": lambda k: [],
    "constant": lambda k: [0.5 * k, -1.0],
    "moving": lambda k: [f"{k + 1}*sin(t/{k + 2})", "0.25*t"],
    "some constant": lambda k: ["cos(t)" if k % 2 else 0.75, f"{k} - t"],
    "held": lambda k: [f"where(t < {k + 3}, 1, {k})"],
}


def member(k: int, case: dict[str, Any], rng: np.random.Generator, shared: dict[str, Any]) -> dict[str, Any]:
    """The k-th scenario: it has the numbers of its own in what `differ` names, and else the shared ones."""
    n, m, q = case["n"], case.get("m", 1), case.get("q", 0)
    own = {
        "matrix": rng.normal(size=(n, n)) / n**0.5 * 0.8 - (case["kind"] == "continuous") * np.eye(n),
        "state": rng.normal(size=(n, m)),
        "input": INPUTS[case.get("inputs", "none")](k),
    }
    own["input_matrix"] = rng.normal(size=(n, max(len(own["input"]), 1)))
    if q:
        own["output_matrix"] = rng.normal(size=(q, n))
        own["feedthrough"] = rng.normal(size=(q, max(len(own["input"]), 1)))
    if case.get("zeros"):
        own["matrix"][rng.random((n, n)) < 0.6] = 0.0
    for name, value in own.items():
        shared.setdefault(name, value)
    taken = {name: own[name] if name in case["differ"] else shared[name] for name in own}
    written = {name: value if isinstance(value, list) else value.tolist() for name, value in taken.items()}
    if case.get("complex"):
        written["matrix"] = [[f"{a}+{abs(a) / 3}j" for a in row] for row in written["matrix"]]
    state = written.pop("state")
    if not written["input"]:
        del written["input"], written["input_matrix"]
        written.pop("feedthrough", None)
    hold = {"hold": case["hold"]} if "hold" in case else {}
    return {
        "solver": "linear",
        "system": {"kind": case["kind"], **written, **hold},
        "initial": {"state": state},
        "time": {"steps": STEPS, "dt": 0.25, "method": case.get("method", "auto")},
        "run": {"precision": case.get("precision", "float64")},
        "output": {"frames": 4},
    }


def members(case: dict[str, Any], seed: int = 1) -> list[LinearScenario]:
    rng, shared = np.random.default_rng(seed), {}
    return [LinearScenario.model_validate(member(k, case, rng, shared)) for k in range(COUNT)]


def marched(problem: Any, backend: Backend, cut: int | None = None) -> tuple[list[Any], Any]:
    """The rows of all frames, and the results. cut: where the run is interrupted and continued."""
    stepper, rows = problem.stepper(backend, problem.initial()), []
    stops = sorted({*problem.clock.steps, *([] if cut is None else [cut])})
    for stop in stops:
        stepper.advance(stop - stepper.step)
        if stop in problem.clock.steps:
            with stepper.observe("time") as observed:
                rows.append({k: np.array(v) for k, v in problem.rows("time", observed).items()})
                found = problem.results(observed) if stop == problem.clock.end else None
        if stop == cut:
            with stepper.snapshot() as snapshot:
                copied = {name: np.array(array) for name, array in snapshot.arrays.items()}
                start = dataclasses.replace(snapshot, arrays=copied)
            stepper = problem.stepper(backend, start)
    return rows, found


CASES = {
    "start": {"kind": "discrete", "n": 7, "differ": ["state"]},
    "start, many columns": {"kind": "continuous", "n": 33, "m": 3, "differ": ["state"], "inputs": "moving"},
    "start, float32": {"kind": "discrete", "n": 12, "differ": ["state"], "precision": "float32", "inputs": "constant"},
    "matrix": {"kind": "discrete", "n": 6, "differ": ["matrix"]},
    "matrix, continuous": {"kind": "continuous", "n": 2, "differ": ["matrix", "state"], "inputs": "moving"},
    "matrix with zeros": {"kind": "discrete", "n": 17, "m": 2, "differ": ["matrix"], "zeros": True, "inputs": "held"},
    "matrix, float32": {"kind": "continuous", "n": 9, "differ": ["matrix"], "precision": "float32", "inputs": "moving"},
    "complex": {"kind": "discrete", "n": 4, "differ": ["matrix", "state"], "complex": True},
    "complex, start": {"kind": "continuous", "n": 4, "differ": ["state"], "complex": True, "inputs": "constant"},
    "inputs": {"kind": "continuous", "n": 5, "differ": ["input"], "inputs": "moving"},
    "inputs, lines": {"kind": "continuous", "n": 5, "differ": ["input"], "inputs": "moving", "hold": "first"},
    "constant inputs": {"kind": "discrete", "n": 3, "differ": ["input"], "inputs": "constant"},
    "some constant": {"kind": "discrete", "n": 3, "differ": ["input", "input_matrix"], "inputs": "some constant"},
    "outputs": {"kind": "continuous", "n": 6, "q": 2, "differ": ["output_matrix", "feedthrough"], "inputs": "moving"},
    "outputs, start": {"kind": "discrete", "n": 6, "q": 3, "differ": ["state"], "inputs": "held", "method": "step"},
    "everything": {
        "kind": "continuous",
        "n": 8,
        "m": 2,
        "q": 4,
        "differ": ["matrix", "state", "input", "input_matrix", "output_matrix", "feedthrough"],
        "inputs": "moving",
    },
}


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_of_each_alone(name: str, backend: Backend) -> None:
    models = members(CASES[name])
    joined = JoinedProblem.from_scenario(LinearScenario.join(models), Path())
    assert joined.in_blocks == (CASES[name]["differ"] != ["state"])
    rows, results = marched(joined, backend, cut=20)
    for k, model in enumerate(models):
        own_rows, own_results = marched(LinearProblem.from_scenario(model, Path()), backend)
        assert json.dumps(results["members"][k]) == json.dumps(own_results)
        m = CASES[name].get("m", 1)
        for row, own in zip(rows, own_rows, strict=True):
            for variable in set(own) & {"state", "state_real", "state_imag"}:
                assert row[variable][:, k * m : (k + 1) * m].tobytes() == own[variable].tobytes()
    for row in rows:
        whole = [np.linalg.norm(row[v].astype(float)) for v in ("state", "state_real", "state_imag") if v in row]
        if not CASES[name].get("q"):
            assert row["norm"] == pytest.approx(np.hypot(*whole) if len(whole) > 1 else whole[0])


@pytest.mark.parametrize("sparse", ["all", "one"])
def test_sparse_matrices_are_joined_with_others_of_their_shape(sparse: str, backend: Backend, tmp_path: Path) -> None:
    """A sparse matrix keeps its numbers alone; a dense one all of its zeros."""
    from scipy.sparse import random_array, save_npz

    models = []
    for k, model in enumerate(members(CASES["matrix"])):
        if sparse == "all" or k == 2:
            A = random_array((6, 6), density=0.4, rng=np.random.default_rng(k), format="csr")
            save_npz(tmp_path / f"{k}.npz", A)
            table = model.model_dump(mode="json", by_alias=True, exclude_none=True)
            table["system"]["matrix"] = {"file": f"{k}.npz"}
            model = LinearScenario.model_validate(table, context={"base": tmp_path})
        models.append(model)
    joined = JoinedProblem.from_scenario(LinearScenario.join(models), tmp_path)
    assert joined.in_blocks
    rows, results = marched(joined, backend)
    for k, model in enumerate(models):
        own_rows, own_results = marched(LinearProblem.from_scenario(model, tmp_path), backend)
        assert json.dumps(results["members"][k]) == json.dumps(own_results)
        assert rows[-1]["state"][:, k].tobytes() == own_rows[-1]["state"][:, 0].tobytes()


def test_one_that_overflows_or_has_mistakes_leaves_the_others_alone(backend: Backend) -> None:
    models = members(CASES["matrix"])
    growing = models[1].system.model_copy(update={"matrix": [[1e9 * (i == j) for i in range(6)] for j in range(6)]})
    larger = models[3].system.model_copy(update={"matrix": [[0.1] * 7] * 7})
    models[1] = models[1].model_copy(update={"system": growing})
    models[3] = models[3].model_copy(update={"system": larger})
    joined = JoinedProblem.from_scenario(LinearScenario.join(models), Path())
    _, results = marched(joined, backend)
    assert [found is None for found in results["members"]] == [False, True, False, True, False]
    _, alone = marched(LinearProblem.from_scenario(models[4], Path()), backend)
    assert json.dumps(results["members"][4]) == json.dumps(alone)


def test_one_that_overflows_on_the_way_leaves_the_others_alone(backend: Backend) -> None:
    """The system is the same, so that it is not looked at beforehand whether states overflow."""
    models = members({**CASES["start"], "differ": ["state"]})
    huge = models[2].initial.model_copy(update={"state": [1.7e308] * 7})
    grows = models[0].system.model_copy(update={"matrix": [[1.01 * (i == j) for i in range(7)] for j in range(7)]})
    models = [model.model_copy(update={"system": grows}) for model in models]
    models[2] = models[2].model_copy(update={"initial": huge})
    joined = JoinedProblem.from_scenario(LinearScenario.join(models), Path())
    rows, results = marched(joined, backend)
    assert [found is None for found in results["members"]] == [False, False, True, False, False]
    assert np.isfinite(rows[-1]["state"][:, [0, 1, 3, 4]]).all()
    with joined.stepper(backend, joined.initial()).observe("time") as observed:
        assert joined.fault(observed) is None
        lost = dataclasses.replace(observed, arrays={"state": np.full((7, 5), np.nan)})
    assert joined.fault(lost) is not None


def test_those_that_differ_in_more_than_numbers_are_not_joined() -> None:
    models = members(CASES["matrix"])
    for section, change in (("time", {"dt": 0.5}), ("run", {"seed": 5}), ("output", {"frames": 3})):
        other = getattr(models[1], section).model_copy(update=change)
        assert LinearScenario.join([models[0], models[1].model_copy(update={section: other})]) is None
    powers = models[0].model_copy(update={"time": models[0].time.model_copy(update={"method": "power"})})
    assert LinearScenario.join([powers, powers]) is None
    noise = models[0].system.model_copy(update={"noise_matrix": [[1.0]] * 6})
    noisy = models[0].model_copy(update={"system": noise})
    assert LinearScenario.join([noisy, noisy]) is None


def test_what_may_differ_depends_on_the_method_and_the_size() -> None:
    def keys(n: int, method: str = "auto", **run: str) -> tuple[str, ...]:
        table = {
            "solver": "linear",
            "system": {"kind": "discrete", "matrix": {"generator": "random_stable", "size": n}},
            "initial": {"state": {"random": "normal"}},
            "time": {"steps": 100, "method": method},
            "run": run,
        }
        return tuple(LinearProblem.from_scenario(LinearScenario.model_validate(table), Path()).joined_by)

    assert keys(64) == ("constants", "system", "initial")
    assert keys(65) == ("initial",)
    assert keys(64, kernel="nvrtc") == ("initial",)
    assert keys(64, kernel="cublas") == ()
    assert keys(8, "power") == keys(8, "spectral") == ()


def test_a_run_of_several_is_not_taken_for_another() -> None:
    models = members(CASES["start"])
    joined = LinearScenario.join(models)
    decided = json.loads(json.dumps(JoinedProblem.from_scenario(joined, Path()).decided))
    assert JoinedProblem.from_scenario(joined, Path(), None, decided).decided == decided
    with pytest.raises(SimsuiteError, match="of other members"):
        JoinedProblem.from_scenario(LinearScenario.join(models[::-1]), Path(), None, decided)
    with pytest.raises(UsageError, match="several members of a sweep"):
        LinearProblem.from_scenario(models[0], Path(), None, decided)
    short = models[0].initial.model_copy(update={"state": [1.0]})
    wrong = [model.model_copy(update={"initial": short}) for model in models[:2]]
    with pytest.raises(UsageError, match="cannot be run together"):
        JoinedProblem.from_scenario(LinearScenario.join(wrong), Path())
