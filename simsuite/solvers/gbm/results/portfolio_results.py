"""The results about the portfolio: for the result file, and for `run --json`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simsuite.core import Snapshot, Variable
from simsuite.solvers.gbm.error_allowances.unknown_reasons import exposure_reasons, risk_reasons, with_reasons
from simsuite.solvers.gbm.portfolio.exposure import Exposure, exposure_of, mean_exposure
from simsuite.solvers.gbm.portfolio.portfolio import portfolio_of
from simsuite.solvers.gbm.portfolio.risk import Risk, risk_of
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.intervals import CONFIDENCE
from simsuite.solvers.gbm.statistics.statistics import Estimate

_PROFILE = 101  # largest number of frames in the results of `run --json`; results.h5 has all
_LEVEL = {"confidence_level": f"{CONFIDENCE:g}"}
_EXPOSURE = {  # dimensions and meaning of each variable
    "exposure_expected": (("time",), "expected exposure of the assets held"),
    "exposure_expected_standard_error": (("time",), "standard error of exposure_expected"),
    "exposure_negative": (("time",), "expected negative exposure of the assets held"),
    "exposure_negative_standard_error": (("time",), "standard error of exposure_negative"),
    "exposure_potential": (("level", "time"), "potential future exposure of the assets held"),
    "exposure_potential_low": (("level", "time"), "lower end of exposure_potential's interval"),
    "exposure_potential_high": (("level", "time"), "upper end of exposure_potential's interval"),
}
_RISK = {
    "portfolio_value": ((), "value of the portfolio at the start"),
    "portfolio_value_standard_error": ((), "standard error of portfolio_value"),
    "value_at_risk": (("level",), "quantile of the loss of the portfolio up to the end"),
    "value_at_risk_low": (("level",), "lower end of value_at_risk's interval"),
    "value_at_risk_high": (("level",), "upper end of value_at_risk's interval"),
    "expected_shortfall": (("level",), "mean of the losses beyond value_at_risk"),
    "expected_shortfall_standard_error": (("level",), "standard error of expected_shortfall"),
}


def variables(statement: Statement) -> list[Variable]:
    """The variables about the portfolio, with the dimension `level`, if there are any."""
    portfolio, found = portfolio_of(statement), []
    if portfolio.risk or portfolio.exposure:
        attrs = {"units": "1", "long_name": "probability of no greater loss or exposure"}
        found.append(Variable("level", ("level",), np.float64, attrs, np.array(portfolio.levels)))
    asked = (_EXPOSURE if portfolio.exposure else {}) | (_RISK if portfolio.risk else {})
    for name, (dims, what) in asked.items():
        attrs = {"units": "1", "long_name": f"{what} (in units of price)"}
        found.append(Variable(name, dims, attrs=attrs | (_LEVEL if name.endswith(("_low", "_high")) else {})))
    return found


def rows(statement: Statement, frame: int, n: int, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """The exposure at a frame, over n paths."""
    if not portfolio_of(statement).exposure:
        return {}
    found = _exposure(statement, frame, n, observed)
    numbers = (
        found.expected.value, found.expected.standard_error, found.negative.value, found.negative.standard_error,
        found.potential, found.low, found.high,
    )  # fmt: skip
    return {name: np.array(number) for name, number in zip(_EXPOSURE, numbers)}


def totals(statement: Statement, observed: Snapshot, book: Estimate) -> Mapping[str, np.ndarray]:
    """The totals about the portfolio, known at the end only. book: the price of all options held."""
    if not portfolio_of(statement).risk:
        return {}
    risk = _risk(statement, observed, book)
    numbers: tuple[Any, ...] = (
        risk.value.value, risk.value.standard_error,
        [f.value_at_risk for f in risk.figures],
        *zip(*(f.value_at_risk_interval for f in risk.figures)),
        [f.expected_shortfall for f in risk.figures], [f.expected_shortfall_error for f in risk.figures],
    )  # fmt: skip
    return {name: np.array(number, np.float64) for name, number in zip(_RISK, numbers)}


def results(statement: Statement, n: int, observed: Snapshot, book: Estimate) -> dict[str, Any]:
    """The results about the portfolio over n paths, known at the end only. book: the price of all options held."""
    found: dict[str, Any] = {}
    if portfolio_of(statement).risk:
        found["risk"] = _risk_results(statement, _risk(statement, observed, book))
    if portfolio_of(statement).exposure:
        found["exposure"] = _exposure_results(statement, n, observed)
    return found


def number(value: float) -> float | None:
    """The value; None if it is not known."""
    return float(value) if math.isfinite(value) else None


def numbers(values: Iterable[float]) -> list[float | None]:
    return [number(value) for value in values]


def _risk(statement: Statement, observed: Snapshot, book: Estimate) -> Risk:
    return risk_of(portfolio_of(statement), observed.arrays["risk"], book)


def _exposure(statement: Statement, frame: int, n: int, observed: Snapshot) -> Exposure:
    arrays = observed.arrays
    return exposure_of(portfolio_of(statement), frame, n, arrays["exposure"], arrays["exposure_counts"])


def _risk_results(statement: Statement, risk: Risk) -> dict[str, Any]:
    levels = {
        f"{f.level:g}": {
            "value_at_risk": number(f.value_at_risk),
            "value_at_risk_ci95": numbers(f.value_at_risk_interval),
            "expected_shortfall": number(f.expected_shortfall),
            "expected_shortfall_standard_error": number(f.expected_shortfall_error),
            "expected_shortfall_ci95": numbers(f.expected_shortfall_interval),
        }
        for f in risk.figures
    }
    value = {"value": risk.value.value, "value_standard_error": number(risk.value.standard_error)}
    held = {"options_held": int(np.count_nonzero(portfolio_of(statement).holdings))}
    found = {"horizon": statement.scenario.time.end, **value, **held, "levels": levels, "confidence": CONFIDENCE}
    return with_reasons(found, risk_reasons(found))


def _exposure_results(statement: Statement, n: int, observed: Snapshot) -> dict[str, Any]:
    portfolio, frames = portfolio_of(statement), statement.frame_steps
    means = [mean_exposure(portfolio, i, n, observed.arrays["exposures"][i]) for i in range(len(frames))]
    peak = max(range(len(frames)), key=lambda i: means[i][0].value)
    end = _exposure(statement, len(frames) - 1, n, observed)
    potential = {
        f"{p:g}": {"value": number(value), "ci95": numbers(bounds)}
        for p, value, *bounds in zip(portfolio.levels, end.potential, end.low, end.high)
    }
    told = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _PROFILE)).round().astype(int))
    found = {
        "end": _means(statement, frames[-1], end.expected, end.negative) | {"potential": potential},
        "peak": _means(statement, frames[peak], *means[peak]),
        "profile": [_means(statement, frames[i], *means[i]) for i in sorted({*told.tolist(), peak})],
        "confidence": CONFIDENCE,
    }
    return with_reasons(found, exposure_reasons(statement, n, found))


def _means(statement: Statement, step: int, expected: Estimate, negative: Estimate) -> dict[str, Any]:
    return {
        "time": statement.time(step),
        "expected": expected.value,
        "expected_standard_error": number(expected.standard_error),
        "negative": negative.value,
        "negative_standard_error": number(negative.standard_error),
    }
