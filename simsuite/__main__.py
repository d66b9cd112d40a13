"""``python -m simsuite``, and the command `simsuite`."""

from __future__ import annotations

import gc
import sys

# The number of new objects after which Python looks for garbage. While modules are loaded and kernels compiled, almost
# none is: with 700, its usual number, it looks so often that this takes a tenth of a first run.
_NEW_OBJECTS = 20_000


def collect_seldom() -> None:
    """Let Python look for garbage less often than it usually does."""
    gc.set_threshold(_NEW_OBJECTS)


def main() -> None:
    """Run the command line; Ctrl-C exits with 130 from the first moment on."""
    collect_seldom()
    try:
        from simsuite.cli import main as run
        from simsuite.cli.streams import open_missing_standard_files

        open_missing_standard_files()
        run()
    except KeyboardInterrupt:  # before a run is under way; from then on `stopping` decides
        sys.exit(130)


if __name__ == "__main__":
    main()
