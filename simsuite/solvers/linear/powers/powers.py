"""Powers of A, on the device: A, A², A⁴ .. by squaring, and A^k for the gaps between frames that come often.

X_{j+k} = A^k X_j + S_k u while inputs have the values u, see `drive`. All of it is computed in float64, as squaring
loses a bit each time, and rounded to the run's precision at the end.

Cost: a product of two square matrices, 2 n³ operations, for each bit of the longest gap but one, and for each 1 among
the bits of a gap that gets a matrix of its own (see `jumps`). All squares are kept: any step between two frames can be
looked at, by products with the states alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.linear.powers import power_course
from simsuite.solvers.linear.powers.drive import Drive, Sums
from simsuite.solvers.linear.powers.estimate import Estimate
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power_error import PowerError
from simsuite.solvers.linear.powers.power_loss import LARGEST, PowerLoss, lacking
from simsuite.solvers.linear.powers.squares import Squares, Times, width_of
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul import held_entries, product_entries
from simsuite.solvers.matmul.product import Products
from simsuite.solvers.matmul.product_protocol import Product
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Panel, Sharing


class Power:
    """The map X -> A^k X + S_k u, for X of m columns in the run's precision."""

    def __init__(
        self, backend: Backend, P: Any, sums: Sums, dtype: Any, products: Products, sharing: Sharing = ALL_ROWS
    ) -> None:
        """P (n, n): the power A^k, a float64 array on the device; where processes share it, the rows of this one."""
        with backend.arithmetic():
            P = P.astype(dtype, copy=False)
        self._sums = sums
        product, self.kernel = products(P)
        self._multiply = sharing.completing(product)

    def __call__(self, X: Any, out: Any, which: int | None) -> None:
        """Queue the map from the view X to the view `out`. which: the column of values that inputs have, or None if
        they never change.
        """
        if which is not None:
            self._sums.turn_to(which)
        self._multiply(X, self._sums.view, 0, 0, 1, out)


class _Growing:
    """A power A^k and the rows of S_k, where k consists of the bits of a gap up to the present one."""

    def __init__(self, P: Any, S: Any) -> None:
        self.P, self.S = P, S


