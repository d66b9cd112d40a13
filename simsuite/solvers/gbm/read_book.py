"""The book: all options held, as one payoff. Its price and Greeks are means of sums over options on each path, so that
their standard errors have all correlations in them.

With n_o of option o held, the discounted value v_o of its estimator on a path, and c_o its control variate less its
known mean, the sum on a path is

    Y = sum of n_o (v_o - b_o c_o),   C = sum of n_o w_o c_o,

of which C is a control variate again, whose coefficient is found from the same paths. b_o = 1 where the control is the
payoff of an option on the geometric mean, which is all but the same, or a Greek of it (w_o = 1). Where it is a score,
whose own coefficient is about a price, b_o = 0, and w_o is the size of what the option pays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from simsuite.expressions.derivative import add, multiply, subtract
from simsuite.expressions.tree import Node, Number
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.parts import parts_of
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.option_greeks import BUMPED, GREEKS, NONE, PER_ASSET
from simsuite.solvers.gbm.payoffs.payoffs import Mean
from simsuite.solvers.gbm.statement import Statement

PRICE = "price"
_TINY = -64  # the logarithm to base 2 of a tiny holding
Slot = tuple[str, int]  # PRICE or a Greek, and the asset, 0 where there is but one


def is_held(model: GbmScenario) -> bool:
    """Whether there is a book. Multilevel runs have no paths on which their options could be added up."""
    return any(option.holding for option in model.option) and not model.paths.multilevel


def holding_unit(model: GbmScenario) -> float:
    """What holdings are measured in on paths, so that squares of sums do not come out as 0: the power of 2 at or below
    the largest if that is tiny, or else 1."""
    largest = max((abs(option.holding) for option in model.option), default=0.0)
    exponent = math.frexp(largest)[1] - 1
    return math.ldexp(1.0, exponent) if largest > 0 and exponent < _TINY else 1.0


def slots(n_assets: int) -> Iterator[Slot]:
    """The price and all Greeks of a book."""
    yield PRICE, 0
    for name in GREEKS:
        yield from ((name, asset) for asset in range(n_assets if name in PER_ASSET else 1))


def missing(statement: Statement, name: str) -> list[int]:
    """The options held that have no Greek of this name."""
    if name == PRICE:
        return []
    return [
        o
        for part in parts_of(statement)
        for i, o in enumerate(part.options)
        if statement.scenario.option[o].holding and part.statement.payoffs.greeks[i].methods[name] == NONE
    ]


def read_book(
    statement: Statement, bumped: Mapping[tuple[int, str, int], Node]
) -> dict[Slot, tuple[Node, Control | None]]:
    """What is averaged for the book's price and Greeks, in today's money, with the control C; without those that some
    option held does not have. bumped: Greeks by bumping, by option, name and asset."""
    model, found, unit = statement.scenario, {}, holding_unit(statement.scenario)
    for slot in slots(statement.n_assets):
        if missing(statement, slot[0]):
            continue
        own, controls = list[Node](), list[Node]()
        for part in parts_of(statement):
            for i, o in enumerate(part.options):
                held = model.option[o].holding / unit
                if not held:
                    continue
                if slot[0] != PRICE and part.statement.payoffs.greeks[i].methods[slot[0]] == BUMPED:
                    own += [multiply(Number(held), bumped[o, *slot])] if (o, *slot) in bumped else []
                    continue
                mean = _mean(statement, o, slot)
                if mean is None:
                    continue
                weight = Number(held * part.statement.discount)
                own.append(multiply(weight, statement.payoffs.values[mean.value]))
                if mean.control is None:
                    continue
                off = multiply(weight, subtract(statement.payoffs.values[mean.control], Number(mean.control_mean)))
                alike = part.statement.payoffs.controls[i] is not None
                if alike:
                    own.append(multiply(Number(-1.0), off))
                controls.append(off if alike else multiply(Number(_size(part.statement, i)), off))
        control = Control(_sum(controls), 0.0) if controls else None
        found[slot] = _sum(own), control
    return found


def _mean(statement: Statement, option: int, slot: Slot) -> Mean | None:
    payoffs = statement.payoffs
    return payoffs.prices[option] if slot[0] == PRICE else payoffs.greek_means[option].get(slot)


def _size(statement: Statement, option: int) -> float:
    """The size of what an option pays, roughly."""
    found = abs(float(statement.summands[statement.payoffs.prices[option].value]))
    return found if 0 < found < math.inf else 1.0


def _sum(parts: Sequence[Node]) -> Node:
    """The sum of expressions, added up by halves so that it is not nested deeply."""
    if len(parts) < 2:
        return parts[0] if parts else Number(0.0)
    middle = len(parts) // 2
    return add(_sum(parts[:middle]), _sum(parts[middle:]))
