"""``python -m simsuite``, and the command `simsuite`."""

from __future__ import annotations

import gc
import os
import sys

# The number of new objects after which Python looks for garbage. While modules are loaded and kernels compiled, almost
# none is: with 700, its usual number, it looks so often that this takes a tenth of a first run.
_NEW_OBJECTS = 20_000


# Commands that measure libraries of linear algebra, or compare with them, on all cores.
_ON_ALL_CORES = {"bench", "verify"}


def start_quickly(command: str) -> None:
    """Do what has to be done before anything else is imported for a command to start quickly.

    Python looks for garbage less often than it usually does. OpenBLAS, which NumPy and SciPy load, does not start a
    thread for each core, all of which would spin for a while (0.12 s, and 4 s of CPU time, on 16 cores):
    `assembly.threads_of_libraries` starts them where they have work to do.
    """
    gc.set_threshold(_NEW_OBJECTS)
    if command not in _ON_ALL_CORES:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line; Ctrl-C exits with 130 from the first moment on."""
    start_quickly("".join(sys.argv[1:2]))
    try:
        from simsuite.cli import main as run
        from simsuite.cli.streams import open_missing_standard_files

        open_missing_standard_files()
        run()
    except KeyboardInterrupt:  # before a run is under way; from then on `stopping` decides
        sys.exit(130)


if __name__ == "__main__":
    main()
