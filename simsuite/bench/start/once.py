"""A single run in a process of its own, which reports how its time was spent: `python -m simsuite.bench.start.once`.

Arguments: the scenario, the directory for its files, the device, and the time at which the process was begun, by the
system's monotonic clock, s. Prints a JSON object; times are in seconds.
"""

from __future__ import annotations

import builtins
import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

BEGAN = time.monotonic()


class Timed:
    """The total time of calls of some functions; a call within another one is not counted again."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def begin(self) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.monotonic() - self._began

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The given function, with its calls timed."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.begin()
            try:
                return function(*args, **kwargs)
            finally:
                self.end()

        return call


def main(scenario: str, directory: str, device: str, spawned: float) -> dict[str, Any]:
    imports, tuning = Timed(), Timed()
    builtins.__import__, importlib.import_module = (
        imports.around(builtins.__import__),
        imports.around(importlib.import_module),
    )
    from simsuite.__main__ import start_quickly

    start_quickly("run")
    from numba.core import event

    from simsuite.backends import tuning as kept_timings
    from simsuite.execution import Execution
    from simsuite.io.directory import RunDirectory
    from simsuite.progress import Silent
    from simsuite.scenario import load

    first: list[float] = []

    class Watcher(Silent):
        """Notes the times at which steps have been queued; the first is that of the first steps."""

        def progress(self, step: int) -> None:
            first.append(time.monotonic())

    class Compiles(event.Listener):  # type: ignore[misc]  # Numba has no types
        """Counts the functions that Numba compiles in this process, and the time that compiling takes, or waiting for
        what another process compiles."""

        def __init__(self) -> None:
            self.count, self.timed = 0, Timed()

        def on_start(self, event: Any) -> None:
            self.count += 1
            self.timed.begin()

        def on_end(self, event: Any) -> None:
            self.timed.end()

    compiles = Compiles()
    event.register("numba:compile", compiles)
    kept_timings.times = tuning.around(kept_timings.times)
    loaded = load(scenario, [f'run.device="{device}"'])
    summary = Execution(loaded, RunDirectory(directory), Watcher(), fresh=True).run()
    usage, helper = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "wall": time.monotonic() - spawned,
        "cpu": sum(used.ru_utime + used.ru_stime for used in (usage, helper)),
        "interpreter": BEGAN - spawned,
        "imports": imports.seconds,
        "modules": len(sys.modules),
        "packages": sorted(name for name in sys.modules if name.count(".") < 2),
        "compiling": compiles.timed.seconds,
        "compiled": compiles.count,
        "tuning": tuning.seconds,
        "first_step": (first[0] if first else time.monotonic()) - spawned,
        "device": summary["device"],
        "device_name": summary["device_name"],
        "memory": usage.ru_maxrss * 1024,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))))
