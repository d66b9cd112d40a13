"""The roads to CUDA: the same answers by each of them, at awkward sizes, and clear words for what they cannot take."""

import dataclasses
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from simsuite import routes
from simsuite.backends import open_backend
from simsuite.errors import DeviceError, LibraryMissing, UsageError
from simsuite.routes import ROADS, open_road, roads_of
from simsuite.routes.gbm.contract import Contract
from simsuite.routes.roads import FUNCTIONS, module_of

LESSONS = Path(routes.__file__).parent
SIZES = [(1, 1), (1, 31), (31, 33), (33, 2), (1000, 1500)]
PLACES = [(problem, road.name) for problem in FUNCTIONS for road in roads_of(problem)]
ON_GPU = {road.name for road in ROADS if road.on_gpu}


def reference_steps(u, steps, rx, ry):
    """The plate after so many steps, by a matrix for each direction; in float64."""
    u = u.astype(np.float64)
    ny, nx = u.shape
    inner = np.zeros(u.shape)
    inner[1:-1, 1:-1] = 1
    second = [np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1.0), -1) - 2 * np.eye(n) for n in (ny, nx)]
    for _ in range(steps):
        u = u + inner * (rx * (u @ second[1]) + ry * (second[0] @ u))
    return u


def place(array, road):
    """The array where the road works."""
    if road not in ON_GPU:
        return array
    import cupy

    return cupy.asarray(array)


def fetched(array):
    """An array of any library, on the host."""
    if isinstance(array, np.ndarray):
        return array
    import cupy

    return cupy.asarray(array.detach() if hasattr(array, "detach") else array).get()


def opened(problem, name):
    """The function of a road, with a GPU if it needs one."""
    try:
        if name in ON_GPU:
            open_backend("cuda")
        return open_road(problem, name)
    except (DeviceError, LibraryMissing) as reason:
        pytest.skip(str(reason))


def marked(places):
    return [pytest.param(*p, marks=pytest.mark.gpu) if p[1] in ON_GPU else pytest.param(*p) for p in places]


def of(problem):
    return marked([p for p in PLACES if p[0] == problem])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("problem", "road"), of("heat"))
def test_every_road_steps_the_plate(problem, road, dtype):
    advance = opened(problem, road)
    rng = np.random.default_rng()
    for shape in SIZES:
        u = rng.normal(300, 50, shape).astype(dtype)
        given = place(u, road)
        for steps in (0, 1, 7, 129) if shape[0] < 100 else (3,):
            found = fetched(advance(given, steps, 0.2, 0.25))
            assert found.dtype == dtype
            np.testing.assert_allclose(
                found, reference_steps(u, steps, 0.2, 0.25), rtol=1e-12 if dtype == "float64" else 3e-6
            )
        np.testing.assert_array_equal(fetched(given), u, err_msg="the plate that was passed has changed")


def exact_call(c):
    """The formula of Black and Scholes."""
    spread = c.volatility * math.sqrt(c.maturity)
    d1 = (math.log(c.spot / c.strike) + (c.rate + c.volatility**2 / 2) * c.maturity) / spread
    normal = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    return c.spot * normal(d1) - c.strike * c.discount * normal(d1 - spread)


# A call on the mean of 12 prices, one a month: S = K = 100, r = 0.05, volatility 0.2. By simsuite's own solver with
# Sobol points, to the last digit.
MONTHLY = 6.156041


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("problem", "road"), of("gbm"))
def test_every_road_prices_the_options(problem, road, dtype):
    payoffs = opened(problem, road)
    seed = int(np.random.default_rng().integers(1 << 31))
    n = 1 << (19 if road in ON_GPU else 16)
    for contract, exact in (
        (Contract(strike=104.0, steps=7), exact_call(Contract(strike=104.0))),
        (Contract(steps=12, asian=True), MONTHLY),
    ):
        out = place(np.full(n, np.nan, dtype), road)
        assert payoffs(contract, seed, out) is out
        found = fetched(out).astype(np.float64)
        z = (found.mean() - exact) / (found.std() / math.sqrt(n))
        assert abs(z) < 5, f"{contract}, seed {seed}: {found.mean()} is {z:.1f} standard errors from {exact}"
    for n in (1, 31, 33):
        out = place(np.full(n, np.nan, dtype), road)
        assert np.isfinite(fetched(payoffs(Contract(steps=3), seed, out))).all()


def philox(block, path, seed):
    """Words of Philox4x32-10 by Python's integers, for arrays of blocks and paths."""
    c = [np.uint64(block) + 0 * path, 0 * path, path & np.uint64(0xFFFFFFFF), path >> np.uint64(32)]
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> half) ^ c[1] ^ k[0], b & low, (a >> half) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return c


