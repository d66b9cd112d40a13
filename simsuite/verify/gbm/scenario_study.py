"""Checks a user's own Monte Carlo scenario with more and more paths: whether errors fall, and prices are those that are
known.

Each level has 4 times as many paths as the one before; the last has those of the scenario, or nearly. Standard errors
should halve from level to level; those of Sobol points should fall at least as fast. With random numbers a level begins
with the paths of the one before, so that the change of an estimate has the variance s_after^2 (n_after / n_before - 1).
Where few paths decide what an option is worth, see `rare_events.py`. All levels have the steps of the scenario: the
bias of Euler's and Milstein's schemes is not checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simsuite.core import Backend
from simsuite.errors import UsageError
from simsuite.scenario.gbm import Digital, GbmScenario, Option
from simsuite.solvers.gbm.reference_prices.prices import reference_price
from simsuite.verify.checks import Check
from simsuite.verify.convergence import fitted_line
from simsuite.verify.gbm.cases import PLAIN, SOBOL, Way
from simsuite.verify.gbm.prices import LIMIT, LOW, REFERENCE, within
from simsuite.verify.gbm.rare_events import ERROR_WITHIN, Counts, changed, closed, counts, error_ratio, few_deciding
from simsuite.verify.gbm.runs import Note, Outcome, problem_of, run
from simsuite.words import counted

ERROR, CHANGE = "standard error", "change"
RATIO = 4
FEWEST = 256  # least number of paths of the first level
ORDER, ORDER_WITHIN = -0.5, 0.1


@dataclass(frozen=True)
class Level:
    paths: int
    outcome: Outcome


def levels_of(model: GbmScenario, backend: Backend, count: int) -> Iterator[Level]:
    """Runs the levels one after another. Raises UsageError where there is nothing to refine, or too few paths."""
    if not model.option:
        raise UsageError("the scenario has no [[option]] whose price could converge")
    unit = model.paths.scrambles if model.paths.sampling == "sobol" else 2
    first = model.paths.count // RATIO ** (count - 1) // unit * unit
    if first < FEWEST:
        least = RATIO ** (count - 1) * FEWEST
        raise UsageError(f"{count} levels need paths.count of at least {least}, and there are {model.paths.count}")
    for k in range(count):
        paths = first * RATIO**k
        stored = min(model.output.store_paths or 0, paths)
        changed = {
            "paths": model.paths.model_copy(update={"count": paths, "target_standard_error": 0.0, "multilevel": False}),
            "output": model.output.model_copy(update={"store_paths": stored}),
        }
        yield Level(paths, run(problem_of(model.model_copy(update=changed)), backend))


def study(model: GbmScenario, levels: Sequence[Level], note: Note) -> Iterator[Check]:
    """Checks of each option. note: is told what is not judged."""
    scheme, steps = model.time.scheme, model.time.steps
    if scheme != "exact":
        note(
            f"not checked: the bias of {scheme}, as all levels have {counted(steps, 'step')}: compare prices with "
            f"those of a run with time.steps = {2 * steps}"
        )
    for name, option in zip(model.option_names, model.option):
        found = _Found.of(model, option, name, levels)
        if None in found.errors:
            note(f"not checked: {name}: no path tells how far its price may be off; take more paths")
        elif found.counts is not None and found.counts.few:
            yield from _by_counts(found, found.counts, levels)
        else:
            yield from _by_errors(model, found, note)


@dataclass(frozen=True)
class _Found:
    """What the levels found of an option. counts: its rare paths, if it is a digital and paths are random and so
    independent."""

    name: str
    option: Option
    way: Way
    paths: list[int]
    prices: list[float]
    errors: list[float]
    exact: float | None
    counts: Counts | None

    @classmethod
    def of(cls, model: GbmScenario, option: Option, name: str, levels: Sequence[Level]) -> _Found:
        paths = [level.paths for level in levels]
        prices, errors = ([level.outcome.options[name][key] for level in levels] for key in ("price", "standard_error"))
        random, problem = model.paths.sampling != "sobol", levels[0].outcome.problem
        way = (model.run.precision, PLAIN if random else SOBOL)
        rare = None
        if isinstance(option, Digital) and random:
            rare = counts(option, paths, prices, problem.discount, problem.width)
        return cls(name, option, way, paths, prices, errors, reference_price(model, option), rare)

    @property
    def nested(self) -> bool:
        """Whether a level begins with the paths of the one before. American options are no such case: their exercise is
        learnt anew."""
        return self.way[1] != SOBOL and not self.option.exercised_early

    @property
    def data(self) -> dict[str, Any]:
        order, factor = fitted_line(self.paths, self.errors)
        data = {"paths": self.paths, "prices": self.prices, "standard_errors": self.errors, "exact": self.exact}
        return {**data, "order": order, "factor": factor}


def _by_counts(found: _Found, counts: Counts, levels: Sequence[Level]) -> Iterator[Check]:
    """Checks of a digital with few rare paths, which is close to one that never pays, or always does."""
    if counts.width == 1 or levels[0].outcome.problem.dynamics.lognormal:
        ratios = [error_ratio(counts, k, error) for k, error in enumerate(found.errors)]
        off = max(ratios, key=lambda ratio: abs(ratio - 1))
        words = f"1 +- {ERROR_WITHIN:g} of that of {counts.rare[-1]} in {counts.paths[-1]}"
        yield Check(found.name, ERROR, off, words, abs(off - 1) <= ERROR_WITHIN, found.data)
    yield changed(found.name, CHANGE, counts)
    if found.exact is not None:
        yield closed(found.name, REFERENCE, counts, found.exact)


def _by_errors(model: GbmScenario, found: _Found, note: Note) -> Iterator[Check]:
    """Checks of an option whose estimates are as good as normal, with a well-known standard error."""
    name, paths, errors, way = found.name, found.paths, found.errors, found.way
    check = _falling(found)
    yield check
    few = None if check.passed else few_deciding(name, found.prices, errors, paths)
    if few is not None:
        note(few)
    if found.nested:
        scatter = errors[-1] * math.sqrt(paths[-1] / paths[-2] - 1)
        yield within(name, CHANGE, found.prices[-1] - found.prices[-2], 0.0, scatter, way, model)
    if found.exact is not None:
        bounds = LOW if found.option.exercised_early else (-LIMIT, LIMIT)
        yield within(name, REFERENCE, found.prices[-1], found.exact, errors[-1], way, model, bounds)


def _falling(found: _Found) -> Check:
    data, still = found.data, max(found.errors) == 0
    order, upper = data["order"], ORDER + ORDER_WITHIN
    sobol = found.way[1] == SOBOL
    good = order <= upper if sobol else abs(order - ORDER) <= ORDER_WITHIN
    words = f"order <= {upper:g}" if sobol else f"order {ORDER:g} +- {ORDER_WITHIN:g}"
    if still:
        return Check(found.name, ERROR, 0.0, "0, as all paths pay the same", True, data)
    return Check(found.name, ERROR, order, words, good, data)
