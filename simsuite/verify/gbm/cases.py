"""The cases that the Monte Carlo solver is verified on, as data: markets and options whose prices are known.

Prices that are not given here are those of `solvers/gbm/reference_prices/prices.py`. Options on one market are priced
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PLAIN, ANTITHETIC, SOBOL = "plain", "antithetic", "sobol"
REPLICATES = 32  # replicates of Sobol points
AT_ALL = {"monitoring": "continuous"}

Way = tuple[str, str]  # a way to draw paths: precision, sampling
EVERY_WAY: tuple[Way, ...] = (
    *(("float64", sampling) for sampling in (PLAIN, ANTITHETIC, SOBOL)),
    ("mixed", PLAIN),
    ("float32", ANTITHETIC),
)
BOTH_ENDS: tuple[Way, ...] = (("float64", PLAIN), ("float32", ANTITHETIC))


@dataclass(frozen=True)
class Case:
    """A market with options. scenario: its keys, without counts, precision and seed. published: prices as they stand in
    print. alike: options whose price is that of another one, named here. low: whether estimates are biased to the lower
    side, by their nature."""

    name: str
    scenario: Mapping[str, Any]
    ways: tuple[Way, ...] = BOTH_ENDS
    published: Mapping[str, float] = field(default_factory=dict)
    alike: Mapping[str, str] = field(default_factory=dict)
    low: bool = False


def world(
    assets: Sequence[Mapping[str, Any]], steps: int, options: Sequence[Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """The keys of a scenario: a market over a year, with options that are named after their terms unless they have
    names."""
    market = {"rate": 0.05, **more.pop("market", {})}
    return {
        "solver": "gbm",
        "market": market,
        "asset": [dict(asset) for asset in assets],
        "time": {"end": 1.0, "steps": steps, **more.pop("time", {})},
        "option": [dict(option) for option in options],
        "output": {"frames": 2, "store_paths": 0},
    }


def option(name: str, style: str, payoff: str = "call", **keys: Any) -> dict[str, Any]:
    return {"name": name, "style": style, "payoff": payoff, **keys}


def formula(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "style": "expression", "value": value}


ASSET = {"spot": 100.0, "volatility": 0.2, "dividend_yield": 0.02}

VANILLA = [
    option("call", "european", strike=100.0),
    option("put", "european", "put", strike=90.0),
    option("digital call", "digital", strike=105.0, cash=10.0),
    option("digital put", "digital", "put", strike=95.0, cash=10.0),
]
ASIANS = [
    option("asian", "asian", strike=100.0),
    option("asian put, plain", "asian", "put", strike=102.0, fixings=6, control_variate=False),
    option("asian past", "asian", strike=100.0, fixings=4, past_fixings=[97.0, 104.0]),
    option("asian dates", "asian", "put", strike=101.0, fixings=[0.25, 0.5, 1.0]),
    option("geometric", "asian", strike=100.0, average="geometric"),
    option("geometric past", "asian", "put", strike=101.0, average="geometric", fixings=3, past_fixings=[95.0]),
    formula("mean formula", "max(mean(A) - 100, 0)"),
    formula("geomean formula", "max(geomean(A) - 100, 0)"),
]


def barriers(**more: Any) -> list[dict[str, Any]]:
    """Barrier options of all eight kinds, some with rebates."""
    found = []
    for payoff in ("call", "put"):
        for direction, level, rebate in (("down", 88.0, 2.0), ("up", 118.0, 0.0)):
            for knock in ("out", "in"):
                keys = {"strike": 100.0, "direction": direction, "knock": knock, "level": level, "rebate": rebate}
                found.append(option(f"{direction}-{knock} {payoff}", "barrier", payoff, **keys, **more))
    return found


def lookbacks(**more: Any) -> list[dict[str, Any]]:
    fixed = [option(f"lookback {p}", "lookback", p, strike_type="fixed", strike=103.0, **more) for p in ("call", "put")]
    return fixed + [option(f"floating {p}", "lookback", p, strike_type="floating", **more) for p in ("call", "put")]


def two(volatilities: Sequence[float], options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first, second = volatilities
    assets = [
        {"spot": 100.0, "volatility": first, "dividend_yield": 0.02},
        {"spot": 95.0, "volatility": second, "dividend_yield": 0.01},
    ]
    return world(assets, 2, options, market={"correlation": [[1.0, 0.5], [0.5, 1.0]]})


ON_TWO = [
    {"name": "exchange", "style": "exchange", "assets": ["A", "B"]},
    option("spread", "spread", assets=["A", "B"], strike=4.0),
    option("spread put", "spread", "put", assets=["B", "A"], strike=-6.0),
    option("basket", "basket", strike=97.0),
    option("basket put, plain", "basket", "put", strike=150.0, weights=[1.0, 0.5], control_variate=False),
    option("best call", "basket", strike=105.0, combine="max"),
    option("worst put", "basket", "put", strike=95.0, combine="min"),
    option("call on B", "european", strike=95.0, asset="B"),
    formula("best formula", "max(max(last(A), last(B)) - 105, 0)"),
]

ONE = Case(
    "one asset",
    world([ASSET], 12, [*VANILLA, *ASIANS]),
    EVERY_WAY,
    alike={"mean formula": "asian", "geomean formula": "geometric"},
)
WATCHED = Case("on dates", world([ASSET], 12, [*barriers(), *lookbacks(dates=6)]), EVERY_WAY)
TWO = Case("two assets", two((0.2, 0.3), ON_TWO), EVERY_WAY, alike={"best formula": "best call"})
CONTINUOUS = Case(
    "at all times", world([ASSET], 4, [*barriers(monitoring="continuous"), *lookbacks(monitoring="continuous")])
)
JUMPS = Case(
    "jumps",
    world(
        [{"spot": 100.0, "volatility": 0.2, "jumps": {"intensity": 1.0, "mean": -0.1, "deviation": 0.15}}],
        4,
        [
            option("call", "european", strike=100.0),
            option("put", "european", "put", strike=90.0),
            option("digital call", "digital", strike=105.0, cash=10.0),
            option("digital put", "digital", "put", strike=80.0, cash=10.0),
        ],
    ),
    EVERY_WAY,
    published={"call": 12.7612885936},
)
CASH = Case(
    "cash dividend",
    world([ASSET | {"dividends": [{"time": 0.4, "cash": 5.0}]}], 5, VANILLA[:2]),
)
AMERICAN = Case(
    "Longstaff-Schwartz",
    world(
        [{"spot": 36.0, "volatility": 0.2}],
        50,
        [option("put", "american", "put", strike=40.0)],
        market={"rate": 0.06},
    ),
    published={"put": 4.47781111},
    low=True,
)
CHANGING = Case(
    "changing",
    world(
        [
            {
                "spot": 100.0,
                "volatility": [[0.0, 0.15], [0.25, 0.3], [0.7, 0.2]],
                "dividend_yield": [[0.0, 0.0], [0.5, 0.04]],
                "dividends": [{"time": 0.5, "proportion": 0.03}],
            }
        ],
        12,
        [*VANILLA, ASIANS[0], ASIANS[4], barriers()[0], barriers()[7], *lookbacks()],
        market={"rate": [[0.0, 0.03], [0.6, 0.07]]},
    ),
)
LAST_DIVIDEND = Case(
    "dividend at the end",
    world(
        [ASSET | {"dividends": [{"time": 1.0, "proportion": 0.08}]}],
        3,
        [
            option("down-out put", "barrier", "put", strike=104.0, direction="down", knock="out", level=85.0, **AT_ALL),
            option("down-out call", "barrier", strike=80.0, direction="down", knock="out", level=90.0, **AT_ALL),
            option("down-in call", "barrier", strike=80.0, direction="down", knock="in", level=90.0, **AT_ALL),
            option("up-out call", "barrier", strike=90.0, direction="up", knock="out", level=125.0, **AT_ALL),
        ],
    ),
    (*BOTH_ENDS, ("float64", SOBOL)),
)
CERTAIN = Case(  # controls leave nothing but rounding
    "its own control",
    world([ASSET], 1, [option("asian", "asian", strike=100.0), option("asian put", "asian", "put", strike=110.0)]),
    tuple((precision, sampling) for precision in ("float64", "mixed", "float32") for sampling in (PLAIN, SOBOL)),
)
CASES = (
    ONE,
    WATCHED,
    LAST_DIVIDEND,
    CERTAIN,
    TWO,
    CHANGING,
    Case(
        "four assets",
        world(
            [{"spot": spot, "volatility": 0.25} for spot in (90.0, 100.0, 105.0, 110.0)],
            1,
            [
                option("basket", "basket", strike=100.0),
                option("plain put", "basket", "put", strike=105.0, control_variate=False),
            ],
            market={"correlation": [[1.0 if i == j else 0.3 for j in range(4)] for i in range(4)]},
        ),
    ),
    Case(
        "twelve fixings",
        world([{"spot": 100.0, "volatility": 0.2}], 12, [ASIANS[0]]),
        EVERY_WAY,
        published={"asian": 6.1560407664},
    ),
    Case(
        "Broadie-Glasserman-Kou",
        world(
            [{"spot": 100.0, "volatility": 0.3}],
            50,
            [option("down-out call", "barrier", strike=100.0, direction="down", knock="out", level=91.0)],
            market={"rate": 0.1},
            time={"end": 0.2},
        ),
        published={"down-out call": 5.97706866},
    ),
    CONTINUOUS,
    JUMPS,
    CASH,
    AMERICAN,
)
SEEDED = (ONE, WATCHED, TWO, CONTINUOUS, JUMPS, CASH, AMERICAN)
WITH_GREEKS = {
    True: (ONE, TWO, LAST_DIVIDEND),
    False: (ONE, TWO, JUMPS, WATCHED, CONTINUOUS, CHANGING, LAST_DIVIDEND),
}  # by whether the verification is quick
SEEDED_WITH_GREEKS: dict[bool, tuple[Case, ...]] = {True: (), False: (ONE, TWO, CONTINUOUS)}
