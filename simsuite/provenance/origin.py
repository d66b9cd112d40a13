"""Who makes a file: date, host, command, versions and commit, as attributes of files and as a line of their history."""

from __future__ import annotations

import json
import platform
import shlex
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from simsuite.provenance.repository import Commit, commit_of
from simsuite.version import VERSION
from simsuite.words import printable

_LIBRARIES = ("numpy", "h5py", "scipy", "numba", "cupy")  # whose versions are stored, where they are loaded
ATTRIBUTES = ("date_created", "host", "command_line", "overrides", "versions", "git_commit", "git_dirty")  # of files
_SHORT = 12  # digits of a commit in a line
_PATIENCE = 3.0  # seconds after which a commit that is being looked for is given up


def now() -> str:
    """The date and time in UTC, as ISO 8601 has them: 2026-11-28T13:37:10Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class Origin:
    """date: when this process began to make the file. command: its command line, quoted for a shell. commit: of the
    repository in which the scenario lies, if that is known."""

    date: str
    host: str
    command: str
    commit: Commit | None = None

    def attributes(self, overrides: Sequence[str], versions: Mapping[str, str]) -> dict[str, str]:
        """Attributes of a file. overrides: as "key=value". versions: of what the file depends on besides the loaded
        libraries, such as the driver of a GPU."""
        found = {
            "date_created": self.date,
            "host": self.host,
            "command_line": self.command,
            "overrides": json.dumps(list(map(printable, overrides)), ensure_ascii=False),
            "versions": json.dumps({**loaded_versions(), **versions}),
        }
        if self.commit is not None:
            found["git_commit"] = self.commit.hash
            if self.commit.dirty is not None:
                found["git_dirty"] = "yes" if self.commit.dirty else "no"
        return found

    def told(self) -> dict[str, object]:
        """What `of_other` takes, as JSON has it."""
        return {"command": self.command, "commit": None if self.commit is None else asdict(self.commit)}

    @classmethod
    def of_other(cls, told: Mapping[str, Any]) -> Origin:
        """The origin of what this process makes now for another one, on the same host. Any: texts and tables."""
        commit = None if told["commit"] is None else Commit(**told["commit"])
        return replace(origin_of(), command=told["command"], commit=commit)

    def line(self, what: str) -> str:
        """A line of the history of a file. what: was done, such as "begun" or "continued from step 20"."""
        return f"{self.date} {self.words(what)}"

    def words(self, what: str) -> str:
        """The same without the date."""
        commit = ""
        if self.commit is not None:
            commit = f", git {self.commit.hash[:_SHORT]}{'-dirty' if self.commit.dirty else ''}"
        return f"{what} by simsuite {VERSION} on {self.host}{commit}: {self.command}"


def origin_of(directory: Path | None = None) -> Origin:
    """The origin of what this process makes now. directory: where the scenario lies; without one no commit is looked
    for."""
    commit = None if directory is None else commit_of(directory)
    return Origin(now(), printable(socket.gethostname()), command_line(), commit)


def looking(directory: Path) -> Callable[[], Origin]:
    """As `origin_of`, in the background: the function that is returned waits until all is known, or leaves out the
    commit."""
    origin = origin_of()
    found: list[Commit | None] = []
    thread = threading.Thread(target=lambda: found.append(commit_of(directory)), name="simsuite-origin", daemon=True)
    thread.start()

    def origin_when_known() -> Origin:
        thread.join(_PATIENCE)
        return replace(origin, commit=found[0] if found else None)

    return origin_when_known


def command_line() -> str:
    """The command line of this process, as one would type it into a shell."""
    first, *others = sys.argv or [""]
    program = Path(first)
    if program.name == "__main__.py":  # python -m simsuite
        first = program.parent.name
    elif program.name == "simsuite":
        first = "simsuite"
    return printable(shlex.join([first, *others]))


def loaded_versions() -> dict[str, str]:
    """The versions of Python, of simsuite and of libraries that are loaded."""
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in _LIBRARIES}
    known = {name: str(version) for name, version in loaded.items() if version is not None}
    return {"python": platform.python_version(), "simsuite": VERSION, **known}
