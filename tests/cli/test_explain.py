"""`simsuite explain` says of every key what it means, what it can be, and shows an example from a tested scenario."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT
from running import call

from simsuite.errors import UsageError
from simsuite.plugins import BUILT_IN
from simsuite.scenario.keys.explain import Explained, explained
from simsuite.scenario.keys.reference import reference

FILES = [*(ROOT / "simsuite" / "templates").glob("*.toml"), *(ROOT / "simsuite" / "verify").rglob("*.toml")]


def inside(solver: str) -> list[Explained]:
    """All keys of a solver's scenarios, with those of tables."""
    found: list[Explained] = []
    open_keys = [line.split("`")[1] for line in reference(solver).split("###")[0].splitlines() if line[:3] == "| `"]
    while open_keys:
        key = open_keys.pop()
        for each in explained(key, solver):
            found.append(each)
            open_keys += [f"{key}.{inner}" for inner in each.keys if f"{key}.{inner}" not in open_keys]
    return found


def values(table: Any) -> Iterator[Any]:
    """All values in a scenario, tables and lists among them."""
    yield table
    for inner in table.values() if isinstance(table, dict) else table if isinstance(table, list) else ():
        yield from values(inner)


@pytest.mark.parametrize("solver", BUILT_IN)
def test_every_key_has_a_meaning_a_value_and_a_true_example(solver: str) -> None:
    rows, texts = reference(solver), {path.name: path.read_text("utf-8") for path in FILES}
    found = inside(solver)
    assert len(found) > 50
    shown = 0
    for each in found:
        assert each.solver == solver
        assert each.meaning
        assert each.value
        assert each.key.endswith(".file") or each.meaning.replace("|", "\\|") in rows  # which one row tells of
        if each.example:
            line, _, name = each.example.partition("   # ")
            (value,) = tomllib.loads(line).values()
            if name == "the default":
                assert line.endswith(f"= {each.default}")
            else:
                scenario = tomllib.loads(texts[name])
                assert scenario["solver"] == solver
                assert value in list(values(scenario))
            shown += 1
    assert shown > 0.3 * len(found)


def test_what_is_said_of_one_key(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "explain", "boundary.left.h").stdout
    assert said.startswith('boundary.left.h   solver = "heat", with kind = "convection"\n')
    assert "heat transfer coefficient, W/(m²·K)" in said
    assert "value    number ≥ 0 or expression in x, y, t" in said
    assert "default  needed" in said
    assert "example  h = " in said


def test_a_name_alone_stands_for_all_keys_of_that_name() -> None:
    edges, faces = explained("h")
    assert faces.key == "surface.h"
    assert (edges.key, *edges.also) == tuple(f"boundary.{edge}.h" for edge in ("left", "right", "bottom", "top"))
    assert {each.key for each in explained("tolerance")} == {"time.tolerance"}
    assert [each.solver for each in explained("tolerance")] == ["heat", "linear"]
    assert {each.within for each in explained("option.strike")} >= {'style = "basket"', 'style = "lookback"'}


@pytest.mark.parametrize("key", ["probe[0].x", "probe.0.x", "[[probe]].x", "probe.x"])
def test_a_key_may_be_written_as_in_messages(key: str) -> None:
    (found,) = explained(key)
    assert found.key == "probe.x"
    assert found.default == "needed"


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json.loads(call(capsys, "explain", "grid.nx", "--json").stdout)["keys"]
    assert found["key"] == "grid.nx"
    assert found["value"].startswith("integer ≥ 1")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("bondary.left.h", "`boundary.left.h`"),
        ("grid.nz", "`grid.nx`"),
        ("initial.xO", "there is `initial.x0`"),
        ("a", "there is `system.A`"),
        ("dT", "`time.dt`"),
        ("zzz", "simsuite schema --markdown"),
        ("", "schema"),
        ("[0].", "schema"),
    ],
)
def test_an_unknown_key_is_answered_with_what_may_be_meant(asked: str, meant: str) -> None:
    with pytest.raises(UsageError, match="no scenario has a key") as told:
        explained(asked)
    assert meant in str(told.value)
    with pytest.raises(UsageError, match=r"scenarios of gbm have no key `grid\.nx`"):
        explained("grid.nx", "gbm")


def test_an_unknown_solver(capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "explain", "grid.nx", "--solver", "wave")
    assert done.returncode == 2
    assert "there is no solver `wave`; known are heat, gbm, linear" in done.stderr


def test_examples_do_not_need_a_constant_where_there_is_another() -> None:
    """`h = "h"` says nothing; the scenario has the number among its constants."""
    (faces,) = (each for each in explained("surface.h") if each.solver == "heat")
    assert faces.example == 'h = "100 W/(m² K)"   # fin.toml'
