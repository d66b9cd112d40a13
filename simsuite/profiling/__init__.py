"""What a run spends its time on: ranges for NVIDIA's profilers, and a timeline of its own where there is none."""

from __future__ import annotations

from simsuite.core import Backend, Stepper


class NotProfiled:
    """Stands where a profiler would, and does nothing."""

    def attach(self, backend: Backend) -> None: ...

    def watch(self, stepper: Stepper) -> None: ...

    def over(self) -> None: ...
