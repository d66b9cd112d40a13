"""The table of options below the picture of a Monte Carlo run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import GREY, INK, SMALL
from simsuite.pictures.units import rounded, shortened
from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm.reference_prices.prices import reference_price

_MOST = 8  # At most so many options are listed.
# A price is printed with +- if the middle of its interval is no further from it than this share of half the interval.
_UNEVEN = 0.01


def option_rows(run: Recording) -> list[tuple[str, ...]]:
    """The rows of the table, below a header: name, contract, price, interval and exact value of each option; empty
    before the run's end.
    """
    model = run.scenario
    if not run.has("option_price") or not np.isfinite(run.numbers("option_price")).any():
        return []
    found = run.results.get("options", {})
    kind = "Price" if model.market.drift is None else "Discounted mean"
    rows: list[tuple[str, ...]] = [("Option", "Contract", kind, "95 % interval", "Exact")]
    prices = run.numbers("option_price").tolist()
    for name, option, price in zip(model.option_names[:_MOST], model.option, prices):
        numbers = _numbers(price, found.get(name, {}).get("ci95", [None, None]), exact_price(model, option))
        rows.append((shortened(name, 22), shortened(contract_words(model, option), 50), *numbers))
    if len(prices) > _MOST:
        rows.append((f"and {len(prices) - _MOST} more", "", "", "", ""))
    return rows


def _numbers(price: float, interval: Sequence[float | None], exact: float | None) -> tuple[str, str, str]:
    """The price, interval and exact price as text, with as many digits as the interval justifies."""
    low, high = interval
    if low is None or high is None or not math.isfinite(price):
        return f"{price:.2f}", "–", "" if exact is None else f"{exact:.2f}"
    return *in_words(price, (low, high)), "" if exact is None else f"{exact:.{_digits(low, high)}f}"


def in_words(value: float, interval: tuple[float, float]) -> tuple[str, str]:
    """A finite value and its interval, "± 0.012" or "1.21 to 1.34", with as many digits as the interval justifies."""
    low, high = interval
    half, digits = (high - low) / 2, _digits(low, high)
    symmetric = abs((low + high) / 2 - value) <= _UNEVEN * half
    around = f"± {half:.{digits}f}" if symmetric else f"{low:.{digits}f} to {high:.{digits}f}"
    return f"{value:.{digits}f}", around


def _digits(low: float, high: float) -> int:
    """Digits after the point of what lies between two numbers."""
    return max(0, 1 - math.floor(math.log10((high - low) / 2))) if high > low else 2


def contract_words(model: GbmScenario, option: object) -> str:
    """What an option is, in words."""
    words = [str(getattr(option, word)) for word in ("average", "style", "payoff") if hasattr(option, word)]
    strike = getattr(option, "strike", None)
    terms = "" if strike is None else f", strike {rounded(strike, 6)}"
    words = [word.capitalize() if word in ("european", "asian", "american") else word for word in words]
    maturity = getattr(option, "maturity", None)
    terms += "" if maturity is None else f", to t = {rounded(maturity, 4)}"
    return f"{' '.join(words)} on {_underlying(model, option)}{terms}"


def _underlying(model: GbmScenario, option: object) -> str:
    if hasattr(option, "value"):
        return str(option.value)
    if hasattr(option, "assets"):
        return " against ".join(shortened(name, 16) for name in option.assets)
    if hasattr(option, "worst_of"):
        named = [shortened(name, 16) for name in option.worst_of or ["all assets"]]
        return named[0] if option.worst_of and len(named) == 1 else f"the worst of {', '.join(named)}"
    if not hasattr(option, "asset"):
        return "all assets"
    return shortened(option.asset or model.asset_names[0], 16)


def exact_price(model: GbmScenario, option: Option) -> float | None:
    """The exact price under the stochastic differential equation, whatever the scheme; None where it is not known."""
    time = model.time.model_copy(update={"scheme": "exact"})
    return reference_price(model.model_copy(update={"time": time}), option)


def draw_options(ax: Axes, rows: list[tuple[str, ...]]) -> None:
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(len(rows), 0))
    columns = ((0.0, "left"), (0.24, "left"), (0.72, "right"), (0.86, "right"), (0.98, "right"))
    for i, row in enumerate(rows):
        for text, (x, side) in zip(row, columns):
            ax.text(
                x, i + 0.5, text, ha=side, va="center", size=SMALL + 0.5, color=INK if i else GREY, parse_math=False
            )
    ax.plot([0, 0.98], [1, 1], color=GREY, linewidth=0.6, clip_on=False)
