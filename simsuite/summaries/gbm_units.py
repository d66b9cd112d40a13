"""Units of the numbers that a Monte Carlo run results in, as the result file writes units, with the unit of prices."""

from __future__ import annotations

from collections.abc import Sequence

_PRICE, _YEAR, _NUMBER = "price", "year", "1"
_OF_GREEKS = {
    "delta": _NUMBER,
    "gamma": "price-1",
    "vega": "price year0.5",
    "rho": "price year",
    "theta": "price year-1",
    "exercise_probability": _NUMBER,
}
_OF_PRICES = {
    "options": ("price", "ci95"),
    "assets": ("mean", "mean_exact", "std", "quantiles", "quantile_ci95"),
    "target": ("standard_error",),
    "book": ("value", "value_ci95"),
    "risk": ("value", "value_at_risk", "value_at_risk_ci95", "expected_shortfall", "expected_shortfall_ci95"),
    "exposure": ("expected", "negative", "value", "ci95"),
    "multilevel": ("mean", "bias_estimate"),
}
_OF_BUMPS = {
    **dict.fromkeys(("delta", "gamma"), _PRICE),
    "vega": "year-0.5",
    "rho": "year-1",
    "theta": _YEAR,
}
_OTHERS = {
    ("options", "unseen_probability_ci95"): _NUMBER,
    ("assets", "confidence"): _NUMBER,
    ("risk", "horizon"): _YEAR,
    ("risk", "confidence"): _NUMBER,
    ("exposure", "time"): _YEAR,
    ("exposure", "confidence"): _NUMBER,
    ("multilevel", "variance"): "price2",
    ("multilevel", "cost"): "path-steps",
    ("multilevel", "plain_cost"): "path-steps",
}
_NAMED = {"options", "assets"}  # tables whose keys are names that the user has chosen


def gbm_unit(name: Sequence[str]) -> str:
    """The unit of a number in `results`; "" if it is a count or a word. name: the keys that lead to it."""
    table, keys = name[0], name[2:] if name[0] in _NAMED else name[1:]
    if table == "assets_time":
        return _YEAR
    if "bumps" in keys:
        return (_OF_BUMPS if keys[-1] == "size" else _OF_GREEKS)[keys[1]]
    for key in keys:
        of = key.removesuffix("_standard_error")
        if table in ("options", "book") and of in _OF_GREEKS:
            return _OF_GREEKS[of]
        if (table, key) in _OTHERS:
            return _OTHERS[table, key]
        if key == "standard_error" or of in _OF_PRICES.get(table, ()):
            return _PRICE
        if key in ("greeks_method", "reasons"):
            return ""
    return ""
