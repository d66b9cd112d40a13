"""Plug-ins as if they were installed: their packages and entry points in a folder on the path."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simsuite import plugins

WAVE = Path(__file__).parents[2] / "examples" / "wave"


def add(site: Path, name: str, entry: str, package: str = "") -> None:
    """Put a package's metadata into the folder, with an entry point such as "wave = simsuite_wave:SOLVER"."""
    package = package or f"simsuite-{name}"
    folder = site / f"{package.replace('-', '_')}-0.1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    (folder / "entry_points.txt").write_text(f"[simsuite.solvers]\n{entry}\n")


def add_wave(site: Path) -> None:
    shutil.copytree(WAVE / "simsuite_wave", site / "simsuite_wave", ignore=shutil.ignore_patterns("__pycache__"))
    add(site, "wave", "wave = simsuite_wave:SOLVER")


@contextmanager
def on_path(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In this context the plug-ins of a folder are there; modules of theirs are forgotten at the end."""
    before = set(sys.modules)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(site)
        plugins._entry_points.cache_clear()
        yield
    plugins._entry_points.cache_clear()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(site)):
            del sys.modules[name]
    importlib.invalidate_caches()
