"""The notebooks in examples/notebooks, executed from top to bottom in an empty folder, as their readers would."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient
from test_packaging import PROJECT, declared

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
LONGEST = 120  # characters of a line
SECONDS = 300  # that no cell comes near


def read(path: Path) -> Any:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    return book


def code_of(book: Any) -> list[str]:
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


def modules(code: str) -> set[str]:
    """The packages that a cell imports, by the first part of their names."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_there_is_one_for_each_solver_and_one_for_teaching() -> None:
    assert NAMES == ["gbm", "heat", "linear", "teaching"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_is_stored_as_it_is_before_its_execution(path: Path) -> None:
    for cell in read(path).cells:
        assert max(map(len, cell.source.splitlines())) <= LONGEST
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_words_come_between_cells_and_numbers_are_compared(path: Path) -> None:
    book = read(path)
    kinds = [cell.cell_type for cell in book.cells]
    assert kinds[0] == "markdown"
    assert kinds.count("markdown") >= kinds.count("code") / 2
    compared = [code for code in code_of(book) if any(isinstance(n, ast.Assert) for n in ast.walk(ast.parse(code)))]
    assert len(compared) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_needs_only_what_comes_with_simsuite_and_jupyter(path: Path) -> None:
    """Nothing of an extra: pandas is asked for before it is used."""
    always = {name.lower() for name in declared(PROJECT["dependencies"])} | {"simsuite", "IPython"}
    found = set().union(*map(modules, code_of(read(path))))
    assert found - sys.stdlib_module_names <= always


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_runs_without_an_error_or_a_warning(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    (tmp_path / "empty").mkdir()
    book = read(path)
    where = {"metadata": {"path": str(tmp_path / "empty")}}
    NotebookClient(book, timeout=SECONDS, startup_timeout=SECONDS, kernel_name="python3", resources=where).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    said = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stderr")
    assert said == ""
    assert any("image/png" in output.get("data", {}) for output in outputs)
    made = {place.name for place in (tmp_path / "empty").iterdir()}
    assert {each for each in made if not each.endswith(".png")} <= {"runs"}
