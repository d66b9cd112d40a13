"""Printing the results of a run for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsuite.cli.console import show
from simsuite.summaries.lines import summary_lines


def print_summary(summary: Mapping[str, Any], verbose: bool = False) -> None:
    """Print the results of a run for people: the main facts in the JSON object. verbose: print all of them, and why the
    stepper was chosen."""
    show("\n".join(summary_lines(summary, verbose)))
