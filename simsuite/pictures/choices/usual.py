"""What is drawn of runs where nothing is asked for by name."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.pictures.choices.sheets import available
from simsuite.pictures.recording import Recording

_USUAL = {
    "heat": ("field", "probes", "error", "balance"),
    "gbm": ("trajectory", "density", "convergence"),
    "linear": ("trajectory", "modes", "bode"),
}


def usual(runs: Sequence[Recording]) -> list[str]:
    """The names of what is looked at first, as far as all runs have it."""
    has = [set(available(run)) for run in runs]
    return [name for name in _USUAL[runs[0].solver] if all(name in each for each in has)]
