"""Scenario files with ``solver = "gbm"``: Monte Carlo on geometric Brownian motions, dS/S = (r - q) dt + sigma dW."""

from simsuite.scenario.gbm.asset import LARGEST_PRICE, Asset, Dividend, Jumps
from simsuite.scenario.gbm.autocallable import Autocallable
from simsuite.scenario.gbm.contract import Contract, Monitored, OnOne, OnTwo
from simsuite.scenario.gbm.functionals import FUNCTIONALS
from simsuite.scenario.gbm.market import Market
from simsuite.scenario.gbm.option import (
    American,
    Asian,
    Barrier,
    Basket,
    Digital,
    European,
    Exchange,
    Formula,
    Lookback,
    Option,
    Spread,
)
from simsuite.scenario.gbm.output import GbmOutput, Risk
from simsuite.scenario.gbm.paths import GROUP, MOST_DIMENSIONS, MOST_PATHS, MOST_POINTS, Paths
from simsuite.scenario.gbm.scenario import GbmRun, GbmScenario
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.schedule import Schedule

__all__ = [
    "FUNCTIONALS",
    "GROUP",
    "LARGEST_PRICE",
    "MOST_DIMENSIONS",
    "MOST_PATHS",
    "MOST_POINTS",
    "American",
    "Asian",
    "Asset",
    "Autocallable",
    "Barrier",
    "Basket",
    "Contract",
    "Digital",
    "Dividend",
    "European",
    "Exchange",
    "Formula",
    "GbmOutput",
    "GbmRun",
    "GbmScenario",
    "Jumps",
    "Lookback",
    "Market",
    "Monitored",
    "OnOne",
    "OnTwo",
    "Option",
    "Paths",
    "Risk",
    "Schedule",
    "Spread",
    "Time",
]
