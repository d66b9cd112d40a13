"""Timed runs that price a case, by the stepper that `simsuite run` uses, and checks that the results are right."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simsuite.bench.checking import Deviation
from simsuite.bench.findings import Row
from simsuite.bench.gbm.cases import Case
from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.results.price_statistics import price_statistics
from simsuite.solvers.gbm.results.results import option_estimates
from simsuite.solvers.gbm.statistics.statistics import Estimate

STANDARD_ERRORS = 4.0  # largest error of an estimate, in standard errors
AT_ALL_STEPS = 6.0  # largest error of the mean or the deviation at any step, in standard errors
ROUNDING = {"float32": 1e-5, "mixed": 1e-5, "float64": 1e-11}  # relative; float32 normals are good to 1e-6
BRIEF, REPEATS = 1.0, 3  # runs that take less seconds are repeated
PATIENCE = 20.0  # seconds of a first run up to which there is a second one, since kernels may be compiled in the first


@dataclass(frozen=True)
class Run:
    """A run that is done. seconds: time of all steps of all batches on the device, statistics and payoffs included."""

    problem: GbmProblem
    stepper: PathStepper
    seconds: float
    estimate: Estimate


def run(backend: Backend, problem: GbmProblem, repeats: int = REPEATS) -> Run:
    """Runs a problem, and takes the median time of several runs if they are brief; the first of several does not
    count. Raises DeviceError where the device lacks memory or a kernel."""
    if problem.device_bytes() > backend.memory_free():
        raise DeviceError(f"needs {problem.device_bytes() / 1e9:.0f} GB of the device's memory")
    times: list[float] = []
    while (
        not times
        or (len(times) == 1 and repeats and times[0] < PATIENCE)
        or (times[-1] < BRIEF and len(times) <= repeats)
    ):
        stepper = PathStepper(problem, backend, problem.initial())
        backend.fence().wait()
        before = backend.fence()
        stepper.advance(problem.clock.end)
        times.append(backend.fence().seconds_since(before))
    with stepper.observe("time") as observed:
        (estimate,) = option_estimates(problem, observed)
    return Run(problem, stepper, statistics.median(times[1:] or times), estimate)


def priced(case: Case, precision: str, estimate: Estimate) -> Row:
    """The part of a row that is about a price."""
    off = price_deviation(case, precision, estimate)
    return {"price": estimate.value, "standard_error": estimate.standard_error, "exact": case.exact} | checked(off)


def checked(off: Deviation) -> Row:
    return {"largest_error": off.error, "error_limit": off.limit, "right": off.right}


def price_deviation(case: Case, precision: str, estimate: Estimate) -> Deviation:
    """The deviation of a price, relative to the exact price."""
    exact = case.exact
    limit = STANDARD_ERRORS * estimate.standard_error / exact + ROUNDING[precision]
    return Deviation(abs(estimate.value - exact) / exact, limit)


def stored_deviation(backend: Backend, run: Run) -> Deviation:
    """The error of the mean or the standard deviation of stored prices, at the step where it is the worst."""
    problem = run.problem
    moments, counts = (backend.to_host(run.stepper.state[name]) for name in ("moments", "histogram"))
    found = list(_of_steps(problem, moments, counts))
    return max(found, key=lambda off: off.error / off.limit if off.right else math.inf)


def _of_steps(problem: GbmProblem, moments: np.ndarray, counts: np.ndarray) -> Iterator[Deviation]:
    scenario, n = problem.scenario, problem.scenario.paths.count
    rounding = ROUNDING[scenario.run.precision]
    (asset,) = scenario.asset
    for frame, step in enumerate(problem.frame_steps[1:], 1):
        found = price_statistics(scenario, problem.dynamics, step, n, moments[frame], counts[frame])
        variance = asset.volatility.value**2 * found.time
        spread = math.sqrt(math.expm1(variance))  # standard deviation of a lognormal price, relative to its mean
        fourth = math.exp(4 * variance) + 2 * math.exp(3 * variance) + 3 * math.exp(2 * variance) - 3  # kurtosis
        mean = asset.spot * math.exp(scenario.market.rate.value * found.time)
        for value, exact, error in (
            (found.mean[0], mean, spread / math.sqrt(n)),
            (found.std[0], mean * spread, math.sqrt((fourth - 1) / (4 * n))),
        ):
            yield Deviation(float(abs(value - exact) / exact), AT_ALL_STEPS * error + rounding)
