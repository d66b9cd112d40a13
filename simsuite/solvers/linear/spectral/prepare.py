"""What a run by modes needs to compute the state at any step, prepared on the host."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.solvers.linear.inputs.input_values import constants
from simsuite.solvers.linear.matrices.embedding import embedded, stacked
from simsuite.solvers.linear.spectral.decompose import decompose
from simsuite.solvers.linear.spectral.error import Loss, loss
from simsuite.solvers.linear.spectral.rates import rates
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.sparse import filled

MODES, START, RATES, ERROR = "modes", "coordinates", "rates", "spectral_error"

_MIXTURES = 4  # The loss is estimated for so many random mixtures of all states.


@dataclass(frozen=True)
class Prepared:
    """The prepared modes. modes: the columns W (n, n), in the run's precision; start: Z_0 (n, m) with X_0 = W Z_0;
    rates: see `rates`; loss: the estimated error of the state.
    """

    modes: np.ndarray
    start: np.ndarray
    rates: np.ndarray
    loss: Loss

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Prepared | None:
        """The prepared modes in the arrays of a snapshot; None if it has none."""
        if MODES not in arrays:
            return None
        return cls(arrays[MODES], arrays[START], arrays[RATES], Loss(float(arrays[ERROR][0])))


def prepare(system: LinearSystem, dt: float, frames: Sequence[int], dtype: Any) -> Prepared:
    """Prepare a run by modes. dt: the length of a step, s; frames: the steps of the frames; dtype: the precision of the
    run. Raises ValueError, with the reason, where A has no modes.

    In continuous time modes are those of A itself, and grow by exp(l dt) a step: the rounding of exp(A dt), which adds
    up from step to step, has no part in them.
    """
    A, c = _stated(system)
    step = dt if system.stated.continuous else None
    modes = decompose(A)
    X, m = system.start, system.start.shape[1]
    Z = modes.coordinates(np.column_stack([X, c]))
    start, inputs = np.ascontiguousarray(Z[:, :m]), Z[:, m] if step is None else Z[:, m] * step
    mixed = np.random.Generator(np.random.Philox(1)).standard_normal((m, _MIXTURES)) / math.sqrt(m)
    lost = loss(modes, start @ mixed if m > _MIXTURES else start, inputs, frames, dtype, step)
    with np.errstate(over="ignore"):
        W = np.ascontiguousarray(modes.scale[:, None] * modes.columns, dtype)
    if not np.all(np.isfinite(W)):
        raise ValueError(f"its modes overflow {np.dtype(dtype)}")
    return Prepared(W, start, rates(modes.values, modes.rest, inputs, step), lost)


def _stated(system: LinearSystem) -> tuple[np.ndarray, np.ndarray]:
    """A and B u of the system: in continuous time those that the scenario states, else those of a step."""
    stated = system.stated
    if not stated.continuous:
        return filled(system.A), system.constant_input()
    A = filled(stated.A)
    B = np.zeros((len(A), 0)) if stated.B is None else stated.B
    if system.is_complex:
        A, B = embedded(A), stacked(B)
    return A, B @ constants(stated.inputs)
