"""Launches between which processes exchange something."""

from __future__ import annotations

from collections.abc import Callable, Hashable


class Unrecorded:
    """A `Recorder` that records nothing: messages between processes are no launches."""

    def replay(self, key: Hashable, launches: Callable[[], None]) -> None:
        launches()

    def prepare(self, key: Hashable, launches: Callable[[], None]) -> None:
        return None
