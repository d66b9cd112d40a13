"""Heat problems whose answers are published or follow from a formula, as scenario files."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = Path(__file__).parent


def benchmark_files() -> list[Path]:
    """The scenarios in this directory, sorted by name."""
    return sorted(DIRECTORY.glob("*.toml"))
