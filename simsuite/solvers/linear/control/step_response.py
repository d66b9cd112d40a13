"""The response of a system at rest to each input when it jumps from 0 to 1 at time 0.

From sample to sample the state is taken by the exponential of the system together with its inputs, exp([[A, B], [0, 0]]
h), which is exact for inputs that are constant: C. F. Van Loan, Computing integrals involving the matrix exponential,
IEEE Trans. Automatic Control 23 (1978) 395-404. A discrete system takes the power of [[A, B], [0, I]] instead. Both are
computed to twice the digits of float64, and so are the states, as stiff systems lose many on the way.
"""

from __future__ import annotations

import numpy as np

from simsuite.libraries import decomposing
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.discretisation.exponential import exponential, times
from simsuite.solvers.linear.discretisation.sliced import Twofold, product, remainder_twofold


def step_response(plant: Plant, stride: float, samples: int) -> np.ndarray:
    """The outputs (samples, q, p) at the times 0, stride, 2 stride, ..: those of each input, with its direct part from
    time 0 on. stride: in s, or of a discrete system in whole steps. Not finite where they overflow.
    """
    plant = plant.balanced
    n, p = plant.B.shape
    with np.errstate(all="ignore"), decomposing(n + p):
        jump = _map(plant, stride)
        whole = np.vstack([np.zeros((n, p)), np.eye(p)])
        X: Twofold = whole, np.zeros(whole.shape)
        found = np.empty((samples, len(plant.C), p))
        for k in range(samples):
            high, low = remainder_twofold(plant.D, -plant.C, X[0][:n])
            found[k] = high + (low + plant.C @ X[1][:n])
            X = product(jump, X)
    return found


def _map(plant: Plant, stride: float) -> Twofold:
    """What takes [x; u] from a sample to the next."""
    n, p = plant.B.shape
    block = np.zeros((n + p, n + p))
    block[:n, :n], block[:n, n:] = plant.A, plant.B
    if plant.continuous:
        return exponential(times(stride, block))
    block[n:, n:] = np.eye(p)
    power: Twofold = block, np.zeros(block.shape)
    found: Twofold | None = None
    steps = round(stride)
    while steps:
        if steps & 1:
            found = power if found is None else product(found, power)
        steps >>= 1
        if steps:
            power = product(power, power)
    assert found is not None
    return found
