"""Commented scenarios to start from, one a solver."""

from __future__ import annotations

from importlib import resources


def template(solver: str) -> str:
    """The text of a scenario that runs as it is. solver: heat, gbm or linear."""
    return resources.files(__name__).joinpath(f"{solver}.toml").read_text(encoding="utf-8")
