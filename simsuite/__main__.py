"""``python -m simsuite``, and the command `simsuite`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C exits with 130 from the first moment on."""
    try:
        from simsuite.cli import main as run
        from simsuite.cli.streams import open_missing_standard_files

        open_missing_standard_files()
        run()
    except KeyboardInterrupt:  # before a run is under way; from then on `stopping` decides
        sys.exit(130)


if __name__ == "__main__":
    main()
