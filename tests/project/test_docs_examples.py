"""Every example of the documents works: scenarios, parts of scenarios, commands, programs, and what they print.

`page_blocks` says how a page is followed; tutorials, each in an empty folder, and the console and Python of all other
pages, beside the files of the page and what PREPARED has for them, unless LEFT_OUT says why not. Besides, a block of
TOML is a scenario if it has a `solver`. Any other block is a part: its tables take the place of those of the same name
in the first scenario of the page. Commands elsewhere, also those in blocks called `bash`, have to exist with the
options that they show.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from page_blocks import (
    Block,
    blocks_of,
    difference,
    follow,
    matches,
    number,
    pictures_of,
    same_line,
    small,
    unlike,
    write_files,
)
from running import call
from typer.testing import CliRunner

from simsuite.assembly import make_problem
from simsuite.cli import app
from simsuite.scenario.load import load, load_table

PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
BLOCKS = {page: blocks_of(text) for page, text in TEXTS.items()}
TUTORIALS = [page for page in PAGES if page.startswith("docs/tutorials/")]

LEFT_OUT: dict[str, str] = {}
"""Python and console that is not executed, by the first words of a block, with why."""

OTHERS = {"apptainer", "docker", "mpiexec", "pip", "sbatch", "scontrol", "squeue", "srun", "ssh"}
"""Programs of others that blocks called `bash` may name."""


def blocks(page: str, language: str) -> list[str]:
    return [block.text for block in BLOCKS[page] if block.language == language]


def scenarios(page: str) -> list[str]:
    return [block for block in blocks(page, "toml") if re.search(r"^solver\b", block, re.MULTILINE)]


def parts(page: str) -> list[str]:
    toml = [block.text for block in BLOCKS[page] if block.language == "toml" and not block.is_addition]
    return [text for text in toml if text not in scenarios(page)]


def first_line(block: str) -> str:
    """What an example is called in the names of tests: its first line that is no header."""
    return next((line for line in block.splitlines() if not line.startswith("[")), block.splitlines()[0])[:50]


def prepare_running(folder: Path) -> list[str]:
    """The page speaks of the scenarios of the repository, of runs of theirs, and of a spring with a damping."""
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    (folder / "spring.toml").write_text(SPRING, encoding="utf-8")
    fine = "--set grid.nx=512 --set grid.ny=256"
    return [f"run scenarios/heat.toml {fine}", f"run scenarios/heat.toml {fine} -o runs/fine"]


SPRING = """
solver = "linear"
constants = {damping = 0.1}
system = {kind = "continuous", A = [[0.0, 1.0], [-1.0, "-damping"]]}
initial = {x0 = [1.0, 0.0]}
time = {steps = 20, dt = 0.1}
"""


def cases(of: Any) -> list[Any]:
    return [pytest.param(page, block, id=f"{page}: {first_line(block)}") for page in PAGES for block in of(page)]


def test_pages_of_solvers_have_examples() -> None:
    for page in ("README.md", "docs/heat.md", "docs/gbm.md", "docs/linear.md"):
        assert scenarios(page), page
        assert blocks(page, "console"), page
    assert min(len(parts(f"docs/{solver}.md")) for solver in ("heat", "gbm", "linear")) >= 3


@pytest.mark.parametrize(("page", "text"), cases(scenarios))
def test_scenarios_can_be_run(page: str, text: str, tmp_path: Path) -> None:
    write_files([block for block in BLOCKS[page] if block.language != "toml"], tmp_path)
    (tmp_path / "case.toml").write_text(text, encoding="utf-8")
    assert make_problem(load(tmp_path / "case.toml", ["run.device=cpu"]))


@pytest.mark.parametrize(("page", "text"), cases(parts))
def test_parts_fit_into_the_first_scenario_of_their_page(page: str, text: str) -> None:
    table = {**tomllib.loads(scenarios(page)[0]), **tomllib.loads(text)}
    assert make_problem(load_table(table, Path("case.toml"), ["run.device=cpu"]))


PREPARED: dict[str, Callable[[Path], list[str]]] = {"docs/running.md": prepare_running}
"""What other pages take for granted: makes files in a folder, and names commands to run in it first."""

FOLLOWED = [page for page in PAGES if page not in TUTORIALS and (blocks(page, "console") or blocks(page, "python"))]


@pytest.mark.parametrize("page", [page for page in FOLLOWED if page not in PREPARED])
def test_commands_and_programs_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = [block for block in BLOCKS[page] if not any(block.text.startswith(words) for words in LEFT_OUT)]
    for shown, printed in follow(kept, tmp_path, capsys):
        assert not difference(shown.text, printed), f"{page}:{shown.line}"


@pytest.mark.parametrize("page", list(PREPARED))
def test_commands_and_programs_run_where_something_is_prepared(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in PREPARED[page](tmp_path):
        assert call(capsys, *shlex.split(command)).returncode == 0
    test_commands_and_programs_run(page, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("page", TUTORIALS)
def test_tutorials_print_what_they_show(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = follow(BLOCKS[page], tmp_path, capsys)
    assert len(outputs) >= 5
    for shown in pictures_of(TEXTS[page]):
        drawn = tmp_path / shown.name
        if os.environ.get("SIMSUITE_GOLDEN") == "write":
            small(drawn).save(shown, optimize=True)
        assert unlike(shown, drawn) < 6, f"{shown} is not what {page} draws: SIMSUITE_GOLDEN=write brings it up to date"
        assert shown.stat().st_size <= 60_000
    different = [f"{page}:{shown.line}: {difference(shown.text, printed)}" for shown, printed in outputs]
    assert not "\n\n".join(text for text in different if not text.endswith(": "))


COMMANDS = [
    pytest.param(line.strip(), id=f"{page}: {line.strip()[:60]}")
    for page in PAGES
    for line in re.findall(r"^    simsuite [a-z]+.*$", TEXTS[page], re.MULTILINE)
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_exist_with_their_options(line: str) -> None:
    _, name, *words = shlex.split(line.partition(" | ")[0].removesuffix("\\"), comments=True)
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert not [word for word in words if word.startswith("-") and word not in shown.output]


def shell_commands(block: Block) -> list[str]:
    """The commands of a block of bash: without comments, variables before them, and lines that are the shell's own."""
    lines = re.sub(r"\\\n\s*", " ", block.text).splitlines()
    words = (re.sub(r"^(\w+=(\"[^\"]*\"|\$\([^)]*\)|\S*)\s*)+", "", line.strip()) for line in lines)
    return [line for line in words if line and not re.match(r"#|if |fi\b|for |done\b|code=|exit |export |echo ", line)]


