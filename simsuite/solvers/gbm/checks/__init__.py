"""Checks of a scenario before a run: what is refused, what is warned of, and what helps."""
