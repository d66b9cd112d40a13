"""Reads what options pay, and their Greeks, as expressions in what is kept of a path."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simsuite.errors import Mistake, ScenarioError
from simsuite.expressions.tree import Node, Number, names_in, substitute
from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm.greeks.bumping import with_bumps
from simsuite.solvers.gbm.greeks.greeks import greeks_of
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.option_greeks import OF_ALL, Greek, OptionGreeks, no_greeks, without
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, greater
from simsuite.solvers.gbm.payoffs.variables import number
from simsuite.solvers.gbm.results.text_lines import NOT_ASKED
from simsuite.solvers.gbm.style_record import style_of

_EARLY = "what is paid before the end depends on the rate and on its date as well"
_ONLY_PRICES = "multilevel Monte Carlo estimates prices only"


def _control(option: Option, reader: PayoffReader) -> Control | None:
    """The control variate of an option, if the scenario asks for one and there is one."""
    style = style_of(option)
    if style.control is None or not (option.control_variate and style.has_control(option)):
        return None
    return style.control(option, reader)


def _exercise_indicator(option: Option, reader: PayoffReader) -> Node | None:
    """1 on paths where an option that could be exercised was, 0 elsewhere."""
    exercised = style_of(option).exercised
    return None if exercised is None else greater(exercised(option, reader), 0.0)


def read_payoffs(model: GbmScenario, dynamics: Dynamics, references: Sequence[float] = ()) -> Payoffs:
    """The payoffs of all options of a scenario, with their Greeks. references: the prices of all assets of which
    performances are multiples, by default the spots. Raises ScenarioError where their exact prices are
    too large for floating point."""
    reader = PayoffReader(model, dynamics, references)
    try:
        trees = tuple(style_of(option).payoff(option, reader) for option in model.option)
        controls = tuple(_control(option, reader) for option in model.option)
    except OverflowError:
        message = "mean prices at the end are beyond 1.8e308, the largest floating-point number"
        raise ScenarioError(
            [Mistake(("time", "end"), message, "take a shorter time, or lower rates and volatilities")]
        ) from None
    exercise_indicators = tuple(_exercise_indicator(option, reader) for option in model.option)
    pathwise = PathwiseDerivatives(reader.functionals, dynamics, model.market.rate)
    unasked = no_greeks(_ONLY_PRICES if model.paths.multilevel else NOT_ASKED)
    greeks = [
        _greeks(option, tree, control, pathwise, model) if option.greeks else unasked
        for option, tree, control in zip(model.option, trees, controls)
    ]
    return Payoffs(
        tuple(map(_at_spot, trees)),
        controls,
        tuple(reader.functionals.found),
        tuple(_with_trees(_at_spot, of) for of in greeks),
        exercise_indicators,
    )


def _greeks(
    option: Option, tree: Node, control: Control | None, pathwise: PathwiseDerivatives, model: GbmScenario
) -> OptionGreeks:
    found = greeks_of(option, tree, control, pathwise, model)
    if style_of(option).pays_early:
        found = without(found, OF_ALL, _EARLY)
    return found if option.greeks is True else with_bumps(found, option, tree, pathwise, model)


def _at_spot(tree: Node) -> Node:
    spots = {name: Number(1.0) for name in names_in(tree) if number(name, "first") is not None}
    return substitute(tree, spots) if spots else tree


def _with_trees(change: Callable[[Node], Node], greeks: OptionGreeks) -> OptionGreeks:
    """The Greeks with all expressions changed by `change`."""
    found = {}
    for key, greek in greeks.found.items():
        control = greek.control
        changed = None if control is None else Control(change(control.tree), control.mean)
        found[key] = Greek(change(greek.tree), changed)
    return OptionGreeks(greeks.methods, found, greeks.reasons)
