"""Every example of the documents works: scenarios, parts of scenarios, and commands.

A block of TOML is a scenario if it has a `solver`; its first line may be a comment with the name of its file. Any other
block is a part: its tables take the place of those of the same name in the first scenario of the page. Commands in
blocks that are called `console` are run, one after the other, beside the scenarios of the page; other commands have to
exist with the options that they show.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from running import call
from typer.testing import CliRunner

from simsuite.assembly import make_problem
from simsuite.cli import app
from simsuite.scenario.load import load, load_table

PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXTS[page], re.MULTILINE | re.DOTALL)


def scenarios(page: str) -> list[str]:
    return [block for block in blocks(page, "toml") if re.search(r"^solver\b", block, re.MULTILINE)]


def parts(page: str) -> list[str]:
    return [block for block in blocks(page, "toml") if block not in scenarios(page)]


def first_line(block: str) -> str:
    """What an example is called in the names of tests: its first line that is no header."""
    return next((line for line in block.splitlines() if not line.startswith("[")), block.splitlines()[0])[:50]


def cases(of: Any) -> list[Any]:
    return [pytest.param(page, block, id=f"{page}: {first_line(block)}") for page in PAGES for block in of(page)]


def test_pages_of_solvers_have_examples() -> None:
    for page in ("README.md", "docs/heat.md", "docs/gbm.md", "docs/linear.md"):
        assert scenarios(page), page
        assert blocks(page, "console"), page
    assert min(len(parts(f"docs/{solver}.md")) for solver in ("heat", "gbm", "linear")) >= 3


@pytest.mark.parametrize(("page", "text"), cases(scenarios))
def test_scenarios_can_be_run(page: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(text, encoding="utf-8")
    assert make_problem(load(tmp_path / "case.toml", ["run.device=cpu"]))


@pytest.mark.parametrize(("page", "text"), cases(parts))
def test_parts_fit_into_the_first_scenario_of_their_page(page: str, text: str) -> None:
    table = {**tomllib.loads(scenarios(page)[0]), **tomllib.loads(text)}
    assert make_problem(load_table(table, Path("case.toml"), ["run.device=cpu"]))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")])
def test_commands_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in scenarios(page):
        name = re.match(r"# (\w+\.toml)\b", text)
        if name:
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for line in "".join(blocks(page, "console")).splitlines():
        _, *words = shlex.split(line, comments=True)
        done = call(capsys, *words)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


COMMANDS = [
    pytest.param(line.strip(), id=f"{page}: {line.strip()[:60]}")
    for page in PAGES
    for line in re.findall(r"^    simsuite [a-z]+.*$", TEXTS[page], re.MULTILINE)
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_exist_with_their_options(line: str) -> None:
    _, name, *words = shlex.split(line.removesuffix("\\"), comments=True)
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert not [word for word in words if word.startswith("-") and word not in shown.output]
