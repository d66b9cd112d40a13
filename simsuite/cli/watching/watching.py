"""Looking at a run again and again, at a pace that does not slow it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time

from simsuite.cli.terminals.colours import Depth
from simsuite.cli.terminals.terminal import Terminal
from simsuite.cli.watching.page import page
from simsuite.cli.watching.words_on_run import ending, headline, progress_lines, reached
from simsuite.errors import SimsuiteError
from simsuite.io.directory import RunDirectory
from simsuite.io.glimpses import Glimpses
from simsuite.watching.newest import Newest, Size, newest
from simsuite.watching.standing import RUNNING, Standing, Watched

PAUSE = 0.5  # the least number of seconds between two looks
LINE_SECONDS = 10.0  # between two lines where output goes to a pipe
SHARE = 0.005  # of the time of one core, which looks take at most, on an average
_NICE = 19  # on a busy machine the run comes first
HINT = "q leaves, and the run goes on"


class Watch:
    """A run and what was last seen of it."""

    def __init__(self, run: RunDirectory) -> None:
        self.run, self._watched, self._glimpses = run, Watched(run), Glimpses(run.results)
        self._read: tuple[object, ...] = ()  # what the newest results were read for
        self.newest: Newest | None = None
        self.standing = Standing("waiting")
        self.choice = 0

    def look(self, size: Size) -> None:
        """Look at how the run stands, and at its results where they may have changed."""
        self._look_at_results(size, over=False)
        self.standing = self._watched.look(None if self.newest is None else self.newest.status)
        if self.standing.over:  # all that was written until then, also where that broke off
            self._read = ()
            self._look_at_results(size, over=True)
            self.standing = self._watched.look(None if self.newest is None else self.newest.status)

    def _look_at_results(self, size: Size, over: bool) -> None:
        try:
            about = self.run.results.stat()
        except OSError:
            return
        wanted = (about.st_ino, about.st_mtime_ns, about.st_size, size, self.choice)
        if wanted == self._read:
            return
        with contextlib.suppress(SimsuiteError), self._glimpses.look(over) as file:
            self.newest = newest(file, size, self.choice)
            self._read = wanted


def be_nice() -> None:
    """Leave the machine to the run."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)


def points_of(size: Size) -> Size:
    """As many points as half blocks on a page show."""
    return Size(size.columns, 2 * size.rows)


def size_now() -> Size:
    """The size of the terminal, or a usual one elsewhere."""
    columns, rows = shutil.get_terminal_size()
    return Size(columns, rows)


def on_terminal(watch: Watch, depth: Depth) -> str | None:
    """Show the run until it ends, or somebody leaves. Returns None at its end, else the name of the signal that asked
    for it, or "q"."""
    watch.look(points_of(size_now()))
    if watch.standing.over:  # which is printed, without a screen of its own
        return None
    with Terminal() as terminal:
        while True:
            size, began = terminal.size, time.process_time()
            watch.look(points_of(size))
            if watch.standing.over:
                return None
            terminal.show(page(watch.run, watch.standing, watch.newest, size, depth, HINT))
            took = time.process_time() - began
            next_look = time.monotonic() + max(PAUSE, took / SHARE)
            while (left := next_look - time.monotonic()) > 0:
                keys = terminal.wait(left)
                if terminal.ended is not None:
                    return terminal.ended.name
                if "q" in keys or "Q" in keys:
                    return "q"
                if "\t" in keys:
                    watch.choice += 1
                    break
                if terminal.size != size:
                    break


def snapshot(watch: Watch, size: Size, depth: Depth) -> list[str]:
    """What there is to see now, as lines."""
    return page(watch.run, watch.standing, watch.newest, size, depth)


def in_lines(watch: Watch, size: Size, depth: Depth) -> None:
    """Print what there is to see, and then lines, until the run has ended: where it stands, every ten seconds and
    whenever it has begun, and how it ended."""
    watch.look(points_of(size))
    _tell(*snapshot(watch, size, depth))
    phase, told, last = watch.standing.phase, "", time.monotonic()
    while not watch.standing.over:
        time.sleep(PAUSE)
        watch.look(points_of(size))
        standing, now = watch.standing, time.monotonic()
        if standing.phase != phase:
            phase = standing.phase
            _tell(headline(watch.run, standing), *progress_lines(standing), *ending(watch.run, standing))
        elif phase == RUNNING and "steps" in standing.note and now - last >= LINE_SECONDS:
            line, last = reached(standing), now
            if line != told:
                _tell(line)
            told = line


def _tell(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)
