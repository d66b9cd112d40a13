"""A simulation that is stepped by hand."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.assembly import device_of, make_backend, make_problem
from simsuite.capabilities import Adaptive, taken, threads_for
from simsuite.core import Snapshot
from simsuite.progress import units as results_units
from simsuite.scenario import Scenario
from simsuite.words import counted, measured


class Simulation:
    """A scenario on its device, to be stepped by hand: no files, no loop.

    state: the live arrays by name, CuPy arrays on a GPU (DLPack, `__cuda_array_interface__`, no copies), NumPy arrays
    elsewhere. Asking for it waits for the steps queued; the arrays are valid until the next `advance`, which in turn
    waits on the device for what was queued on CuPy's current stream.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        device = device_of(scenario)
        self.problem = make_problem(scenario, device)
        self.backend = make_backend(device, self.problem)
        self._threads = threads_for(self.problem, self.backend)
        with self.backend.on_threads(self._threads):
            self._stepper = self.problem.stepper(self.backend, self.problem.initial())

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return taken(self.problem, self._stepper)

    @property
    def time(self) -> float:
        """Simulated time, in the unit of the solver's `[time]`."""
        return self.problem.position(self._stepper.step)[1]

    @property
    def state(self) -> Mapping[str, Any]:
        """The live arrays by name, with the shapes that the solver's page gives, once all steps queued are done."""
        state = self._stepper.state  # the stepper may have to queue work for this
        self.synchronize()
        return state

    def advance(self, n: int = 1) -> None:
        """Take n steps. Raises TypeError when n is not a whole number, ValueError when it is negative or leads past the
        end of the run; if the number of steps is not known beforehand, the steps that were left have been taken when
        that is raised, as the error says."""
        try:
            n = operator.index(n)
        except TypeError:
            until = "to get to a time, call advance() as long as `time` is less"
            raise TypeError(f"advance(n) takes a whole number of steps, not {n!r}; {until}") from None
        end = self.problem.clock.end
        adaptive = isinstance(self._stepper, Adaptive)
        if n < 0:
            raise ValueError(f"cannot take {n} steps: the number of steps must be 0 or more")
        if self._stepper.step + n > end and not adaptive:
            left = counted(end - self._stepper.step, "step is", "steps are")
            raise ValueError(f"cannot take {n} steps from step {self.step} of {end}: {left} left, and none was taken")
        self.backend.follow()
        with self.backend.on_threads(self._threads):
            if not adaptive:
                self._stepper.advance(n)
                return
            for done in range(n):  # each of these time steps takes some ticks of the clock
                if self._stepper.step == end:
                    left = counted(done, "step was left, and has been taken", "steps were left, and have been taken")
                    raise ValueError(f"cannot take {n} steps: the run ends with step {self.step}; {left}")
                self._stepper.advance(1)

    def synchronize(self) -> None:
        """Wait until all steps are done."""
        self.backend.fence().wait()

    def results(self) -> dict[str, Any]:
        """What `run --json` would print under "results" for the present state, without what it tells of the way there,
        which nobody watches here: `extremes` and `events`."""
        with self._stepper.observe(self.problem.layout.series[0].dim) as observed:
            return self.problem.results(observed)

    def snapshot(self) -> Snapshot:
        """Everything that evolves, copied to the host."""
        with self._stepper.snapshot() as held:
            return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})

    def _repr_html_(self) -> str:
        from simsuite.notebooks.page import simulation_html

        units = results_units(self.problem)
        end = f"{self.problem.position(self.problem.clock.end)[1]:.6g}"
        precision = str(self.scenario.model.run.precision)
        rows = [
            ("device", f"{self.backend.name} ({self.backend.device_name}), {precision}"),
            ("steps", str(self.step)),
            ("time", f"{self.time:.6g} of {measured(end, units.get('time', ''))}"),
        ]
        return simulation_html(self.problem.solver, rows, self.results(), units, self.state)
