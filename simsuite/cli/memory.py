"""Limits that somebody set on the memory of a process (`ulimit -v`), and how libraries say that they ran into them."""

from __future__ import annotations

import errno
import resource

from simsuite.errors import DeviceError
from simsuite.words import with_prefix

LEAST = 1_000_000_000  # bytes of address space that suffice to compile a small run; with less LLVM may crash
_SAID = ("can't start new thread", "failed to map segment", "Cannot allocate memory", "memory allocation failed")


def require_addresses() -> None:
    """Raise DeviceError where the limit leaves too little even for the libraries, some of which would crash."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST:
        raise DeviceError(
            f"the memory of this process is limited to {with_prefix(limit, 'B')}, and simsuite needs "
            f"{with_prefix(LEAST, 'B')} and what its runs take\n  = help: `ulimit -v unlimited` lifts the limit"
        )


def lacks_memory(error: BaseException) -> bool:
    """Whether an error, or the error that caused it, says that there was not enough memory."""
    found: BaseException | None = error
    while found is not None:
        said = isinstance(found, (OSError, RuntimeError, ImportError)) and any(text in str(found) for text in _SAID)
        if isinstance(found, MemoryError) or getattr(found, "errno", None) == errno.ENOMEM or said:
            return True
        found = found.__cause__ or found.__context__
    return False
