"""The layout of the result file of a Monte Carlo run: its variables and their units."""

from __future__ import annotations

import numpy as np

from simsuite.core import Layout, Series, Variable
from simsuite.solvers.gbm.payoffs.option_greeks import GREEKS, PER_ASSET
from simsuite.solvers.gbm.portfolio.portfolio import portfolio_of
from simsuite.solvers.gbm.results import portfolio_results
from simsuite.solvers.gbm.results.book_results import book_variables
from simsuite.solvers.gbm.results.exercise_results import PROBABILITY
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.intervals import CONFIDENCE

_UNITS = {
    "delta": {"units": "1", "long_name": "derivative of option_price by the spot"},
    "gamma": {"units": "1", "long_name": "second derivative of option_price by the spot (per unit of price)"},
    "vega": {"units": "year0.5", "long_name": "derivative of option_price by the volatility (in units of price)"},
    "rho": {"units": "year", "long_name": "derivative of option_price by the rate (in units of price)"},
    "theta": {"units": "year-1", "long_name": "change of option_price as time passes (in units of price)"},
}
# units of the variables of multilevel runs
_OF_LEVELS = {"level_mean": "price", "level_variance": "price2", "option_bias_estimate": "price"}


def denominated(layout: Layout) -> dict[str, str]:
    """The units of those variables of the file whose numbers are in units of price, by name."""
    long_names = {v.name: v.attrs.get("long_name", "") for v in layout.variables}
    found = dict(_OF_LEVELS) if _OF_LEVELS.keys() <= long_names.keys() else {}
    for v in layout.variables:
        said = long_names[v.name] + long_names.get(v.name.removesuffix("_standard_error"), "")
        if "(in units of price)" in said:
            found[v.name] = "price" if v.attrs["units"] == "1" else f"price {v.attrs['units']}"
        elif "(per unit of price)" in said:
            found[v.name] = "price-1"
    return found


def gbm_layout(statement: Statement) -> Layout:
    """The layout of a run's result file. For when rows along `time` fall due, see timeline.py."""
    scenario = statement.scenario
    assets, options = scenario.asset_names, scenario.option_names
    year = {"units": "year", "long_name": "time"}
    time = Variable("time", ("time",), attrs=year)

    def price(name: str, dims: tuple[str, ...], long_name: str, **attrs: str) -> Variable:
        long_name = f"{long_name} (in units of price)"
        return Variable(name, dims, attrs={"units": "1", "long_name": long_name} | attrs)

    level = {"confidence_level": f"{CONFIDENCE:g}"}

    variables = [
        Variable("asset", ("asset",), str, {"long_name": "name of the asset"}, np.array(assets)),
        Variable(
            "quantile", ("quantile",), np.float64, {"units": "1", "long_name": "probability of a lower price"},
            np.array(scenario.output.quantiles),
        ),
        price("price_mean", ("time", "asset"), "mean of the price over all paths"),
        price("price_std", ("time", "asset"), "standard deviation of the price over all paths"),
        price("price_quantile", ("quantile", "time", "asset"), "quantile of the price over all paths"),
    ]  # fmt: skip
    if not statement.uses_sobol:  # only for independent paths
        variables += [
            price("price_mean_standard_error", ("time", "asset"), "standard error of price_mean"),
            price("price_std_standard_error", ("time", "asset"), "standard error of price_std"),
            price(
                "price_quantile_low", ("quantile", "time", "asset"), "lower end of price_quantile's interval", **level
            ),
            price(
                "price_quantile_high", ("quantile", "time", "asset"), "upper end of price_quantile's interval", **level
            ),
        ]
    sizes = {"asset": len(assets), "quantile": len(scenario.output.quantiles)}
    if statement.stored:
        numbers = np.arange(statement.stored)
        variables.append(Variable("path_id", ("path_id",), np.int64, {"long_name": "number of the path"}, numbers))
        variables.append(price("path", ("path_id", "time", "asset"), "price along sample paths"))
        sizes["path_id"] = statement.stored
    if options:
        variables.append(Variable("option", ("option",), str, {"long_name": "name of the option"}, np.array(options)))
        if any(option.maturity is not None for option in scenario.option):
            ends = np.array([scenario.time.until(option.maturity).end for option in scenario.option])
            attrs = {"units": "year", "long_name": "when the option ends"}
            variables.append(Variable("option_maturity", ("option",), np.float64, attrs, ends))
        variables.append(price("option_price", ("option",), "discounted mean of the payoff"))
        variables.append(price("option_standard_error", ("option",), "standard error of option_price"))
        for name in GREEKS:
            dims = ("option", "asset") if name in PER_ASSET else ("option",)
            variables.append(Variable(f"option_{name}", dims, attrs=_UNITS[name]))
            error = {**_UNITS[name], "long_name": f"standard error of option_{name}"}
            variables.append(Variable(f"option_{name}_standard_error", dims, attrs=error))
        if statement.holders:
            likely = {"units": "1", "long_name": "probability that the option is exercised (of American options)"}
            error = {"units": "1", "long_name": f"standard error of {PROBABILITY}"}
            variables.append(Variable(PROBABILITY, ("option",), attrs=likely))
            variables.append(Variable(f"{PROBABILITY}_standard_error", ("option",), attrs=error))
        sizes["option"] = len(options)
    found = portfolio_results.variables(statement)
    if found:
        variables += found
        sizes["level"] = len(portfolio_of(statement).levels)
    variables += book_variables(statement, _UNITS)
    return Layout(sizes, (Series("time", time, statement.row_steps),), tuple(variables))
