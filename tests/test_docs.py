"""The documents say what is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import ROOT
from typer.testing import CliRunner

from simsuite.assembly import make_problem
from simsuite.cli import app
from simsuite.errors import ScenarioError
from simsuite.scenario import load
from simsuite.version import VERSION

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names = re.findall(r"`((?:simsuite|tests|scenarios|docs)/[\w./]+\.\w+)`", text)
    assert not [name for name in names if not (ROOT / name).exists()]


def test_the_error_in_the_readme_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = (ROOT / "scenarios" / "heat.toml").read_text(encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "heat.toml").write_text(
        scenario.replace("end = 120.0 # s\n", "end = 120.0 # s\ndt = 1.0\n"), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        make_problem(load("scenarios/heat.toml"))
    assert caught.value.report.strip() in README


def test_commands_in_the_readme_exist() -> None:
    commands = re.findall(r"^    simsuite (\w+)(.*?)(?:\s+#.*)?$", README, re.MULTILINE)
    assert len(commands) >= 7
    for name, rest in commands:
        shown = CliRunner().invoke(app, [name, "--help"])
        assert shown.exit_code == 0, name
        for word in shlex.split(rest):
            if word.startswith("-"):
                assert word in shown.output


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert targets == ["heat", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_change_log_has_this_version() -> None:
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
