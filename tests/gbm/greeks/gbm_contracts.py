"""Random contracts on random markets, and their Greeks by differences of the program's own prices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from gbm_problems import problem, run

Tables = dict[str, Any]
STEPS = 6
SEEDS, PATHS = 12, 1 << 13
SPOT, RELATIVE, RATE = 0.015, 0.03, 0.004  # by how much spots (a share), volatilities (a share) and the rate are moved
FOUR_POINTS = {-2: 1 / 12, -1: -8 / 12, 1: 8 / 12, 2: -1 / 12}  # first derivative, of fourth order
FIVE_POINTS = {-2: -1 / 12, -1: 16 / 12, 0: -30 / 12, 1: 16 / 12, 2: -1 / 12}  # second
DIVIDENDS = ((), (1,), (2,), (3,), (6,), (1, 6), (2, 6, 6), (1, 2, 3, 4, 5, 6))  # steps after which they are paid
FREE_OF_THE_SPOT = ("european", "digital", "asian", "barrier")  # theta is theirs by the Black-Scholes equation


def draw(rng: np.random.Generator, paid: tuple[int, ...]) -> Tables:
    """A market of one asset with dividends after these steps, and 15 contracts on it."""
    end, volatility = rng.uniform(0.3, 2.0), rng.uniform(0.12, 0.5)
    s = volatility * math.sqrt(end)
    dividends = [{"time": end * k / STEPS, "proportion": rng.uniform(0.01, 0.08)} for k in paid]
    asset = {"spot": 100.0, "volatility": volatility, "dividend_yield": rng.uniform(0, 0.04), "dividends": dividends}

    def strike() -> float:
        return 100 * math.exp(rng.normal() * 0.4 * s)

    def far_strike() -> float:
        """Beyond the spots by which differences are taken: prices of lookbacks have a kink where both are equal."""
        return 100 * math.exp(float(rng.choice([-1, 1])) * (3 * SPOT + abs(rng.normal()) * 0.3 * s))

    def side() -> str:
        return str(rng.choice(["call", "put"]))

    def barrier(**more: Any) -> Tables:
        up = bool(rng.integers(2))
        level = 100 * math.exp((3 * SPOT + rng.uniform(0.1, 0.9) * s) * (1 if up else -1))
        where = {"direction": "up" if up else "down", "knock": str(rng.choice(["in", "out"])), "level": level}
        rebate = float(rng.choice([0.0, 3.0]))
        return {"style": "barrier", "payoff": side(), "strike": strike(), "rebate": rebate} | where | more

    fixed, floating = {"strike_type": "fixed"}, {"strike_type": "floating"}
    watched = {"monitoring": "continuous"}
    options = [
        {"style": "european", "payoff": side(), "strike": strike()},
        {"style": "digital", "payoff": side(), "strike": strike(), "cash": 10.0},
        {"style": "asian", "payoff": side(), "strike": strike(), "fixings": 3},
        {"style": "asian", "payoff": side(), "strike": strike(), "fixings": [end / 3, end / 2], "past_fixings": [97.0]},
        {"style": "asian", "payoff": side(), "strike": strike(), "fixings": 3, "average": "geometric"},
        barrier(dates=3),
        barrier(dates=3),
        {"style": "lookback", "payoff": side(), "strike": far_strike(), "dates": 3} | fixed,
        {"style": "lookback", "payoff": side(), "dates": 3} | floating,
        barrier(**watched),
        barrier(**watched),
        barrier(**watched),
        barrier(direction="down", level=100 * math.exp(-3 * SPOT - rng.uniform(0, 0.5) * s), **watched),
        {"style": "lookback", "payoff": side(), "strike": far_strike()} | fixed | watched,
        {"style": "lookback", "payoff": side()} | floating | watched,
    ]
    return {
        "market": {"rate": rng.uniform(-0.01, 0.08)},
        "asset": [asset],
        "time": {"end": end, "steps": STEPS},
        "paths": {"count": PATHS, "antithetic": bool(rng.integers(2))},
        "option": options,
    }


def draw_two(rng: np.random.Generator, paid: tuple[int, ...]) -> Tables:
    """A market of two assets, and 8 contracts on both."""
    tables = draw(rng, paid)
    first, rho = tables["asset"][0], rng.uniform(-0.6, 0.9)
    second = first | {"spot": 90.0, "volatility": rng.uniform(0.12, 0.5), "dividends": []}
    tables["asset"], tables["market"]["correlation"] = [first, second], [[1.0, rho], [rho, 1.0]]
    strike = 95 * math.exp(rng.normal() * 0.1)
    tables["option"] = [
        {"style": "exchange", "assets": ["A", "B"]},
        {"style": "spread", "assets": ["B", "A"], "payoff": "put", "strike": -8.0},
        {"style": "basket", "payoff": "call", "strike": strike},
        {"style": "basket", "payoff": "put", "strike": strike, "control_variate": False},
        {"style": "basket", "payoff": "call", "strike": strike, "combine": "max"},
        {"style": "basket", "payoff": "put", "strike": strike, "combine": "min"},
        {"style": "digital", "payoff": "call", "strike": strike, "asset": "B", "cash": 10.0},
        {"style": "expression", "value": f"where(last(A) > last(B), max(last(B) - {strike:.3f}, 0), 2)"},
    ]
    return tables


def _moved(tables: Tables, what: str, asset: int, steps: int) -> Tables:
    """A market with one number moved by so many of its steps."""
    if what == "rate":
        return tables | {"market": tables["market"] | {"rate": tables["market"]["rate"] + steps * RATE}}
    share = {"spot": SPOT, "volatility": RELATIVE}[what]
    assets = [dict(a) for a in tables["asset"]]
    assets[asset][what] = assets[asset][what] * (1 + steps * share)
    return tables | {"asset": assets}


class _Contracts:
    """The same contracts on a market, with one seed after another."""

    def __init__(self, tables: Tables, greeks: bool) -> None:
        self._made = problem(**tables | {"option": [o | {"greeks": greeks} for o in tables["option"]]})

    def results(self, backend: Any, seed: int) -> list[dict[str, Any]]:
        model = self._made.scenario
        drawn = model.model_copy(update={"run": model.run.model_copy(update={"seed": seed})})
        return list(run(dataclasses.replace(self._made, scenario=drawn), backend)[0]["options"].values())

    def prices(self, backend: Any, seed: int) -> np.ndarray:
        return np.array([option["price"] for option in self.results(backend, seed)])


def differences(backend: Any, tables: Tables) -> Iterator[tuple[str, str, float, float, float]]:
    """(contract, Greek, estimate, difference quotient, how many deviations both differ by) of each Greek there is.

    From the same seeds, so that most of their scatter is common to both; what is left is measured over seeds.
    """
    n_assets = len(tables["asset"])
    ways = [("spot", a, k) for a in range(n_assets) for k in (-2, -1, 1, 2)]
    ways += [("volatility", a, k) for a in range(n_assets) for k in (-1, 1)] + [("rate", 0, k) for k in (-1, 1)]
    own, moved = _Contracts(tables, True), {way: _Contracts(_moved(tables, *way), False) for way in ways}
    found: dict[tuple[int, str, int], list[tuple[float, float]]] = {}
    for seed in range(1, SEEDS + 1):
        options = own.results(backend, seed)
        prices = {way: contracts.prices(backend, seed) for way, contracts in moved.items()}
        prices |= {("spot", a, 0): np.array([o["price"] for o in options]) for a in range(n_assets)}
        by = {key: value for a in range(n_assets) for key, value in _quotients(tables, prices, a).items()}
        for i, (option, contract) in enumerate(zip(options, tables["option"])):
            for (greek, a), values in by.items():
                if greek == "theta" and (n_assets > 1 or contract["style"] not in FREE_OF_THE_SPOT):
                    continue
                estimate = option[greek] if greek in ("rho", "theta") else option[greek][a]
                if estimate is not None:
                    found.setdefault((i, greek, a), []).append((estimate, values[i]))
    for (i, greek, a), pairs in found.items():
        mine, others = np.array(pairs).T
        off = mine - others
        scatter = off.std(ddof=1) / math.sqrt(len(off))
        slack = 0.004 * abs(others.mean()) + 0.002 * _size(tables, greek, a)
        rest = max(abs(off.mean()) - slack, 0.0)
        excess = 0.0 if rest == 0 else rest / scatter if scatter > 0 else math.inf
        yield f"{tables['option'][i]}", f"{greek} {a}", float(mine.mean()), float(others.mean()), excess


def _quotients(tables: Tables, prices: dict[tuple[str, int, int], np.ndarray], a: int) -> dict[Any, np.ndarray]:
    """[option] of each Greek by an asset, and of all."""
    market, asset = tables["market"], tables["asset"][a]
    h, sigma = SPOT * asset["spot"], asset["volatility"]
    delta = sum(w * prices["spot", a, k] for k, w in FOUR_POINTS.items()) / h
    gamma = sum(w * prices["spot", a, k] for k, w in FIVE_POINTS.items()) / h**2
    vega = (prices["volatility", a, 1] - prices["volatility", a, -1]) / (2 * RELATIVE * sigma)
    rho = (prices["rate", 0, 1] - prices["rate", 0, -1]) / (2 * RATE)
    growth, spot = market["rate"] - asset.get("dividend_yield", 0.0), asset["spot"]
    value = prices["spot", a, 0]
    theta = market["rate"] * value - growth * spot * delta - (sigma * spot) ** 2 / 2 * gamma
    return {("delta", a): delta, ("gamma", a): gamma, ("vega", a): vega, ("rho", 0): rho, ("theta", 0): theta}


def _size(tables: Tables, greek: str, a: int) -> float:
    """Of such a Greek of a call at the money, about."""
    asset, end = tables["asset"][a], tables["time"]["end"]
    spot, s = asset["spot"], asset["volatility"] * math.sqrt(end)
    return {
        "delta": 1.0,
        "gamma": 1 / (spot * s),
        "vega": spot * math.sqrt(end),
        "rho": spot * end,
        "theta": spot * s / end,
    }[greek]
