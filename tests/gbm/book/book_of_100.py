"""A book of a hundred options of every style, with three maturities, as a table file. Its exact prices are in
`quantlib_prices`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

MATURITIES = (0.25, 0.5, 1.0)
SPOTS, VOLATILITIES, YIELDS, RATE, CORRELATION = (100.0, 80.0), (0.25, 0.35), (0.01, 0.0), 0.03, 0.4
DATES = 6
TEXT = f"""
solver = "gbm"
book = "book.csv"

[run]
device = "cpu"

[market]
rate = {RATE}
correlation = [[1, {CORRELATION}], [{CORRELATION}, 1]]

[[asset]]
name = "A"
spot = {SPOTS[0]}
volatility = {VOLATILITIES[0]}
dividend_yield = {YIELDS[0]}

[[asset]]
name = "B"
spot = {SPOTS[1]}
volatility = {VOLATILITIES[1]}

[time]
end = 1.0
steps = 96

[paths]
count = 20000
"""
COLUMNS = (
    "name", "style", "payoff", "asset", "assets", "strike", "maturity", "cash", "average", "fixings", "direction",
    "knock", "level", "rebate", "monitoring", "dates", "strike_type", "combine", "weights", "exercise", "value",
    "greeks",
)  # fmt: skip
Row = dict[str, object]


def rows() -> list[Row]:
    """The options, a hundred, by their columns."""
    found = [row | {"greeks": "false"} for maturity in MATURITIES for row in _with_maturity(maturity)]
    found += [row | {"greeks": "false"} for row in _watched_to_the_end()]
    return [{"name": f"{row['style']}{i}", **row} for i, row in enumerate(found)]


def _with_maturity(maturity: float) -> Iterator[Row]:
    for row in _each():
        yield row | {"maturity": maturity}


def _each() -> Iterator[Row]:
    for payoff, strike in itertools.product(("call", "put"), (90, 100, 110)):
        yield {"style": "european", "payoff": payoff, "strike": strike, "asset": "A"}
    yield {"style": "european", "payoff": "call", "strike": 80, "asset": "B"}
    yield {"style": "european", "payoff": "call", "strike": 90, "asset": "B"}
    yield {"style": "european", "payoff": "put", "strike": 70, "asset": "B"}
    for payoff in ("call", "put"):
        yield {"style": "digital", "payoff": payoff, "strike": 100, "cash": 10, "asset": "A"}
    yield {"style": "digital", "payoff": "put", "strike": 80, "cash": 5, "asset": "B"}
    for strike in (95, 105):
        yield {"style": "asian", "payoff": "call", "strike": strike, "fixings": DATES}
    for payoff in ("call", "put"):
        yield {"style": "asian", "payoff": payoff, "strike": 100, "fixings": DATES, "average": "geometric"}
    up = {"style": "barrier", "payoff": "call", "strike": 100, "direction": "up", "dates": DATES, "level": 130}
    yield up | {"knock": "out", "rebate": 2}
    yield up | {"knock": "in"}
    down = {"style": "barrier", "payoff": "put", "strike": 105, "direction": "down", "dates": DATES, "level": 85}
    yield down | {"knock": "out"}
    yield {"style": "lookback", "payoff": "call", "strike_type": "fixed", "strike": 105, "dates": DATES}
    yield {"style": "lookback", "payoff": "put", "strike_type": "floating", "dates": DATES}
    yield {"style": "basket", "payoff": "call", "strike": 90, "weights": "0.5;0.5"}
    yield {"style": "basket", "payoff": "call", "strike": 100, "combine": "max"}
    yield {"style": "basket", "payoff": "put", "strike": 80, "combine": "min"}
    yield {"style": "exchange", "assets": "A;B"}
    yield {"style": "spread", "payoff": "call", "assets": "A;B", "strike": 20}
    yield {"style": "spread", "payoff": "put", "assets": "B;A", "strike": -10}
    yield {"style": "american", "payoff": "put", "strike": 105, "exercise": DATES}
    yield {"style": "american", "payoff": "put", "strike": 110, "exercise": DATES}
    yield {"style": "expression", "value": "max(last(A) - 100, 0) - max(last(A) - 110, 0)"}
    yield {"style": "expression", "value": "last(A)*last(B)/80"}
    yield {"style": "expression", "value": "(last(A)/100)**2"}


def _watched_to_the_end() -> Iterator[Row]:
    """Options that are watched at all times; these end with the run."""
    barrier = {"style": "barrier", "strike": 100, "monitoring": "continuous"}
    yield barrier | {"payoff": "call", "direction": "down", "knock": "out", "level": 90}
    yield barrier | {"payoff": "call", "direction": "up", "knock": "in", "level": 120}
    yield barrier | {"payoff": "put", "direction": "up", "knock": "out", "level": 120}
    yield barrier | {"payoff": "put", "direction": "down", "knock": "in", "level": 90}


def table() -> str:
    lines = [",".join(COLUMNS)]
    for row in rows():
        cells = (str(row.get(column, "")) for column in COLUMNS)
        lines.append(",".join(f'"{cell}"' if "," in cell else cell for cell in cells))
    return "\n".join(lines) + "\n"
