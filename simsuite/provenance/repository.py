"""The commit of the git repository in which a scenario lies.

Git is asked for nothing that could run programs that the repository names: hooks, monitors of its files and filters are
switched off, nothing is fetched, and repositories of other users are left to git's own judgement (`safe.directory`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_LIMIT = 2.0  # seconds for all that is asked
_HASH = (40, 64)  # hexadecimal digits of a commit, by SHA-1 and by SHA-256
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
# what would point git to another repository than that of the directory
_MISLEADING = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY"),
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)


@dataclass(frozen=True)
class Commit:
    """A commit that is checked out. dirty: whether files that git tracks were changed since; None if that took too long
    to find out."""

    hash: str
    dirty: bool | None


def commit_of(directory: Path) -> Commit | None:
    """What is checked out in the repository that a directory belongs to; None where there is no repository, no git, or
    no answer in time. Where no folder above has a `.git`, git is not asked."""
    try:
        here = directory.resolve()
        if not any((folder / ".git").exists() for folder in (here, *here.parents)):
            return None
        if (git := shutil.which("git")) is None:
            return None
        ask = _Git(os.path.abspath(git), here, time.monotonic() + _LIMIT)
        found = ask("rev-parse", "--verify", "--end-of-options", "HEAD").strip()
        if len(found) not in _HASH or not set(found) <= set("0123456789abcdef"):
            return None
    except (OSError, ValueError, RuntimeError, subprocess.SubprocessError):
        return None
    return Commit(found, _dirty(ask))


def _dirty(ask: _Git) -> bool | None:
    """Whether files that git tracks differ from the commit."""
    try:
        filters = _filters(ask)
        switched_off = [f"{name}={'false' if name.endswith('.required') else ''}" for name in filters]
        return bool(ask("status", "--porcelain", "-uno", "--ignore-submodules=dirty", settings=switched_off))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _filters(ask: _Git) -> list[str]:
    """The settings that name programs through which git would send the contents of files."""
    try:
        found = ask("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$")
    except subprocess.CalledProcessError as error:
        if error.returncode == 1:  # there is none
            return []
        raise
    return [name for name in found.split("\0") if name]


@dataclass(frozen=True)
class _Git:
    """Git in a directory, up to a point of monotonic time.

    program: its absolute path. With that, with files in place of pipes and with `close_fds=False`, `subprocess` starts
    it by `posix_spawn`, and there is no pipe at all, whose end would be kept open by a process that another thread
    forks at the same moment (`backends.compile_ahead`)."""

    program: str
    directory: Path
    end: float

    def __call__(self, *words: str, settings: list[str] | None = None) -> str:
        """What a command prints. Raises OSError, SubprocessError or ValueError, also when the time is over."""
        options = [part for each in (*_SETTINGS, *(settings or [])) for part in ("-c", each)]
        environment = {name: value for name, value in os.environ.items() if name not in _MISLEADING}
        with tempfile.TemporaryFile() as said:
            subprocess.run(
                [self.program, "-C", str(self.directory), *options, *words],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.DEVNULL,
                env=environment | _ENVIRONMENT,
                timeout=max(self.end - time.monotonic(), 0.01),
                check=True,
                close_fds=False,
            )
            said.seek(0)
            return said.read().decode(errors="replace")