def philox_payoffs(c, seed, n):
    """What the roads with Philox compute, in float64."""
    path = np.arange(n, dtype=np.uint64)
    x, total = np.zeros(n), np.zeros(n)
    for block in range(-(-c.steps // 4)):
        w = philox(block, path, seed)
        z = []
        for first, second in ((w[0], w[1]), (w[2], w[3])):
            radius = np.sqrt(-2 * np.log((first.astype(np.float64) + 0.5) * 2.0**-32))
            angle = second.astype(np.uint32).view(np.int32) * (math.pi * 2.0**-31)
            z += [radius * np.cos(angle), radius * np.sin(angle)]
        for j in range(min(4, c.steps - 4 * block)):
            x += c.drift + c.deviation * z[j]
            total += np.exp(x)
    price = c.spot * (total / c.steps if c.asian else np.exp(x))
    return c.discount * np.maximum(price - c.strike, 0)


@pytest.mark.parametrize(("problem", "road"), of("gbm"))
def test_roads_with_philox_have_the_same_paths(problem, road):
    if next(r for r in ROADS if r.name == road).words != "Philox":
        pytest.skip("another generator")
    payoffs = opened(problem, road)
    seed = int(np.random.default_rng().integers(1 << 63))
    for contract in (Contract(steps=9, strike=80.0), Contract(steps=6, asian=True, strike=80.0)):
        out = fetched(payoffs(contract, seed, place(np.zeros(1001), road)))
        off = np.abs(out - philox_payoffs(contract, seed, 1001))
        # the special function unit is inaccurate where a logarithm is close to 0
        assert np.quantile(off, 0.98) < 1e-3
        assert off.max() < 0.05


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("problem", "road"), of("matmul"))
def test_every_road_multiplies(problem, road, dtype):
    product = opened(problem, road)
    rng = np.random.default_rng()
    for m, k, n in ((1, 1, 1), (2, 31, 1), (33, 1, 31), (65, 67, 129), (1000, 150, 1500)):
        a, b = rng.uniform(-1, 1, (m, k)).astype(dtype), rng.uniform(-1, 1, (k, n)).astype(dtype)
        found = fetched(product(place(a, road), place(b, road)))
        exact = a.astype(np.float64) @ b.astype(np.float64)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, atol=(1e-13 if dtype == "float64" else 1e-5) * math.sqrt(k) * 4)


@pytest.mark.parametrize(("problem", "road"), PLACES)
def test_a_missing_library_is_told_in_a_line(problem, road, monkeypatch):
    needs = next(r for r in ROADS if r.name == road).needs
    if not needs:
        pytest.skip("needs nothing besides")
    monkeypatch.setattr("simsuite.routes.roads._installed", lambda library: library != needs[0][0])
    with pytest.raises(
        LibraryMissing, match=f"^{road} needs {needs[0][0]}, which is not installed: pip install "
    ) as told:
        open_road(problem, road)
    assert "\n" not in str(told.value)


def test_roads_that_are_not_there():
    with pytest.raises(UsageError, match="no road 'cuda' leads to heat; there are numpy, numba-cpu, "):
        open_road("heat", "cuda")
    with pytest.raises(UsageError, match="no problem 'wave' here; there are heat, gbm, matmul"):
        open_road("wave", "numpy")


@pytest.mark.parametrize("road", ["numpy", "numba-cpu"])
def test_roads_on_the_host_refuse_what_they_cannot_take(road):
    with pytest.raises(UsageError, match=r"a builtins.list is not an array of NumPy's"):
        open_road("heat", road)([[1.0]], 1, 0.1, 0.1)
    with pytest.raises(UsageError, match="2 dimensions and type float32 or float64 is needed, not 1 and int64"):
        open_road("matmul", road)(np.arange(3), np.arange(3))
    with pytest.raises(UsageError, match="3 x 4 and one of 3 x 4 have no product"):
        open_road("matmul", road)(np.ones((3, 4)), np.ones((3, 4)))
    with pytest.raises(UsageError, match="of type float32 and float64; one type is needed"):
        open_road("matmul", road)(np.ones((3, 4), np.float32), np.ones((4, 3)))


def refused(problem, function, array):
    """Call the function of a road with an array that it cannot take."""
    if problem == "heat":
        return function(array, 1, 0.1, 0.1)
    return function(Contract(), 1, array) if problem == "gbm" else function(array, array)


@pytest.mark.gpu
@pytest.mark.parametrize(("problem", "road"), [p for p in PLACES if p[1] in ON_GPU])
def test_roads_on_the_gpu_refuse_what_they_cannot_take(problem, road):
    function = opened(problem, road)
    import cupy

    shape = (8,) if problem == "gbm" else (8, 8)
    with pytest.raises((DeviceError, UsageError), match=r"not in the memory of a GPU|float"):
        refused(problem, function, np.zeros(shape))
    with pytest.raises(
        UsageError,
        match=r"(cupy\.ndarray|torch\.Tensor) has numbers of type int32; the kernel takes float32 or float64",
    ):
        refused(problem, function, cupy.zeros(shape, cupy.int32))
    with pytest.raises(UsageError, match=r"strides .* not those of an array in C order"):
        refused(problem, function, cupy.zeros((16,))[::2] if problem == "gbm" else cupy.zeros((8, 16))[:, ::2])
    with pytest.raises(UsageError, match="dimensions are needed"):
        refused(problem, function, cupy.zeros((2, 2, 2)))


