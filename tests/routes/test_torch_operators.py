"""The operators of PyTorch: derivatives against differences, without a copy, and in a training loop."""

import numpy as np
import pytest

from simsuite.errors import DeviceError, UsageError
from simsuite.routes.gbm.contract import Contract

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch(cuda):
    assert cuda
    return pytest.importorskip("torch")


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (7, 6), (33, 4)])
def test_derivatives_of_the_heat_step(torch, shape):
    from simsuite.routes.heat.torch_operator import HeatStep, advance

    torch.manual_seed(sum(shape))
    u = torch.randn(shape, dtype=torch.float64, device="cuda", requires_grad=True)
    r = torch.tensor([0.2, 0.15], dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(HeatStep.apply, (u, r))
    assert torch.autograd.gradcheck(lambda u, rx: advance(u, 5, rx, 0.1), (u, r[0].detach().clone().requires_grad_()))


@pytest.mark.parametrize("asian", [False, True])
def test_derivatives_of_the_price(torch, asian):
    from simsuite.routes.gbm.torch_operator import price

    contract, one = Contract(steps=6, asian=asian), {"dtype": torch.float64, "device": "cuda", "requires_grad": True}
    spot, volatility = torch.tensor(104.0, **one), torch.tensor(0.25, **one)
    assert torch.autograd.gradcheck(lambda s, v: price(contract, 11, 333, s, v), (spot, volatility))


def test_delta_and_vega_are_those_of_the_formula(torch):
    import math

    from simsuite.routes.gbm.torch_operator import price

    one = {"dtype": torch.float64, "device": "cuda", "requires_grad": True}
    spot, volatility = torch.tensor(100.0, **one), torch.tensor(0.2, **one)
    price(Contract(steps=4), 3, 1 << 22, spot, volatility).backward()
    d1 = (0.05 + 0.02) / 0.2
    delta, vega = math.erfc(-d1 / math.sqrt(2)) / 2, 100 * math.exp(-(d1**2) / 2) / math.sqrt(2 * math.pi)
    assert float(spot.grad) == pytest.approx(delta, abs=1.5e-3)
    assert float(volatility.grad) == pytest.approx(vega, abs=0.2)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 5, 2), (31, 4, 33)])
def test_derivatives_of_the_product(torch, m, k, n):
    from simsuite.routes.matmul.torch_operator import Product

    torch.manual_seed(m)
    a, b = (torch.randn(s, dtype=torch.float64, device="cuda", requires_grad=True) for s in ((m, k), (k, n)))
    assert torch.autograd.gradcheck(Product.apply, (a, b))
    assert torch.autograd.gradcheck(Product.apply, (b.t(), a.t()))  # views that are not in C order


def test_the_diffusivity_is_recovered(torch):
    from simsuite.routes.heat.recover_diffusivity import TRUE, recover

    assert torch.cuda.is_available()
    found = [recover(seed) for seed in range(3)]
    np.testing.assert_allclose(found, TRUE, rtol=0.01)


def test_tensors_stay_where_they_are(torch):
    from simsuite.routes.gbm.torch_operator import payoffs
    from simsuite.routes.heat.torch_operator import advance

    out = torch.zeros(100, device="cuda")
    before = out.data_ptr()
    assert payoffs(Contract(steps=2), 1, out) is out
    assert out.data_ptr() == before
    assert float(out.max()) > 0
    with torch.cuda.stream(torch.cuda.Stream()):  # work on PyTorch's own stream
        u = torch.randn(40, 50, device="cuda")
        found = advance(u, 3, 0.1, 0.1)
        torch.cuda.current_stream().synchronize()
    assert torch.allclose(found[0], u[0])


def test_tensors_that_no_kernel_takes(torch):
    from simsuite.routes.heat.torch_operator import advance
    from simsuite.routes.matmul.torch_operator import product

    with pytest.raises(DeviceError, match=r"a torch\.Tensor is not in the memory of a GPU"):
        advance(torch.zeros(4, 4), 1, 0.1, 0.1)
    with pytest.raises(UsageError, match="numbers of type float16; the kernel takes float32 or float64"):
        product(*torch.zeros(2, 4, 4, dtype=torch.float16, device="cuda"))
    with pytest.raises(UsageError, match="3 x 4 and one of 3 x 4 have no product"):
        product(torch.zeros(3, 4, device="cuda"), torch.zeros(3, 4, device="cuda"))
