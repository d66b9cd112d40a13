"""The law of the prices along the time steps of a scenario.

dS_a / S_a = g_a dt + sigma_a dW_a,  dW_a dW_b = rho_ab dt,  g = rate - dividend_yield (or the drift), all of them
piecewise constant; a dividend in proportion to the price takes its share at the end of the step nearest to it. So after
k steps, with t_k = k dt and W driven by the Cholesky factor of rho (P. Glasserman, "Monte Carlo Methods in Financial
Engineering", Springer 2003, sections 2.3.3 and 3.2.3),

    log2(S_a(t_k) / S_a(0)) = centre_a(k) + y_a(k),  centre = (integral of g - sigma^2 / 2, log(1 - shares)) / log 2,

and y_a, the noise, is a sum of independent normal numbers whose variance is the integral of (sigma / log 2)^2.
Logarithms are to base 2 throughout, since that is how floating-point numbers are raised to powers.

Jumps, dividends in cash and other schemes change what y does in a step (`step_terms.py`). They keep the first equation
and bring their own share of the centre, so that y stays about 0; its law is another then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from simsuite.scenario.gbm import GbmScenario, Jumps, Schedule
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.cash_dividends import Payment, payments
from simsuite.solvers.gbm.market.jumps import compensation, reach
from simsuite.solvers.gbm.market.schemes import Scheme, coefficients
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.statistics.statistics import Z_MAX

_LEAST_SPREAD = 2.0**-10  # least spread where prices can be 0, so that rounding of y does not look like a price of 0


@dataclass(frozen=True)
class Dynamics:
    """The law of the prices. growth[asset]: per year; volatility[asset]: per square root of a year. paid[asset]:
    dividends, in order of time.

    dt: a time step in years. factor: the Cholesky factor of the correlation, a lower triangle, [asset, asset].
    """

    dt: float
    n_steps: int
    growth: tuple[Schedule, ...]
    volatility: tuple[Schedule, ...]
    factor: np.ndarray
    scheme: Scheme
    jumps: tuple[Jumps | None, ...]
    paid: tuple[tuple[Payment, ...], ...]

    @classmethod
    def of(cls, model: GbmScenario) -> Dynamics:
        market, time, n = model.market, model.time, len(model.asset)
        growth = tuple(
            _difference(market.rate, asset.dividend_yield) if market.drift is None else market.drift
            for asset in model.asset
        )
        factor = np.linalg.cholesky(np.eye(n) if market.correlation is None else np.array(market.correlation))
        volatility = tuple(asset.volatility for asset in model.asset)
        scheme, jumps = Scheme[time.scheme.upper()], tuple(asset.jumps for asset in model.asset)
        bare = cls(time.end / time.steps, time.steps, growth, volatility, factor, scheme, jumps, ((),) * n)
        paid = tuple(payments(asset, time, partial(bare._log_mean_of, a)) for a, asset in enumerate(model.asset))
        return replace(bare, paid=paid)

    @cached_property
    def step_terms(self) -> StepTerms:
        return StepTerms.of(self.scheme, self.jumps, self.paid)

    @property
    def lognormal(self) -> bool:
        """Whether prices follow the lognormal law of the exact scheme, and y is normal with `variance`."""
        return self.step_terms.lognormal

    def is_noisy(self, asset: int) -> bool:
        """Whether the price of an asset can differ from path to path."""
        jumps = self.jumps[asset]
        return any(self.volatility[asset].values) or (jumps is not None and jumps.intensity > 0)

    @property
    def varying(self) -> bool:
        """Whether the variance of increments, or in a scheme their mean, differs from step to step."""
        constant = all(volatility.is_constant for volatility in self.volatility)
        return not (constant and (self.scheme is Scheme.EXACT or all(growth.is_constant for growth in self.growth)))

    @cached_property
    def mix(self) -> np.ndarray:
        """[asset, asset]: the matrix that independent standard normals are multiplied by. If `varying`, `scale` is
        still to be applied."""
        if self.varying:
            return self.factor
        deviation = np.array([v.value for v in self.volatility]) * math.sqrt(self.dt) / LN2
        return deviation[:, None] * self.factor

    def scale(self) -> np.ndarray:
        """[asset, step]: standard deviation of the increment of y in each step, in the exact scheme."""
        variance = np.array([_integrals(_squared(v), self._times()) for v in self.volatility])
        return np.sqrt(np.maximum(np.diff(variance, axis=1), 0.0)) / LN2

    def centre(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: the centre of the logarithms after these numbers of steps (default: after each)."""
        jumps = np.array([[compensation(jump)] for jump in self.jumps]) * self._times(steps)[1:]
        if self.scheme is Scheme.EXACT:
            moved = self._growths(steps) / LN2 - 0.5 * LN2 * self.variance(steps)
        else:
            moved = self._cumulated(self.drift()[1], steps)
        return moved + (jumps + self._fallen(steps)) / LN2

    def log_mean(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: logarithm to base 2 of the expected price, in units of the spot; an approximation once cash
        has been paid."""
        return (self._growths(steps) + self._fallen(steps)) / LN2

    def variance(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: the variance of y that comes from the diffusion, for the exact scheme."""
        times = self._times(steps)
        return np.array([_integrals(_squared(v), times)[1:] for v in self.volatility]) / LN2**2

    def spread(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: the unit in which a histogram takes y. It is the standard deviation of y if y is normal, and
        otherwise large enough for the histogram to reach as far as y does."""
        variance = self.variance(steps)
        found = np.sqrt(variance)
        for a, jump in enumerate(self.jumps):
            if jump is not None:
                times = self._times(steps)[1:]
                jumped = jump.intensity * times * (jump.mean**2 + jump.deviation**2) / LN2**2
                far = np.array([reach(jump, float(t)) for t in times]) / LN2
                found[a] = np.maximum(np.sqrt(variance[a] + jumped), found[a] + far / Z_MAX)
        for a, paid in enumerate(self.paid):
            for payment in paid:
                found[a, self._steps(steps) >= payment.step] *= payment.wider
        step_terms = self.step_terms
        vanishing = [
            step_terms.absorbing and (paying or step_terms.scheme is not Scheme.EXACT) for paying in step_terms.paying
        ]
        return np.where(np.array(vanishing)[:, None], np.maximum(found, _LEAST_SPREAD), found)

    def drift(self) -> np.ndarray:
        """[2, asset, step]: the numbers of `schemes.coefficients`, in a single column where all steps are equal; 0 in
        the exact scheme."""
        if self.scheme is Scheme.EXACT:
            return np.zeros((2, len(self.growth), 1))
        if self.varying:
            return coefficients(self.scheme, self._step_growth(), self.scale() * LN2)
        deviation = np.array([[v.value] for v in self.volatility]) * math.sqrt(self.dt)
        return coefficients(self.scheme, self._step_growth(), deviation)

    def end_covariance(self) -> np.ndarray:
        """[asset, asset]: covariance of y after the last step, as far as it comes from the diffusion (see
        `variance`)."""
        return self.covariance(self.n_steps)

    def covariance(self, step: int) -> np.ndarray:
        """[asset, asset]: covariance of y after so many steps, as far as it comes from the diffusion (see
        `variance`)."""
        if not self.varying:
            return step * (self.mix @ self.mix.T)
        scale = self.scale()[:, :step]
        return (scale @ scale.T) * self.correlation

    @property
    def correlation(self) -> np.ndarray:
        """[asset, asset]: the correlation of the Brownian motions."""
        return self.factor @ self.factor.T

    def _log_mean_of(self, asset: int, step: int) -> float:
        """Natural logarithm of the expected price of one asset after a step, in units of the spot."""
        return float(self.log_mean(np.array([step]))[asset, 0]) * LN2

    def _growths(self, steps: np.ndarray | None) -> np.ndarray:
        """[asset, number]: natural logarithm of the expected price if nothing is paid."""
        if self.scheme is Scheme.EXACT:
            times = self._times(steps)
            return np.array([_integrals(g, times)[1:] for g in self.growth])
        return self._cumulated(np.log1p(np.maximum(self._step_growth(), -0.5)), steps)

    def _step_growth(self) -> np.ndarray:
        """[asset, step]: integral of g over each step; a single column where all steps are equal."""
        if self.varying:
            return np.array([np.diff(_integrals(g, self._times())) for g in self.growth])
        return np.array([[g.value * self.dt] for g in self.growth])

    def _cumulated(self, gains: np.ndarray, steps: np.ndarray | None) -> np.ndarray:
        """[asset, number]: sums of what single steps add, after these numbers of steps."""
        if not self.varying:
            return gains * self._steps(steps)
        return np.concatenate([np.zeros((len(gains), 1)), np.cumsum(gains, axis=1)], axis=1)[:, self._steps(steps)]

    def _fallen(self, steps: np.ndarray | None) -> np.ndarray:
        """[asset, number]: the amount by which dividends lower the natural logarithm."""
        at = self._steps(steps)
        found = np.zeros((len(self.paid), len(at)))
        for a, paid in enumerate(self.paid):
            for payment in paid:
                found[a, at >= payment.step] += payment.fall
        return found

    def _steps(self, steps: np.ndarray | None) -> np.ndarray:
        return np.arange(1, self.n_steps + 1) if steps is None else np.asarray(steps)

    def _times(self, steps: np.ndarray | None = None) -> np.ndarray:
        """0, and the times after the steps, in years."""
        at = np.concatenate([[0], self._steps(steps)])
        return self.dt * self.n_steps * (at / self.n_steps)


def _difference(a: Schedule, b: Schedule) -> Schedule:
    times = sorted({*a.times, *b.times})
    return Schedule(tuple(times), tuple(a.at(t) - b.at(t) for t in times))


def _squared(volatility: Schedule) -> Schedule:
    return Schedule(volatility.times, tuple(v * v for v in volatility.values))


def _integrals(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    """The integrals of a schedule from 0 to each of `times`."""
    knots = np.array([*schedule.times, math.inf])
    before = np.concatenate([[0.0], np.cumsum(np.diff(knots[:-1]) * schedule.values[:-1])])
    piece = np.searchsorted(knots, times, side="right") - 1
    return before[piece] + np.asarray(schedule.values)[piece] * (times - knots[piece])
