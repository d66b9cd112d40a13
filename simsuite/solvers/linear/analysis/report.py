"""The results about a linear system that are reported at the end of its run, and their variables in the result file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from simsuite.core import Variable
from simsuite.libraries import decomposing
from simsuite.solvers.linear.analysis.chain import Chain, chain, nearly
from simsuite.solvers.linear.analysis.magnitudes import magnitudes
from simsuite.solvers.linear.analysis.outermost import outermost
from simsuite.solvers.linear.analysis.reachability import Reach, reach
from simsuite.solvers.linear.analysis.spectrum import (
    MARGINAL,
    STABLE,
    UNDETERMINED,
    UNSTABLE,
    Spectrum,
    frequency,
    spectrum,
)
from simsuite.solvers.linear.analysis.steady import steady_state
from simsuite.solvers.linear.inputs.input_values import constants
from simsuite.solvers.linear.state_space import StateSpace
from simsuite.solvers.matmul.sparse import stored

LARGEST = 1024  # Matrices of up to so many rows are analysed in full: some seconds.
PRINTED = 64  # Vectors of up to so many entries are printed among the results.
MODES = 5  # So many modes are listed.
# The flags of the result file, by number; an undetermined verdict counts as unknown.
FLAGS = ("unknown", STABLE, MARGINAL, UNSTABLE)


@dataclass(frozen=True)
class Analysis:
    """The analysis of a scenario's system. Each part is computed when it is first asked for."""

    system: StateSpace

    @property
    def _size(self) -> int:
        return self.system.A.shape[0]

    @property
    def _small(self) -> bool:
        return self._size <= LARGEST

    @cached_property
    def _dense(self) -> StateSpace:
        """The system with a dense A; only for small systems."""
        return self.system.dense()

    @cached_property
    def _magnitudes(self) -> np.ndarray:
        return magnitudes(self.system.A)

    @cached_property
    def _chain(self) -> Chain | None:
        return chain(self._dense.A, self.system.continuous) if self._small else None

    @property
    def _settles(self) -> bool:
        """Whether the system is a Markov chain with a single stationary distribution."""
        return self._chain is not None and len(self._chain.closed) == 1

    @cached_property
    def _spectrum(self) -> Spectrum | str:
        """The spectrum, or the reason why there is none.

        A Markov chain is marginally stable, however far rounding may move its eigenvalues: its sums show that nothing
        grows, and that something stays.
        """
        try:
            with decomposing(self._size):
                found = spectrum(self._dense.A, self.system.continuous)
        except ValueError as e:
            return str(e)
        return found if self._chain is None else replace(found, verdict=MARGINAL, defective=False)

    @property
    def stable(self) -> bool:
        """Whether the system is known to be stable."""
        return self._small and not isinstance(self._spectrum, str) and self._spectrum.verdict == STABLE

    @property
    def verdict(self) -> str:
        """What the system is: stable, or another of the verdicts; "unknown" where it has none."""
        return "unknown" if isinstance(self._spectrum, str) else self._spectrum.verdict

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes of the dimensions that `variables` have."""
        rows, columns = self._magnitudes.shape
        n = self._size
        return {
            "row": rows,
            "column": columns,
            **({"mode": n} if self._small else {}),
            **({"markov_state": n} if self._settles else {}),
        }

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the result file. The values of `matrix_magnitude` are known from the start, the others at
        the end.
        """
        A, unit = self.system.A, "s-1" if self.system.continuous else "1"
        block = math.ceil(self._size / len(self._magnitudes))
        about = {
            "units": unit,
            "long_name": "largest |A| in a block of rows and columns",
            "rows": str(self._size),
            "block": str(block),
            "nonzeros": str(stored(A) if issparse(A) else np.count_nonzero(A)),
        }
        matrix = Variable("matrix_magnitude", ("row", "column"), attrs=about, values=self._magnitudes)
        if not self._small:
            return (matrix,)
        flags = "stability of the system: " + ", ".join(f"{k} {name}" for k, name in enumerate(FLAGS))
        found = [
            matrix,
            Variable(
                "eigenvalue_real", ("mode",), attrs={"units": unit, "long_name": "real part of an eigenvalue of A"}
            ),
            Variable("eigenvalue_imag", ("mode",), attrs={"units": unit, "long_name": "imaginary part of the same"}),
            Variable("stability", (), np.int8, {"units": "1", "long_name": flags}),
        ]
        if self._settles:
            attrs = {"units": "1", "long_name": "stationary distribution of the Markov chain"}
            found.append(Variable("stationary_distribution", ("markov_state",), attrs=attrs))
        return tuple(found)

    def totals(self) -> Mapping[str, np.ndarray]:
        """The values of the variables that are known only at the end."""
        if not self._small:
            return {}
        found = {"stationary_distribution": self._chain.stationary} if self._chain and self._settles else {}
        if not isinstance(self._spectrum, str):
            values, verdict = self._spectrum.values, self._spectrum.verdict
            flag = FLAGS.index(verdict) if verdict in FLAGS else 0
            found |= {"eigenvalue_real": np.real(values), "eigenvalue_imag": np.imag(values)}
            found |= {"stability": np.array(flag, np.int8)}
        return found

    def results(self) -> dict[str, Any]:
        """The results that are printed and stored under "analysis"."""
        if not self._small:
            what = "what takes all eigenvalues, stationary distributions, steady states and ranks"
            return self._outermost() | {"left_out": f"{what}: the matrix has {self._size} rows, more than {LARGEST}"}
        with decomposing(self._size):
            found = self._modes() | self._stationary() | self._steady()
            if not isinstance(self._spectrum, str):
                found |= self._reaches()
        return found

    def _modes(self) -> dict[str, Any]:
        """The verdict on stability, and the slowest modes to decay, where a pair is listed once."""
        if isinstance(self._spectrum, str):
            return {"verdict": "unknown", "verdict_note": self._spectrum}
        s, continuous = self._spectrum, self.system.continuous
        name = "spectral_abscissa" if continuous else "spectral_radius"
        found: dict[str, Any] = {"verdict": s.verdict}
        if s.defective:
            found["verdict_note"] = "an eigenvalue on the boundary is defective: states grow like a power of time"
        elif s.verdict == UNDETERMINED:
            found["verdict_note"] = "rounding moves eigenvalues across the boundary"
        found[name] = s.bound
        if s.error <= 0.1 * abs(s.bound) or s.error <= s.tolerance:
            found["abscissa_error" if continuous else "radius_error"] = s.error
        listed = np.iscomplexobj(self.system.A) | (np.imag(s.values) >= 0)
        found["slowest"] = _listed(s.values[listed], s.boundary[listed], continuous)
        return found

    def _outermost(self) -> dict[str, Any]:
        """What is known of a large sparse matrix."""
        if not issparse(self.system.A):
            return {}
        continuous = self.system.continuous
        s = outermost(self.system.A, continuous)
        found: dict[str, Any] = {"verdict": s.verdict, "verdict_note": s.note}
        if s.bound is not None:
            found["spectral_abscissa" if continuous else "spectral_radius"] = s.bound
        if s.sums:
            found["stochastic"] = s.sums
        if len(s.values):
            upper = np.iscomplexobj(self.system.A) | (np.imag(s.values) >= 0)
            found["slowest"] = _listed(s.values[upper], s.boundary[upper], continuous)
        return found

    def _stationary(self) -> dict[str, Any]:
        found = self._chain
        if found is None:
            note = nearly(self._dense.A, self.system.continuous)
            return {} if note is None else {"stochastic_note": note}
        if not self._settles:
            return {"stochastic": found.sums, "stationary_note": found.note}
        period = {} if self.system.continuous else {"period": found.period}
        return {"stochastic": found.sums, **period, **_printed("stationary", found.stationary)}

    def _steady(self) -> dict[str, Any]:
        """The state, or its observed output, that a stable system tends to, if its inputs are constant."""
        system = self._dense
        if not self.stable or system.B is None or any(f.depends_on("t") for f in system.inputs):
            return {}
        u = constants(system.inputs)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                x, error = steady_state(system.A, system.B @ u, system.continuous)
                y = x if system.C is None else system.C @ x
                y = y if system.D is None else y + system.D @ u
        except ValueError as e:
            return {"steady_state_note": str(e)}
        return _printed("steady_state", y) | {"steady_state_error": error}

    def _reaches(self) -> dict[str, Any]:
        system, found = self._dense, {}
        if system.B is not None:
            found["controllability"] = _reach(reach(system.A, system.B))
        if system.C is not None:
            found["observability"] = _reach(reach(system.A.conj().T, system.C.conj().T))
        return found


def _listed(values: np.ndarray, boundary: np.ndarray, continuous: bool) -> dict[str, Any]:
    """The first few of these modes, as results."""
    values, boundary = values[:MODES], boundary[:MODES]
    with np.errstate(divide="ignore"):
        constants = -1.0 / (np.real(values) if continuous else np.log(np.abs(values)))
    return {
        "real": np.real(values).tolist(),
        "imag": np.imag(values).tolist(),
        "time_constant": [None if on else float(c) for on, c in zip(boundary, constants)],
        "frequency": (np.abs(frequency(values, continuous)) / (2 * math.pi)).tolist(),
    }


def _reach(found: Reach) -> dict[str, Any]:
    return {"rank": found.rank, "of": found.of, "distance": found.distance}


def _printed(name: str, vector: np.ndarray) -> dict[str, Any]:
    """A vector as a result; nothing if it is too long to be read."""
    if np.iscomplexobj(vector):
        return _printed(f"{name}_real", vector.real) | _printed(f"{name}_imag", vector.imag)
    return {name: vector.tolist()} if len(vector) <= PRINTED else {}
