"""Reads what is averaged over paths of several markets at once (joint/joint.py): Greeks by bumping, and the book."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from simsuite.expressions.derivative import add, is_lipschitz, multiply, subtract
from simsuite.expressions.tree import Name, Node, Number, names_in, substitute
from simsuite.scenario.gbm import Barrier, GbmScenario
from simsuite.solvers.gbm.joint.bumps import (
    BY,
    Bump,
    Parameter,
    Reach,
    Roughness,
    bump,
    deviation_scale,
    independent_shares,
)
from simsuite.solvers.gbm.joint.joint import BumpedGreek, Joint, JointPayoffs, Market
from simsuite.solvers.gbm.joint.markets import bumped
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.parts import parts_of
from simsuite.solvers.gbm.payoffs.control_variates import Control
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind
from simsuite.solvers.gbm.payoffs.option_greeks import BUMPED, PER_ASSET, OptionGreeks
from simsuite.solvers.gbm.payoffs.variables import kept, last, noise, number
from simsuite.solvers.gbm.read_book import holding_unit, is_held, read_book
from simsuite.solvers.gbm.read_parts import joined, joined_payoffs, read_parts
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import GROUP

Key = tuple[int, str, int]  # option, Greek, asset
_NONE = OptionGreeks({}, {}, {})


def read_joint(statement: Statement) -> Joint | None:
    """The joint payoffs of a run; None if no Greek is bumped and no option is held. statement: the run without them."""
    seen = _seen(statement)
    bumps = _bumps(statement, seen)
    held = is_held(statement.scenario)
    if not (bumps or held):
        return None
    markets = _Markets(statement, sorted({option for option, *_ in bumps}))
    if held:
        functionals = statement.payoffs.functionals
        markets.found.append(Market(statement.scenario, statement.dynamics, functionals, is_run=True))
    trees, controls, told, best = list[Node](), list[Control | None](), dict[Key, BumpedGreek](), dict[Key, Node]()
    for key, by in bumps.items():
        option, name, _ = key
        unit = _unit(statement, option, by)
        order = 2 if name == "gamma" else 1
        near, far = (markets.difference(option, order, by, k, unit) for k in (1, 2))
        told[key] = BumpedGreek(len(trees), unit * by.size, order, seen[option].smooth, seen[option].random)
        best[key] = subtract(multiply(Number(4 / 3), near), multiply(Number(1 / 3), far))
        trees.append(near)
        controls.append(Control(far, 0.0))
    book = {}
    if held:
        for slot, (tree, control) in read_book(statement, best).items():
            book[slot] = len(trees)
            trees.append(tree)
            controls.append(control)
    functionals = tuple(f for market in markets.found for f in market.functionals)
    nothing = (None,) * len(trees)
    payoffs = JointPayoffs(
        tuple(trees), tuple(controls), functionals, (_NONE,) * len(trees), nothing, statement.n_assets
    )
    return Joint(tuple(markets.found), payoffs, told, book, holding_unit(statement.scenario))


@dataclass(frozen=True)
class _Seen:
    """What an option sees of its market. assets: those that it depends on. smooth: whether its payoff has no jump.
    random: whether it can differ from path to path."""

    assets: tuple[int, ...]
    smooth: bool
    random: bool
    reach: Reach
    greeks: OptionGreeks


def _seen(statement: Statement) -> dict[int, _Seen]:
    """By option."""
    found = {}
    for part in parts_of(statement):
        own, payoffs = part.statement, part.statement.payoffs
        for i, o in enumerate(part.options):
            names = names_in(payoffs.trees[i])
            used = [f for k, f in enumerate(payoffs.functionals) if kept(k) in names]
            ends = {a for name in names for a in (number(name, "last"), number(name, "noise")) if a is not None}
            assets = tuple(sorted(ends | {f.asset for f in used}))
            signed = {kept(k) for k, f in enumerate(payoffs.functionals) if f.kind == Kind.LOGARITHMS}
            first = min([int(f.dates.steps(own.n_steps)[0]) for f in used], default=own.n_steps)
            reach = Reach(
                {a: deviation_scale(own.dynamics, a, first) for a in assets},
                independent_shares(own.dynamics, assets),
                own.scenario.time.end,
                _room(own, i),
            )
            smooth = is_lipschitz(payoffs.trees[i], names - signed)
            random = any(own.dynamics.is_noisy(a) for a in assets)
            found[o] = _Seen(assets, smooth, random, reach, payoffs.greeks[i])
    return found


def _room(statement: Statement, option: int) -> float:
    """The distance of the logarithm of the spot to a barrier that is watched at all times."""
    found = statement.scenario.option[option]
    if not (isinstance(found, Barrier) and found.watched_continuously):
        return math.inf
    asset = statement.scenario.asset[found.asset_numbers(statement.scenario.asset_names)[0]]
    return abs(math.log(found.level / asset.spot)) or math.inf


def _bumps(statement: Statement, seen: Mapping[int, _Seen]) -> dict[Key, Bump]:
    """The bump of each Greek that is to be found so."""
    groups: dict[tuple[Parameter, int, Roughness], list[Key]] = {}
    for option, of in sorted(seen.items()):
        for name in (name for name, method in of.greeks.methods.items() if method == BUMPED):
            for asset in of.assets if name in PER_ASSET else (0,):
                roughness = Roughness.of(name, of.smooth)
                groups.setdefault((BY[name], asset, roughness), []).append((option, name, asset))
    found = dict[Key, Bump]()
    single, paths = statement.dtype.itemsize == 4, statement.scenario.paths.count
    for group, keys in groups.items():
        reaches = [seen[option].reach for option, *_ in keys]
        found |= dict.fromkeys(keys, bump(*group, reaches, paths, statement.dynamics, single))
    return {key: found[key] for key in sorted(found)}


def _unit(statement: Statement, option: int, by: Bump) -> float:
    """What a bump of 1 is in the unit that the Greek is the derivative by."""
    model = statement.scenario
    if by.parameter is Parameter.SPOT:
        return model.asset[by.asset].spot
    if by.parameter is Parameter.VOLATILITY:
        end = model.time.until(model.option[option].maturity).end
        return model.asset[by.asset].volatility.root_mean_square(end)
    return 1.0 if by.parameter is Parameter.RATE else model.time.end / model.time.steps


@dataclass
class _Markets:
    """The markets that are needed. options: of the run, those that are in bumped markets. found: the markets so far,
    and for those that are bumped what each of these options is worth, in joint variables."""

    statement: Statement
    options: list[int]
    found: list[Market] = field(default_factory=list)
    values: dict[tuple[Bump | None, int], dict[int, Node]] = field(default_factory=dict)

    def difference(self, option: int, order: int, by: Bump, times: int, unit: float) -> Node:
        """The difference quotient, central, for a bump of so many times its size."""
        up, down = (self._value(option, by, sign * times) for sign in (1, -1))
        size = times * by.size * unit
        if order == 1:
            return multiply(Number(0.5 / size), subtract(up, down))
        middle = multiply(Number(-2.0), self._value(option, None, 0))
        return multiply(Number(size**-2), add(add(up, middle), down))

    def _value(self, option: int, by: Bump | None, times: int) -> Node:
        if (by, times) not in self.values:
            self.values[by, times] = self._read(by, times)
        return self.values[by, times][option]

    def _read(self, by: Bump | None, times: int) -> dict[int, Node]:
        base = self._base()
        spots = tuple(asset.spot for asset in base.asset)
        model = base if by is None else bumped(base, by, times)
        dynamics = Dynamics.of(model)
        read = read_parts(model, dynamics, spots)
        paths = joined(read, dynamics.n_steps)
        single = read[0][0] is model
        payoffs = read[0][2] if single else joined_payoffs(read, paths, model, GROUP)
        rename = self._renaming(payoffs.functionals)
        self.found.append(Market(model, dynamics, payoffs.functionals))
        worth = (
            multiply(Number(math.exp(-model.market.rate.integral(0.0, model.time.until(o.maturity).end))), tree)
            for o, tree in zip(model.option, payoffs.trees)
        )
        return {o: substitute(tree, rename) for o, tree in zip(self.options, worth)}

    def _base(self) -> GbmScenario:
        """The scenario with the options of bumped markets alone."""
        model = self.statement.scenario
        plain = {"greeks": False, "control_variate": False}
        ends = {"frames": 2, "every": None, "times": None, "store_paths": 0, "risk": None, "exposure": False}
        return model.model_copy(
            update={
                "option": [model.option[o].model_copy(update=plain) for o in self.options],
                "output": model.output.model_copy(update=ends),
            }
        )

    def _renaming(self, functionals: tuple[Functional, ...]) -> dict[str, Node]:
        """The joint variables of the next market."""
        assets = self.statement.n_assets
        before = assets * len(self.found), sum(len(market.functionals) for market in self.found)
        found: dict[str, Node] = {kept(i): Name(kept(before[1] + i)) for i in range(len(functionals))}
        for a in range(assets):
            found |= {last(a): Name(last(before[0] + a)), noise(a): Name(noise(before[0] + a))}
        return found
