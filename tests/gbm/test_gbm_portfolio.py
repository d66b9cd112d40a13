"""Value at risk, expected shortfall and exposure: against closed forms, the very sample, and on all devices."""

from __future__ import annotations

import io
import math
import re
import struct

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run
from test_gbm_exactness import assert_same_bits, results_by_time_step, simulated

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program
from simsuite.errors import ScenarioError
from simsuite.solvers.gbm.closed_forms import (
    european,
    expected_shortfall,
    forward_exposure,
    value_at_risk,
)
from simsuite.solvers.gbm.paths.portfolio_launches import EXPOSURE, RISK, exposure_macros, risk_macros
from simsuite.solvers.gbm.portfolio import portfolio_cpu
from simsuite.solvers.gbm.statistics.intervals import Z95
from simsuite.solvers.gbm.statistics.quantile_sketch import BITS, FINE, FURTHEST, LOWEST, of_positive, of_signed
from simsuite.solvers.gbm.statistics.statistics_scalars import bin_of

__all__ = ["host_cuda"]  # a fixture
pytestmark = pytest.mark.usefixtures("one_thread")

LEVELS = [0.9, 0.99]
BOUND = 2.0**-BITS
PUT = {"style": "european", "payoff": "put", "strike": 95.0}


def held(count=1024, batch=None, steps=4, frames=3, precision="float64", antithetic=False, kernel="auto", seed=1):
    """Long and short positions in two assets, and in options on both."""
    return problem(
        run={"precision": precision, "kernel": kernel, "seed": seed},
        market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET | {"holding": 2.0}, {"spot": 40.0, "volatility": 0.4, "holding": -4.0}],
        time={"end": 1.5, "steps": steps},
        paths={"count": count, "antithetic": antithetic} | ({"batch": batch} if batch else {}),
        option=[
            PUT | {"holding": 3.0},
            CALL,
            ASIAN | {"asset": "B", "strike": 40.0, "average": "geometric", "holding": -1.5},
        ],
        output={"frames": frames, "store_paths": 3, "risk": {"levels": LEVELS}, "exposure": True},
    )


def owned(holding=1.0, **changes):
    """One asset and nothing else."""
    plain = {"asset": [ASSET | {"holding": holding}], "option": [], "output": {"risk": {"levels": LEVELS}}}
    return problem(**plain | changes)


# ---- the sketch


def test_bins_are_the_foremost_bits():
    rng = np.random.default_rng(1)
    values = rng.standard_normal(500) * 2.0 ** rng.integers(-40, 30, 500)
    special = [
        0.0,
        -0.0,
        2.0**LOWEST,
        np.nextafter(2.0**LOWEST, 0),
        -(2.0**16),
        np.nextafter(2.0**16, 0),
        5e-324,
        1e149,
    ]
    for v in (*values.tolist(), *special):
        (bits,) = struct.unpack("<q", struct.pack("<d", abs(v)))
        number = min(max((bits >> (52 - BITS)) - ((1023 + LOWEST) << BITS) + 1, 0), FURTHEST)
        within = (bits >> (52 - BITS - FINE)) & ((1 << FINE) - 1) if number else 0
        found = bin_of(v)
        assert (found[0], found[1] if number < FURTHEST else within) == (-number if v < 0 else number, within)


