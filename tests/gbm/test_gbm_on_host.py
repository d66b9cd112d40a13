"""The CUDA C++ of Monte Carlo, run on the CPU from end to end, against the kernels for CPUs: see cuda_host.py.

What a GPU has besides, approximations of its special function unit, is replaced by functions of the C library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from gbm_problems import ASIAN, ASSET, CALL, outcome, problem, two_assets

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.gbm.paths.launches_nvrtc import is_dense, looks_on_the_way, paths_each

pytestmark = pytest.mark.usefixtures("one_thread")

__all__ = ["host_cuda"]  # a fixture
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0, "direction": "down", "knock": "out", "level": 90.0}
WATCHED = {"monitoring": "continuous", "greeks": True}
CASES: dict[str, dict[str, Any]] = {
    "an end": {"output": {"frames": 2, "store_paths": 7}},
    "Greeks": {"option": [ASIAN | {"greeks": True}, CALL | {"greeks": True}]},
    "pairs": {"paths": {"count": 300, "antithetic": True}},
    "bridges": {"option": [BARRIER, BARRIER | WATCHED]},
    "jumps": {"asset": [ASSET | {"jumps": {"intensity": 1.0, "mean": -0.1, "deviation": 0.15}}]},
    "a scheme": {"time": {"steps": 13, "scheme": "milstein"}},
    "an odd row": {"paths": {"count": 33}, "output": {"frames": 14, "store_paths": 33}},
    "a whole row": {"paths": {"count": 36}, "output": {"frames": 14, "store_paths": 36}},
    "exercise": {
        "option": [{"style": "american", "payoff": "put", "strike": 105.0}],
        "paths": {"count": 300, "regression": 500},
    },
    "batches": {"paths": {"count": 1500, "batch": 1024}},
}
CASES_OF = {
    "mixed": ("Greeks", "a whole row"),
    "float32": ("an end", "bridges", "jumps", "an odd row", "a whole row", "exercise"),
}


def assert_agreement(p: Any, host: HostCuda, tolerance: float) -> None:
    stepper = p.stepper(host, p.initial())
    assert stepper.chosen == {"kernel": "nvrtc"}
    found, expected = outcome(p, host), outcome(p, CpuBackend())
    assert found.keys() == expected.keys()
    for name, a in expected.items():
        if a.dtype.kind == "f" and not name.startswith("state"):
            binned = "quantile" in name or "std_standard_error" in name  # a last digit may lead to the next bin
            loose = 0.05 if binned else tolerance
            np.testing.assert_allclose(found[name], a, rtol=loose, atol=loose, err_msg=name)
    assert found["state histogram"].sum() == expected["state histogram"].sum()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-11), ("float32", 5e-6), ("mixed", 5e-6)])
def test_programs_find_what_kernels_for_cpus_do(
    host_cuda: HostCuda, precision: str, tolerance: float, case: str
) -> None:
    if case not in CASES_OF.get(precision, CASES):
        pytest.skip("the others show what differs by precision: how sums are kept, how many paths a thread has")
    scenario = {"time": {"steps": 13}, "paths": {"count": 300}, "output": {"frames": 4, "store_paths": 7}} | CASES[case]
    assert_agreement(problem(run={"precision": precision}, **scenario), host_cuda, tolerance)


def test_programs_for_several_assets_do_too(host_cuda: HostCuda) -> None:
    assert_agreement(two_assets(count=1200), host_cuda, 1e-11)


def test_which_programs_there_are() -> None:
    """That the cases above are of different ones."""
    end, odd, whole = (
        problem(run={"precision": "float32"}, **({"time": {"steps": 13}} | CASES[case]))
        for case in ("an end", "an odd row", "a whole row")
    )
    assert not looks_on_the_way(end)
    assert not is_dense(end)
    assert is_dense(odd)
    assert paths_each(odd) == 1
    assert is_dense(whole)
    assert paths_each(whole) == 4
