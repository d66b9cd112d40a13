"""The Greeks of options with their intervals."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, tidy
from simsuite.pictures.units import shortened

_Z95 = 1.96
_UNITS = {
    "delta": "1",
    "gamma": "1/currency",
    "vega": "currency per 1.00 of the volatility",
    "rho": "currency per 1.00 of the rate",
    "theta": "currency a year",
}
_MOST = 12  # At most so many options are drawn.


def greeks_of(run: Recording) -> list[str]:
    """The Greeks that are known of some option, in the usual order."""
    return [
        name for name in _UNITS if run.has(f"option_{name}") and np.isfinite(run.numbers(f"option_{name}", ...)).any()
    ]


def draw_greek(run: Recording, ax: Axes, name: str) -> None:
    """A Greek of each option, with its interval of 95 %; of those by an asset a dot for each that it depends on."""
    options = [shortened(each, 20) for each in run.texts("option")][:_MOST]
    values, errors = (np.atleast_2d(run.numbers(f"option_{name}{part}", ...).T).T for part in ("", "_standard_error"))
    assets = run.texts("asset") if values.shape[1] > 1 else [""]
    ticks: list[str] = []
    for i, option in enumerate(options):
        for a, asset in enumerate(assets):
            if not np.isfinite(values[i, a]) or (len(assets) > 1 and values[i, a] == 0):
                continue
            at = len(ticks)
            reach = _Z95 * errors[i, a] if np.isfinite(errors[i, a]) else 0.0
            colour = COLOURS[a % len(COLOURS)]
            ax.errorbar(values[i, a], at, xerr=reach, fmt="o", color=colour, markersize=4, elinewidth=1.2, capsize=3)
            ticks.append(f"{option}, {shortened(asset, 12)}" if asset else option)
    ax.axvline(0, color=GREY, linewidth=0.6, zorder=0)
    tidy(ax, name.capitalize(), f"{name.capitalize()} ({_UNITS[name]})", "")
    ax.set_yticks(range(len(ticks)), ticks, parse_math=False)
    ax.set_ylim(len(ticks) - 0.5, -0.5)
