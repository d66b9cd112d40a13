"""Every key of scenario files is described: in the JSON schema and on the page that is written from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT
from running import call

from simsuite.plugins import BUILT_IN
from simsuite.scenario import json_schema
from simsuite.scenario.keys.reference import reference

PAGE = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")


def tables(solver: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and schema of the scenario and of every table that can be in it."""
    schema = json_schema(solver)
    yield solver, schema
    yield from schema.get("$defs", {}).items()


def keys(solver: str) -> list[tuple[str, str, dict[str, Any]]]:
    return [(name, key, node) for name, table in tables(solver) for key, node in table.get("properties", {}).items()]


@pytest.mark.parametrize("solver", BUILT_IN)
def test_every_key_has_a_description(solver: str) -> None:
    """In words: a unit alone is none."""
    found = keys(solver)
    assert len(found) > 60
    assert not [(name, key) for name, key, node in found if len(re.findall(r"[^\W\d_]{2,}", node["description"])) < 2]


def section(solver: str) -> str:
    """A solver's part of the page."""
    (found,) = re.findall(rf'^## solver = "{solver}"\n(.*?)(?=^## |\Z)', PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("solver", BUILT_IN)
def test_the_page_has_every_key_as_often_as_there_are_tables_with_it(solver: str) -> None:
    """With what it means; what tells tables of a kind apart stands above the table, and not in a row of it."""
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", section(solver), re.MULTILINE)
    lines = re.findall(r'^`(\w+) = "\w+"`: (.+)$', section(solver), re.MULTILINE)
    written = {(key, meaning.replace("\\|", "|")) for key, meaning in rows + lines}
    file_only = {name for name, table in tables(solver) if set(table["properties"]) == {"file"}}
    wanted = {(key, node["description"]) for name, key, node in keys(solver) if name not in file_only}
    assert written == wanted


def test_the_page_says_what_keys_can_be_and_what_they_are_by_default() -> None:
    """Some of every sort, as the models have them."""
    for row in (
        "| `nx` | integer ≥ 1 and ≤ 262144 | needed | ",
        "| `lx` | number > 0 | `1.0` | ",
        '| `hold` | `"zero"` or `"first"` | `"zero"` | ',
        '| `greeks` | `true` or `false` or `"auto"` or `"bumped"` | `true` | ',
        "| `directory` | text |  | ",
        '| `dt` | `"auto"` or number > 0 | `"auto"` | ',
        "| `region` | list of tables |  | ",
        "| `points` | list of list of 2 × number | needed | ",
        "| `temperature` | number or expression in x, y or `{file = ..}` |  | ",
        "| `jumps` | `{intensity = .., mean = .., deviation = ..}` |  | ",
        "| `quantiles` | list of number > 0 and < 1 | `[0.05, 0.25, 0.5, 0.75, 0.95]` | ",
    ):
        assert f"\n{row}" in PAGE
    assert "\n### `[boundary.left]`, `[boundary.right]`, `[boundary.bottom]`, `[boundary.top]`\n" in PAGE
    assert "\n### `[[asset.dividends]]`\n" in PAGE
    headings = [re.findall(r"^### .*", section(solver), re.MULTILINE) for solver in BUILT_IN]
    assert all(len(found) == len(set(found)) for found in headings)


def test_the_page_is_what_the_command_writes(capsys: pytest.CaptureFixture[str]) -> None:
    """`simsuite schema --markdown > docs/keys.md` brings it up to date."""
    written = call(capsys, "schema", "--markdown").stdout
    assert written == PAGE
    assert reference("gbm") in call(capsys, "schema", "gbm", "--markdown").stdout
    assert section("gbm").strip() in reference("gbm")
    assert '## solver = "heat"' not in reference("gbm")


@pytest.mark.parametrize("page", ["docs/running.md", "docs/gbm.md"])
def test_keys_that_are_easily_missed_are_in_the_text(page: str) -> None:
    """Beside the page of all keys."""
    missed = {
        "docs/running.md": ("checkpoint_minutes", "compression"),
        "docs/gbm.md": ("combine", "weights", "past_fixings", "strike_type"),
    }
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not [key for key in missed[page] if not re.search(rf"`[^`]*\b{key}\b[^`]*`", text)]
