"""That a stepper, and a style of options, can be added by its own file and its line in a list, as CONTRIBUTING.md says.

Each test adds one to the program in a process of its own: the file lies in a temporary folder, the line is put in where
the list is imported.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest
import tomli_w
from running import start_python

from simsuite.scenario.gbm import Option
from simsuite.scenario.heat import STEPPERS
from simsuite.solvers.gbm.style_record import style_record
from simsuite.solvers.heat.steppers import kinds_of_work, stepper_records

COMPILED = 600.0  # seconds in which all kernels of a run are compiled on a machine that is busy
ADDING = """
import importlib.machinery, importlib.util, json, sys

class WithLines(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        source = self.get_source(fullname)
        for old, new in LINES.items():
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        return compile(source, self.path, "exec")

class OfTheList:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != LISTED:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        return importlib.util.spec_from_file_location(name, found.origin, loader=WithLines(name, found.origin))

class OfTheToy:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, _ = name.rpartition(".")
        return importlib.machinery.PathFinder.find_spec(name, ["toy/" + package.replace(".", "/")])

sys.meta_path.insert(0, OfTheList)
sys.meta_path.append(OfTheToy)
"""


def put(root: Path, files: dict[str, str]) -> None:
    """Files of the program, by their places in the repository, that lie in a folder of their own."""
    for name, text in files.items():
        path = root / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def told(code: str, tmp_path: Path) -> Any:
    """What a process prints as JSON on its last line, which begins with ADDING."""
    process = start_python(code, cwd=tmp_path)
    try:
        out, err = process.communicate(timeout=COMPILED)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


# ---- a stepper

TOY_STEPPER = '''
"""Forward Euler once more, by another name."""

import dataclasses

from simsuite.solvers.heat.explicit import explicit
from simsuite.solvers.heat.stepper_record import KindOfWork, Trial, Usual, Work

STEPS = KindOfWork("toy steps", Usual(1.0, 1.0), Usual(1.0, 0.1), Trial(4, 0.1))

RECORD = dataclasses.replace(
    explicit.RECORD,
    name="toy",
    words="toy, explicit Euler by another name",
    kinds=(STEPS,),
    work=lambda steps, stages, made, rate_wanted: [Work(STEPS.name, made.nx * made.ny, steps)],
)
'''
STEPPER = """
LISTED = "simsuite.scenario.heat.time"
LINES = {'    "explicit": "first order",\\n': '    "explicit": "first order",\\n    "toy": "for a test",\\n'}
"""
PLATE: dict[str, Any] = {
    "solver": "heat",
    "run": {"device": "cpu"},
    "grid": {"nx": 8, "ny": 6},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "x*y"},
    "boundary": {"left": {"kind": "temperature", "value": 1.0}},
    "time": {"end": 0.01},
    "output": {"frames": 2},
}


@pytest.fixture
def toy_stepper(tmp_path: Path) -> str:
    put(tmp_path, {"simsuite/solvers/heat/toy/toy.py": TOY_STEPPER})
    return ADDING + STEPPER


def test_a_stepper_is_added_by_its_file_and_a_line(toy_stepper: str, tmp_path: Path) -> None:
    """It runs, is told by its words, and has the results of the one that it is made of."""
    (tmp_path / "plate.toml").write_text(tomli_w.dumps(PLATE), encoding="utf-8")
    code = """
import simsuite
from simsuite.summaries.lines import short_stepper
from simsuite.scenario.heat import Time
runs = {name: simsuite.run("plate.toml", set={"time.stepper": name}, directory=name) for name in ("explicit", "toy")}
results = [run.results for run in runs.values()]
words = short_stepper({"solver": "heat", "stepper": "toy"}, False)
print(json.dumps([results, words, "toy (for a test)" in Time.model_fields["stepper"].description]))
"""
    results, words, described = told(toy_stepper + code, tmp_path)
    assert results[0] == results[1]
    assert words == "toy, explicit Euler by another name"
    assert described


def test_verify_takes_the_order_from_the_record(toy_stepper: str, tmp_path: Path) -> None:
    code = """
from simsuite.backends import open_backend
from simsuite.verify.heat import cases, consistency, stepper_orders
cases.KINDS = ("flux",)
assert stepper_orders.ORDER_IN_TIME == {"explicit": 1, "toy": 1, "rkl2": 2, "adi": 2}
assert "toy" in consistency.STEPPERS
stepper_orders.ORDER_IN_TIME = {"toy": 1}
extent = stepper_orders.Extent(("constant",), (6, 8, 12), 2, ())
checks = list(stepper_orders.time_checks(open_backend("cpu"), extent))
print(json.dumps([[check.data["stepper"], check.data["expected"], check.passed] for check in checks]))
"""
    assert told(toy_stepper + code, tmp_path) == [["toy", 1, True]]


def test_every_stepper_has_a_record_that_names_it() -> None:
    records = stepper_records()
    assert list(records) == list(STEPPERS)
    assert all(record.name == name for name, record in records.items())
    assert len(kinds_of_work()) == sum(len(record.kinds) for record in records.values())


# ---- a style of options

TOY_KEYS = '''
"""A claim on the price at the end, less a strike: it may be negative."""

from typing import Literal

from pydantic import Field

from simsuite.scenario.gbm.contract import STRIKE, OnOne, Strike


class Forward(OnOne):
    style: Literal["forward"] = Field(description="pays the price at the end less the strike")
    strike: Strike = Field(description=STRIKE)
'''
TOY_STYLE = """
import math

from simsuite.solvers.gbm.payoffs.reader import subtract
from simsuite.solvers.gbm.style_record import StyleRecord

RECORD = StyleRecord(
    payoff=lambda option, reader: subtract(reader.last(reader.asset(option.asset)), option.strike),
    price=lambda option, assets, discount: discount * (assets[0].forward - option.strike),
    least=-math.inf,
)
"""
STYLE = """
LISTED = "simsuite.scenario.gbm.option"
LINES = {
    "\\nfrom simsuite.scenario.gbm.functionals": "\\nfrom simsuite.scenario.gbm.forward import Forward"
    "\\nfrom simsuite.scenario.gbm.functionals",
    "Autocallable | Formula": "Autocallable | Formula | Forward",
}
"""
CLAIM: dict[str, Any] = {
    "solver": "gbm",
    "run": {"device": "cpu"},
    "market": {"rate": 0.05},
    "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
    "time": {"end": 1.0, "steps": 4},
    "paths": {"count": 4096},
    "option": [{"name": "claim", "style": "forward", "strike": 120.0}],
}


def test_a_style_is_added_by_its_files_and_its_name(tmp_path: Path) -> None:
    """Its price and Greeks are estimated, beside its exact price, and its mistakes are found."""
    put(
        tmp_path,
        {"simsuite/scenario/gbm/forward.py": TOY_KEYS, "simsuite/solvers/gbm/styles/forward.py": TOY_STYLE},
    )
    (tmp_path / "claim.toml").write_text(tomli_w.dumps(CLAIM), encoding="utf-8")
    code = """
import simsuite
from simsuite.scenario import load
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks, reference_price
loaded = load("claim.toml")
exact = reference_price(loaded.model, loaded.model.option[0]), reference_greeks(loaded.model, 0)
found = simsuite.run("claim.toml", directory="claim").results["options"]["claim"]
try:
    simsuite.run("claim.toml", set={"option.0.asset": "B"}, directory="other")
except simsuite.SimsuiteError as error:
    mistake = str(error)
print(json.dumps([exact, found, mistake]))
"""
    (price, greeks), found, mistake = told(ADDING + STYLE + code, tmp_path)
    assert price == pytest.approx(100.0 - 120.0 * math.exp(-0.05))
    assert found["price"] == pytest.approx(price, abs=4 * found["standard_error"])
    assert found["standard_error"] > 0
    assert greeks["delta"] == pytest.approx([1.0])
    assert found["delta"] == pytest.approx([1.0], abs=4 * found["delta_standard_error"][0])
    assert "there is no asset 'B'" in mistake


def test_every_style_has_a_record() -> None:
    union, _ = get_args(Option)
    for style in get_args(union):
        (name,) = get_args(style.model_fields["style"].annotation)
        assert style_record(name).payoff is not None
