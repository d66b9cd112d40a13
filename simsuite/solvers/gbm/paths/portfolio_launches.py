"""Launches that measure a portfolio: by the readable kernels, or by programs in CUDA C++."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions import Expression
from simsuite.expressions.evaluate import evaluate
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.payoffs.variables import kept, last
from simsuite.solvers.gbm.portfolio.portfolio import Portfolio, computed_together, portfolio_of
from simsuite.solvers.gbm.random_numbers.precision import C_TYPES
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.quantile_sketch import BITS, FINE, FURTHEST, LOWEST, OCTAVES
from simsuite.solvers.gbm.statistics.statistics import GROUP, LARGEST

RISK, EXPOSURE = (Path(__file__).parents[1] / "portfolio" / f"{name}.cu" for name in ("risk", "exposure"))
# Most values of a portfolio are in these octaves: the exponent of 2 of the first, in the units of values, and how many
_WINDOW = -6, 8
_THREADS, _BLOCKS = 256, 4  # threads of a block; blocks on each multiprocessor
_TALLY_THREADS = 128


def risk_macros(plan: PathPlan) -> dict[str, str | int]:
    functionals = plan.payoffs.functionals
    variables = tuple(map(last, range(plan.n_assets))) + tuple(map(kept, range(len(functionals))))
    gain = Expression.from_tree(portfolio_of(plan).gain, variables)
    used = tuple(name for name in variables if name in gain.names)
    return _sketch_macros() | {
        "STATE": C_TYPES[plan.dtype],
        "ASSETS": plan.n_assets,
        "COUNT": max(len(functionals), 1),
        "FUNCTIONALS": ",".join(f.kind.name for f in functionals) or "NOTHING",
        "FUNCTION": " ".join(gain.cuda_function("gain_of", used).split("\n")),
        "CALL": f"gain_of({','.join(f'v[{variables.index(name)}]' for name in used)})",
        "LARGEST_PRICE": repr(LARGEST),
        "THREADS": _THREADS,
    }


def exposure_macros(plan: PathPlan) -> dict[str, str | int]:
    first, octaves = _WINDOW
    return _sketch_macros() | {
        "STATE": C_TYPES[plan.dtype],
        "ASSETS": plan.n_assets,
        "SIGNS": plan.width,
        "WEIGHTS": ",".join(float(weight).hex() for weight in portfolio_of(plan).weights),
        "GROUP": GROUP,
        "LIMBS": LIMBS,
        "LARGEST": repr(LARGEST),
        "WINDOW": octaves << BITS,
        "FIRST": 1 + ((first - LOWEST) << BITS),
        "THREADS": _THREADS,
    }


def _sketch_macros() -> dict[str, str | int]:
    return {"BITS": BITS, "FINE": FINE, "LEAST_EXPONENT": f"({LOWEST})", "OCTAVES": OCTAVES}


class _Launches:
    """The common part of both kinds of launches."""

    def __init__(self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any]) -> None:
        self._plan, self._backend, self._arrays = plan, backend, arrays
        self._portfolio: Portfolio = portfolio_of(plan)
        if self._portfolio.exposure:
            self._blank = backend.zeros(FURTHEST + 1, np.int64)

    def clear(self, slot: int) -> None:
        if self._portfolio.exposure:
            self._backend.copy(self._blank, self._arrays["exposure_counts"][slot])


class NumbaPortfolio(_Launches):
    """Launches of the readable kernels. views, frames: `arrays` and the table of frames, as kernels take them."""

    def __init__(
        self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any], views: Mapping[str, Any], frames: Any
    ) -> None:
        super().__init__(plan, backend, arrays)
        self._views, self._frames = views, frames
        kernels = backend.kernels("simsuite.solvers.gbm.portfolio.portfolio")
        if self._portfolio.risk:
            chunk = computed_together(plan, backend)
            self._gains_array = backend.zeros(chunk, np.float64)
            self._gains = backend.view(self._gains_array)
            self._tally = backend.launcher(kernels.tally, (chunk,), (min(_TALLY_THREADS, chunk),))
            self._tally(self._gains, 0, views["risk"])
        if self._portfolio.exposure:
            self._weights_array = backend.array(self._portfolio.weights)
            self._weights = backend.view(self._weights_array)
            self._counts = [backend.view(counts) for counts in arrays["exposure_counts"]]
            groups = -(-plan.held // GROUP) * kernels.THREADS
            self._expose = backend.launcher(kernels.expose, (groups,), (kernels.THREADS,))

    def tally(self, variables: Mapping[str, Any], n: int) -> None:
        """Sketches the gains of n paths, while arithmetic on arrays is being queued."""
        if self._portfolio.risk:
            self._gains_array[:n] = evaluate(self._portfolio.gain, variables)
            self._tally(self._gains, n, self._views["risk"])

    def expose(self, each_seen: Any, n: int, frames: range) -> None:
        if self._portfolio.exposure:
            for which, frame in enumerate(frames):
                self._expose(
                    each_seen[which], n, self._frames, frame, self._weights, self._plan.width,
                    self._views["exposure"], self._counts[self._plan.slot(frame)],
                )  # fmt: skip


class ProgramPortfolio(_Launches):
    """Launches of the programs in CUDA C++. frames: the table of frames. growth[asset]: the factor of prices up to the
    end without noise."""

    def __init__(self, plan: PathPlan, backend: Backend, arrays: Mapping[str, Any], frames: Any, growth: Any) -> None:
        super().__init__(plan, backend, arrays)
        self._frames, self._growth = frames, growth
        if self._portfolio.risk:
            program = backend.program(RISK, risk_macros(plan))
            self._tally = program.launcher("tally", backend.processors * _BLOCKS, _THREADS)
        if self._portfolio.exposure:
            self._program = backend.program(EXPOSURE, exposure_macros(plan))
            self._expose = functools.cache(self._exposure_launcher)
            self._expose(1)

    def _exposure_launcher(self, frames: int) -> Callable[..., None]:
        """The launcher of `expose` for so many frames at once."""
        x = max(1, self._backend.processors * _BLOCKS // frames)
        return self._program.launcher("expose", (x, frames), _THREADS)

    def tally(self, y: Any, n: int) -> None:
        if self._portfolio.risk:
            self._tally(
                y, self._arrays.get("kept", y), np.uint64(self._plan.held), np.uint32(n), self._growth,
                self._arrays["risk"],
            )  # fmt: skip

    def expose(self, seen: Any, n: int, frames: range) -> None:
        """Adds up the exposure at all frames, in one launch where their sketches lie one after another."""
        if not self._portfolio.exposure:
            return
        together = len(frames) if self._plan.keeps_frames else 1
        for which in range(0, len(frames), together):
            frame = frames[which]
            self._expose(together)(
                seen[which], np.uint64(self._plan.held), np.uint32(n), self._frames[frame],
                self._arrays["exposure"][frame], self._arrays["exposure_counts"][self._plan.slot(frame)],
            )  # fmt: skip
