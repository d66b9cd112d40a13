"""The price and the Greeks of the book: sums over all options held, with errors that have all correlations in them.

What is told is the sum T of what is told of each option, times its number. Its error is that of P, the mean of the sum
on each path (read_book.py), and T - P besides, which is 0 without control variates: each option has a coefficient of
its own there, the sum has one. What scatter does not show of the options, such as the bias of bumps and rounding, is
added as if it all went the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.core import Snapshot, Variable
from simsuite.solvers.gbm.error_allowances.unknown_reasons import with_reasons
from simsuite.solvers.gbm.parts import of_option
from simsuite.solvers.gbm.payoffs.option_greeks import BUMPED, GREEKS, PER_ASSET
from simsuite.solvers.gbm.read_book import PRICE, Slot, missing, slots
from simsuite.solvers.gbm.results.bumped_greeks import bumped_estimate
from simsuite.solvers.gbm.results.estimates import joint_estimate, mean_estimate, sampled_estimate
from simsuite.solvers.gbm.results.greek_results import greek_estimates
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate

_SHOWN = 3  # options that a reason names at most


def book_estimates(statement: Statement, observed: Snapshot) -> dict[Slot, Estimate]:
    """The price and the Greeks of the book, NaN where they are not told; empty if no option is held."""
    if statement.joint is None or not statement.joint.book:
        return {}
    return {slot: _estimate(statement, observed, slot) for slot in slots(statement.n_assets)}


def price_of_book(estimates: Mapping[Slot, Estimate]) -> Estimate:
    """The price of all options held; exactly 0 if there are none."""
    return estimates.get((PRICE, 0), Estimate(0.0, 0.0))


def _estimate(statement: Statement, observed: Snapshot, slot: Slot) -> Estimate:
    assert statement.joint is not None
    number = statement.joint.book.get(slot)
    if number is None:
        return Estimate(math.nan, math.nan)
    together = joint_estimate(statement, observed, statement.joint.mean(number))
    parts = list(_parts(statement, observed, slot))
    unit = statement.joint.unit
    value = math.fsum(held / unit * estimate.value for held, estimate, _ in parts)
    hidden = math.fsum(abs(held / unit) * more for held, _, more in parts)
    unknown = next((estimate.unknown for _, estimate, _ in parts if estimate.unknown), "")
    if unknown:
        return Estimate(value * unit, math.nan, unknown=unknown)
    found = Estimate(value, together.standard_error, together.freedom)
    found = found.widened(math.hypot(value - together.value, hidden))
    return replace(found, value=found.value * unit, standard_error=found.standard_error * unit)


def _parts(statement: Statement, observed: Snapshot, slot: Slot) -> Iterator[tuple[float, Estimate, float]]:
    """Of each option held: how many, its estimate, and the part of its error that scatter does not show."""
    name, asset = slot
    for o, option in enumerate(statement.scenario.option):
        if not option.holding:
            continue
        part, seen, i = of_option(statement, observed, o)
        if name != PRICE and part.payoffs.greeks[i].methods[name] == BUMPED:
            bumped = bumped_estimate(statement, observed, (o, name, asset))
            yield option.holding, bumped.estimate, _rest(bumped.estimate.standard_error, bumped.sampling)
            continue
        if name == PRICE:
            mean, estimate = part.payoffs.prices[i], mean_estimate(part, seen, part.payoffs.prices[i])
        else:
            found = part.payoffs.greek_means[i].get(slot)
            if found is None:
                continue
            mean, estimate = found, greek_estimates(statement, observed, o, name)[asset]
        sampled = sampled_estimate(part, seen, mean).standard_error
        yield option.holding, estimate, _rest(estimate.standard_error, sampled)


def _rest(error: float, sampled: float) -> float:
    return math.sqrt(max(error * error - sampled * sampled, 0.0))


def book_results(statement: Statement, estimates: Mapping[Slot, Estimate]) -> dict[str, Any]:
    """The results of the book, with reasons for what is not told; nothing if no option is held."""
    if not estimates:
        return {}
    price, n = estimates[PRICE, 0], statement.n_assets
    held = sum(1 for option in statement.scenario.option if option.holding)
    found: dict[str, Any] = {"options_held": held, **_told("value", [price], False)}
    found["value_ci95"] = [_known(end) for end in price.ci95]
    reasons = {"value_standard_error": price.unknown} if price.unknown else {}
    for name in GREEKS:
        each = [estimates[name, a] for a in range(n if name in PER_ASSET else 1)]
        found |= _told(name, each, name in PER_ASSET)
        if why := _reason(statement, name):
            reasons[name] = why
        elif unknown := next((e.unknown for e in each if e.unknown), ""):
            told = all(math.isfinite(e.value) for e in each if e.unknown)
            reasons[f"{name}_standard_error" if told else name] = unknown
    return {"book": with_reasons(found, reasons)}


def _told(name: str, each: Sequence[Estimate], listed: bool) -> dict[str, Any]:
    values, errors = [_known(e.value) for e in each], [_known(e.standard_error) for e in each]
    return {name: values if listed else values[0], f"{name}_standard_error": errors if listed else errors[0]}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _reason(statement: Statement, name: str) -> str:
    """Why the sum of a Greek is not told: which options do not have it; "" if all have it."""
    without = missing(statement, name)
    names = [repr(statement.scenario.option_names[o]) for o in without[:_SHOWN]]
    more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
    return f"{', '.join(names)}{more} {'has' if len(without) == 1 else 'have'} none" if without else ""


def book_variables(statement: Statement, units: Mapping[str, Mapping[str, str]]) -> list[Variable]:
    """The variables about the book. units: attributes of each Greek."""
    if statement.joint is None or not statement.joint.book:
        return []
    price = {"units": "1", "long_name": "price of all options held (in units of price)"}
    found = []
    for name, attrs in (("value", price), *((name, units[name]) for name in GREEKS)):
        dims = ("asset",) if name in PER_ASSET else ()
        told = attrs if name == "value" else {**attrs, "long_name": f"sum of option_{name} over all options held"}
        found.append(Variable(f"book_{name}", dims, attrs=told))
        error = {**attrs, "long_name": f"standard error of book_{name}"}
        found.append(Variable(f"book_{name}_standard_error", dims, attrs=error))
    return found


def book_totals(statement: Statement, estimates: Mapping[Slot, Estimate]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name in ("value", *GREEKS) if estimates else ():
        key = PRICE if name == "value" else name
        each = [estimates[key, a] for a in range(statement.n_assets if name in PER_ASSET else 1)]
        parts = {"": [e.value for e in each], "_standard_error": [e.standard_error for e in each]}
        for suffix, values in parts.items():
            found[f"book_{name}{suffix}"] = np.array(values if name in PER_ASSET else values[0])
    return found
