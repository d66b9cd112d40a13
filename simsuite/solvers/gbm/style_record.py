"""The solver's knowledge of a style of options: one `StyleRecord` for each style, in the style's own file.

The file of a style is found by the name that `option.style` gives it, so that nothing else has to list styles.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Option
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.reader import PayoffReader

T = TypeVar("T")


def _no(*of: Any) -> bool:
    return False


@dataclass(frozen=True)
class StyleRecord(Generic[T]):
    """What the solver knows of a style, whose options in a scenario are of the type T.

    payoff: makes an option's payoff, as an expression. has_control: whether there may be a payoff like it whose mean is
    known, see `control_variates`. control: makes that control variate; None if the style has none. exercised: for
    options that can be exercised early, makes what exercise pays, 0 on paths where they never are. price: finds the
    exact price, see `reference_prices`, from the option, its assets (`Priced`), and the discount factor until the end;
    None where it is not known. priced_rough: whether that price can also be found for an asset that jumps or pays cash.
    most, least: bounds of what an option pays. has_parity: whether the option is a call whose price follows from that
    of the put. is_homogeneous: whether the price is proportional to a given spot, plus a constant. smooth_at_spot:
    whether the slope of the payoff is continuous where an extreme price is the spot itself. pays_early: whether some of
    it is paid before the end, and counts with the rate until then.
    """

    payoff: Callable[[T, PayoffReader], Node]
    price: Callable[[T, Sequence[Any], float], float | None] | None = None
    priced_rough: Callable[[Any], bool] = _no
    has_control: Callable[[T], bool] = _no
    control: Callable[[T, PayoffReader], Control | None] | None = None
    exercised: Callable[[T, PayoffReader], Node] | None = None
    least: float = 0.0
    most: Callable[[T], float] = lambda option: math.inf
    has_parity: Callable[[T], bool] = _no
    is_homogeneous: Callable[[T, float], bool] = _no
    smooth_at_spot: bool = False
    pays_early: bool = False


def style_of(option: Option) -> StyleRecord[Any]:
    """The record of an option's style."""
    return style_record(option.style)


@functools.cache
def style_record(style: str) -> StyleRecord[Any]:
    """The record of a style by its name."""
    record = importlib.import_module(f"simsuite.solvers.gbm.styles.{style}").RECORD
    assert isinstance(record, StyleRecord)
    return record
