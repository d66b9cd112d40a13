"""What a killed writer can leave wrong in an HDF5 superblock, put right without HDF5.

A file that is open for writing says so in its superblock (versions 2 and 3), and HDF5 then refuses to open it for plain
reading. `clear_flags` does what the tool `h5clear -s` does. A writer killed within a flush may also leave an "end of
file" there that lies before the true end, so that HDF5 would not read what is beyond, and would allocate on top of it,
or one behind it, which HDF5 refuses as "truncated"; `repair` makes both ends the later one, as `h5clear --increment`.
Layout of the superblock and its checksum: HDF5 File Format Specification 3.0, sections II.A and VIII.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_FLAGS = 11  # offset of the byte with the consistency flags
_MASK = 0xFFFFFFFF


def _rotate(x: int, n: int) -> int:
    return ((x << n) | (x >> (32 - n))) & _MASK


def lookup3(key: bytes) -> int:
    """Bob Jenkins' lookup3 hash (`hashlittle`, seed 0) of `key`, which HDF5 uses as checksum of its metadata."""
    a: int
    b: int
    c: int
    a = b = c = (0xDEADBEEF + len(key)) & _MASK
    at = 0
    while len(key) - at > 12:
        x, y, z = struct.unpack_from("<3I", key, at)
        a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
        a, c = ((a - c) & _MASK) ^ _rotate(c, 4), (c + b) & _MASK
        b, a = ((b - a) & _MASK) ^ _rotate(a, 6), (a + c) & _MASK
        c, b = ((c - b) & _MASK) ^ _rotate(b, 8), (b + a) & _MASK
        a, c = ((a - c) & _MASK) ^ _rotate(c, 16), (c + b) & _MASK
        b, a = ((b - a) & _MASK) ^ _rotate(a, 19), (a + c) & _MASK
        c, b = ((c - b) & _MASK) ^ _rotate(b, 4), (b + a) & _MASK
        at += 12
    if at == len(key):
        return c
    x, y, z = struct.unpack("<3I", key[at:].ljust(12, b"\0"))
    a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
    c = ((c ^ b) - _rotate(b, 14)) & _MASK
    a = ((a ^ c) - _rotate(c, 11)) & _MASK
    b = ((b ^ a) - _rotate(a, 25)) & _MASK
    c = ((c ^ b) - _rotate(b, 16)) & _MASK
    a = ((a ^ c) - _rotate(c, 4)) & _MASK
    b = ((b ^ a) - _rotate(a, 14)) & _MASK
    return ((c ^ b) - _rotate(b, 24)) & _MASK


def _superblock(fd: int) -> tuple[bytearray, int]:
    """The superblock and the size of an address in it. Raises ValueError if the file has no superblock, or one with a
    wrong checksum."""
    head = os.pread(fd, 12, 0)
    if len(head) < 12 or not head.startswith(SIGNATURE) or head[8] not in (2, 3) or head[9] not in (4, 8):
        raise ValueError("no HDF5 superblock of version 2 or 3 at the start of the file")
    size = 12 + 4 * head[9]
    block = bytearray(os.pread(fd, size + 4, 0))
    if len(block) < size + 4 or lookup3(bytes(block[:size])) != struct.unpack_from("<I", block, size)[0]:
        raise ValueError("the HDF5 superblock does not match its checksum")
    return block, head[9]


def _end(width: int) -> slice:
    """Where the superblock keeps the end of the file."""
    return slice(12 + 2 * width, 12 + 3 * width)


def _write(fd: int, block: bytearray) -> None:
    struct.pack_into("<I", block, len(block) - 4, lookup3(bytes(block[:-4])))
    os.pwrite(fd, block, 0)


def clear_flags(fd: int) -> None:
    """Clear the consistency flags in the open file `fd` by one write of 48 bytes.

    Safe while the file's own writer lives: HDF5 takes the flags from its memory, never from the file, while it writes.
    Raises ValueError when the file is damaged.
    """
    block, _ = _superblock(fd)
    if block[_FLAGS]:
        block[_FLAGS] = 0
        _write(fd, block)


def is_hdf5(path: Path) -> bool:
    """Whether the file begins as HDF5 files do. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def within_flush(path: Path) -> bool:
    """Whether the writer of the file is writing metadata at this moment, or was killed while it did.

    Raises ValueError when the file is damaged, and OSError.
    """
    fd = os.open(path, os.O_RDONLY)
    try:
        block, width = _superblock(fd)
        return bool(block[_FLAGS]) or os.fstat(fd).st_size > int.from_bytes(block[_end(width)], "little")
    finally:
        os.close(fd)


def repair(path: Path) -> None:
    """Make what a killed writer left in `path` openable. Raises ValueError when the file is damaged, and OSError."""
    fd = os.open(path, os.O_RDWR)
    try:
        block, width = _superblock(fd)
        size = os.fstat(fd).st_size
        end = max(size, int.from_bytes(block[_end(width)], "little"))
        if size < end:
            os.ftruncate(fd, end)
        block[_end(width)] = end.to_bytes(width, "little")
        block[_FLAGS] = 0
        _write(fd, block)
    finally:
        os.close(fd)
