"""The tables of docs/performance.md and its notes are those of the measurements beside them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

LONGEST = 100  # lines of docs/performance.md


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_have_what_the_script_writes(tables: ModuleType) -> None:
    """`python docs/tables.py` brings them up to date."""
    pages = [page.read_text(encoding="utf-8") for page in tables.PAGES]
    found = [name for page in pages for name in re.findall(r"<!-- table: ([\w ]+) -->", page)]
    assert sorted(found) == sorted(tables.TABLES)
    assert sum(page.count("<!-- end of table -->") for page in pages) == len(tables.TABLES)
    assert [tables.replaced(page) for page in pages] == pages
    assert len(pages[0].splitlines()) <= LONGEST


def test_the_script_replaces_tables_and_nothing_else(tables: ModuleType) -> None:
    page = "before\n<!-- table: linear -->\nold\n<!-- end of table -->\nafter\n"
    assert tables.replaced(page).startswith("before\n<!-- table: linear -->\n| rows × inner × columns |")
    assert tables.replaced(page).endswith(" |\n<!-- end of table -->\nafter\n")
    assert "old" not in tables.replaced(page)


def test_numbers_have_three_digits(tables: ModuleType) -> None:
    written = [tables.digits(value, 1e9) for value in (1.0846e12, 74.33e9, 4.4744e9, 0.0791e9, 75.0e9)]
    assert written == ["1080", "74.3", "4.47", "0.0791", "75"]
    assert tables.digits(None) == ""
    assert [tables.thousands(value) for value in (7.8236e6, 24142.1, None)] == ["7.82 M", "24.1 k", ""]


def test_rows_of_heat_are_of_the_fastest_kernel_and_of_numba(tables: ModuleType, tmp_path: Path) -> None:
    def row(kernel: str, precision: str, rate: float) -> dict[str, object]:
        limit = {"one_pass_limit": 2e11, "fraction_of_one_pass": rate / 2e11}
        return {"material": "constant", "n": 2048, "kernel": kernel, "precision": precision, "rate": rate, **limit}

    rates = [row(k, p, r) for p in tables.PRECISIONS for k, r in (("numba", 1e11), ("nvrtc", 8e11))]
    skipped = {"name": "torch.compile", "n": 2048, "precision": "float32", "skipped": "is not installed"}
    peer = {
        "name": "CuPy",
        "version": "14.2",
        "n": 2048,
        "precision": "float32",
        "rate": 2e10,
        "fraction_of_one_pass": 0.1,
    }
    (tmp_path / "heat.json").write_text(json.dumps({"rates": rates, "peers": [skipped, peer]}), encoding="utf-8")
    assert tables.table("heat", tmp_path).splitlines()[2:] == [
        "| constant | 2048² | 800 | 200 | 4 | 100 | 800 | 200 | 4 | 100 |",
        "| CuPy 14.2 | 2048² |  |  |  |  | 20 |  | 0.1 |  |",
    ]


def test_what_was_not_reached_is_said(tables: ModuleType, tmp_path: Path) -> None:
    def row(method: str, **found: object) -> dict[str, object]:
        return {"method": method, "precision": "float64", "target": 1e-4, "paths": 1_000_000, **found}

    accuracy = [
        row("plain", forecast_seconds=75.0),
        row("control", seconds=0.0059, met=False, standard_error=1.008e-4),
        row("sobol", seconds=0.00365, met=True, standard_error=6.7e-5),
    ]
    (tmp_path / "gbm.json").write_text(json.dumps({"accuracy": accuracy}), encoding="utf-8")
    assert tables.table("gbm accuracy", tmp_path).splitlines()[2:] == [
        "| plain | 75000 (forecast) | 1e6 |",
        "| control | 5.9 (reached 0.000101) | 1e6 |",
        "| sobol | 3.65 | 1e6 |",
    ]