class Powers:
    """The powers that take the states of a system over any number of steps up to its longest gap.

    dtype: the run's precision; kernel: as `product` takes it; columns: how many states there are, of `jumps.m` in all;
    estimate: what another process has found for the same powers; squares: how the matrices are kept, if processes share
    them. lost: an estimate of the error of powers, relative to the state, see `PowerLoss` and `PowerError`; rounding:
    the error by the rounding of exp(A dt), which is not part of it; products: that by the rounding of products, where
    it is separated. overflow: the step at about which the state overflows, if it does.
    """

    def __init__(
        self,
        backend: Backend,
        system: LinearSystem,
        jumps: Jumps,
        frames: Sequence[int],
        dtype: Any,
        kernel: str,
        columns: int,
        estimate: Estimate | None = None,
        squares: Squares | None = None,
    ) -> None:
        self.dtype, self.steps = dtype, jumps.steps
        self._backend = backend
        self._drive = Drive(backend, system)
        n = jumps.n
        self._products = Products(backend, columns, kernel, biased=not self._drive.silent)
        self._matrices = matrices = squares or Squares(backend, n, kernel)
        self.sharing = matrices.states
        thin_products = Products(backend, 1, kernel)
        held, lacks = self._drive.held, lacking(system)
        pushed = None if lacks is None else (lacks[0], lacks[1] @ held.values[:, self._drive.strongest])
        probe = followed = None
        if estimate is None:
            largest = float(np.finfo(dtype).max)
            probe = PowerError(backend, system, self._drive, largest, pushed, matrices.vectors)
            followed = _followed(system, lacks if held.changes else pushed, self._drive.B.shape[0])
        self._squares: list[Power] = []
        growing: dict[int, _Growing] = {}
        P, S = matrices.on_device(system.A), self._drive.B
        for level in range(jumps.levels):
            single, _ = thin_products(P)
            thin = matrices.vectors.completing(single)
            if probe is not None:
                probe.level(thin, self._drive.sums(matrices.rows_of(S), np.float64))
                if not probe.bounded or probe.overflow is not None:
                    break
            if followed is not None:
                followed.level(matrices.on_host(P), backend.to_host(S).T)
            self._squares.append(self._power(P, S))
            formed = [gap for gap in jumps.formed if gap >> level & 1]
            last = level + 1 == jumps.levels
            if last and not formed:
                break
            wide = matrices.times(P)
            for gap in formed:
                before = growing.get(gap)
                growing[gap] = _Growing(P, S) if before is None else self._next(wide, thin, S, before)
                if followed is not None and held.changes:
                    followed.form(gap, matrices.on_host(growing[gap].P), backend.to_host(growing[gap].S).T)
            if not last:
                square = self._next(wide, thin, S, _Growing(P, S))
                P, S = square.P, square.S
            del wide
        if probe is not None:
            estimate = Estimate(probe.error(jumps.steps), probe.rounding, 0.0, probe.overflow)
            if followed is not None and estimate.lost < math.inf:
                start = system.start
                loss = power_course.loss(followed, start, held, frames) if held.changes else followed.loss(start, jumps)
                if loss is not None:
                    estimate = Estimate(loss.powers, loss.rounding, loss.products, probe.overflow)
        assert estimate is not None
        self.estimate = estimate = matrices.decided(estimate)
        self.lost, self.rounding, self.products, self.overflow = estimate
        self._formed = {gap: self._power(grown.P, grown.S) for gap, grown in growing.items()}

    def _power(self, P: Any, S: Any) -> Power:
        sums = self._drive.sums(self._matrices.rows_of(S), self.dtype)
        return Power(self._backend, P, sums, self.dtype, self._products, self.sharing)

    def _next(self, wide: Times, thin: Product, added: Any, before: _Growing) -> _Growing:
        """The product of a power P with `before`. wide, thin: the products with P for many columns and for one; added:
        the S that belongs to P.
        """
        b, P = self._backend, wide(before.P)
        S, rows = b.zeros(before.S.shape, np.float64), b.view(self._matrices.rows_of(added))
        for j in range(len(S)):
            column = S[j].reshape(-1, 1)
            view = b.view(column)
            self._matrices.vectors.remember([column], [view])
            thin(b.view(before.S[j].reshape(-1, 1)), rows, j, 0, 1, view)
        return _Growing(P, S)

    @property
    def error(self) -> float:
        """An estimate of the relative error of the state by all causes; 1 where nothing of the state is right."""
        return min(self.lost + self.rounding + self.products, 1.0)

    @property
    def kernel(self) -> str:
        """The kernel that multiplies powers with the states."""
        return self._squares[0].kernel

    def over(self, steps: int) -> list[Power]:
        """The powers that take the states over so many steps, in the order in which they are to be applied."""
        if steps in self._formed:
            return [self._formed[steps]]
        return [square for i, square in enumerate(self._squares) if steps >> i & 1]


def _followed(system: LinearSystem, lacks: tuple[np.ndarray, np.ndarray] | None, inputs: int) -> PowerLoss | None:
    """A `PowerLoss` that follows the errors of the powers; None where the system is too large for it. inputs: how many
    there are, those that never change being one."""
    A, B = lacks or (np.zeros_like(system.A), np.zeros((len(system.A), inputs)))
    B = B.reshape(len(A), -1)
    # In discrete time with constant inputs, `PowerError` alone is used.
    steps_only = lacks is None and not system.moves
    return None if steps_only or len(A) + B.shape[1] > LARGEST else PowerLoss((A, B))


def device_bytes(system: LinearSystem, jumps: Jumps, dtype: Any, panel: Panel | None = None) -> int:
    """The bytes that Powers allocates on its device at most. panel: the rows that a process has, if it has not all."""
    n, size = jumps.n, np.dtype(dtype).itemsize
    rows, some = (n, 0) if panel is None else (panel.height, width_of(panel))
    q, values = (1, 1) if system.held is None or not system.moves else system.held.values.shape
    held = (jumps.levels + len(jumps.formed)) * (held_entries(rows, n) * size + n * (size + 8 * q + 8))
    followed = jumps.levels * held_entries(rows, n) if system.moves else 0
    growing = (2 + len(jumps.formed)) * (rows * n + n * q) + 5 * product_entries(rows, n) + 16 * n
    return held + (growing + followed + (n + rows) * some + q * values) * 8
