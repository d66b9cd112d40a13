"""A run in a process of its own: `python counted_run.py SCENARIO DIRECTORY [VARIABLE]`, the scenario as JSON.

Prints how many functions Numba compiled, and the bytes of a variable of the results.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from numba.core import event

import simsuite


class Compiles(event.Listener):
    """Counts functions that are compiled."""

    count = 0

    def on_start(self, event: Any) -> None:
        self.count += 1

    def on_end(self, event: Any) -> None:
        pass


if __name__ == "__main__":
    compiles = Compiles()
    event.register("numba:compile", compiles)
    scenario, directory, *variables = sys.argv[1:]
    run = simsuite.run(json.loads(scenario), directory=directory, fresh=True)
    print(compiles.count, *(run.dataset[name].values.tobytes().hex() for name in variables))
