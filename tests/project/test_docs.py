"""The documents say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from conftest import ROOT

from simsuite.assembly import make_problem
from simsuite.errors import ScenarioError
from simsuite.expressions import Expression, parser
from simsuite.expressions.tree import CONSTANTS, FUNCTIONS, MANY
from simsuite.scenario import load
from simsuite.scenario.linear.generators import CONTINUOUS_ONLY, DISCRETE_ONLY, Generated
from simsuite.version import VERSION

README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", prose) if "://" not in link]
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names = re.findall(r"`((?:simsuite|tests|scenarios|docs)/[\w./]+\.\w+)`", text)
    assert not [name for name in names if not (ROOT / name).exists()]


def test_the_error_in_the_page_on_running_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = (ROOT / "scenarios" / "heat.toml").read_text(encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "heat.toml").write_text(
        scenario.replace("end = 120.0 # s\n", "end = 120.0 # s\ndt = 1.0\n"), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        make_problem(load("scenarios/heat.toml"))
    assert caught.value.report.strip() in RUNNING


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert targets == ["heat", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_change_log_has_this_version() -> None:
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


LINEAR = (ROOT / "docs" / "linear.md").read_text(encoding="utf-8")


def test_every_generated_matrix_is_in_the_page_on_linear_systems(tmp_path: Path) -> None:
    written = re.findall(r"^\| `(\{generator = \"(\w+)\".*?\})` \| (.*?) \|", LINEAR, re.MULTILINE)

    def names(*models: Any) -> set[str]:
        return {get_args(model.model_fields["generator"].annotation)[0] for model in models}

    discrete = names(*DISCRETE_ONLY)
    assert {name for _, name, _ in written} == names(*get_args(get_args(Generated)[0]))
    for source, name, about in written:
        kind = "discrete" if name in discrete else "continuous"
        text = f'solver = "linear"\nsystem = {{kind = "{kind}", matrix = {source}}}\n'
        text += 'initial = {state = {random = "normal"}}\ntime = {steps = 1, dt = 1.0}\n'
        (tmp_path / "case.toml").write_text(text, encoding="utf-8")
        model = load(tmp_path / "case.toml").model.system.matrix
        shown, keys = set(re.findall(r"(\w+) =", source)), set(type(model).model_fields)
        assert shown == keys - {"format"}, "all keys are shown, but the one that all of them have"
        assert ("; discrete" in about) is (name in discrete)
        assert ("; continuous" in about) is isinstance(model, CONTINUOUS_ONLY)


EXPRESSIONS = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")


def test_the_page_on_expressions_has_all_that_there_is() -> None:
    """Functions with the number of their arguments, operators, constants; and what it says of their values."""
    calls = re.findall(r"`(\w+)\(([^()]*)\)`", "".join(re.findall(r"^\| (`\w+\(.*?) \| ", EXPRESSIONS, re.MULTILINE)))
    shown = {name: arguments.split(", ") for name, arguments in calls if arguments != "A"}
    assert shown.keys() == FUNCTIONS.keys()
    for name, arguments in shown.items():
        fewest, most = FUNCTIONS[name]
        assert len([a for a in arguments if a != ".."]) == fewest, name
        assert (".." in arguments) == (most == MANY), name
    rows = re.findall(r"^\| ((?:`[^`\w]+`|`(?:not|and|or|if)`)[^|]*) \|", EXPRESSIONS, re.MULTILINE)
    operators = {*parser._BINARY.values(), *parser._COMPARE.values(), "and", "or", "not", "if", "else"}
    assert set(re.findall(r"`([^`]+)`", "".join(rows))) == operators
    assert all(f"`{name}`" in EXPRESSIONS for name in CONSTANTS)


def test_the_examples_on_the_page_on_expressions_are_right() -> None:
    examples = re.findall(r"\| `([^`]+)` = (-?\d+) \|", EXPRESSIONS)
    assert len(examples) >= 20
    for text, value in examples:
        assert float(Expression.parse(text)()) == pytest.approx(float(value), abs=1e-15), text
    alike = [Expression.parse(text) for text in re.findall(r'^    value = "(.*)"', EXPRESSIONS, re.MULTILINE)]
    assert len(alike) == 3
    assert {tuple(float(e(t=t)) for t in (0.0, 1.0, 2.0)) for e in alike} == {(3.0, 3.0, 2.0)}
