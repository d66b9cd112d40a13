"""What the pages of the site are made from: navigation, links, comments of scenarios, commands, docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path
from types import FunctionType

import pytest
from conftest import ROOT
from typer.testing import CliRunner
from website import commands, docstrings, gallery, interface, navigation
from website.pages import Pages, file_page, write_pages, written_pages

import simsuite
from simsuite.cli import app
from simsuite.core import Problem, Stepper

DOCS = ROOT / "docs"


def test_every_page_has_one_place() -> None:
    """In the list at the side; a page that is named nowhere as well."""
    names = {name.removesuffix(".md") for name, _ in written_pages()} | {"a_new_page", "tutorials/new", "notes/new"}
    names |= {"gallery/index", "gallery/heat", "api/index"}
    listed = [page for groups in navigation.placed(names).values() for pages in groups.values() for page in pages]
    assert sorted(listed) == sorted(names - {"index"})


def test_pages_that_are_named_exist() -> None:
    made = {"gallery/index", "commands", "api/index", "api/running", "api/objects", "api/errors", "api/plugins"}
    groups = [*navigation.GROUPS.values(), *navigation.BELOW.values()]
    named = {name for group in groups for name in group if "*" not in name}
    written = {name.removesuffix(".md") for name, _ in written_pages()}
    assert named - written - made == set()


@pytest.mark.parametrize(
    ("origin", "text", "wanted"),
    [
        ("docs/heat.md", "[keys.md](keys.md)", "[](keys.md)"),
        ("docs/heat.md", "[all keys](keys.md)", "[all keys](keys.md)"),
        ("docs/heat.md", "see [CHANGELOG.md](../CHANGELOG.md).", "see [](changelog.md)."),
        ("docs/notes/x.md", "[heat](../heat.md) [it](../../scenarios/heat.toml)", None),
        ("CONTRIBUTING.md", "[docs/heat.md](docs/heat.md)", "[](heat.md)"),
        ("docs/heat.md", "[scenarios](../scenarios), [here](#top)", "[scenarios](gallery/index.md), [here](#top)"),
        ("docs/heat.md", "[wave](../examples/wave)", "[wave](files/examples/wave.md)"),
        ("docs/heat.md", "[x](https://example.org/a.md) [y](none.md)", "[x](https://example.org/a.md) [y](none.md)"),
        ("docs/heat.md", "![a picture](images/heat.png)", "![a picture](images/heat.png)"),
        ("docs/heat.md", "[k](keys.md#grid)", "[k](keys.md#grid)"),
        ("docs/heat.md", "```python\na[0](../CHANGELOG.md)\n```\n", "```python\na[0](../CHANGELOG.md)\n```\n"),
        ("docs/heat.md", "```console\nsimsuite list\n```\n", "```bash\nsimsuite list\n```\n"),
    ],
)
def test_links_that_leave_docs_stay_in_the_site(origin: str, text: str, wanted: str | None) -> None:
    pages = Pages()
    name = origin.removeprefix("docs/") if "/" in origin else "contributing.md"
    pages.add_page(name, text, origin)
    assert pages.files[name] == (wanted or "[heat](../heat.md) [it](../gallery/heat.md)")
    if "wave" in text:
        shown = pages.files["files/examples/wave.md"]
        assert isinstance(shown, str)
        assert "## `wave.toml`" in shown
        assert (ROOT / "examples" / "wave" / "wave.toml").read_text(encoding="utf-8").rstrip("\n") in shown


def test_a_file_with_fences_is_shown_in_longer_ones() -> None:
    shown = file_page("docs/start.md")
    assert shown.count("````") == 2


def test_the_comment_of_a_scenario_becomes_text_and_code() -> None:
    text = (
        "# A title, x_1 and a*b*c:\n# more words.\n#     simsuite run it\n#\n# The end.\nsolver = 1 # no\n# nor this\n"
    )
    assert gallery.opening(text) == [
        "A title, x\\_1 and a\\*b\\*c:\nmore words.",
        "    simsuite run it",
        "The end.",
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_scenario_says_what_it_shows(path: Path) -> None:
    paragraphs = gallery.opening(path.read_text(encoding="utf-8"))
    assert paragraphs
    assert gallery._first_sentence(paragraphs).endswith((".", "?"))


def test_commands_have_all_their_options() -> None:
    """As --help prints them."""
    page = commands.page()
    for name in ("run", "sweep", "plot", "verify"):
        section = re.search(rf"^## `simsuite {name}`$(.*?)(^## |\Z)", page, re.MULTILINE | re.DOTALL)
        assert section is not None
        printed = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).output
        options = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", printed))
        assert len(options) > 3
        assert options <= set(re.findall(r"--[a-z][\w-]+", section[1]))


def test_docstrings_become_lists_of_arguments() -> None:
    lines = [
        "Do it. a: the first, a, b. b, c: the others; d: x.",
        "",
        "Raises UsageError for d: 3.",
        "",
        "    a: b",
    ]
    assert docstrings.rearranged(lines, ["a", "b", "c", "d"]) == [
        *("Do it.", ""),
        *("- ``a``: the first, a, b.", ""),
        *("- ``b``, ``c``: the others;", ""),
        *("- ``d``: x.", ""),
        *("**Raises** :py:exc:`~simsuite.UsageError` for d: 3.", ""),
        *("    a: b", ""),
    ]
    assert docstrings.rearranged(["No arguments: none."], []) == ["No arguments: none.", ""]


def test_arguments_of_public_functions_are_explained() -> None:
    for function in (simsuite.run, simsuite.load, simsuite.sweep, simsuite.open_simulation):
        names = docstrings.names_of(function)
        text = inspect.getdoc(function) or ""
        lines = docstrings.rearranged(text.splitlines(), names)
        explained = {name for line in lines if line.startswith("- ") for name in re.findall(r"``(\w+)``", line)}
        named = set(re.findall(r"`(\w+)`", text.splitlines()[0]))
        assert set(names) <= explained | named, function


def test_references_stand_in_the_files() -> None:
    """Authors and years that the page on numerics names are those of the file that it names beside them."""
    seen, folder = 0, ""
    for line in (DOCS / "numerics.md").read_text(encoding="utf-8").splitlines():
        if found := re.search(r"\| file in `(.*?)` \|$", line):
            folder = found[1]
        elif found := re.fullmatch(r"\| .*? \| .*? \| (.*?) \| `([\w/]+\.py)` \|", line):
            seen += 1
            source, file = found.groups()
            text = " ".join((ROOT / folder / file).read_text(encoding="utf-8").split())
            for each in source.split("; "):
                first = each.partition(",")[0].partition(" &")[0].partition(" and ")[0].partition(" et al")[0]
                assert first.split()[-1] in text, (each, file)
                assert all(year in text for year in re.findall(r"\b(?:19|20)\d\d\b", each)), (each, file)
    assert seen > 40


def test_tests_that_are_named_as_reasons_exist() -> None:
    """And figures on that page are those of the pages that it gathers from."""
    page = (DOCS / "correctness.md").read_text(encoding="utf-8")
    assert all((ROOT / name).exists() for name in re.findall(r"`((?:tests|simsuite)/[\w/]+\.py)`", page))
    gathered = " ".join(
        (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("verification", "benchmarks", "durability")
    )
    table = page[page.index("## What came out") : page.index("## What is not known")]
    figures = set(re.findall(r"(?<![\w./])\d[\d.  ]*\d(?:e-\d+)?|\d+e-\d+", table.replace("|", " ")))
    others = {"1e-10"} | {
        figure for figure in figures if len(figure) < 3
    }  # of tests/linear/test_control.py; small numbers
    assert len(figures) > 25
    assert {figure for figure in figures - others if figure.strip() not in gathered} == set()


def test_the_example_in_python_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    scenario, example = (re.search(rf"^```{kind}\n(.*?)^```", page, re.M | re.S) for kind in ("toml", "python"))
    assert scenario is not None
    assert example is not None
    (tmp_path / "plate.toml").write_text(scenario[1].replace("nx = 100", "nx = 40"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(example[1], {})
    assert (tmp_path / "runs" / "fine" / "results.h5").exists()


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(SystemExit, match="holds something else"):
        write_pages(tmp_path, tmp_path / "cache", [])
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_files_that_went_are_deleted_and_others_left_as_they_are(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages", tmp_path / "cache", [])
    page = tmp_path / "pages" / "heat.md"
    (tmp_path / "pages" / "old.md").write_text("# old")
    before = page.stat().st_mtime_ns
    write_pages(tmp_path / "pages", tmp_path / "cache", [])
    assert not (tmp_path / "pages" / "old.md").exists()
    assert page.stat().st_mtime_ns == before


def test_all_that_the_pages_on_python_show_has_a_docstring() -> None:
    """Of its own: what a class inherits is not about it."""
    shown = [getattr(simsuite, name) for name in simsuite.__all__ if not name.startswith("__")]
    for modules in interface.PLUGINS.values():
        for name, names in modules.items():
            module = importlib.import_module(name)
            ours = [n for n, thing in vars(module).items() if getattr(thing, "__module__", "") == name]
            shown += [getattr(module, n) for n in names or ours if not n.startswith("_")]
    assert len(shown) > 60
    without = [thing for thing in shown if not thing.__doc__]
    for thing in shown:
        if isinstance(thing, type) and thing.__name__ not in interface.BARE:
            without += [(thing, name) for name, each in vars(thing).items() if public(name, each) and not each.__doc__]
    assert without == []


def public(name: str, thing: object) -> bool:
    kinds = (FunctionType, property, classmethod, staticmethod, cached_property)
    return not name.startswith("_") and isinstance(thing, kinds)


def test_attributes_are_explained_by_the_comments_beside_them() -> None:
    found = dict(docstrings.attributes(Problem))
    assert {"dt", "adaptive", "unbounded"} <= found.keys()
    assert found["rate_unit"] == 'e.g. "cell-steps/s"'
    assert docstrings.attributes(Stepper)[0][0] == "chosen"
