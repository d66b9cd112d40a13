"""A Monte Carlo scenario of one's own, with ever more paths: do errors fall, and are prices those that are known?

Levels have 4 times as many paths each; the last has those of the scenario, or nearly. Standard errors should halve,
those of Sobol points become smaller at least as fast. With random numbers a level begins with the paths of the one
before, so that the change of an estimate has the variance s_before^2 - s_after^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsuite.core import Backend
from simsuite.errors import UsageError
from simsuite.scenario.gbm import GROUP, American, GbmScenario
from simsuite.solvers.gbm.known import known_price
from simsuite.verify.checks import Check
from simsuite.verify.gbm_cases import PLAIN, SOBOL
from simsuite.verify.gbm_prices import CLOSED, LIMIT, LOW, within
from simsuite.verify.gbm_runs import Outcome, problem_of, run
from simsuite.verify.study import fitted_line

ERROR, CHANGE = "standard error", "change"
RATIO = 4
FEWEST = 256  # paths of the first level
FEWEST_MATCHED = 64 * GROUP  # where groups are the observations: errors from fewer scatter too much for an order
ORDER, ORDER_WITHIN = -0.5, 0.1


@dataclass(frozen=True)
class Level:
    paths: int
    outcome: Outcome


def levels_of(model: GbmScenario, backend: Backend, count: int) -> Iterator[Level]:
    """One after another. UsageError where there is nothing to refine, or too few paths."""
    if not model.option:
        raise UsageError("the scenario has no [[option]] whose price could converge")
    unit = model.paths.scrambles if model.paths.sampling == "sobol" else max(model.paths.width, 2)
    first = model.paths.count // RATIO ** (count - 1) // unit * unit
    fewest = FEWEST_MATCHED if model.paths.moment_matching else FEWEST
    if first < fewest:
        least = RATIO ** (count - 1) * fewest
        raise UsageError(f"{count} levels need paths.count of at least {least}, and there are {model.paths.count}")
    for k in range(count):
        paths = first * RATIO**k
        stored = min(model.output.store_paths or 0, paths)
        changed = {
            "paths": model.paths.model_copy(update={"count": paths, "target_standard_error": 0.0, "multilevel": False}),
            "output": model.output.model_copy(update={"store_paths": stored}),
        }
        yield Level(paths, run(problem_of(model.model_copy(update=changed)), backend))


def study(model: GbmScenario, levels: Sequence[Level]) -> Iterator[Check]:
    """Of each option."""
    paths = [level.paths for level in levels]
    way = (model.run.precision, SOBOL if model.paths.sampling == "sobol" else PLAIN)
    for name, option in zip(model.option_names, model.option):
        prices, errors = ([level.outcome.options[name][key] for level in levels] for key in ("price", "standard_error"))
        if None in errors:
            continue  # too few paths were paid to say how far the price may be off
        exact, american = known_price(model, option), isinstance(option, American)
        order, factor = fitted_line(paths, errors)
        data = {"prices": prices, "standard_errors": errors, "exact": exact, "order": order, "factor": factor}
        still = max(errors) == 0  # such as an option that is paid for certain
        upper = ORDER + ORDER_WITHIN
        good = order <= upper if way[1] == SOBOL else abs(order - ORDER) <= ORDER_WITHIN
        words = f"order <= {upper:g}" if way[1] == SOBOL else f"order {ORDER:g} +- {ORDER_WITHIN:g}"
        yield Check(name, ERROR, 0.0 if still else order, words, still or good, {"paths": paths, **data})
        if way[1] != SOBOL and not american:  # the exercise of American options is learnt anew
            scatter = math.sqrt(max(errors[-2] ** 2 - errors[-1] ** 2, 0.0))
            yield within(name, CHANGE, prices[-1] - prices[-2], 0.0, scatter, way, model)
        if exact is not None:
            bounds = LOW if american else (-LIMIT, LIMIT)
            yield within(name, CLOSED, prices[-1], exact, errors[-1], way, model, bounds)
