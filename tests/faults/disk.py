"""What a disk may have kept of a program's writes after a power cut; and programs whose disk fails.

`record` runs a program with `record.c` preloaded; `Recording.after_cut` makes the files that a disk may hold if the
power fails after any number of the program's operations. The model is weaker than what file systems promise:

- what was written to a file before its last fsync is there;
- of each page of 4096 bytes that was written since, any one of its versions is there, the old one included;
- the length of a file is any that it has had since its last fsync, and what was never written there reads as zeros;
- of changes of names (a new file, a rename, a link, an unlink), any first part is there, at the least all up to the
  last fsync of the directory.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("record.c")
PAGE = 4096


@dataclass(frozen=True)
class Operation:
    """kind: open, write, sync, close, truncate, rename, link or unlink, by the first letter."""

    kind: str
    fd: int
    offset: int
    data: bytes
    other: bytes


@dataclass
class File:
    """A file or a directory, as the program sees it and as the disk may have it."""

    now: bytearray = field(default_factory=bytearray)
    kept: bytes = b""
    pages: dict[int, list[bytes]] = field(default_factory=dict)  # versions since the last fsync, by number of the page
    sizes: list[int] = field(default_factory=lambda: [0])

    def write(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        if end > len(self.now):
            self.now.extend(bytes(end - len(self.now)))
            self.sizes.append(end)
        self.now[offset:end] = data
        for page in range(offset // PAGE, -(-end // PAGE)):
            self.pages.setdefault(page, []).append(bytes(self.now[page * PAGE : (page + 1) * PAGE]))

    def truncate(self, size: int) -> None:
        old = len(self.now)
        self.now = self.now[:size] + bytearray(max(size - old, 0))
        self.sizes.append(size)
        for page in range(min(size, old) // PAGE, -(-max(size, old) // PAGE)):
            self.pages.setdefault(page, []).append(bytes(self.now[page * PAGE : (page + 1) * PAGE]))

    def sync(self) -> None:
        self.kept, self.pages, self.sizes = bytes(self.now), {}, [len(self.now)]

    def after_cut(self, chance: random.Random) -> bytes:
        """One of the contents that the disk may have. How many pages arrive is random, too: few, half or most."""
        share, size = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0)), chance.choice(self.sizes)
        found = bytearray(self.kept)
        for page, versions in self.pages.items():
            if chance.random() < share:
                version = chance.choice(versions)
                found.extend(bytes(max((page + 1) * PAGE - len(found), 0)))
                found[page * PAGE : (page + 1) * PAGE] = version.ljust(PAGE, b"\0")
        return bytes(found[:size]).ljust(size, b"\0")


@dataclass
class Recording:
    """All that a program did to the files in `root`, and how often to what."""

    root: Path
    operations: list[Operation]

    def after_cut(self, moment: int, chance: random.Random, target: Path) -> None:
        """Put into the directory `target`, which is empty, what a disk may have after the first `moment` operations."""
        names: dict[bytes, File] = {}
        by_fd: dict[int, File] = {}
        directory = File()
        changes: list[dict[bytes, File]] = [{}]  # all names after each change since the last fsync of the directory
        for operation in self.operations[:moment]:
            path = operation.data
            if operation.kind == "o":
                if path not in names and os.fsdecode(path) != str(self.root):
                    names[path] = File()
                    changes.append(dict(names))
                by_fd[operation.fd] = names.get(path, directory)
                if operation.offset & os.O_TRUNC and by_fd[operation.fd].now:
                    by_fd[operation.fd].truncate(0)
            elif operation.kind == "w":
                by_fd[operation.fd].write(operation.offset, operation.data)
            elif operation.kind == "t":
                by_fd[operation.fd].truncate(operation.offset)
            elif operation.kind == "s":
                by_fd[operation.fd].sync()
                if by_fd[operation.fd] is directory:
                    changes = [dict(names)]
            elif operation.kind == "c":
                del by_fd[operation.fd]
            else:
                if operation.kind in "rl":
                    names[operation.other] = names[path]
                if operation.kind in "ru":
                    del names[path]
                changes.append(dict(names))
        contents: dict[int, bytes] = {}  # a file with two names has one content
        for name, file in chance.choice(changes).items():
            content = contents.setdefault(id(file), file.after_cut(chance))
            (target / Path(os.fsdecode(name)).relative_to(self.root)).write_bytes(content)


def record(command: list[str], root: Path, work: Path) -> Recording:
    """Run a Python program, given as arguments of the interpreter, and record what it does to the files in `root`.

    work: a directory for the library and the log. Raises CalledProcessError if the program fails.
    """
    preloaded(command, root, work)
    return Recording(root, list(operations_in((work / "log").read_bytes())))


def preloaded(command: list[str], root: Path, work: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python program with `record.c` preloaded, to which it may say by FAULTS_FAIL what is to fail in `root`."""
    environment = os.environ | {"LD_PRELOAD": str(library(work)), "FAULTS_ROOT": str(root)}
    environment["FAULTS_LOG"] = str(work / "log")
    command = [sys.executable, *command]
    return subprocess.run(command, env=environment, check=True, cwd=work, capture_output=True, text=True)


def library(work: Path) -> Path:
    """`record.c` compiled, in the directory `work`."""
    compiled = work / "record.so"
    if not compiled.exists():
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", compiled, SOURCE, "-ldl"], check=True)
    return compiled


def operations_in(log: bytes) -> Iterator[Operation]:
    at = 0
    while at < len(log):
        kind, fd, offset, first, second = struct.unpack_from("<5q", log, at)
        at += 40
        yield Operation(chr(kind), fd, offset, log[at : at + first], log[at + first : at + first + second])
        at += first + second
