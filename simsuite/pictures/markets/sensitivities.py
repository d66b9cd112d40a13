"""The Greeks of options with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from simsuite.pictures.gbm_options import in_words
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, tidy
from simsuite.pictures.units import rounded, shortened, superscript
from simsuite.solvers.gbm.statistics.statistics import student_quantile

_UNITS = {
    "delta": "1",
    "gamma": "1/currency",
    "vega": "currency per 1.00\nof the volatility",
    "rho": "currency per 1.00\nof the rate",
    "theta": "currency a year",
}
_ROWS = 16  # At most so many values are drawn in a panel.
_ROW, _USUAL = 0.1, 0.55  # the height of a value, and of a panel with few of them, over the panel's width


@dataclass(frozen=True)
class _Value:
    """name: of the option, and of the asset where there are several. asset: its number. reach: half the width of the
    interval of 95 %, NaN where it is not known."""

    name: str
    asset: int
    value: float
    reach: float

    def words(self, unit: float) -> str:
        """The value and its interval in some unit."""
        value, reach = self.value / unit, self.reach / unit
        if reach > 0:
            return " ".join(in_words(value, (value - reach, value + reach))).replace("-", "−")
        return rounded(value)


def greeks_of(run: Recording) -> list[str]:
    """The Greeks that are known of some option, in the usual order."""
    return [
        name for name in _UNITS if run.has(f"option_{name}") and np.isfinite(run.numbers(f"option_{name}", ...)).any()
    ]


def greek_shape(run: Recording, name: str) -> float:
    """The height of the panel of a Greek over its width."""
    return max(_USUAL, _ROW * min(len(_values(run, name)), _ROWS))


def draw_greek(run: Recording, ax: Axes, name: str) -> list[Artist]:
    """A Greek of each option, with its interval of 95 %; of those by an asset a dot for each that it depends on."""
    every = _values(run, name)
    values = every[:_ROWS]
    power = _power(values)
    right = sum(each.value for each in values) >= 0  # numbers stand above the dots, on the side that is away from 0
    for at, each in enumerate(values):
        colour, reach = COLOURS[each.asset % len(COLOURS)], np.nan_to_num(each.reach)
        # without caps, which would stick out of the dot where the interval does not
        ax.errorbar(each.value, at, xerr=reach, fmt="o", color=colour, markersize=4, elinewidth=1.4)
        ax.annotate(
            each.words(10.0**power),
            (1.0 if right else 0.02, at),
            xytext=(0, 5),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right" if right else "left",
            size=SMALL,
            color=INK,
        )
    ax.axvline(0, color=GREY, linewidth=0.6, zorder=0)
    unit = _UNITS[name] if power == 0 else f"10{superscript(power)} × {_UNITS[name]}"
    title = name.capitalize() + (f", {len(values)} of {len(every)}" if len(every) > len(values) else "")
    tidy(ax, title, f"{name.capitalize()} ({unit})", "")
    ax.xaxis.set_major_formatter(lambda value, at: rounded(value / 10.0**power))
    ax.set_yticks(range(len(values)), [each.name for each in values], parse_math=False)
    ax.set_ylim(len(values) - 0.5, -0.9)  # with room for the number above the first dot
    label = "value; bar and ±: 95 % interval"
    return [Line2D([], [], color=COLOURS[0], marker="o", markersize=4, linewidth=1.4, label=label)]


def _power(values: Sequence[_Value]) -> int:
    """The power of ten that values are shown in units of; 0 where they have few digits before and after the point."""
    largest = max((abs(each.value) for each in values), default=0.0)
    return 0 if largest == 0 or 0.01 <= largest < 1e5 else math.floor(math.log10(largest))


def _values(run: Recording, name: str) -> Sequence[_Value]:
    """A Greek of all options, by all assets."""
    options = run.texts("option")
    values, errors = (np.atleast_2d(run.numbers(f"option_{name}{part}", ...).T).T for part in ("", "_standard_error"))
    assets = run.texts("asset") if values.shape[1] > 1 else [""]
    quantile = student_quantile(run.results.get("replicates", math.inf) - 1)
    found = []
    for i, option in enumerate(options):
        for a, asset in enumerate(assets):
            if not np.isfinite(values[i, a]) or (len(assets) > 1 and values[i, a] == 0):
                continue
            words = shortened(option, 20) + (f", {shortened(asset, 12)}" if asset else "")
            found.append(_Value(words, a, float(values[i, a]), quantile * float(errors[i, a])))
    return found
