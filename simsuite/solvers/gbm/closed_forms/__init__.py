"""Exact laws and prices for geometric Brownian motion, to verify Monte Carlo results against.

Functions have these arguments in common: `spot` is today's price; `rate` is the continuous rate per year; `growth` is
the expected growth rate of the price per year, which is rate - dividend_yield under the pricing measure; `volatility`
is per square root of a year; `end` is in years. Prices are in the units of `spot`, discounted to today unless said
otherwise. Where a volatility of 0 is legal, the price is that of the path without noise. Each file holds a family of
options, with its equations and sources.
"""

from simsuite.solvers.gbm.closed_forms.arithmetic import arithmetic_asian, arithmetic_mean_option
from simsuite.solvers.gbm.closed_forms.baskets import equicorrelated_basket, two_asset_basket
from simsuite.solvers.gbm.closed_forms.continuous_barriers import (
    barrier,
    barrier_before_dividend,
    hit_discount,
    hit_probability,
    shifted_level,
)
from simsuite.solvers.gbm.closed_forms.differences import derivatives, greeks_by_differences
from simsuite.solvers.gbm.closed_forms.digitals import digital, digital_greeks
from simsuite.solvers.gbm.closed_forms.discrete_barriers import barrier_on_dates, discrete_barrier, hit_on_dates
from simsuite.solvers.gbm.closed_forms.early_exercise import bermudan
from simsuite.solvers.gbm.closed_forms.exposure import Exposure, forward_exposure
from simsuite.solvers.gbm.closed_forms.extremes import (
    maximum_excess,
    maximum_excess_on_dates,
    maximum_tail,
    minimum_shortfall,
    minimum_shortfall_on_dates,
    minimum_tail,
)
from simsuite.solvers.gbm.closed_forms.geometric import (
    continuous_geometric_asian,
    geometric_asian,
    geometric_asian_greeks,
    geometric_mean_law,
)
from simsuite.solvers.gbm.closed_forms.jumps import merton, merton_digital
from simsuite.solvers.gbm.closed_forms.laws import (
    expected_shortfall,
    price_excess_kurtosis,
    price_mean,
    price_quantile,
    price_skewness,
    price_std,
    value_at_risk,
)
from simsuite.solvers.gbm.closed_forms.lookbacks import fixed_lookback, floating_lookback
from simsuite.solvers.gbm.closed_forms.sampling import Sampling
from simsuite.solvers.gbm.closed_forms.schemes import (
    scheme_cross_moment,
    scheme_mean,
    scheme_second_moment,
    scheme_strong_error,
    scheme_weak_error,
)
from simsuite.solvers.gbm.closed_forms.terms import Curve, Greeks, Steps, Terms
from simsuite.solvers.gbm.closed_forms.two_assets import best_or_worst, bivariate_normal, exchange
from simsuite.solvers.gbm.closed_forms.vanilla import (
    Payoff,
    european,
    european_greeks,
    european_price,
    european_vanna_volga,
    lognormal_option,
)

__all__ = [
    "Curve",
    "Exposure",
    "Greeks",
    "Payoff",
    "Sampling",
    "Steps",
    "Terms",
    "arithmetic_asian",
    "arithmetic_mean_option",
    "barrier",
    "barrier_before_dividend",
    "barrier_on_dates",
    "bermudan",
    "best_or_worst",
    "bivariate_normal",
    "continuous_geometric_asian",
    "derivatives",
    "digital",
    "digital_greeks",
    "discrete_barrier",
    "equicorrelated_basket",
    "european",
    "european_greeks",
    "european_price",
    "european_vanna_volga",
    "exchange",
    "expected_shortfall",
    "fixed_lookback",
    "floating_lookback",
    "forward_exposure",
    "geometric_asian",
    "geometric_asian_greeks",
    "geometric_mean_law",
    "greeks_by_differences",
    "hit_discount",
    "hit_on_dates",
    "hit_probability",
    "lognormal_option",
    "maximum_excess",
    "maximum_excess_on_dates",
    "maximum_tail",
    "merton",
    "merton_digital",
    "minimum_shortfall",
    "minimum_shortfall_on_dates",
    "minimum_tail",
    "price_excess_kurtosis",
    "price_mean",
    "price_quantile",
    "price_skewness",
    "price_std",
    "scheme_cross_moment",
    "scheme_mean",
    "scheme_second_moment",
    "scheme_strong_error",
    "scheme_weak_error",
    "shifted_level",
    "two_asset_basket",
    "value_at_risk",
]