@pytest.mark.parametrize("n", [1, 2, 10, 1000, 50_000])
def test_sketches_keep_to_their_bound(n):
    rng, unit = np.random.default_rng(n), 128.0
    gains = unit * np.where(rng.random(n) < 0.1, -0.3, rng.standard_t(3, n) * 0.2 - 0.05)
    parts = []
    for part in np.array_split(rng.permutation(gains), 3):
        parts.append(np.zeros((3, 2 * FURTHEST + 1), np.int64))
        portfolio_cpu.tally(part / unit, len(part), parts[-1])
    signed, ordered = of_signed(sum(parts), unit), np.sort(gains)
    positive = of_positive(np.concatenate([[parts[0][0, : FURTHEST + 1].sum()], parts[0][0, FURTHEST + 1 :]]), unit)
    assert signed.n == n
    for q in (0.001, 0.01, 0.1, 0.5, 0.9):
        assert signed.quantile(q) == pytest.approx(np.quantile(ordered, q), rel=BOUND, abs=unit * 2.0**LOWEST)
        worst = ordered[: max(math.ceil(n * q), 1)]
        expected = (worst.sum() - (len(worst) - n * q) * worst[-1]) / (n * q)
        assert signed.lowest(n * q).total() / (n * q) == pytest.approx(expected, rel=BOUND)
        above = np.maximum(np.sort(np.array_split(np.random.default_rng(n).permutation(gains), 3)[0]), 0)
        assert positive.n == len(above)
    order = [signed.order_statistic(k) for k in range(0, n, max(n // 50, 1))]
    np.testing.assert_allclose(order, ordered[:: max(n // 50, 1)], rtol=BOUND, atol=unit * 2.0**LOWEST)


def test_a_value_that_comes_up_time_and_again_is_known_to_all_bits_that_are_kept():
    """And the mean of a whole bin."""
    table, rng = np.zeros((3, 2 * FURTHEST + 1), np.int64), np.random.default_rng(5)
    portfolio_cpu.tally(np.full(1000, -0.3), 1000, table)
    sketch = of_signed(table, 1.0)
    assert sketch.quantile(0.3) == pytest.approx(-0.3, rel=2.0 ** -(BITS + FINE))
    assert sketch.lowest(100).total() / 100 == pytest.approx(-0.3, rel=2.0 ** -(BITS + FINE))
    crowd = 1 + BOUND * (0.3 + 0.4 * rng.random(1000))
    table[:] = 0
    portfolio_cpu.tally(crowd, 1000, table)
    assert of_signed(table, 1.0).total() == pytest.approx(crowd.sum(), rel=2.0 ** -(BITS + FINE))
    assert of_signed(table, 1.0).squares(1.0) == pytest.approx(((crowd - 1) ** 2).sum(), rel=0.01)


def test_beyond_the_last_bin_nothing_is_said():
    table = np.zeros((3, 2 * FURTHEST + 1), np.int64)
    portfolio_cpu.tally(np.array([1.0, 2.0, 2.0**16, -1e200, math.nan]), 5, table)
    assert table[0].sum() == 3
    assert of_signed(table, 1.0).quantile(0.5) == pytest.approx(2.0, rel=BOUND)
    assert of_signed(table, 1.0).quantile(1.0) == math.inf


# ---- risk


@pytest.mark.parametrize("holding", [1.0, -2.0])
@pytest.mark.parametrize("antithetic", [False, True])
def test_risk_of_a_large_sample(holding, antithetic):
    """Short, the loss is in the upper tail; of pairs, errors are at least those that there are."""
    n = 1 << 20
    found = run(owned(holding, paths={"count": n, "antithetic": antithetic}), CpuBackend())[0]["risk"]["levels"]["0.99"]
    s, tail, side = 0.2, 0.01, math.copysign(1.0, holding)
    quantile = 100 - value_at_risk(100.0, 0.05, s, 1.0, 0.99 if holding > 0 else tail)
    shortfall = expected_shortfall(100.0, 0.05, s, 1.0, 0.99)
    if holding < 0:  # all of the mean but what is below the 99 % quantile
        mean = 100 * math.exp(0.05)
        shortfall = (mean - 0.99 * (100 - expected_shortfall(100.0, 0.05, s, 1.0, tail))) / tail - 100
    z = 2.3263478740408408
    error = quantile * s * math.sqrt(tail * (1 - tail) / n) * math.sqrt(2 * math.pi) * math.exp(z * z / 2)
    assert abs(found["value_at_risk"] / abs(holding) - side * (100 - quantile)) < 4 * error
    low, high = found["value_at_risk_ci95"]
    wider = math.sqrt(2) if antithetic else 1
    assert (high - low) / 3.92 == pytest.approx(abs(holding) * error * wider, rel=0.15)
    assert found["expected_shortfall"] / abs(holding) == pytest.approx(
        shortfall, abs=4 * found["expected_shortfall_standard_error"] / abs(holding)
    )
    assert found["expected_shortfall"] > found["value_at_risk"]


@pytest.mark.parametrize("antithetic", [False, True])
def test_risk_of_options_is_that_of_the_very_sample(antithetic):
    """A put on what is held: most losses are the same, the price of the put and what it leaves uncovered."""
    n = 20_000
    p = owned(paths={"count": n, "antithetic": antithetic}, option=[PUT | {"holding": 1.0}, CALL | {"holding": -0.5}])
    results, state = run(p, CpuBackend())
    price = 100 * np.exp2(state["x"][0] + p.dynamics.centre()[0, -1])
    options = results["options"]
    paid = options["option1"]["price"] - 0.5 * options["option2"]["price"]
    loss = np.sort(100 + paid - price - np.maximum(95 - price, 0) + 0.5 * np.maximum(price - 100, 0))[::-1]
    assert results["risk"]["value"] == pytest.approx(100 + paid)
    each = math.exp(-0.05) * (np.maximum(95 - price, 0) - 0.5 * np.maximum(price - 100, 0))
    each = each.reshape(-1, p.width).mean(axis=1)
    error = results["risk"]["value_standard_error"]
    assert error == pytest.approx(each.std(ddof=1) / math.sqrt(len(each)), rel=1e-4)
    for q in LEVELS:
        found = results["risk"]["levels"][f"{q:g}"]
        assert found["value_at_risk"] == pytest.approx(np.quantile(loss, q), abs=1e-5)  # where there is no spread
        tail = loss[: round(n * (1 - q))]
        assert found["expected_shortfall"] == pytest.approx(tail.mean(), abs=1e-5)
        excess = np.maximum(loss - np.quantile(loss, q), 0)
        scatter = excess.std() / math.sqrt(n / p.width) / (1 - q)
        assert found["expected_shortfall_standard_error"] == pytest.approx(error + scatter, abs=1e-4)


def test_an_option_held_alone_can_lose_its_price_and_no_more():
    p = problem(option=[CALL | {"holding": 10.0}], output={"risk": {"levels": [0.75, 0.9]}}, paths={"count": 1 << 16})
    results, _ = run(p, CpuBackend())
    expected, risk = european(100, 100, 0.05, 0.05, 0.2, 1.0, "call"), results["risk"]
    assert risk["value"] == pytest.approx(10 * expected, abs=4 * risk["value_standard_error"])
    found = risk["levels"]["0.9"]
    assert found["value_at_risk"] == found["expected_shortfall"] == pytest.approx(risk["value"])
    low, high = found["value_at_risk_ci95"]
    assert high - low == pytest.approx(2 * 1.959964 * risk["value_standard_error"], rel=1e-6)


def test_few_paths_say_little_and_one_nothing():
    few = run(owned(paths={"count": 30}), CpuBackend())[0]["risk"]["levels"]["0.99"]
    assert few["value_at_risk_ci95"][1] is None
    one = run(owned(paths={"count": 1}), CpuBackend())[0]["risk"]["levels"]["0.9"]
    assert one["value_at_risk"] == pytest.approx(one["expected_shortfall"])
    assert one["expected_shortfall_standard_error"] is None
    assert one["value_at_risk_ci95"] == [None, None]


def test_what_is_known_in_expectation_only_has_no_risk():
    """Continuous barriers weigh payoffs by the odds of survival. That they are priced does not matter to the others."""
    barrier = {
        "style": "barrier",
        "payoff": "call",
        "strike": 100.0,
        "direction": "down",
        "knock": "out",
        "level": 90.0,
    }
    watched = barrier | {"monitoring": "continuous"}
    with pytest.raises(ScenarioError, match="cannot be computed yet") as refused:
        owned(option=[watched | {"holding": 1.0}])
    assert 'or take monitoring = "discrete"' in str(refused.value.mistakes[0].help)
    owned(option=[barrier | {"monitoring": "discrete", "holding": 1.0}])
    low = {
        "style": "lookback",
        "payoff": "put",
        "strike_type": "fixed",
        "strike": 95.0,
        "monitoring": "continuous",
        "holding": 1.0,
    }
    found, alone = (
        run(owned(option=options, time={"steps": 2}), CpuBackend())[0] for options in ([watched, low], [low])
    )
    assert found["risk"] == alone["risk"]


def test_many_options_are_not_nested_too_deeply():
    p = problem(option=[CALL | {"strike": 50.0 + k, "holding": 1.0} for k in range(300)], output={"risk": {}})
    log = io.StringIO()
    compile_program(RISK, risk_macros(p), "sm_90", log)
    results, _ = run(p, CpuBackend())
    assert results["risk"]["value"] > 0


# ---- exposure


def test_exposure_is_that_of_the_very_sample():
    n = 3000
    p = problem(
        asset=[ASSET | {"holding": -1.0}, {"spot": 40.0, "volatility": 0.4, "holding": 2.4}],
        time={"steps": 4},
        option=[],
        paths={"count": n, "antithetic": True},
        output={"frames": 5, "store_paths": n, "exposure": True},
    )
    found, (results, state) = outcome(p, CpuBackend()), run(p, CpuBackend())
    prices = np.exp2(state["paths"] + np.pad(p.dynamics.centre(), ((0, 0), (1, 0))).T[:, :, None])
    values = -100 * prices[:, 0] + 96 * prices[:, 1]
    for step in range(1, 5):
        pairs = values[step].reshape(-1, 2)
        for name, part in (("expected", np.maximum(pairs, 0)), ("negative", np.maximum(-pairs, 0))):
            assert found[f"exposure_{name}@{step}"] == pytest.approx(part.mean(), rel=1e-12)
            error = part.mean(1).std(ddof=1) / math.sqrt(n / 2)
            assert found[f"exposure_{name}_standard_error@{step}"] == pytest.approx(error, rel=1e-11)
        expected = [np.quantile(np.maximum(values[step], 0), q) for q in (0.95, 0.99)]
        np.testing.assert_allclose(found[f"exposure_potential@{step}"], expected, rtol=BOUND)
    end, peak = results["exposure"]["end"], results["exposure"]["peak"]
    assert end["expected"] == found["exposure_expected@4"]
    assert peak["expected"] == max(found[f"exposure_expected@{step}"] for step in range(1, 5))
    assert peak["negative"] == found[f"exposure_negative@{round(4 * peak['time'])}"]
    assert list(end["potential"]) == ["0.95", "0.99"]
    first = p.rows("time", copied(p.stepper(CpuBackend(), p.initial()).observe("time")))
    assert first["exposure_expected"] == first["exposure_expected_standard_error"] == 0
    assert first["exposure_negative"] == pytest.approx(4.0)
    np.testing.assert_array_equal(first["exposure_potential_high"], [0, 0])


# ---- how often intervals hold the truth


@pytest.mark.parametrize("antithetic", [False, True])
def test_intervals_hold_the_truth_as_often_as_they_say(antithetic):
    """Of a price held against money owed, which bears interest."""
    assets = [ASSET | {"holding": 1.0}, {"spot": 95.0, "volatility": 0.0, "holding": -1.0}]
    owed = 95 * math.exp(0.05)
    hits = {name: [] for name in ("expected", "negative", "potential", "value_at_risk", "expected_shortfall")}
    for seed in range(1, 111):
        p = problem(
            run={"seed": seed},
            asset=assets,
            time={"steps": 2},
            option=[],
            paths={"count": 4096, "antithetic": antithetic},
            output={"frames": 3, "store_paths": 0, "exposure": True, "risk": {"levels": LEVELS}},
        )
        found = outcome(p, CpuBackend())
        for step, t in ((1, 0.5), (2, 1.0)):
            exact = [forward_exposure(100, owed, 0.05, 0, 0.05, 0.2, t, 1, q) for q in LEVELS]
            for name, truth in (("expected", exact[0].expected), ("negative", exact[0].negative)):
                error = found[f"exposure_{name}_standard_error@{step}"]
                hits[name].append(abs(found[f"exposure_{name}@{step}"] - truth) < Z95 * error)
            low, high = found[f"exposure_potential_low@{step}"], found[f"exposure_potential_high@{step}"]
            assert np.all((low < found[f"exposure_potential@{step}"]) & (found[f"exposure_potential@{step}"] < high))
            truth = np.array([e.potential for e in exact])
            hits["potential"].extend((low < truth) & (truth < high))
        interest = owed - 95
        truth = np.array([value_at_risk(100, 0.05, 0.2, 1, q) + interest for q in LEVELS])
        hits["value_at_risk"].extend((found["value_at_risk_low"] < truth) & (truth < found["value_at_risk_high"]))
        truth = np.array([expected_shortfall(100, 0.05, 0.2, 1, q) + interest for q in LEVELS])
        reach = Z95 * found["expected_shortfall_standard_error"]
        hits["expected_shortfall"].extend(abs(found["expected_shortfall"] - truth) < reach)
    shares = {name: np.mean(of) for name, of in hits.items()}
    assert all(0.88 < share <= (1 if antithetic else 0.99) for share in shares.values()), shares
    assert max(shares["expected"], shares["negative"]) < 0.99


# ---- what a run leaves


def test_rows_totals_and_memory_are_as_announced():
    allocated = []

    class Counting(CpuBackend):
        def array(self, host):
            allocated.append(super().array(host))
            return allocated[-1]

        def zeros(self, shape, dtype):
            allocated.append(super().zeros(shape, dtype))
            return allocated[-1]

    p = held(count=1500, batch=1024)
    stepper = p.stepper(Counting(), p.initial())
    assert p.device_bytes() == sum(a.nbytes for a in allocated) + 8 * p.passing_arrays * p.batch
    stepper.advance(p.clock.end)
    observed = copied(stepper.observe("time"))
    rows, totals = p.rows("time", observed), p.totals(observed)
    growing = {v.name: v for v in p.layout.variables if "time" in v.dims}
    fixed = {v.name: v for v in p.layout.variables if v.values is None and "time" not in v.dims}
    assert (rows.keys(), totals.keys()) == ({*growing, "time"}, fixed.keys())
    for name, variable in (growing | fixed).items():
        shape = tuple(p.layout.sizes[d] for d in variable.dims if d != "time")
        assert (rows | totals)[name].shape == shape, name
    results = p.results(observed)
    assert [f["value_at_risk"] for f in results["risk"]["levels"].values()] == totals["value_at_risk"].tolist()
    assert results["exposure"]["end"]["expected"] == rows["exposure_expected"]
    assert {v.attrs.get("confidence_level") for v in p.layout.variables if v.name.endswith("_low")} == {"0.95"}


def test_nothing_is_kept_that_nobody_asked_for():
    p = problem(asset=[ASSET | {"holding": 1.0}])
    assert not {"risk", "exposure", "exposure_counts"} & p.initial().arrays.keys()
    stepper = p.stepper(CpuBackend(), p.initial())
    assert p.results(copied(stepper.observe("time"))).keys() == {"paths", "options", "assets"}
    half = held(count=100)
    stepper = half.stepper(CpuBackend(), half.initial())
    stepper.advance(2)
    assert half.results(copied(stepper.observe("time"))).keys() == {"paths", "options", "assets", "assets_time"}


@pytest.mark.parametrize("antithetic", [False, True])
def test_batches_and_cuts_change_nothing(backend, antithetic):
    if simulated(backend):
        pytest.skip("batches have 1024 paths at least, which take long")
    count = 3000
    expected = results_by_time_step(held(count, antithetic=antithetic), backend)
    assert {"value_at_risk", "expected_shortfall", "exposure_potential@2", "exposure_expected@4"} < expected.keys()
    found = results_by_time_step(held(count, 1024, antithetic=antithetic), backend, [1, 3, 1, 1])
    assert_same_bits({name: a for name, a in found.items() if name in expected}, expected)


@pytest.mark.parametrize("batch", [None, 1024])
def test_restarting_changes_nothing(backend, batch):
    p = held(20 if simulated(backend) else 1500, batch)
    expected = outcome(p, backend)
    stepper = p.stepper(backend, p.initial())
    for step in range(1, p.clock.end + 1):
        stepper.advance(1)
        if simulated(backend) and step != 3:
            continue
        left = outcome(p, backend, start=copied(stepper.snapshot())) if step < p.clock.end else {}
        assert_same_bits(left, {n: a for n, a in expected.items() if n in left})
        assert "state risk" in left or step == p.clock.end


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "antithetic", "tolerance"), [("float64", False, 1e-9), ("float32", True, 2e-3)])
def test_devices_agree(backend, precision, antithetic, tolerance):
    """But for round-off, by which a value may be in the next bin."""
    n = 38 if simulated(backend) else 100_000
    expected = outcome(held(n, precision=precision, antithetic=antithetic), CpuBackend())
    for kernel in ["auto"] if simulated(backend) else ["numba", "nvrtc"]:
        found = outcome(held(n, precision=precision, antithetic=antithetic, kernel=kernel), backend)
        assert found.keys() == expected.keys()
        for name, a in expected.items():
            if name == "price_histogram":
                assert np.abs(found[name] - a).sum() <= 1e-3 * a.sum()
            elif name.startswith(("exposure", "value", "expected", "price", "portfolio")):
                np.testing.assert_allclose(found[name], a, rtol=tolerance, atol=1e-9, err_msg=name)
        for name in ("state risk", "state exposure_counts"):
            counts, others = (o[name][..., :] if "exp" in name else o[name][0] for o in (found, expected))
            assert counts.sum() == others.sum()
            moved = np.abs(np.cumsum(counts, axis=-1) - np.cumsum(others, axis=-1)).max()
            assert moved <= (0 if precision == "float64" and n < 100 else 1 if precision == "float64" else n // 20), (
                name
            )


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
def test_launches_and_batches_change_nothing(backend, monkeypatch):
    found = []
    for batch, blocks in ((None, 4), (143_360, 1), (8192, 7)):
        monkeypatch.setattr("simsuite.solvers.gbm.paths.portfolio_launches._BLOCKS", blocks)
        found.append(results_by_time_step(held(10**6, batch), backend))
    for other in found[1:]:
        assert_same_bits({name: a for name, a in other.items() if name in found[0]}, found[0])


# ---- CUDA C++


@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("antithetic", [False, True])
def test_programs_compile_without_spills(precision, antithetic):
    p = held(precision=precision, antithetic=antithetic)
    for source, macros in ((RISK, risk_macros(p)), (EXPOSURE, exposure_macros(p))):
        log = io.StringIO()
        compile_program(source, macros, "sm_90", log)
        assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}


@pytest.mark.parametrize("real", ["float64", "float32"])
def test_readable_kernels_compile_without_spills(real):
    from numba import types
    from sm90 import compile_sm90

    from simsuite.solvers.gbm.portfolio import portfolio_cuda

    i8, f8 = types.int64, types.float64
    signatures = {
        "tally": (f8[::1], i8, i8[:, ::1]),
        "expose": (getattr(types, real)[:, ::1], i8, f8[:, :, ::1], i8, f8[::1], i8, i8[:, :, ::1], i8[::1]),
    }
    for name, signature in signatures.items():
        ptx, info = compile_sm90(getattr(portfolio_cuda, name), signature)
        assert info["spill_bytes"] == info["stack_bytes"] == 0
        assert ".cas." not in ptx  # integer atomics, not loops that imitate them


@pytest.mark.parametrize("antithetic", [False, True])
def test_programs_do_what_the_kernels_do(host_cuda: HostCuda, antithetic):
    """The sources themselves, run on the host: the same counts, and sums to round-off."""
    p, n = held(count=1500, antithetic=antithetic), 1500
    state = run(p, CpuBackend())[1]
    arrays = {name: np.array(a) for name, a in state.items()}
    for name in ("risk", "exposure", "exposure_counts"):
        arrays[name][:] = 0
    macros = risk_macros(p)
    tally = host_cuda.program(RISK, macros).launcher("tally", 3, int(macros["THREADS"]))
    tally(state["x"], state["kept"], np.uint64(n), np.uint32(n), p.end_growth, arrays["risk"])
    np.testing.assert_array_equal(arrays["risk"][0], state["risk"][0])
    np.testing.assert_allclose(arrays["risk"][1:].sum(1), state["risk"][1:].sum(1), rtol=1e-5)
    macros = exposure_macros(p)
    expose = host_cuda.program(EXPOSURE, macros).launcher("expose", (2, 1), int(macros["THREADS"]))
    frames = _frames_of(p)
    expose(
        state["x"], np.uint64(n), np.uint32(n), frames[-1], arrays["exposure"][-1],
        arrays["exposure_counts"][p.slot(len(frames) - 1)],
    )  # fmt: skip
    slot = p.slot(len(frames) - 1)
    np.testing.assert_array_equal(arrays["exposure_counts"][slot], state["exposure_counts"][slot])
    observed = [p.rows("time", _last_row(p, state | extra)) for extra in ({}, arrays)]
    for name in ("exposure_expected", "exposure_negative_standard_error"):
        assert observed[1][name] == pytest.approx(observed[0][name], rel=1e-12)


def _frames_of(p):
    from simsuite.solvers.gbm.paths.tables import tables

    return tables(p, p.dtype)["frames"]


def _last_row(p, state):
    from simsuite.core import Snapshot

    slot = p.slot(len(p.frame_steps) - 1)
    arrays = {name: state[name][slot] for name in ("moments", "histogram", "exposure_counts")}
    return Snapshot(p.clock.end, arrays | {"exposure": state["exposure"][-1], "done": state["done"]})


def test_an_exposure_that_no_path_shows_has_an_error():
    """Of a share less a debt by the law of its price; of two shares it is not known; of what is held alone it is 0."""
    share, debt = ASSET | {"holding": 1.0}, {"spot": 50.0, "volatility": 0.0, "holding": -1.0}
    short = ASSET | {"spot": 10.0, "holding": -1.0}
    errors = []
    for assets in ([share, debt], [share, short], [share]):
        p = problem(market={"rate": 0.0}, asset=assets, paths={"count": 1000}, option=[], output={"exposure": True})
        end = run(p, CpuBackend())[0]["exposure"]["end"]
        assert end["negative"] == 0.0
        errors.append(end["negative_standard_error"])
    exact = 9.4e-4
    assert exact / 3 < errors[0] < 20 * exact
    assert errors[1:] == [None, 0.0]
