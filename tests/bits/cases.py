"""Runs whose results must not change by a bit where code is only moved: all scenarios that are shipped, smaller,
by every stepper, method, scheme, sampling and precision, and options of every style."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from test_scenarios import FILES, REDUCED

ROOT = Path(__file__).parents[2]
BENCHMARKS = sorted((ROOT / "simsuite/verify/benchmarks").glob("*.toml"))
STEPPERS = ("auto", "explicit", "rkl2", "adi", "exact")
METHODS = ("auto", "step", "power", "spectral")
PRECISIONS = {
    "heat": ("float64", "float32", "float32c"),
    "gbm": ("float64", "float32", "mixed"),
    "linear": ("float64", "float32"),
}
MARKET: dict[str, Any] = {
    "solver": "gbm",
    "market": {"rate": [[0.0, 0.03], [0.5, 0.05]], "correlation": [[1.0, 0.4], [0.4, 1.0]]},
    "asset": [
        {"name": "A", "spot": 100.0, "volatility": 0.2, "dividend_yield": 0.01, "holding": 2.0},
        {"name": "B", "spot": 90.0, "volatility": [[0.0, 0.3], [0.5, 0.2]], "holding": -1.0},
    ],
    "time": {"end": 1.0, "steps": 12},
    "paths": {"count": 2048},
    "output": {"frames": 4, "store_paths": 3, "risk": {"levels": [0.95]}, "exposure": True},
}
LEAPS = {"intensity": 0.7, "mean": -0.1, "deviation": 0.15}
CALL = {"payoff": "call", "strike": 100.0}
BARRIER = {"style": "barrier", "direction": "down", "knock": "out", "level": 80.0, **CALL}
STYLES: dict[str, dict[str, Any]] = {
    "european": {"style": "european", **CALL},
    "digital": {"style": "digital", **CALL},
    "arithmetic": {"style": "asian", "fixings": 4, **CALL},
    "geometric": {"style": "asian", "average": "geometric", "past_fixings": [99.0, 101.0], **CALL},
    "barrier": {**BARRIER, "rebate": 2.0},
    "continuous barrier": {**BARRIER, "monitoring": "continuous", "knock": "in"},
    "lookback": {"style": "lookback", "payoff": "put", "strike_type": "floating"},
    "continuous lookback": {"style": "lookback", "monitoring": "continuous", "strike_type": "fixed", **CALL},
    "basket": {"style": "basket", **CALL},
    "best": {"style": "basket", "combine": "max", **CALL},
    "exchange": {"style": "exchange", "assets": ["A", "B"]},
    "spread": {"style": "spread", "assets": ["A", "B"], "payoff": "call", "strike": 5.0},
    "american": {"style": "american", "payoff": "put", "strike": 105.0, "exercise": 4},
    "autocallable": {"style": "autocallable", "observations": 4, "coupon": 0.02, "coupon_level": 0.9, "memory": True},
    "early": {"style": "asian", "maturity": 0.5, **CALL},
    "expression": {"style": "expression", "value": "max(max(A) - mean(B), 0)"},
}
WITHOUT_PORTFOLIO = {"risk": None, "exposure": None}  # which not all kinds of paths can have
PATHS: dict[str, dict[str, Any]] = {
    "plain": {},
    "antithetic": {"paths": {"antithetic": True}},
    "sobol": {"paths": {"sampling": "sobol", "replicates": 8}, "output": WITHOUT_PORTFOLIO},
    "batches": {"paths": {"batch": 1024}},
    "target": {"paths": {"target_standard_error": 3.0, "batch": 1024}},
    "euler": {"time": {"scheme": "euler"}},
    "milstein": {"time": {"scheme": "milstein"}},
    "multilevel": {
        "time": {"scheme": "euler", "steps": 16},
        "paths": {"multilevel": True, "target_standard_error": 1.0, "count": 1 << 17},
        "output": WITHOUT_PORTFOLIO,
    },
    "jumps": {"asset": {"jumps": LEAPS}},
    "cash": {"asset": {"dividends": [{"time": 0.4, "cash": 3.0}, {"time": 1.0, "cash": 2.0}]}},
    "proportional": {"asset": {"dividends": [{"time": 0.4, "proportion": 0.03}]}},
}
SMALL = {"paths": {"count": 64}, "time": {"steps": 4}}  # for the simulator
FEW_TO_LEARN_FROM = {"paths": {"regression": 128}}  # when to exercise American options, there too


def cases(small: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and scenarios, which may be such as are refused. small: few enough cells, paths and steps for a simulator
    in which each thread of a GPU is one of Python."""
    for name, path in FILES.items():
        yield from _variants(name, _read(path), REDUCED[name])
    for path in BENCHMARKS:
        scenario = _read(path)
        shape = {f"grid.{n}": min(scenario["grid"][n], 4 if small else 12) for n in ("nx", "ny")}
        if small and "dt" not in scenario["time"]:
            shape["time.tolerance"] = 0.02
        for stepper in STEPPERS:
            if not small or stepper in ("auto", "explicit"):
                yield f"benchmarks/{path.stem} {stepper}", with_values(scenario, {**shape, "time.stepper": stepper})
    yield from _options(small)


def _variants(name: str, scenario: dict[str, Any], reduced: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    solver = scenario["solver"]
    for precision in PRECISIONS[solver]:
        key, ways = {"heat": ("time.stepper", STEPPERS), "linear": ("time.method", METHODS)}.get(solver, ("", ("",)))
        for way in ways:
            values = {**reduced, "run.precision": precision} | ({key: way} if key else {})
            yield f"{name} {way} {precision}".replace("  ", " "), with_values(scenario, values)


def _options(small: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    usual = _merged(MARKET, SMALL) if small else MARKET
    for style, option in STYLES.items():
        for precision in PRECISIONS["gbm"]:
            scenario = {**usual, "option": [option], "run": {"precision": precision}}
            if small and style == "american":
                scenario = _merged(scenario, FEW_TO_LEARN_FROM)
            yield f"options/{style} {precision}", scenario
        if small:
            continue
        for way, changed in PATHS.items():
            yield f"options/{style} {way}", _merged({**usual, "option": [option]}, changed)
    for way, changed in PATHS.items():
        if not (small and way == "multilevel"):  # which takes too many paths for it
            yield f"options/all {way}", _merged({**usual, "option": [STYLES["european"], STYLES["barrier"]]}, changed)


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _merged(scenario: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """With other values, without those for which there is None; those of "asset" are for the first one."""
    found = dict(scenario)
    for table, values in changed.items():
        if table == "asset":
            first, *others = scenario["asset"]
            found["asset"] = [{**first, **values}, *others]
        else:
            merged = {**scenario.get(table, {}), **values}
            found[table] = {key: value for key, value in merged.items() if value is not None}
    return found


def with_values(scenario: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """A copy with values by dotted key."""
    found = dict(scenario)
    for key, value in values.items():
        table, _, rest = key.partition(".")
        inner = found.get(table, {})
        found[table] = with_values(inner if isinstance(inner, dict) else {}, {rest: value}) if rest else value
    return found
