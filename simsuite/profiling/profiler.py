"""Watches a run: ranges for NVIDIA's profilers, and the spans of its timeline.

Nothing in the run asks whether it is watched: the methods of its backend and of its stepper are replaced by ones that
note when the originals begin and end, so that a run without a profiler takes no time for it. What is noted:

    host, main thread    the run; in it stretches of steps, snapshots and, in these, launches and replays of graphs
    host, writer thread  copies of snapshots to the host, as the writer waits for them, and the writing of files
    device               stretches of steps in the compute stream and copies in the copy stream, by events

Ranges have the same names in NVTX. The profiler of the driver is started after the first stretches, in which kernels
are compiled and loaded, and stopped after the last: `nsys --capture-range=cudaProfilerApi` and `ncu
--profile-from-start off` show the steady state alone.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simsuite.capabilities import Adaptive, Profiled
from simsuite.core import Backend, Fence, Pending, Recorder, Snapshot, Stepper
from simsuite.profiling import NotProfiled
from simsuite.profiling.timeline import COMPUTE, COPY, MAIN, WRITER, Span, Timeline, Track, overlap, total

FILE = "timeline.json"
_MOST_TIMED = 50_000  # stretches that are timed on the device, by two events each; later ones by the host alone
_FIRST = 2  # stretches at the beginning that do not belong to the steady state, as in `loop`


class Profiler(NotProfiled):
    """Watches one run; see the module. timeline: what it has noted, complete after `over`."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self._stretches: list[tuple[Fence, Fence, int, int]] = []
        self._began = 0.0
        self._started = False

    def attach(self, backend: Backend) -> None:
        """Watch what goes through a backend from now on. The run begins here."""
        self._backend = backend
        self._device = backend.profiler() if isinstance(backend, Profiled) else None
        self._zero = backend.fence()
        self._zero.wait()
        self._began = time.perf_counter()
        for name, change in (
            ("stage", self._staging),
            ("recorder", self._recording),
            ("launcher", self._launching),
            ("program", self._programs),
        ):
            setattr(backend, name, change(getattr(backend, name)))

    def watch(self, stepper: Stepper) -> None:
        """Watch the steps of a stepper that has been made with the backend that is watched."""
        for name in ("advance", "advance_for") if isinstance(stepper, Adaptive) else ("advance",):
            setattr(stepper, name, self._stepping(stepper, getattr(stepper, name)))

    def over(self) -> None:
        """The last step has been queued: wait for it, and add what the device did to the timeline."""
        if self._device is not None and self._started:
            self._device.stop()
        end = self._backend.fence()
        end.wait()
        self.timeline.add(Span(MAIN, "run", 0.0, time.perf_counter() - self._began))
        if self._device is None:
            return
        for before, after, first, last in self._stretches:
            begin, took = before.seconds_since(self._zero), after.seconds_since(before)
            self.timeline.add(Span(COMPUTE, "stretch", begin, begin + took, {"from step": first, "to step": last}))

    def finish(self, directory: Path, about: Mapping[str, float | int | str]) -> dict[str, float]:
        """Write `timeline.json` into the directory of the run, all of whose files are written, and return its shares,
        see `shares`."""
        if self._device is not None:
            for begin, took, nbytes in self._device.copies(self._zero):
                self.timeline.add(Span(COPY, "copy", begin, begin + took, {"bytes": nbytes}))
        found = self.shares()
        self.timeline.write(directory / FILE, {**about, **found, "spans left out": self.timeline.left_out})
        return found

    def shares(self) -> dict[str, float]:
        """Shares of the time between the first stretch and the end of the last: in which steps were computed; of
        copies, and of writing, that happened meanwhile. On a CPU steps are those of the main thread, and nothing is
        copied."""
        computed = self.timeline.on(COMPUTE) or self.timeline.on(MAIN, "stretch")
        found = {"seconds": computed[-1][1] - computed[0][0] if computed else 0.0}
        if found["seconds"] > 0:
            found["computing"] = total(computed) / found["seconds"]
        for name, spans in (("copies", self.timeline.on(COPY)), ("writing", self.timeline.on(WRITER, "write"))):
            if total(spans) > 0:
                found[f"{name} seconds"] = total(spans)
                found[f"{name} meanwhile"] = overlap(spans, computed) / total(spans)
        return found

    @contextlib.contextmanager
    def _range(self, track: Track, name: str, **about: int) -> Iterator[None]:
        """A range of this name, on the timeline and in NVTX."""
        begin = time.perf_counter()
        with self._device.range(name) if self._device is not None else contextlib.nullcontext():
            yield
        self.timeline.add(Span(track, name, begin - self._began, time.perf_counter() - self._began, about))

    def _stepping(self, stepper: Stepper, advance: Callable[..., None]) -> Callable[..., None]:
        def stretch(*arguments: Any) -> None:
            if len(self._stretches) == _FIRST and self._device is not None:
                self._device.start()
                self._started = True
            if len(self._stretches) >= _MOST_TIMED:
                with self._range(MAIN, "stretch"):
                    advance(*arguments)
                return
            first, before = stepper.step, self._backend.fence()
            with self._range(MAIN, "stretch"):
                advance(*arguments)
            self._stretches.append((before, self._backend.fence(), first, stepper.step))

        return stretch

    def _staging(self, stage: Callable[..., Pending]) -> Callable[..., Pending]:
        def snapshot(step: int, arrays: Mapping[str, Any]) -> Pending:
            with self._range(MAIN, "snapshot"):
                return _Watched(stage(step, arrays), self._range)

        return snapshot

    def _recording(self, recorder: Callable[[], Recorder]) -> Callable[[], Recorder]:
        def make() -> Recorder:
            made = recorder()
            replay = made.replay

            def again(key: Hashable, launches: Callable[[], None]) -> None:
                with self._range(MAIN, "graph"):
                    replay(key, launches)

            setattr(made, "replay", again)  # noqa: B010  # a protocol's method is not assigned to
            return made

        return make

    def _launching(self, launcher: Callable[..., Callable[..., None]]) -> Callable[..., Callable[..., None]]:
        def make(kernel: Any, *how: Any, **more: Any) -> Callable[..., None]:
            name = getattr(getattr(kernel, "py_func", kernel), "__name__", "launch")
            return self._launch(launcher(kernel, *how, **more), f"launch {name}")

        return make

    def _programs(self, program: Callable[..., Any]) -> Callable[..., Any]:
        def make(*arguments: Any) -> Any:
            made = program(*arguments)
            if not hasattr(made, "watched"):  # the backend keeps programs, and returns one again
                made.watched, launcher = True, made.launcher
                made.launcher = lambda kernel, *how, **more: self._launch(
                    launcher(kernel, *how, **more), f"launch {kernel}"
                )
            return made

        return make

    def _launch(self, launch: Callable[..., None], name: str) -> Callable[..., None]:
        def go(*arguments: Any) -> None:
            with self._range(MAIN, name):
                launch(*arguments)

        return go


class _Watched:
    """A snapshot on its way: the writer enters it, which takes as long as the copy, and leaves it once written."""

    def __init__(self, pending: Pending, range_: Callable[..., contextlib.AbstractContextManager[None]]) -> None:
        self._pending, self._range = pending, range_
        self._writing: contextlib.AbstractContextManager[None] | None = None

    def __enter__(self) -> Snapshot:
        with self._range(WRITER, "copy"):
            snapshot = self._pending.__enter__()
        self._writing = self._range(WRITER, "write")
        self._writing.__enter__()
        return snapshot

    def __exit__(self, *error: Any) -> None:
        if self._writing is not None:
            self._writing.__exit__(None, None, None)
        self._pending.__exit__(*error)
