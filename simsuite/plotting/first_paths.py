"""The first paths of a Monte Carlo run, made again on the CPU for pictures of single payoffs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.errors import DeviceError

if TYPE_CHECKING:
    from simsuite.scenario.gbm import GbmScenario
    from simsuite.solvers.gbm.payoff_samples import PayoffSamples

MOST_OPTIONS = 12  # The payoffs of at most so many options are drawn.


def first_payoffs(model: GbmScenario, base: Path) -> PayoffSamples | None:
    """What the first options pay on the first paths of a run, and all that are held together; None where there is too
    little memory to make them. base: where names of data files start from. It takes a second or two, and longer where
    kernels have to be compiled for the CPU, as those of a run on a GPU."""
    from simsuite.backends import open_backend
    from simsuite.solvers.gbm.payoff_samples import payoff_samples

    try:
        return payoff_samples(model, base, open_backend("cpu"), range(min(len(model.option), MOST_OPTIONS)))
    except (DeviceError, MemoryError):
        return None
