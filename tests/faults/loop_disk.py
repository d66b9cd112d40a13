"""A real file system on a loop device, of which copies are taken in the midst of its work, as a power cut leaves it.

Needs Linux and root. The file behind the loop device lies on a second file system, on a loop device as well. While that
one is frozen nothing that the first writes arrives, so that a copy of the file has all the blocks that were written up
to one moment, and none that were written later.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FIFREEZE, _FITHAW = 0xC0045877, 0xC0045878  # <linux/fs.h>
_CAP_SYS_ADMIN = 21  # <linux/capability.h>


@dataclass(frozen=True)
class FileSystem:
    """name: of its type. make: the command that makes one, but for the device. options: it is mounted with. size: of
    the device, MB."""

    name: str
    make: tuple[str, ...]
    options: str
    size: int


_KNOWN = (
    FileSystem("ext4", ("mkfs.ext4", "-q", "-F"), "data=ordered", 64),
    FileSystem("ext4", ("mkfs.ext4", "-q", "-F"), "data=writeback,commit=1", 64),
    FileSystem("xfs", ("mkfs.xfs", "-q", "-f"), "nouuid", 320),
    FileSystem("btrfs", ("mkfs.btrfs", "-q", "-f"), "commit=1", 128),
)


def available() -> list[FileSystem]:
    """Those that this machine can make and mount; none for who may not mount."""
    if not (_may_mount() and Path("/dev/loop-control").exists()):
        return []
    types = Path("/proc/filesystems").read_text().split()
    return [found for found in _KNOWN if found.name in types and shutil.which(found.make[0]) and _mounts(found)]


def _mounts(kind: FileSystem) -> bool:
    """Whether such a file system can be made and mounted here, which a container may forbid."""
    with tempfile.TemporaryDirectory() as work:
        root = Path(work) / "root"
        root.mkdir()
        try:
            with loop_disk(kind, Path(work), root):
                return True
        except (subprocess.CalledProcessError, OSError):
            return False


def _may_mount() -> bool:
    """Whether this process has Linux's capability CAP_SYS_ADMIN."""
    status = Path("/proc/self/status")
    if not status.exists():
        return False
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return bool(int(lines["CapEff"], 16) >> _CAP_SYS_ADMIN & 1)


class LoopDisk:
    """A device with one file system on it, mounted at `root` from `mount` to `unmount`. Made by `loop_disk`."""

    def __init__(self, kind: FileSystem, below: Path, root: Path) -> None:
        self.root, self._kind, self._below, self._image = root, kind, below, below / "disk"

    def make(self) -> None:
        """Make it empty."""
        with contextlib.suppress(FileNotFoundError):
            self._image.unlink()
        with open(self._image, "wb") as file:
            file.truncate(self._kind.size << 20)
        _do(*self._kind.make, self._image)

    def mount(self) -> None:
        """Mount it, which repairs the file system by its journal where need be. Raises CalledProcessError."""
        _do("mount", "-t", self._kind.name, "-o", f"loop,{self._kind.options}", self._image, self.root)

    def unmount(self) -> None:
        _do("umount", self.root)

    def copy(self, target: Path) -> None:
        """Copy the device as it is at this moment, while the file system on it is in use."""
        fd = os.open(self._below, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _FIFREEZE, 0)
            try:
                _do("cp", "--sparse=always", self._image, target)
            finally:
                fcntl.ioctl(fd, _FITHAW, 0)
        finally:
            os.close(fd)

    def replace(self, copy: Path) -> None:
        """Make the device, which is not mounted, that of the copy."""
        _do("cp", "--sparse=always", copy, self._image)


@contextlib.contextmanager
def loop_disk(kind: FileSystem, work: Path, root: Path) -> Iterator[LoopDisk]:
    """A device with an empty file system, mounted at the directory `root`. work: a directory for what lies below."""
    below, image = work / "below", work / "below.image"
    below.mkdir()
    with open(image, "wb") as file:
        file.truncate((2 * kind.size + 64) << 20)
    _do("mkfs.ext4", "-q", "-F", image)
    _do("mount", "-o", "loop", image, below)
    disk = LoopDisk(kind, below, root)
    try:
        disk.make()
        disk.mount()
        yield disk
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            disk.unmount()
        _do("umount", below)
        image.unlink()
        below.rmdir()


def _do(*command: object) -> None:
    subprocess.run([*map(str, command)], check=True, capture_output=True)
