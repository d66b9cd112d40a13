"""Checks of what runs report about their systems (verdicts, modes, stationary and steady states, ranks) where it is
known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from simsuite.core import Backend
from simsuite.verify.checks import Check, at_most
from simsuite.verify.linear import propagators
from simsuite.verify.linear.cases import DOWN, HEAT, LADDER, LESLIE, UP, generated
from simsuite.verify.linear.runs import run

ANALYSIS = "analysis"
# The tolerance, relative to the largest of the numbers: all eigenvalues here are simple, or are judged by words.
WITHIN = 1e-12
STABLE, MARGINAL, UNSTABLE = "stable", "marginally stable", "unstable"


@dataclass(frozen=True)
class Known:
    """A system, and what is known of its analysis. numbers: the numbers below "analysis" in the results, by the path of
    their keys. words: the same for texts. spectrum: all eigenvalues (n,), in any order.
    """

    name: str
    system: Mapping[str, Any]
    words: Mapping[str, str]
    numbers: Mapping[str, float | Sequence[float]] = field(default_factory=dict)
    continuous: bool = False
    spectrum: np.ndarray | None = None


def known() -> list[Known]:
    """All systems, with what is known of them."""
    return [*_rotating(), *_generated(), *_chains(), *_written_out(), *_ranked()]


def _rotating() -> Iterator[Known]:
    turning = {"slowest.frequency": [0.1 / (2 * math.pi)]}
    system = generated("rotation", angle=0.1)
    yield Known("rotation", system, {"verdict": MARGINAL}, {"spectral_radius": 1.0, **turning})
    yield Known("rotation in time", system, {"verdict": MARGINAL}, {"spectral_abscissa": 0.0, **turning}, True)
    walk = generated("quantum_walk", sites=7)
    w = np.arcsin(np.sin(2 * math.pi * np.arange(7) / 7) / math.sqrt(2))
    waves = np.append(np.exp(-1j * w), -np.exp(1j * w))
    yield Known("quantum walk", walk, {"verdict": MARGINAL}, {"spectral_radius": 1.0}, spectrum=waves)


def _generated() -> Iterator[Known]:
    w = propagators.frequencies(5, 2.0, 3.0)
    for damping, verdict in ((0.0, MARGINAL), (0.4, STABLE)):
        system = generated("springs", masses=5, mass=2.0, stiffness=3.0, damping=damping)
        g = damping / 4.0
        numbers: dict[str, Any] = {
            "spectral_abscissa": -g,
            "slowest.frequency": np.sort(np.sqrt(w**2 - g * g)) / (2 * math.pi),
        }
        pairs = -g + 1j * np.outer([1, -1], np.sqrt(w**2 - g * g)).ravel()
        yield Known(f"springs, damping {damping:g}", system, {"verdict": verdict}, numbers, True, pairs)
    n, h = HEAT["points"], HEAT["length"] / (HEAT["points"] + 1)
    rates = -4 * HEAT["diffusivity"] / h**2 * np.sin(math.pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2
    slowest = {"slowest.real": rates[:5]}
    yield Known("heat1d", generated("heat1d", **HEAT), {"verdict": STABLE}, slowest, True, rates)
    n, rc = LADDER["sections"], LADDER["resistance"] * LADDER["capacitance"]
    rates = -4 / rc * np.sin(math.pi * (2 * np.arange(1, n + 1) - 1) / (2 * (2 * n + 1))) ** 2
    modes: dict[str, Any] = {"slowest.real": rates[:5], "steady_state": [5.0] * n, "controllability.rank": n}
    ladder = {**generated("rc_ladder", **LADDER), "input": [5.0]}
    yield Known("rc_ladder", ladder, {"verdict": STABLE}, modes, True, rates)
    # Euler and Lotka's equation: 5/8 r^-2 + 3/8 r^-3 = 1 has the root 1, and 3 r^-2 + 2 r^-3 = 1 the root 2.
    yield Known("leslie, constant", generated("leslie", **LESLIE), {"verdict": MARGINAL}, {"spectral_radius": 1.0})
    doubling = generated("leslie", fecundity=[0.0, 9.0, 12.0], survival=[1 / 3, 1 / 2])
    yield Known("leslie, doubling", doubling, {"verdict": UNSTABLE}, {"spectral_radius": 2.0})


def _chains() -> Iterator[Known]:
    n = 12
    p = propagators.stationary(n, UP, DOWN)
    rates = 1 - UP - DOWN + 2 * math.sqrt(UP * DOWN) * np.cos(math.pi * np.arange(1, n) / n)
    words = {"verdict": MARGINAL, "stochastic": "columns"}
    numbers: dict[str, Any] = {"period": 1, "stationary": p, "slowest.real": [1.0, *rates[:4]]}
    system = generated("markov", states=n, up=UP, down=DOWN)
    yield Known("markov", system, words, numbers, spectrum=np.append(1.0, rates))
    timeless: dict[str, Any] = {"stationary": p, "slowest.real": [0.0, *(rates[:4] - 1)]}
    yield Known("markov in time", system, words, timeless, True, np.append(0.0, rates - 1))
    # This is a walk on three states that never stays: from the middle it goes to one end with 1/4, to the other with
    # 3/4; rows sum to 1.
    rows = [[0.0, 1.0, 0.0], [0.25, 0.0, 0.75], [0.0, 1.0, 0.0]]
    words = {"verdict": MARGINAL, "stochastic": "rows"}
    yield Known("walk of period 2", {"matrix": rows}, words, {"period": 2, "stationary": [0.125, 0.5, 0.375]})


def _written_out() -> Iterator[Known]:
    for eigenvalue, verdict in ((1.0, UNSTABLE), (-1.0, UNSTABLE), (0.5, STABLE), (0.0, STABLE)):
        A = eigenvalue * np.eye(4) + np.eye(4, k=1)
        yield Known(f"Jordan block of {eigenvalue:g}", {"matrix": A.tolist()}, {"verdict": verdict})
    yield Known("unit matrix", {"matrix": np.eye(3).tolist()}, {"verdict": MARGINAL}, {"spectral_radius": 1.0})
    integrator = {"matrix": [[0.0, 1.0], [0.0, 0.0]], "input_matrix": [[0.0], [1.0]], "input": [1.0]}
    both = {"controllability.rank": 2, "observability.rank": 2}
    yield Known("double integrator", {**integrator, "output_matrix": [[1.0, 0.0]]}, {"verdict": UNSTABLE}, both, True)
    # The steady state is x_2 = x_2/2 + 2 = 4, x_1 = x_1/2 + x_2/4 + 2 = 6.
    settling = {"matrix": [[0.5, 0.25], [0.0, 0.5]], "input_matrix": [[1.0], [1.0]], "input": [2.0]}
    yield Known("settling", settling, {"verdict": STABLE}, {"steady_state": [6.0, 4.0]})
    apart = {"matrix": [[0.5, 0.0], [0.0, 0.25]], "input_matrix": [[1.0], [0.0]], "input": [1.0]}
    one = {"controllability.rank": 1, "observability.rank": 1, "spectral_radius": 0.5}
    yield Known("two parts", {**apart, "output_matrix": [[0.0, 1.0]]}, {"verdict": STABLE}, one)


def _ranked() -> Iterator[Known]:
    """Regulators with observers, whose error no input reaches, in units from 1e-6 to 1e6; and the observability of the
    transposed systems. K and L are small whole numbers, so that A - B K - L C has no rounding.
    """
    for n, seed in ((2, 1), (4, 2), (6, 3), (8, 4)):
        rng = np.random.default_rng(seed)
        A, B, C = rng.integers(-3, 4, (n, n)), rng.integers(1, 4, (n, 1)), rng.integers(1, 4, (1, n))
        K, L = rng.integers(-2, 3, (1, n)), rng.integers(-2, 3, (n, 1))
        closed = np.block([[A, -B @ K], [L @ C, A - B @ K - L @ C]]).astype(float)
        both = np.vstack([B, B]).astype(float)
        for name, decades in (("", 0), (", units of 1e-6 to 1e6", 6)):
            d = 10.0 ** rng.integers(-decades, decades + 1, 2 * n)
            turned = closed * d / d[:, None], both / d[:, None]
            system = {"matrix": turned[0].tolist(), "input_matrix": turned[1].tolist(), "input": [1.0]}
            yield Known(f"observer of {n} states{name}", system, {}, {"controllability.rank": n}, True)
            dual = {"matrix": turned[0].T.tolist(), "output_matrix": turned[1].T.tolist()}
            yield Known(f"its dual{name}, {n}", dual, {}, {"observability.rank": n}, True)
    # In a cascade nothing acts back: balancing leaves the units open, each of which here is 1e6 times the one before.
    lags = np.diag([-1.0, -2.0, -3.0, -4.0]) + 1e-6 * np.eye(4, k=-1)
    system = {"matrix": lags.tolist(), "input_matrix": [[1.0], [0.0], [0.0], [0.0]], "input": [1.0]}
    yield Known("cascade of lags in any units", system, {}, {"controllability.rank": 4}, True)


def analysis_checks(backend: Backend, systems: Sequence[Known]) -> Iterator[Check]:
    """Checks of the analysis of these systems. Runs take a single step, as the analysis is one of the system, not of
    the run.
    """
    for system in systems:
        outcome = run(_scenario(system), backend)
        found = outcome.results["analysis"]
        if system.spectrum is not None:
            parts = outcome.problem.analysis.totals()
            values = parts["eigenvalue_real"] + 1j * parts["eigenvalue_imag"]
            yield at_most(f"{system.name}: all eigenvalues", ANALYSIS, _apart(values, system.spectrum), WITHIN)
        for key, word in system.words.items():
            yield at_most(f"{system.name}: {word}", ANALYSIS, float(_at(found, key) != word), 0.0)
        for key, wanted in system.numbers.items():
            w = np.atleast_1d(np.asarray(wanted, np.float64))
            off = _off(np.atleast_1d(np.asarray(_at(found, key), np.float64)), w, key)
            yield at_most(f"{system.name}: {key.replace('.', ' ')}", ANALYSIS, off, WITHIN)


def _at(found: Any, key: str) -> Any:
    for part in key.split("."):
        found = found.get(part, math.nan) if isinstance(found, Mapping) else math.nan
    return found


def _off(found: np.ndarray, wanted: np.ndarray, key: str) -> float:
    """The largest difference, relative to the largest number. Numbers under a key of frequencies are compared in any
    order.
    """
    if found.shape != wanted.shape:
        return math.inf
    if key.endswith("frequency"):
        found = np.sort(found)
    return float(np.max(np.abs(found - wanted))) / max(float(np.max(np.abs(wanted))), 1.0)


def _apart(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest distance of two sets of complex numbers when they are paired as well as possible, relative as in
    `_off`.
    """
    distance = np.abs(found[:, None] - wanted)
    return float(np.max(distance[linear_sum_assignment(distance)])) / max(float(np.max(np.abs(wanted))), 1.0)


def _scenario(system: Known) -> dict[str, Any]:
    matrix = system.system["matrix"]
    size = len(matrix) if isinstance(matrix, list) else _size(matrix)
    return {
        "solver": "linear",
        "system": {"kind": "continuous" if system.continuous else "discrete", **system.system},
        "initial": {"state": [1.0] * size},
        "time": {"steps": 1, **({"dt": 1e-3} if system.continuous else {})},
        "output": {"frames": 2},
    }


def _size(generator: Mapping[str, Any]) -> int:
    """How many components the state of a generated system has."""
    match generator["generator"]:
        case "rotation":
            return 2
        case "leslie":
            return len(generator["fecundity"])
        case "springs":
            return 2 * int(generator["masses"])
        case "quantum_walk":
            return 2 * int(generator["sites"])
    return int(generator.get("states") or generator.get("points") or generator["sections"])
