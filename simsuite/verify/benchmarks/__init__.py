"""Heat problems whose answers are published or follow from a formula, as scenarios that state them."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = Path(__file__).parent


def benchmark_files() -> list[Path]:
    """The scenarios in this directory, by name."""
    return sorted(DIRECTORY.glob("*.toml"))
