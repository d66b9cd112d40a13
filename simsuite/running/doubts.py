"""Messages about what is wrong with a run that goes on nevertheless, as the rows of its results show."""

from __future__ import annotations

from collections.abc import Callable

from simsuite.capabilities import Doubting
from simsuite.core import Problem, Snapshot
from simsuite.io.outputs import when


class Doubts:
    """Tells once what is wrong with the rows of results: it is found on the writer's thread, and told on the loop's."""

    def __init__(self, problem: Problem, say: Callable[[str], None]) -> None:
        self._problem, self._say = problem, say
        self._found: str | None = None
        self._told = False

    def look(self, observed: Snapshot) -> None:
        """Examine a row of results, unless something wrong has been found already."""
        if isinstance(self._problem, Doubting) and self._found is None:
            text = self._problem.doubt(observed)
            self._found = None if text is None else f"{when(self._problem, observed.step)} {text}"

    def tell(self) -> None:
        """Tell what was found, if it has not been told yet."""
        if self._found is not None and not self._told:
            self._told = True
            self._say(self._found)