@pytest.mark.gpu
def test_a_probe_is_written_into_mapped_memory():
    opened("heat", "pycuda-arrays")
    import cupy

    from simsuite.routes.heat.pycuda_arrays import probe

    u = np.random.default_rng().normal(300, 50, (33, 40))
    seen, seconds = probe(cupy.asarray(u), 25, 0.2, 0.25, 7, 11)
    expected = [reference_steps(u, k, 0.2, 0.25)[7, 11] for k in range(1, 26)]
    np.testing.assert_allclose(seen, expected, rtol=1e-12)
    assert 0 < seconds < 1


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 1000, (1 << 21) + 7])
def test_payoffs_come_to_the_host_part_by_part(n):
    opened("gbm", "pycuda-arrays")
    import cupy

    from simsuite.routes.gbm.pycuda_arrays import payoffs, payoffs_on_host

    contract = Contract(steps=5)
    host, seconds = payoffs_on_host(contract, 3, n)
    np.testing.assert_array_equal(host, payoffs(contract, 3, cupy.empty(n, cupy.float32)).get())
    assert seconds > 0


@pytest.mark.gpu
def test_the_price_is_reduced_on_the_device():
    payoffs = opened("gbm", "cupy-elementwise")
    import cupy

    from simsuite.routes.gbm.cupy_elementwise import price

    out = payoffs(Contract(steps=4), 7, cupy.empty(10_001, cupy.float32)).astype(float)
    found, error = price(out)
    assert found == pytest.approx(float(out.mean()), rel=1e-12)
    assert error == pytest.approx(float(out.std(ddof=1)) / math.sqrt(out.size), rel=1e-9)


def test_lessons_are_short():
    long = []
    for problem, name in PLACES:
        road = next(r for r in ROADS if r.name == name)
        lines = (LESSONS / problem / f"{road.modules[problem]}.py").read_text(encoding="utf-8").splitlines()
        if len(lines) > 80:
            long.append(f"{problem}/{road.modules[problem]}: {len(lines)} lines")
    assert not long


def test_the_contract_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Contract().spot = 1.0
    assert re.fullmatch(r"0\.00011\d+", str(Contract(steps=252).drift))
    assert module_of("heat", "numpy").__name__.endswith("numpy_slices")


def test_kernels_of_heat_in_the_cudasim():
    simulated()
    from numba import cuda, float32

    from simsuite.routes.heat import numba_cuda, numba_shared

    u = np.random.default_rng(1).normal(300, 50, (9, 33)).astype(np.float32)
    for kernel, block in (
        (numba_cuda.step, (16, 4)),
        (numba_shared.make_step(float32), (numba_shared.TX, numba_shared.TY)),
    ):
        v = cuda.device_array(u.shape, u.dtype)
        kernel[(-(-33 // block[0]), -(-9 // block[1])), block](cuda.to_device(u), v, np.float32(0.2), np.float32(0.25))
        np.testing.assert_allclose(v.copy_to_host(), reference_steps(u, 1, 0.2, 0.25), rtol=3e-6)


def test_kernels_of_matmul_in_the_cudasim():
    simulated()
    from numba import cuda, float64

    from simsuite.routes.matmul import numba_cuda, numba_shared

    rng = np.random.default_rng(2)
    a, b = rng.uniform(-1, 1, (5, 19)), rng.uniform(-1, 1, (19, 7))
    c = cuda.to_device(np.zeros((5, 7)))
    numba_cuda.multiply[(1, 1), (8, 8)](*map(cuda.to_device, (a, b)), c)
    np.testing.assert_allclose(c.copy_to_host(), a @ b, atol=1e-13)
    c = cuda.to_device(np.zeros((5, 7)))
    numba_shared.make_kernel(float64)[(1, 1), (16, 16)](*map(cuda.to_device, (a, b)), c)
    np.testing.assert_allclose(c.copy_to_host(), a @ b, atol=1e-13)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_kernels_of_paths_in_the_cudasim():
    simulated()
    from numba import cuda, float64

    from simsuite.routes.gbm import numba_philox

    for contract in (Contract(steps=6, strike=80.0), Contract(steps=5, asian=True, strike=80.0)):
        out = cuda.to_device(np.zeros(17))
        market = (contract.spot, contract.strike, contract.drift, contract.deviation, contract.discount)
        numba_philox.make_kernel(float64, contract.asian)[1, 32](out, *market, contract.steps, np.uint64(2**40 + 7))
        np.testing.assert_allclose(out.copy_to_host(), philox_payoffs(contract, 2**40 + 7, 17), atol=2e-4)


def simulated():
    if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
        pytest.skip("needs NUMBA_ENABLE_CUDASIM=1")
