"""The command line. Nothing heavy is imported before a command runs."""

from simsuite.cli.main import app, main

__all__ = ["app", "main"]