SHELL = [
    pytest.param(line, id=f"{page}: {line[:60]}")
    for page in PAGES
    for block in BLOCKS[page]
    if block.language == "bash" and not block.file
    for line in shell_commands(block)
]


@pytest.mark.parametrize("line", SHELL)
def test_commands_of_bash_exist_with_their_options(line: str) -> None:
    """Programs that may not be here, such as `sbatch`, are known by name; what they run of simsuite is looked at."""
    words = shlex.split(line, comments=True)
    assert words[0] == "simsuite" or words[0] in OTHERS
    if "simsuite" in words and words[0] not in ("docker", "pip"):
        test_commands_exist_with_their_options(shlex.join(words[words.index("simsuite") :]))


def test_pages_are_compared_with_what_is_printed() -> None:
    printed = "a note\nx  1.00001 m\nleft out\ny  2 m\n  took  3 s\nafter\n"
    assert not difference("x 1.00002 m\n...\ny  2 m\n  took  9 s\n", printed)
    for other in ("x  1.0003 m", "x  1.00001 s", "y  3 m", "x  1.00001 m\ny  2 m", "...\nafter\n...\nx  1.00001 m"):
        assert difference(other + "\n", printed), other
    assert matches(["heat complete: 3 steps"], ["heat complete: 5 steps of 1 s"])
    assert not same_line("heat complete", "heat stopped")
    assert number("0.04", "0.05")
    assert not number("0.04", "0.07")
    assert not number("12", "13")


def test_what_is_left_out_is_there() -> None:
    texts = [block.text for page in PAGES for block in BLOCKS[page]]
    assert all(any(text.startswith(words) for text in texts) for words in LEFT_OUT)
    assert set(PREPARED) <= set(PAGES)
