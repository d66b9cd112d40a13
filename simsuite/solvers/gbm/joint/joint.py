"""What is averaged over paths of several markets at once: differences between bumped markets, and the whole book.

A market is a scenario with paths of its own, made of the random numbers of the run: path number p of each market is the
same draw. The first may be the run's own market, whose paths are there anyway. A joint payoff depends on what all of
them keep of a path; so it is averaged path by path, and its standard error is that of the difference, or of the sum.

Variables of market m are numbered after those of the markets before it: `last<a>` is asset number a - n m of market m
if there are n assets, and so are `noise<a>` and, by the functionals of each market, `kept<f>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Functional
from simsuite.solvers.gbm.payoffs.payoffs import Mean, Payoffs


@dataclass(frozen=True)
class Market:
    """A market with paths. is_run: whether its paths are those of the run."""

    scenario: GbmScenario
    dynamics: Dynamics
    functionals: tuple[Functional, ...]
    is_run: bool = False


@dataclass(frozen=True)
class JointPayoffs(Payoffs):
    """Joint payoffs, in today's money. n_assets: of each market."""

    n_assets: int = 1

    def asset(self, value: int) -> int:
        return super().asset(value) % self.n_assets


@dataclass(frozen=True)
class BumpedGreek:
    """A Greek by central differences, see bumps.py. number: of the payoff whose mean is the difference for the smaller
    bump; its control is that for twice the bump. size: the smaller bump, in the unit that the Greek is the derivative
    by. order: 1 for a first derivative, 2 for a second one. smooth: whether the payoff has no jump. random: whether it
    can differ from path to path."""

    number: int
    size: float
    order: int
    smooth: bool
    random: bool


@dataclass(frozen=True)
class Joint:
    """Joint payoffs of a run. bumped: by option, name of the Greek and asset (0 where there is but one). book: the
    number of the payoff that is the whole book's price or Greek, by the same name ("price" for the price) and asset;
    a Greek that some option held does not have is left out. unit: what holdings are measured in there."""

    markets: tuple[Market, ...]
    payoffs: JointPayoffs
    bumped: Mapping[tuple[int, str, int], BumpedGreek]
    book: Mapping[tuple[str, int], int]
    unit: float = 1.0

    @property
    def made(self) -> int:
        """The number of markets whose paths are made beside those of the run."""
        return sum(not market.is_run for market in self.markets)

    @property
    def kept_beside(self) -> int:
        """How many numbers of a path are kept in these markets."""
        n_assets = self.payoffs.n_assets
        return sum(n_assets + len(market.functionals) for market in self.markets if not market.is_run)

    @property
    def sizes(self) -> list[float]:
        """All bumps."""
        return [greek.size for greek in self.bumped.values()]

    def mean(self, number: int) -> Mean:
        return self.payoffs.prices[number]
