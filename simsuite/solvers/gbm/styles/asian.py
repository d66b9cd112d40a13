"""Asian options: what they pay depends on the mean of prices at fixing dates."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Asian, GbmScenario
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.closed_forms.arithmetic import arithmetic_mean_option
from simsuite.solvers.gbm.payoffs.control_variates import Control, law_of_asian
from simsuite.solvers.gbm.payoffs.functionals import Dates
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced, steps_of_dates
from simsuite.solvers.gbm.style_record import StyleRecord


def _dates(option: Asian, reader: PayoffReader) -> Dates:
    if isinstance(option.fixings, list):
        return Dates(listed=tuple(map(reader.model.time.nearest_step, option.fixings)))
    return reader.dates(option.fixings)


def _payoff(option: Asian, reader: PayoffReader) -> Node:
    asset, arithmetic = reader.asset(option.asset), option.average == "arithmetic"
    mean = reader.mean(asset, _dates(option, reader), arithmetic, tuple(option.past_fixings))
    return vanilla(option.payoff, mean, option.strike)


def _control(option: Asian, reader: PayoffReader) -> Control | None:
    """The option on the geometric mean as a control variate, if its mean is known."""
    asset, dates = reader.asset(option.asset), _dates(option, reader)
    if not reader.dynamics.step_terms.lognormal_of([asset]):
        return None  # under other laws the means are not known
    mean = reader.mean(asset, dates, False, tuple(option.past_fixings))
    law = law_of_asian(option, asset, dates, reader.model, reader.dynamics)
    return Control(vanilla(option.payoff, mean, option.strike), law.mean, law)


def _price(option: Asian, assets: Sequence[Priced], discount: float) -> float:
    first = assets[0]
    steps = first.steps(_fixings(first.model, option))
    if option.average == "arithmetic":
        return discount * arithmetic_mean_option(first.spot, option.strike, steps, option.payoff, option.past_fixings)
    forward, deviation = exact.geometric_mean_law(first.spot, steps, option.past_fixings)
    return discount * exact.lognormal_option(forward, deviation, option.strike, option.payoff)


def _fixings(model: GbmScenario, option: Asian) -> list[int]:
    if isinstance(option.fixings, list):
        return [model.time.nearest_step(t) for t in option.fixings]
    return steps_of_dates(option.fixings, model)


RECORD = StyleRecord[Asian](
    payoff=_payoff,
    price=_price,
    has_control=lambda option: option.average == "arithmetic",
    control=_control,
    has_parity=lambda option: option.payoff == "call",
)
