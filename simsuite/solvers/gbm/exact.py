"""Geometric Brownian motion, sampled exactly.

SDE:        dS_a / S_a = mu_a dt + sigma_a dW_a,  dW_a dW_b = rho_ab dt,  mu = rate - dividend_yield (or the drift)
Scheme:     x_a += (mu_a - sigma_a^2 / 2) dt + sigma_a sqrt(dt) (L z)_a,  x_a = log(S_a / S_a(0)),  rho = L L^T
            P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), eq. (3.22) to (3.24) and
            section 2.3.3 for the Cholesky factor L.
Order:      none to speak of: weak and strong error are zero at every step, for any dt. All that is left is the sampling
            error, O(paths^-1/2), and round-off.

Steps are taken in log space, relative to the spot; exponentials only where a price is observed.

The kernels stand in `exact_cpu.py` and `exact_cuda.py`. `make_advance(n_assets, functionals, dtype)` makes
advance(x, sums, n, first_path, begin, end, seed, antithetic, drift, mix, due):

- x[asset, path], sums[average, path]: the state, updated for the first n columns, which are the paths from number
  first_path on; set to 0 first if begin is 0. functionals: (asset, arithmetic) of each average.
- steps begin .. end - 1 are taken. Splitting them in any way changes no bit: normals come in blocks of 2 (float64) or
  4 (float32) steps, and a block that is entered midway is drawn again.
- seed: uint64. antithetic: paths 2 i and 2 i + 1 use the normals of number i, the latter with the opposite sign.
- drift[asset] = (mu - sigma^2 / 2) dt, mix[a, b] = sigma_a sqrt(dt) L_ab, in the type of the state.
- due[step, average] != 0 where the average takes the price at the end of the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simsuite.core import Backend, Pending, Snapshot
from simsuite.solvers.gbm.statistics import GROUP

if TYPE_CHECKING:
    from simsuite.solvers.gbm.problem import GbmProblem

_BLOCK = 128  # threads: a path each


class ExactStepper:
    """Paths in batches: step g of the run is time step g - b n_steps of batch b = g // n_steps.

    A batch begins in `advance`, so at its first step the arrays still hold the end of the batch before it.
    """

    def __init__(self, problem: GbmProblem, backend: Backend, start: Snapshot) -> None:
        self.step = start.step
        self.chosen: Mapping[str, str] = {"kernel": "numba"}
        self._problem, self._backend = problem, backend
        self._arrays = {name: backend.array(a) for name, a in start.arrays.items()}
        self._views = {name: backend.view(a) for name, a in self._arrays.items()}
        # a kernel that has nothing to do with averages still gets an array in their place
        self._averages = self._views.get("averages", self._views["x"])
        self._tables = {name: backend.array(a) for name, a in problem.tables.items()}
        self._constants = {name: backend.view(a) for name, a in self._tables.items()}
        self._bind(problem, backend)
        self._compile()

    def _bind(self, problem: GbmProblem, backend: Backend) -> None:
        n_assets, batch = problem.n_assets, problem.batch
        kernels = backend.kernels("simsuite.solvers.gbm.statistics")
        groups = -(-batch // GROUP) * kernels.THREADS
        block = (kernels.THREADS, 1)
        advance = backend.kernels("simsuite.solvers.gbm.exact").make_advance(
            n_assets, tuple((a.asset, a.arithmetic) for a in problem.contracts.averages), problem.dtype
        )
        self._advance = backend.launcher(advance, (batch,), (min(_BLOCK, batch),))
        self._clear = backend.launcher(kernels.clear, (kernels.THREADS, n_assets), block)
        self._moments = backend.launcher(kernels.moments, (groups, n_assets), block)
        if "options" in self._arrays:
            self._payoffs = backend.launcher(kernels.payoffs, (groups, len(problem.contracts.kinds)), block)
        if "paths" in self._arrays:
            self._record = backend.launcher(
                kernels.record, (problem.stored, n_assets), (min(problem.stored, _BLOCK), 1)
            )

    def _compile(self) -> None:
        """Launch every kernel on no paths at all: they are compiled now, and not when a clock is running."""
        self._clear(self._views["moments"], self._views["histogram"], 0, 0)
        self._step_paths(0, 0, 0, 0)
        self._count_prices(0, 0, 1.0, 0)
        if "paths" in self._views:
            self._record(self._views["x"], self._views["paths"], 0, 0)
        if "options" in self._views:
            self._count_payoffs(0, 0)

    @property
    def state(self) -> Mapping[str, Any]:
        return self._arrays

    def advance(self, n: int) -> None:
        last = self.step + n
        while self.step < last:
            batch, begin = divmod(self.step, self._problem.n_steps)
            end = min(begin + last - self.step, self._problem.next_frame(begin))
            self._stretch(batch, begin, end)
            self.step += end - begin

    def _stretch(self, batch: int, begin: int, end: int) -> None:
        """Steps begin .. end - 1 of a batch, between which nothing is observed, and the observations at the end."""
        problem, views = self._problem, self._views
        n, first_path = problem.batch_paths(batch), batch * problem.batch
        self._step_paths(n, first_path, begin, end)
        frame = problem.frame(end)
        if frame is not None:
            slot = problem.slot(frame)
            if batch == 0:
                self._clear(views["moments"], views["histogram"], slot, problem.n_assets)
                if "paths" in views:
                    self._record(views["x"], views["paths"], frame, problem.stored)
            self._count_prices(n, first_path, problem.time(end), slot)
        if end == problem.n_steps and "options" in views:
            self._count_payoffs(n, first_path)

    def _step_paths(self, n: int, first_path: int, begin: int, end: int) -> None:
        problem, tables = self._problem, self._constants
        self._advance(
            self._views["x"], self._averages, n, first_path, begin, end, problem.seed, problem.antithetic,
            tables["drift"], tables["mix"], tables["due"],
        )  # fmt: skip

    def _count_prices(self, n: int, first_path: int, t: float, slot: int) -> None:
        views, tables = self._views, self._constants
        self._moments(
            views["x"], n, first_path, tables["growth"], tables["log_growth"], tables["inverse_volatility"],
            t, t**-0.5, slot, views["moments"], views["histogram"], views["fault"],
        )  # fmt: skip

    def _count_payoffs(self, n: int, first_path: int) -> None:
        views, tables = self._views, self._constants
        self._payoffs(
            views["x"], self._averages, n, first_path, self._problem.width,
            tables["kinds"], tables["terms"], views["options"], views["fault"],
        )  # fmt: skip

    def snapshot(self) -> Pending:
        return self._backend.stage(self.step, self._arrays)

    def observe(self, series: str) -> Pending:
        problem, arrays = self._problem, self._arrays
        frame = problem.frame_of_row(self.step)
        slot = problem.slot(frame)
        observed = {
            "fault": arrays["fault"],
            "moments": arrays["moments"][slot],
            "histogram": arrays["histogram"][slot],
        }
        if "paths" in arrays:
            observed["paths"] = arrays["paths"][frame]
        if "options" in arrays:
            observed["options"] = arrays["options"]
        return self._backend.stage(self.step, observed)
