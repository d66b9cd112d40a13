"""The roads that Numba's simulator takes, which classes without a GPU use (NUMBA_ENABLE_CUDASIM=1, the id cudasim)."""

import math

import numpy as np
import pytest
from conftest import SIMULATING
from scipy.stats import norm

from simsuite.errors import UsageError
from simsuite.routes import open_road
from simsuite.routes.gbm.contract import Contract

pytestmark = pytest.mark.skipif(not SIMULATING, reason="needs NUMBA_ENABLE_CUDASIM=1")


def on_device(array):
    from numba import cuda

    return cuda.to_device(array)


@pytest.mark.parametrize("road", ["numba-cuda", "numba-shared"], ids=lambda road: f"cudasim-{road}")
def test_a_wave_of_the_plate_decays_as_it_does_in_theory(road):
    """sin(pi x) sin(2 pi y) is an eigenvector of a step, by 1 - 4 rx sin²(pi / 2n) - 4 ry sin²(2 pi / 2m)."""
    (ny, nx), steps, rx, ry = (9, 35), 2, 0.2, 0.15
    wave = np.outer(np.sin(2 * math.pi * np.arange(ny) / (ny - 1)), np.sin(math.pi * np.arange(nx) / (nx - 1)))
    factor = 1 - 4 * rx * math.sin(math.pi / 2 / (nx - 1)) ** 2 - 4 * ry * math.sin(math.pi / (ny - 1)) ** 2
    found = open_road("heat", road)(on_device(wave), steps, rx, ry).copy_to_host()
    assert np.allclose(found, factor**steps * wave, atol=1e-14)


@pytest.mark.parametrize("road", ["numba-cuda", "numba-shared"], ids=lambda road: f"cudasim-{road}")
def test_products_are_those_of_numpy(road):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(19, 35)), rng.normal(size=(35, 9))
    found = open_road("matmul", road)(on_device(a), on_device(b)).copy_to_host()
    assert np.allclose(found, a @ b, atol=1e-13)
    with pytest.raises(UsageError, match="have no product"):
        open_road("matmul", road)(on_device(a), on_device(a))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("asian", [False, True], ids=["cudasim-last", "cudasim-mean"])
def test_paths_have_the_price_of_the_closed_form(asian):
    contract = Contract(strike=0.0, steps=3, asian=asian)  # a call that is worth the mean of expected prices
    paths = on_device(np.zeros(2000))
    found = open_road("gbm", "numba-philox")(contract, 7, paths).copy_to_host()
    times = np.arange(1, 4) / 3
    exact = 100 * (np.exp(0.05 * (times - 1)).mean() if asian else 1)
    assert abs(found.mean() - exact) < 4 * found.std() / math.sqrt(found.size)
    if not asian:  # and the whole law of the last price
        logs = np.log(np.sort(found) * math.exp(0.05) / 100)
        law = norm.cdf(logs, loc=0.05 - 0.02, scale=0.2)
        assert np.abs(law - np.arange(found.size) / found.size).max() < 1.95 / math.sqrt(found.size)


@pytest.mark.parametrize("problem", ["gbm"], ids=["cudasim"])
def test_others_say_that_they_cannot_run_there(problem):
    with pytest.raises(UsageError, match=r"does not run in Numba's simulator; of the roads to gbm these do: .*philox"):
        open_road(problem, "numba-xoroshiro")
